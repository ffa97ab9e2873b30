#include "timing/launch/launch_replay.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <thread>
#include <utility>

namespace margay::timing {
namespace {

void add(Busy& sum, const Busy& more) {
  sum.valu += more.valu;
  sum.matrix += more.matrix;
  sum.scalar += more.scalar;
  sum.lds += more.lds;
  sum.vector_cache += more.vector_cache;
  sum.l2 += more.l2;
  sum.fabric += more.fabric;
  sum.memory += more.memory;
}

void add(std::vector<SiteTime>& sum, const std::vector<SiteTime>& more) {
  for (std::size_t n = 0; n < sum.size(); ++n) {
    sum[n].hits += more[n].hits;
    sum[n].latency += more[n].latency;
    for (unsigned s = 0; s < kStalls; ++s) sum[n].stalls[s] += more[n].stalls[s];
    sum[n].exposed += more[n].exposed;
    sum[n].lost += more[n].lost;
    sum[n].flight += more[n].flight;
    sum[n].unhidden += more[n].unhidden;
  }
}

/// Cycles of a compute unit that runs `wanted` workgroups, when `time` has the first of them: the
/// others go on at the pace of the last generation. The first one waits for code and arguments,
/// which come for all of its workgroups at once; the second one is the first that the dispatcher
/// spreads.
double extrapolated(const ComputeUnitTime& time, std::uint32_t resident, double wanted) {
  std::vector<double> ends = time.workgroup_end;
  std::ranges::sort(ends);
  std::size_t first = 2 * std::size_t{resident};
  while (first >= ends.size()) first -= resident;
  const double began = first == 0 ? 0 : ends[first - 1];
  double pace = (ends.back() - began) / static_cast<double>(ends.size() - first);
  // L2 takes what a few workgroups write without waiting, but not what a long launch does.
  pace = std::max(pace,
                  std::max(time.busy.fabric, time.busy.memory) / static_cast<double>(ends.size()));
  return time.cycles + (wanted - static_cast<double>(ends.size())) * pace;
}

/// How many waves a SIMD had on average, over equal parts of the longest unit's time.
void add_occupancy(const std::vector<ComputeUnitTime>& times, unsigned simds, ReplayedLaunch& out) {
  constexpr std::size_t kParts = 64;
  for (const ComputeUnitTime& time : times)
    out.occupancy_cycles = std::max(out.occupancy_cycles, time.cycles);
  if (out.occupancy_cycles == 0) return;
  out.occupancy.assign(kParts, 0);
  const double part = out.occupancy_cycles / kParts;
  double waves = 0;
  const double one = 1 / (part * simds * static_cast<double>(times.size()));
  for (const ComputeUnitTime& time : times)
    for (const WaveLife& life : time.lives) {
      waves += life.end - life.begin;
      for (auto n = static_cast<std::size_t>(life.begin / part); n < kParts; ++n) {
        const double begin = static_cast<double>(n) * part;
        const double there = std::min(life.end, begin + part) - std::max(life.begin, begin);
        if (there <= 0) break;
        out.occupancy[n] += one * there;
      }
    }
  out.waves_per_simd = waves / out.simds.all();
}

/// Whether it makes a difference in which order they begin.
bool are_uneven(const std::vector<std::uint32_t>& lengths) {
  constexpr double kEven = 1.05;
  if (lengths.empty()) return false;
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  const auto working = static_cast<double>(lengths.size() - std::ranges::count(lengths, 0u));
  return std::ranges::max(lengths) * working > kEven * sum;
}

/// Of the workgroups that a compute unit runs.
double instructions_of_all(const ComputeUnitRecording& cu) {
  double sum = 0;
  for (const WorkgroupRecording* const group : cu.workgroups) sum += instructions_of(*group);
  return sum;
}

/// Calls `task` for each number below `count`.
template <typename Task>
void in_parallel(std::size_t count, unsigned threads, Task task) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < count; n = next++) task(n);
  };
  std::vector<std::jthread> others;
  for (std::size_t n = 1; n < std::min<std::size_t>(threads, count); ++n) others.emplace_back(work);
  work();
}

}  // namespace

