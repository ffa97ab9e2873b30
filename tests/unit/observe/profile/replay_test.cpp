// The caches under the memory streams of a launch: against a slow simulation of the stated
// schedule, and in any order and by any threads the streams arrive.
#include "observe/profile/memory/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>

namespace margay::profile {
namespace {

using Kind = MemoryEvent::Kind;
using enum Counter;

// ---- Streams --------------------------------------------------------------------------------

/// Tensor 0 has lines 0 to 255, tensor 1 lines 256 to 511; the lines after that have no name.
constexpr std::uint64_t kTensorLines = 256;
std::vector<AddressRange> tensors() {
  return {{0, kTensorLines * 128}, {kTensorLines * 128, 2 * kTensorLines * 128}};
}
constexpr std::size_t kSites = 5;

void add(MemoryStream& stream, std::uint32_t step, Kind kind, LineRun run, std::uint32_t site = 0) {
  MemoryEvent event;
  event.step = step;
  event.site = site;
  event.kind = kind;
  event.first_run = static_cast<std::uint32_t>(stream.runs.size());
  event.run_count = 1;
  stream.runs.push_back(run);
  stream.events.push_back(event);
}

MemoryStream reading(std::uint64_t workgroup, std::uint32_t steps, std::uint64_t line,
                     std::uint32_t step = 0) {
  MemoryStream stream;
  stream.workgroup = workgroup;
  stream.steps = steps;
  add(stream, step, Kind::vector_read, {line, 0, 1, 15});
  return stream;
}

MemoryStream random_stream(std::mt19937& random, std::uint64_t workgroup) {
  MemoryStream stream;
  stream.workgroup = workgroup;
  std::uint32_t step = 0;
  const auto events = random() % 12;  // some workgroups touch nothing
  for (std::uint32_t n = 0; n < events; ++n) {
    step += random() % 3;
    LineRun run{random() % 700, static_cast<std::int64_t>(random() % 5) - 2,
                1 + static_cast<std::uint32_t>(random() % 6),
                static_cast<std::uint8_t>(1 + random() % 15)};
    if (run.stride < 0) run.line += 100;
    add(stream, step, static_cast<Kind>(random() % 6), run, random() % kSites);
    MemoryEvent& event = stream.events.back();
    event.bypasses_l1 = random() % 4 == 0;
    event.returns_value = random() % 2 == 0;
    if (event.kind == Kind::scalar_read && random() % 2 == 0) event.argument_lines = 2;
  }
  stream.steps = step + 1 + random() % 20;
  return stream;
}
std::vector<MemoryStream> random_launch(std::mt19937& random, std::uint64_t workgroups) {
  std::vector<MemoryStream> all;
  for (std::uint64_t n = 0; n < workgroups; ++n) all.push_back(random_stream(random, n));
  return all;
}

// ---- The slow simulation --------------------------------------------------------------------

/// Least recently used; the latest in front.
class SlowCache {
 public:
  SlowCache(std::uint64_t sets, std::size_t ways) : sets_(sets), ways_(ways) {}
  bool find(std::uint64_t line) {
    auto& set = lines_[line % sets_];
    const auto found = std::ranges::find(set, line);
    if (found != set.end()) set.splice(set.begin(), set, found);
    return !set.empty() && set.front() == line;
  }
  void insert(std::uint64_t line) {
    auto& set = lines_[line % sets_];
    set.push_front(line);
    if (set.size() > ways_) set.pop_back();
  }
  void drop(std::uint64_t line) { lines_[line % sets_].remove(line); }

 private:
  std::uint64_t sets_;
  std::size_t ways_;
  std::map<std::uint64_t, std::list<std::uint64_t>> lines_;
};

/// What the schedule depends on, written down for each machine.
struct Machine {
  const char* option;
  std::uint32_t xcds;
  std::uint32_t engine_end[4];  ///< CUs of the four shader engines: 10, 10, 9 and 9 of 38.
  std::uint32_t pairs;          ///< The number of SQCs with two CUs; the others have one.