LaunchReplay::LaunchReplay(const LaunchRecording& launch, const Gpu& gpu,
                           const Parameters& parameters, unsigned host_threads)
    : launch_(launch),
      gpu_(gpu),
      parameters_(parameters),
      host_threads_(host_threads),
      cus_(launch.cus) {
  const auto grid = static_cast<double>(launch.grid);
  active_ = std::min<double>(grid, gpu.compute_units());
  most_ = std::ceil(grid / active_);
  least_ = std::floor(grid / active_);
  for (const WorkgroupRecording& group : launch.workgroups) instructions_ += instructions_of(group);
  instructions_ /= static_cast<double>(std::max<std::size_t>(launch.workgroups.size(), 1));
  if (launch.workgroup_instructions > 0) instructions_ = launch.workgroup_instructions;
  std::vector<std::uint32_t> of_cus;
  for (const ComputeUnitRecording& cu : cus_)
    of_cus.push_back(static_cast<std::uint32_t>(std::llround(instructions_of_all(cu))));
  are_alike_ = !are_uneven(of_cus);
  is_uneven_ = !launch.is_whole() && are_uneven(launch.lengths);
}

LaunchReplay LaunchReplay::on(const Gpu& gpu, const Parameters& parameters) const {
  LaunchReplay out(launch_, gpu, parameters, host_threads_);
  // A sample is of one compute unit's work, whichever it is.
  if (!launch_.is_whole() || gpu.compute_units() == gpu_.compute_units()) return out;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ComputeUnitRecording> dealt;
  std::vector<const WorkgroupRecording*> workgroups;
  for (const WorkgroupRecording& group : launch_.workgroups) workgroups.push_back(&group);
  std::ranges::sort(workgroups, {}, &WorkgroupRecording::id);
  for (const WorkgroupRecording* const group : workgroups) {
    const auto xcd = static_cast<std::uint32_t>(group->id % gpu.xcds);
    const auto cu = static_cast<std::uint32_t>(group->id / gpu.xcds % gpu.cus_per_xcd);
    ComputeUnitRecording& unit = dealt[{xcd, cu}];
    unit.xcd = xcd;
    unit.cu = cu;
    unit.workgroups.push_back(group);
  }
  out.cus_.clear();
  for (auto& [place, unit] : dealt) out.cus_.push_back(std::move(unit));
  return out;
}

std::vector<std::size_t> LaunchReplay::some(double most, std::size_t most_units) const {
  const double of_one =
      std::max(1.0, instructions_ * std::min<double>(most_, kGenerations * launch_.resident));
  const std::size_t all = cus_.size();
  const std::size_t count =
      std::min({all, static_cast<std::size_t>(std::max(most / of_one, 2.0)), most_units});
  std::vector<std::size_t> out;
  // Of phases those in the middle of equal parts of the launch.
  const std::size_t half = launch_.has_phases() ? all / (2 * count) : 0;
  for (std::size_t n = 0; n < count; ++n) out.push_back(n * all / count + half);
  return out;
}

std::vector<std::size_t> LaunchReplay::enough(double most) const {
  if (!launch_.is_whole()) return some(most);
  std::vector<std::size_t> every(cus_.size());
  std::iota(every.begin(), every.end(), std::size_t{0});
  return every;
}

ReplayedLaunch LaunchReplay::all(double ghz, const TimeConfig& config) const {
  return replayed(enough(config.most_instructions), ghz, {}, config.latencies);
}

ReplayedLaunch LaunchReplay::few(double ghz, const Change& change) const {
  constexpr double kMostInstructions = 2e5, kOfAlike = 1e5;
  constexpr std::size_t kMostUnits = 32, kUnitsOfAlike = 8;
  std::vector<std::size_t> cus =
      are_alike_ ? some(kOfAlike, kUnitsOfAlike) : some(kMostInstructions, kMostUnits);
  // The one that ends last decides how long a whole launch takes.
  if (const std::size_t last = longest();
      launch_.is_whole() && std::ranges::find(cus, last) == cus.end())
    cus.push_back(last);
  return replayed(cus, ghz, change, false);
}

std::size_t LaunchReplay::longest() const {
  return static_cast<std::size_t>(std::ranges::max_element(cus_, {}, instructions_of_all) -
                                  cus_.begin());
}

Share LaunchReplay::share(double ghz, double active) const {
  Share share;
  share.clock_ghz = ghz;
  share.active_cus = static_cast<std::uint32_t>(std::max(1.0, active));
  share.active_cus_per_xcd = std::max(1u, (share.active_cus + gpu_.xcds - 1) / gpu_.xcds);
  share.infinity_cache_hits = launch_.infinity_cache_hits;
  share.infinity_cache_write_hits = launch_.infinity_cache_write_hits;
  share.infinity_cache_ready = launch_.infinity_cache_ready;
  constexpr double kGiB = 1 << 30;
  const double reach = parameters_.translated_gib * kGiB;
  if (reach > 0 && launch_.touched_bytes > reach)
    share.untranslated = 1 - reach / launch_.touched_bytes;
  share.code_is_warm = launch_.is_warm;
  // The host wrote the arguments of a launch in a loop a moment ago, by way of the Infinity Cache.
  share.arguments_ns = launch_.host_arguments && !gpu_.is_apu ? parameters_.host_arguments_ns
                       : launch_.is_warm                      ? parameters_.infinity_cache_ns
                                                              : parameters_.arguments_ns;
  return share;
}

Occupants LaunchReplay::occupants(const Change& change) const {
  std::uint32_t resident = launch_.resident;
  // Where there is not as much, it has the second buffer already.
  if (change.half_the_barriers && launch_.resident_with_twice_the_lds != 0)
    resident = std::min(resident, launch_.resident_with_twice_the_lds);
  Occupants occupants{resident + change.additional_workgroups, 0};
  if (!launch_.is_whole())
    occupants.workgroups =
        static_cast<std::uint32_t>(std::min<double>(kGenerations * occupants.resident, most_));
  return occupants;
}

Timeline LaunchReplay::timeline(double ghz, double active, std::uint64_t traced) const {
  constexpr std::size_t kMostSpans = 1 << 16;
  const Share share = this->share(ghz, active);
  Timeline out;
  for (const std::size_t n : enough()) {
    const ComputeUnitRecording& cu = cus_[n];
    ComputeUnitTimeline unit{static_cast<std::uint32_t>(traced)};
    const ComputeUnitTime time = replay(cu, launch_.instructions, occupants({}), gpu_, parameters_,
                                        share, {}, {.latencies = true, .timeline = &unit});
    const auto first = static_cast<std::uint32_t>(out.workgroups.size());
    const std::size_t recorded = cu.workgroups.size();
    for (std::size_t place = 0; place < time.workgroup_begin.size(); ++place) {
      const double begin = time.workgroup_begin[place], end = time.workgroup_end[place];
      out.workgroups.push_back({cu.workgroups[place % recorded]->id, cu.xcd, cu.cu,
                                static_cast<std::uint32_t>(std::llround(begin)),
                                static_cast<std::uint32_t>(std::llround(end - begin)),
                                place >= recorded});
    }
    std::ranges::sort(unit.waves, {}, [](const WaveTimeline& wave) {
      return std::pair(wave.workgroup, wave.wave);
    });
    for (WaveTimeline& wave : unit.waves) {
      wave.workgroup += first;
      out.waves.push_back(std::move(wave));
    }
    std::vector<std::pair<double, double>> lives;
    for (const WaveLife& life : time.lives) lives.emplace_back(life.begin, life.end);
    out.occupancy.push_back({cu.xcd, cu.cu, gpu_.arch().cu.simds, counts_of(lives)});
    traced -= std::min<std::uint64_t>(traced, time.workgroup_begin.size());
    if (out.workgroups.size() > kMostSpans) break;
  }
  return out;
}

double LaunchReplay::work_of_one(const std::vector<std::size_t>& cus,
                                 const Occupants& occupants) const {
  double instructions = 0, workgroups = 0;
  for (const std::size_t n : cus) {
    const auto& recorded = cus_[n].workgroups;
    const std::size_t count = occupants.workgroups != 0 ? occupants.workgroups : recorded.size();
    for (std::size_t place = 0; place < count; ++place)
      instructions += instructions_of(*recorded[place % recorded.size()]);
    workgroups += static_cast<double>(count);
  }
  const double of_mean = launch_.equivalent_workgroups / static_cast<double>(launch_.grid);
  return instructions > 0 ? of_mean * instructions_ * workgroups / instructions : of_mean;
}

double LaunchReplay::part_of_phase(std::size_t cu, const std::vector<std::size_t>& cus) const {
  if (!launch_.has_phases()) return 1;
  double sum = 0;
  for (const std::size_t n : cus) sum += cus_[n].phase_instructions;
  return cus_[cu].phase_instructions * static_cast<double>(cus.size()) / sum;
}