  [[nodiscard]] std::uint32_t sqc_of(std::uint32_t cu) const {
    return cu < 2 * pairs ? cu / 2 : cu - pairs;
  }
  friend void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.option; }
};
constexpr Machine kMachines[] = {{"mi325x", 8, {10, 20, 29, 38}, 18},
                                 {"mi300x", 8, {10, 20, 29, 38}, 18},
                                 {"mi300a", 6, {10, 20, 29, 38}, 18},
                                 {"mi308x", 4, {5, 10, 15, 20}, 10}};

/// One XCD, step by step. Its L2 is large enough for all lines of these tests.
class SlowXcd {
 public:
  SlowXcd(const Machine& machine, const std::vector<MemoryStream>& streams, std::uint32_t xcd,
          std::uint32_t per_cu)
      : machine_(machine), per_cu_(per_cu) {
    for (const MemoryStream& s : streams)
      if (s.workgroup % machine.xcds == xcd) waiting_.push_back(&s);
    while (!waiting_.empty() || !running_.empty()) tick();
    for (const auto& [line, quarters] : dirty_) {
      count[TCC_WRITEBACK_sum] += 1;
      for (const int half : {quarters & 3, quarters >> 2}) {
        count[TCC_EA0_WRREQ_sum] += half != 0;
        count[TCC_EA0_WRREQ_64B_sum] += half == 3;
      }
    }
  }

  Counters count;
  std::map<std::uint64_t, std::uint32_t> cu_of;  ///< By workgroup.

 private:
  struct Running {
    const MemoryStream* stream;
    std::uint64_t begin;
    std::size_t next;
    std::uint32_t cu;
  };

  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> cus_of_engine(std::uint64_t engine) const {
    return {engine == 0 ? 0 : machine_.engine_end[engine - 1], machine_.engine_end[engine]};
  }

  void place() {
    while (!waiting_.empty()) {
      std::optional<std::uint32_t> best;
      std::uint64_t of_best = 0;
      for (std::uint64_t n = engine_; n < engine_ + 4; ++n) {
        const auto [first, end] = cus_of_engine(n % 4);
        for (std::uint32_t cu = first; cu < end; ++cu)
          if (residents_[cu] < per_cu_ && (!best || residents_[cu] < residents_[*best])) {
            best = cu;
            of_best = n;
          }
      }
      if (!best) return;
      engine_ = of_best + 1;
      ++residents_[*best];
      cu_of[waiting_.front()->workgroup] = *best;
      running_[waiting_.front()->workgroup] = {waiting_.front(), now_, 0, *best};
      waiting_.pop_front();
    }
  }

  void tick() {
    place();
    for (auto at = running_.begin(); at != running_.end();) {
      Running& r = at->second;
      const auto& events = r.stream->events;
      while (r.next < events.size() && r.begin + events[r.next].step == now_)
        perform(*r.stream, events[r.next++], r.cu);
      if (r.next == events.size() && r.begin + r.stream->steps <= now_) {
        --residents_[r.cu];
        place();  // at the end of the map, where this loop will come to it
        at = running_.erase(at);
      } else {
        ++at;
      }
    }
    ++now_;
  }