double LaunchReplay::cycles_of(double workgroups, const std::vector<std::size_t>& cus,
                               const std::vector<ComputeUnitTime>& times,
                               const Occupants& occupants) const {
  double work = workgroups * work_of_one(cus, occupants), sum = 0;
  for (std::size_t n = 0; n < cus.size(); ++n) {
    // A phase has its own work, in workgroups of its own length.
    if (launch_.has_phases())
      work = workgroups * work_of_one({cus[n]}, occupants) * part_of_phase(cus[n], cus);
    sum += extrapolated(times[n], occupants.resident, work);
  }
  return sum / static_cast<double>(times.size());
}

double LaunchReplay::slowest_of(const std::vector<std::size_t>& cus,
                                const std::vector<ComputeUnitTime>& times,
                                const Occupants& occupants) const {
  double sum = 0, slowest = 0;
  for (std::size_t n = 0; n < cus.size(); ++n) {
    if (launch_.has_phases() || most_ > occupants.resident ||
        static_cast<double>(cus_[cus[n]].workgroups.size()) < least_)
      return 1;
    sum += times[n].cycles;
    slowest = std::max(slowest, times[n].cycles);
  }
  return sum > 0 ? slowest * static_cast<double>(times.size()) / sum : 1;
}

std::vector<ComputeUnitTime> LaunchReplay::times_of(const std::vector<std::size_t>& cus,
                                                    const Occupants& occupants, const Share& share,
                                                    const Change& change, bool latencies) const {
  std::vector<ComputeUnitTime> out(cus.size());
  in_parallel(cus.size(), host_threads_, [&](std::size_t n) {
    out[n] = replay(cus_[cus[n]], launch_.instructions, occupants, gpu_, parameters_, share, change,
                    {.latencies = latencies});
  });
  return out;
}

Speeds LaunchReplay::speeds(std::uint32_t resident, const Share& share) const {
  // Workgroups that are all alike: one that has as much to do as any, in the middle of phases.
  ComputeUnitRecording cu = cus_[launch_.has_phases() ? cus_.size() / 2 : 0];
  cu.workgroups = {*std::ranges::max_element(
      cu.workgroups, {}, [](const WorkgroupRecording* group) { return instructions_of(*group); })};
  Speeds out;
  for (std::uint32_t now = 1; out.size() < resident; now = std::min(2 * now, resident)) {
    // The first ones wait for code and arguments.
    const ComputeUnitTime time =
        replay(cu, launch_.instructions, {now, 2 * now}, gpu_, parameters_, share, {}, {});
    std::vector<double> ends = time.workgroup_end;
    std::ranges::sort(ends);
    const std::size_t from = out.size();
    const double before = out.empty() ? 0 : out.back();
    const double speed = std::max(before, now / std::max(1.0, ends.back() - ends[now - 1]));
    for (std::size_t more = 1; more <= now - from; ++more)
      out.push_back(
          std::lerp(before, speed, static_cast<double>(more) / static_cast<double>(now - from)));
  }
  return out;
}

// A workgroup's life is its beginning, which does not depend on its length, and its steps: a line
// through the shortest and the longest that were recorded.
LaunchReplay::Lives LaunchReplay::lives(const Share& share, const Change& change) const {
  std::vector<const WorkgroupRecording*> groups;
  for (const ComputeUnitRecording& cu : cus_)
    groups.insert(groups.end(), cu.workgroups.begin(), cu.workgroups.end());
  const auto [shortest, longest] = std::ranges::minmax(
      groups, {}, [](const auto* group) { return std::pair(instructions_of(*group), group->id); });
  const auto life = [&](const WorkgroupRecording* group) {
    ComputeUnitRecording cu = cus_.front();
    cu.workgroups = {group};
    return replay(cu, launch_.instructions, {1, 1}, gpu_, parameters_, share, change, {}).cycles;
  };
  const double most = instructions_of(*longest), least = instructions_of(*shortest);
  const double end = life(longest);
  const double pace = most > least ? (end - life(shortest)) / (most - least) : end / most;
  const auto of = [&](double instructions) { return end + (instructions - most) * pace; };
  const double all = std::accumulate(launch_.lengths.begin(), launch_.lengths.end(), 0.0);
  return {of(std::ranges::max(launch_.lengths)), of(all / static_cast<double>(launch_.grid))};
}