  void perform(const MemoryStream& stream, const MemoryEvent& e, std::uint32_t cu) {
    const LineRun& run = stream.runs[e.first_run];
    for (std::int64_t n = 0; n < run.count; ++n) {
      const std::uint64_t line = run.line + static_cast<std::uint64_t>(n * run.stride);
      if (e.kind == Kind::vector_read) read(line, e.bypasses_l1, cu);
      for (unsigned half = 0; half < 2; ++half) {
        const auto quarters = static_cast<std::uint8_t>(run.quarters & (half == 0 ? 3 : 12));
        if (quarters == 0 || e.kind == Kind::vector_read) continue;
        if (e.kind == Kind::scalar_read)
          scalar(2 * line + half, e, cu);
        else if (e.kind == Kind::scalar_write || e.kind == Kind::scalar_atomic)
          scalar_write(2 * line + half, quarters, e.kind == Kind::scalar_atomic, cu);
        else
          write(line, quarters, e, cu);
      }
    }
  }
  void read(std::uint64_t line, bool bypass, std::uint32_t cu) {
    SlowCache& l1 = vector_.try_emplace(cu, 1, 256).first->second;
    if (!bypass && l1.find(line)) return;
    if (bypass)
      l1.drop(line);
    else
      l1.insert(line);
    count[TCP_TCC_READ_REQ_sum] += 1;
    count[TCC_READ_sum] += 1;
    count[TCC_BUBBLE_sum] += l2(line) ? 0 : 1;
  }
  void write(std::uint64_t line, std::uint8_t quarters, const MemoryEvent& e, std::uint32_t cu) {
    if (e.kind == Kind::vector_atomic) {
      vector_.try_emplace(cu, 1, 256).first->second.drop(line);
      count[e.returns_value ? TCP_TCC_ATOMIC_WITH_RET_REQ_sum
                            : TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum] += 1;
      count[TCC_ATOMIC_sum] += 1;
    } else {
      count[TCP_TCC_WRITE_REQ_sum] += 1;
      count[TCC_WRITE_sum] += 1;
    }
    written(line, quarters);
  }
  void written(std::uint64_t line, std::uint8_t quarters) {
    fetches_ = false;
    l2(line);
    fetches_ = true;
    dirty_[line] |= quarters;
  }
  SlowCache& scalar_cache(std::uint32_t cu) {
    return scalar_.try_emplace(machine_.sqc_of(cu), 64, 4).first->second;
  }
  void scalar_write(std::uint64_t line, std::uint8_t quarters, bool atomic, std::uint32_t cu) {
    if (atomic) scalar_cache(cu).drop(line);
    count[atomic ? SQC_TC_DATA_ATOMIC_REQ : SQC_TC_DATA_WRITE_REQ] += 1;
    count[atomic ? TCC_ATOMIC_sum : TCC_WRITE_sum] += 1;
    written(line / 2, quarters);
  }
  void scalar(std::uint64_t line, const MemoryEvent& e, std::uint32_t cu) {
    SlowCache& l1 = scalar_cache(cu);
    const bool cached = l1.find(line);
    if (cached && !e.bypasses_l1) {
      count[SQC_DCACHE_HITS] += 1;
      return;
    }
    if (!cached) l1.insert(line);
    count[SQC_DCACHE_MISSES] += 1;
    count[SQC_TC_DATA_READ_REQ] += 1;
    count[TCC_READ_sum] += 1;
    if (e.argument_lines != 0) {
      count[TCC_UC_REQ_sum] += 1;
      count[TCC_REQ_sum] += 1;
      count[TCC_MISS_sum] += 1;
      count[TCC_EA0_RDREQ_sum] += 1;
    } else {
      l2(line / 2);
    }
  }
  bool l2(std::uint64_t line) {
    const bool hit = !l2_.insert(line).second;
    count[TCC_REQ_sum] += 1;
    count[hit ? TCC_HIT_sum : TCC_MISS_sum] += 1;
    count[TCC_EA0_RDREQ_sum] += !hit && fetches_;
    return hit;
  }