double LaunchReplay::imbalance(const std::vector<std::size_t>& cus, const Occupants& occupants,
                               const Share& share, const Change& change) const {
  const auto [known, is_new] =
      imbalances_.try_emplace({occupants.resident, cus.size(), change.longest_first}, 1.0);
  if (!is_new) return known->second;
  const Speeds speeds = this->speeds(occupants.resident, share);
  const auto evenly = [](const std::vector<std::uint32_t>& work, std::uint64_t count) {
    const double sum = std::accumulate(work.begin(), work.end(), 0.0);
    return std::vector(count,
                       static_cast<std::uint32_t>(std::llround(sum / static_cast<double>(count))));
  };
  std::vector<std::uint32_t> work = launch_.lengths;
  if (change.longest_first) std::ranges::sort(work, std::ranges::greater{});
  const double of_launch =
      makespan(work, gpu_, speeds) / makespan(evenly(work, launch_.grid), gpu_, speeds);
  // What was replayed has its own share of it.
  double of_sample = 0;
  for (const std::size_t n : cus) {
    const auto& recorded = cus_[n].workgroups;
    work.clear();
    for (std::size_t place = 0; place < occupants.workgroups; ++place)
      work.push_back(
          static_cast<std::uint32_t>(instructions_of(*recorded[place % recorded.size()])));
    of_sample += makespan_of_one(work, speeds) /
                 makespan_of_one(evenly(work, work.size()), speeds) /
                 static_cast<double>(cus.size());
  }
  return known->second = of_launch / of_sample;
}

double LaunchReplay::dispatch_cycles(const Change& change) const {
  const double waves =
      launch_.workgroups.empty() ? 1 : static_cast<double>(launch_.workgroups.front().waves.size());
  return parameters_.dispatch_cycles(waves) / change.dispatch_speed / gpu_.xcds *
         static_cast<double>(launch_.grid + launch_.ended_at_once);
}

// Compute units that have nothing left to do leave their part of the bandwidth to the others. A
// part for each of those that work on average makes the whole take what its bytes take.
ReplayedLaunch LaunchReplay::replayed(const std::vector<std::size_t>& cus, double ghz,
                                      const Change& change, bool latencies) const {
  constexpr double kEven = 0.97;
  ReplayedLaunch out = replayed_by(active_, cus, ghz, change, latencies);
  if (active_ > 1 && out.mean < kEven * out.cycles)
    out = replayed_by(active_ * out.mean / out.cycles, cus, ghz, change, latencies);
  // However little workgroups do, each is started.
  out.dispatch = dispatch_cycles(change);
  out.cycles = std::max(out.cycles, out.dispatch);
  out.mean = std::max(out.mean, out.dispatch);
  return out;
}

ReplayedLaunch LaunchReplay::replayed_by(double active, const std::vector<std::size_t>& cus,
                                         double ghz, const Change& change, bool latencies) const {
  const Share share = this->share(ghz, active);
  const Occupants occupants = this->occupants(change);
  ReplayedLaunch out;
  out.active = active;
  out.sites.resize(launch_.instructions.size());
  const std::vector<ComputeUnitTime> times = times_of(cus, occupants, share, change, latencies);
  if (is_uneven_ && most_ <= 1) {
    const Lives lives = this->lives(share, change);
    out.cycles = lives.longest;
    out.mean = lives.mean;
  } else if (!launch_.is_whole()) {
    const double last = is_uneven_ ? this->imbalance(cus, occupants, share, change)
                                   : slowest_of(cus, times, occupants);
    out.cycles = cycles_of(most_, cus, times, occupants);
    out.mean = out.cycles;
    if (least_ < most_) {
      // Workgroups that run at the same time do not take as long as the same one after the other.
      Occupants fewer = occupants;
      fewer.workgroups = static_cast<std::uint32_t>(least_);
      const double shorter =
          least_ < occupants.resident
              ? cycles_of(least_, cus, times_of(cus, fewer, share, change, false), fewer)
              : cycles_of(least_, cus, times, occupants);
      const double with_most = static_cast<double>(launch_.grid) / active_ - least_;
      out.mean = with_most * out.cycles + (1 - with_most) * shorter;
    }
    out.cycles *= last;
  }
  for (const ComputeUnitTime& time : times) {
    if (launch_.is_whole()) {
      out.cycles = std::max(out.cycles, time.cycles);
      out.mean += time.cycles / static_cast<double>(cus.size());
    }
    out.cu_cycles += time.cycles;
    add(out.busy, time.busy);
    add(out.sites, time.sites);
    out.simds += time.simds;
  }
  if (latencies) add_occupancy(times, gpu_.arch().cu.simds, out);
  return out;
}

}  // namespace margay::timing