  const Machine& machine_;
  std::uint32_t per_cu_;
  std::uint64_t now_ = 0;
  std::uint64_t engine_ = 0;  // the next one
  bool fetches_ = true;
  std::list<const MemoryStream*> waiting_;
  std::map<std::uint64_t, Running> running_;
  std::map<std::uint32_t, std::uint32_t> residents_;
  std::map<std::uint32_t, SlowCache> vector_, scalar_;
  std::set<std::uint64_t> l2_;
  std::map<std::uint64_t, int> dirty_;
};

// ---- Replays --------------------------------------------------------------------------------

/// Everything a replay leaves.
struct Outcome {
  std::vector<Counters> xcds;
  std::vector<std::vector<std::uint64_t>> served;  ///< By XCD: sites, then tensors.
  std::vector<std::uint64_t> touched;
  std::vector<std::uint32_t> sqcs;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome_of(const Replay& replay) {
  Outcome out;
  for (const auto& xcd : replay.xcds()) {
    out.xcds.push_back(xcd->counters());
    out.sqcs.push_back(xcd->sqcs_used());
    auto& served = out.served.emplace_back();
    const auto add = [&](const ServedBy& s) {
      for (const std::uint64_t n : {s.l2_reads, s.l2_writes, s.l2_hits, s.l2_misses,
                                    s.fabric_read_bytes, s.fabric_written_bytes})
        served.push_back(n);
    };
    for (std::size_t place = 0; place < xcd->sites().count(); ++place) add(xcd->sites()[place]);
    for (const ServedBy& tensor : xcd->tensors()) add(tensor);
  }
  for (std::size_t n = 0; n < tensors().size(); ++n) {
    out.touched.push_back(replay.touched(n).lines_read);
    out.touched.push_back(replay.touched(n).sectors_written);
  }
  return out;
}

/// Deposits `streams` in their order, from the given number of threads.
Outcome replay(const std::vector<MemoryStream>& streams, std::uint64_t workgroups,
               std::uint32_t per_cu, unsigned threads = 1, std::uint64_t fills = 0,
               const Gpu& gpu = default_gpu()) {
  const TensorLines lines(tensors());
  Replay replay({workgroups, per_cu, kSites, {}, &gpu}, lines);
  std::vector<std::jthread> running;
  for (unsigned t = 0; t < threads; ++t)
    running.emplace_back([&, t] {
      for (std::size_t n = t; n < streams.size(); n += threads)
        replay.deposit(std::make_unique<MemoryStream>(streams[n]));
    });
  running.clear();
  replay.finish(fills);
  return outcome_of(replay);
}

Counters total(const Outcome& outcome) {
  Counters all;
  for (const Counters& xcd : outcome.xcds) all += xcd;
  return all;
}

class ReplayOn : public testing::TestWithParam<Machine> {};
INSTANTIATE_TEST_SUITE_P(Machines, ReplayOn, testing::ValuesIn(kMachines),
                         [](const auto& machine) { return std::string(machine.param.option); });

TEST_P(ReplayOn, IsTheStatedSchedule) {
  std::mt19937 random(7);
  const Machine& machine = GetParam();
  const Gpu& gpu = **find_gpu(machine.option);
  constexpr Counter kCompared[] = {TCP_TCC_READ_REQ_sum,
                                   TCP_TCC_WRITE_REQ_sum,
                                   TCP_TCC_ATOMIC_WITH_RET_REQ_sum,
                                   TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum,
                                   TCC_REQ_sum,
                                   TCC_READ_sum,
                                   TCC_WRITE_sum,
                                   TCC_ATOMIC_sum,
                                   TCC_HIT_sum,
                                   TCC_MISS_sum,
                                   TCC_UC_REQ_sum,
                                   TCC_BUBBLE_sum,
                                   TCC_EA0_RDREQ_sum,
                                   TCC_WRITEBACK_sum,
                                   TCC_EA0_WRREQ_sum,
                                   TCC_EA0_WRREQ_64B_sum,
                                   SQC_DCACHE_HITS,
                                   SQC_DCACHE_MISSES,
                                   SQC_TC_DATA_READ_REQ,
                                   SQC_TC_DATA_WRITE_REQ,
                                   SQC_TC_DATA_ATOMIC_REQ};
  for (const std::uint64_t workgroups : {1u, 9u, 300u, 1500u, 3001u})
    for (const std::uint32_t per_cu : {1u, 2u, 5u}) {
      const auto streams = random_launch(random, workgroups);
      const Outcome outcome = replay(streams, workgroups, per_cu, 1, 0, gpu);
      ASSERT_EQ(outcome.xcds.size(), machine.xcds);
      for (std::uint32_t x = 0; x < machine.xcds; ++x) {
        const SlowXcd slow(machine, streams, x, per_cu);
        for (const Counter c : kCompared)
          EXPECT_EQ(outcome.xcds[x][c], slow.count[c])
              << info(c).name << ", XCD " << x << ", " << workgroups << " workgroups";
        std::set<std::uint32_t> sqcs;
        for (const auto& [workgroup, cu] : slow.cu_of) sqcs.insert(machine.sqc_of(cu));
        EXPECT_EQ(outcome.sqcs[x], sqcs.size());
      }
      if (HasFailure()) return;
    }
}

TEST(Replay, DoesNotDependOnTheOrderOfStreams) {
  std::mt19937 random(8);
  auto streams = random_launch(random, 2000);
  const Outcome first = replay(streams, 2000, 2, 1, 3);
  EXPECT_GT(total(first)[TCC_HIT_sum], 1000u);
  EXPECT_GT(first.touched[0], 200u);
  std::ranges::reverse(streams);
  EXPECT_EQ(replay(streams, 2000, 2, 1, 3), first);
  for (int n = 0; n < 4; ++n) {
    std::ranges::shuffle(streams, random);
    EXPECT_EQ(replay(streams, 2000, 2, 1, 3), first);
  }
}

TEST(Replay, DoesNotDependOnThreads) {
  std::mt19937 random(9);
  auto streams = random_launch(random, 3000);
  const Outcome first = replay(streams, 3000, 3, 1, 1);
  for (const unsigned threads : {2u, 4u, 7u}) {
    EXPECT_EQ(replay(streams, 3000, 3, threads, 1), first);
    std::ranges::shuffle(streams, random);
    EXPECT_EQ(replay(streams, 3000, 3, threads, 1), first);
  }
}

// ---- The rule of dispatch, case by case -----------------------------------------------------

TEST(Replay, WorkgroupsGoRoundTheXcds) {
  std::vector<MemoryStream> streams;
  for (std::uint64_t n = 0; n < 19; ++n) streams.push_back(reading(n, 10, n));
  const Outcome outcome = replay(streams, 19, 1);
  for (std::size_t x = 0; x < 8; ++x)
    EXPECT_EQ(outcome.xcds[x][TCP_TCC_READ_REQ_sum], x < 3 ? 3u : 2u);
}

/// Workgroups of XCD 0 alone; the others do nothing. All read one line, in step 1.
Outcome on_one_xcd(const std::vector<std::uint32_t>& steps, std::uint32_t per_cu) {
  std::vector<MemoryStream> streams;
  for (std::uint64_t n = 0; n < 8 * steps.size(); ++n) {
    if (n % 8 == 0) {
      streams.push_back(reading(n, steps[n / 8], 5, 1));
    } else {
      streams.emplace_back().workgroup = n;
      streams.back().steps = 1;
    }
  }
  return replay(streams, streams.size(), per_cu);
}
std::uint64_t cold_cus(const std::vector<std::uint32_t>& steps, std::uint32_t per_cu) {
  return on_one_xcd(steps, per_cu).xcds[0][TCP_TCC_READ_REQ_sum];
}

TEST(Replay, EachGoesToAnotherCuWhileThereIsOne) {
  for (const std::uint32_t count : {1u, 4u, 36u})
    EXPECT_EQ(cold_cus(std::vector<std::uint32_t>(count, 100), 2), count);
  // Ten CUs in the first two engines, nine in the others.
  EXPECT_EQ(cold_cus(std::vector<std::uint32_t>(38, 100), 2), 38u);
  EXPECT_EQ(cold_cus(std::vector<std::uint32_t>(40, 100), 2), 38u);
  EXPECT_EQ(cold_cus(std::vector<std::uint32_t>(76, 100), 2), 38u);
  EXPECT_EQ(cold_cus(std::vector<std::uint32_t>(500, 100), 8), 38u);
}

TEST(Replay, AWorkgroupForEachComputeUnitWaitsForNone) {
  // One per CU, as persistent kernels have them. Workgroup 37 of an XCD writes a line, workgroup 0
  // reads it when all others would have ended.
  std::vector<MemoryStream> streams;
  for (std::uint64_t n = 0; n < 304; ++n) {
    MemoryStream& s = streams.emplace_back();
    s.workgroup = n;
    s.steps = 1000;
  }
  add(streams[8 * 37], 0, Kind::vector_write, {7, 0, 1, 15});
  add(streams[0], 999, Kind::vector_read, {7, 0, 1, 15});
  EXPECT_EQ(replay(streams, streams.size(), 1).xcds[0][TCC_BUBBLE_sum], 0u);
}

TEST(Replay, TwoWorkgroupsForEachComputeUnitTakeTwoRounds) {
  // Engines have 9 or 10 units. The last workgroup of the XCD reads a line that one of the second
  // round wrote at its end: in L2 only if it began later, in a third round.
  std::vector<MemoryStream> streams;
  for (std::uint64_t n = 0; n < 8 * 76; ++n) {
    MemoryStream& s = streams.emplace_back();
    s.workgroup = n;
    s.steps = 1000;
  }
  add(streams[8 * 40], 999, Kind::vector_write, {7, 0, 1, 15});
  add(streams[8 * 75], 500, Kind::vector_read, {7, 0, 1, 15});
  EXPECT_EQ(replay(streams, streams.size(), 1).xcds[0][TCC_BUBBLE_sum], 1u);  // the read missed
}

TEST(Replay, AFullEngineIsPassedOver) {
  // One per CU. Workgroups of engine 3 (every fourth, from the fourth on), which has nine, take
  // very long; those after them go to the other engines.
  std::vector<std::uint32_t> steps;
  for (int n = 0; n < 44; ++n) steps.push_back(n % 4 == 3 && n < 36 ? 1000 : 2);
  std::vector<MemoryStream> streams;
  for (std::uint64_t n = 0; n < 8 * steps.size(); ++n) {
    MemoryStream& s = streams.emplace_back();
    s.workgroup = n;
    s.steps = n % 8 == 0 ? steps[n / 8] : 1;
  }
  // Workgroup 40 writes a line; the first of engine 3 reads it in step 900.
  add(streams[8 * 40], 0, Kind::vector_write, {7, 0, 1, 15});
  add(streams[8 * 3], 900, Kind::vector_read, {7, 0, 1, 15});
  EXPECT_EQ(replay(streams, streams.size(), 1).xcds[0][TCC_BUBBLE_sum], 0u) << "the read hit";
}

TEST(Replay, OfALaunchThatFailedHasTheWorkgroupsThatRan) {
  std::mt19937 random(10);
  auto streams = random_launch(random, 400);
  // XCD 3 lacks one of its first workgroups, XCD 4 all behind its tenth, XCD 5 all.
  std::erase_if(streams, [](const MemoryStream& s) {
    const std::uint64_t xcd = s.workgroup % 8;
    return s.workgroup == 3 + 8 * 2 || (xcd == 4 && s.workgroup > 80) || xcd == 5;
  });
  const Outcome outcome = replay(streams, 400, 1);
  for (std::uint32_t x = 0; x < 8; ++x) {
    const SlowXcd slow(kMachines[0], streams, x, 1);
    for (const Counter c : {TCC_REQ_sum, TCC_HIT_sum, TCC_WRITEBACK_sum})
      EXPECT_EQ(outcome.xcds[x][c], slow.count[c]) << "XCD " << x;
  }
  EXPECT_GT(outcome.xcds[4][TCC_REQ_sum], 0u);
  EXPECT_EQ(total(replay({}, 400, 1))[TCC_REQ_sum], 0u);
}

// ---- What is served -------------------------------------------------------------------------

TEST(Replay, ServesSitesAndTensors) {
  MemoryStream s;
  s.workgroup = 0;
  s.steps = 10;
  add(s, 0, Kind::vector_read, {10, 1, 3, 15}, 1);            // tensor 0, three lines
  add(s, 1, Kind::vector_read, {10, 1, 3, 15}, 2);            // again: vL1D has them
  add(s, 2, Kind::vector_write, {kTensorLines, 0, 1, 5}, 3);  // tensor 1, a quarter of each half
  add(s, 3, Kind::vector_write, {kTensorLines, 0, 1, 3}, 3);
  const TensorLines lines(tensors());
  Replay replay({1, 1, kSites}, lines);
  replay.deposit(std::make_unique<MemoryStream>(s));
  replay.finish(2);
  const Xcd& xcd = *replay.xcds()[0];
  EXPECT_TRUE(xcd.done());
  EXPECT_EQ(xcd.sites()[1].l2_reads, 3u);
  EXPECT_EQ(xcd.sites()[1].l2_misses, 3u);
  EXPECT_EQ(xcd.sites()[1].fabric_read_bytes, 3u * 128);
  EXPECT_EQ(xcd.sites()[2].l2_reads, 0u);
  EXPECT_EQ(xcd.sites()[3].l2_writes, 3u);
  EXPECT_EQ(xcd.sites()[3].l2_misses, 1u);
  EXPECT_EQ(xcd.sites()[3].l2_hits, 2u);
  EXPECT_EQ(xcd.tensors()[0].fabric_read_bytes, 3u * 128);
  EXPECT_EQ(xcd.tensors()[1].fabric_read_bytes, 0u);  // a write allocates without fetching
  EXPECT_EQ(xcd.tensors()[1].fabric_written_bytes, 96u);
  EXPECT_EQ(replay.touched(0).lines_read, 3u);
  EXPECT_EQ(replay.touched(0).lines_read_by_xcds, 3u);
  EXPECT_EQ(replay.touched(1).sectors_written, 2u);
  // 32-byte quarters of a half: the lower half is whole, the upper is not.
  EXPECT_EQ(xcd.counters()[TCC_EA0_WRREQ_sum], 2u);
  EXPECT_EQ(xcd.counters()[TCC_EA0_WRREQ_64B_sum], 1u);
  // One SQC fetched twice 256 bytes of code in requests of 64; L2 in four lines.
  EXPECT_EQ(xcd.counters()[SQC_ICACHE_MISSES], 2u);
  EXPECT_EQ(xcd.counters()[SQC_TC_INST_REQ], 8u);
  EXPECT_EQ(xcd.counters()[TCC_MISS_sum], 3u + 1 + 4);
  EXPECT_EQ(replay.xcds()[1]->counters(), Counters{});
}

TEST(Replay, WhatXcdsReadEachForThemselves) {
  // Workgroups 0, 1 and 8 are on XCDs 0, 1 and 0.
  const TensorLines lines(tensors());
  Replay replay({9, 1, kSites}, lines);
  for (std::uint64_t n = 0; n < 9; ++n) {
    MemoryStream s;
    s.workgroup = n;
    s.steps = 10;
    if (n == 0 || n == 1 || n == 8) add(s, 0, Kind::vector_read, {10, 1, 4, 15});
    if (n == 1) add(s, 1, Kind::vector_read, {100, 1, 2, 15});
    replay.deposit(std::make_unique<MemoryStream>(s));
  }
  replay.finish(0);
  EXPECT_EQ(replay.touched(0).lines_read, 6u);
  EXPECT_EQ(replay.touched(0).lines_read_by_xcds, 4u + 6u);
  EXPECT_EQ(replay.touched(1).lines_read, 0u);
  EXPECT_EQ(replay.touched(2).lines_read_by_xcds, 0u);  // no tensor
}

TEST(Replay, L2GivesUpTheOldestOfASet) {
  // 5 MiB through 4 MiB of L2, twice over: nothing is left of the first pass.
  constexpr std::uint32_t kLines = 5 * 8192;
  MemoryStream s;
  s.workgroup = 0;
  s.steps = 10;
  add(s, 0, Kind::vector_write, {0, 1, kLines, 15});
  add(s, 1, Kind::vector_read, {0, 1, kLines, 15});
  const TensorLines lines(tensors());
  Replay replay({1, 1, kSites}, lines);
  replay.deposit(std::make_unique<MemoryStream>(s));
  replay.finish(0);
  const Counters& c = replay.xcds()[0]->counters();
  EXPECT_EQ(c[TCC_BUBBLE_sum], kLines);
  EXPECT_EQ(c[TCC_NORMAL_EVICT_sum], 2 * kLines - 4 * 8192);
  EXPECT_EQ(c[TCC_WRITEBACK_sum], kLines);
  EXPECT_EQ(c[TCC_NORMAL_WRITEBACK_sum], kLines);
  EXPECT_EQ(c[TCC_ALL_TC_OP_WB_WRITEBACK_sum], 0u);
}

TEST(Replay, TheVectorCacheKeepsWhatFitsAtAnyStride) {
  for (const std::int64_t stride : {1, 4, 6, 8, 12, 32, 256}) {
    // Twice over: what fits is read once, one line more drives all the others out.
    for (const std::uint32_t lines : {256u, 257u}) {
      MemoryStream s;
      s.workgroup = 0;
      s.steps = 10;
      add(s, 0, Kind::vector_read, {1000, stride, lines, 15});
      add(s, 1, Kind::vector_read, {1000, stride, lines, 15});
      const TensorLines tensor_lines(tensors());
      Replay replay({1, 1, kSites}, tensor_lines);
      replay.deposit(std::make_unique<MemoryStream>(s));
      replay.finish(0);
      EXPECT_EQ(replay.xcds()[0]->counters()[TCP_TCC_READ_REQ_sum],
                lines == 256 ? lines : 2 * lines)
          << lines << " lines, " << stride << " apart";
    }
  }
}

struct Access {
  Kind kind = Kind::vector_read;
  LineRun lines;
};

/// What a wave's accesses ask of the memory system.
std::vector<timing::MemoryWork> work_of(const std::vector<Access>& accesses) {
  MemoryStream s;
  s.workgroup = 0;
  s.recording = std::make_shared<timing::WorkgroupRecording>();
  timing::WaveRecording& wave = s.recording->waves.emplace_back();
  wave.instructions.assign(accesses.size(), 0);
  wave.memory.resize(accesses.size());
  for (std::uint32_t n = 0; n < accesses.size(); ++n) {
    add(s, n, accesses[n].kind, accesses[n].lines);
    s.events.back().work = n;
  }
  s.steps = static_cast<std::uint32_t>(accesses.size());
  const TensorLines lines(tensors());
  Replay replay({1, 1, kSites}, lines);
  replay.deposit(std::make_unique<MemoryStream>(s));
  replay.finish(0);
  return replay.xcds()[0]->recorded()[0].workgroup->waves[0].memory;
}

TEST(Replay, AStoreToALineThatWasReadHasToGoBackToMemoryOnce) {
  const auto line = [](std::uint8_t quarters) { return LineRun{5, 0, 1, quarters}; };
  const auto updated = work_of({{Kind::vector_read, line(15)},
                                {Kind::vector_write, line(3)},
                                {Kind::vector_write, line(12)},
                                {Kind::vector_write, line(15)}});
  EXPECT_EQ(updated[0].far_lines, 1u) << "is read from memory";
  EXPECT_EQ(updated[1].far_lines, 1u) << "makes the line dirty";
  EXPECT_EQ(updated[2].far_lines, 0u) << "is dirty already";
  EXPECT_EQ(updated[3].far_lines, 0u);
  const auto written = work_of({{Kind::vector_write, line(15)}, {Kind::vector_write, line(15)}});
  EXPECT_EQ(written[0].far_lines, 1u) << "one line, two sectors";
  EXPECT_EQ(written[0].l2_lines, 2u);
  EXPECT_EQ(written[1].far_lines, 0u);
}

TEST(Replay, LinesThatLoadsBringAreInFourBanks) {
  const auto work = work_of({{Kind::vector_read, {100, 1, 64, 15}},
                             {Kind::vector_read, {100, 1, 64, 15}},
                             {Kind::vector_read, {201, 1, 5, 15}},
                             {Kind::vector_read, {1000, 4, 64, 15}},
                             {Kind::vector_write, {2000, 4, 64, 15}}});
  EXPECT_EQ(work[0].bank_lines, 16u);
  EXPECT_EQ(work[1].bank_lines, 0u) << "vL1D has them";
  EXPECT_EQ(work[2].bank_lines, 2u);
  EXPECT_EQ(work[3].bank_lines, 64u) << "all in one";
  EXPECT_EQ(work[4].bank_lines, 0u) << "stores bring none";
}

TEST(Replay, ScalarLoadsOfKernelArgumentsSayWhichLinesTheyRead) {
  MemoryStream s;
  s.workgroup = 0;
  s.recording = std::make_shared<timing::WorkgroupRecording>();
  timing::WaveRecording& wave = s.recording->waves.emplace_back();
  wave.instructions.assign(2, 0);
  wave.memory.resize(2);
  for (std::uint32_t n = 0; n < 2; ++n) {
    add(s, n, Kind::scalar_read, {600, 0, 1, 3});
    s.events.back().argument_lines = 2;
    s.events.back().work = n;
  }
  s.steps = 2;
  const TensorLines lines(tensors());
  Replay replay({1, 1, kSites}, lines);
  replay.deposit(std::make_unique<MemoryStream>(s));
  replay.finish(0);
  const auto& memory = replay.xcds()[0]->recorded()[0].workgroup->waves[0].memory;
  EXPECT_EQ(memory[0].argument_lines, 2u);
  EXPECT_EQ(memory[0].l2_lines, 0u) << "L2 does not keep them";
  EXPECT_EQ(memory[1].argument_lines, 2u);
}

}  // namespace
}  // namespace margay::profile
