#include "observe/check/global_races.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

namespace margay::check {
namespace {

constexpr std::size_t kCompactAt = 1 << 15;

/// All in which two runs must agree to become one, as a number: sorting is most of the work.
std::uint64_t kind_of(const Run& r) {
  const unsigned flags = (r.is_write ? 1u : 0) | (r.is_atomic ? 2u : 0) | (r.acquired ? 4u : 0) |
                         (r.released ? 8u : 0);
  return std::uint64_t{r.vaddr} << 8 | flags;
}
/// An order in which neighbours that can be merged stand together; of one workgroup's runs.
bool before(const Run& a, const Run& b) {
  const std::uint64_t kind_a = kind_of(a), kind_b = kind_of(b);
  if (kind_a != kind_b) return kind_a < kind_b;
  if (a.begin != b.begin) return a.begin < b.begin;
  return std::tie(a.end, a.digest, a.wave, a.lane) < std::tie(b.end, b.digest, b.wave, b.lane);
}
/// By address, and the same whichever workgroup ran first.
bool before_in_memory(const Run& a, const Run& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  return std::tuple(a.end, a.workgroup, kind_of(a)) < std::tuple(b.end, b.workgroup, kind_of(b));
}

[[nodiscard]] bool overlap(const Run& a, const Run& b) {
  return a.begin < b.end && b.begin < a.end;
}
[[nodiscard]] bool conflict(const Run& a, const Run& b) {
  return (a.is_write || b.is_write) && !(a.is_atomic && b.is_atomic) && overlap(a, b);
}

/// Two writes that left the same, as far as their digests tell.
[[nodiscard]] bool same_value(const Run& a, const Run& b) {
  return a.is_write && b.is_write && !a.is_atomic && !b.is_atomic && !a.mixed && !b.mixed &&
         a.begin == b.begin && a.end == b.end && a.digest == b.digest;
}
/// Adds `run`, which touches `into` and begins no earlier, to it; `into` ends with `last`.
void append(Run& into, const Run& last, const Run& run) {
  const bool repeated = run.begin == last.begin && run.end == last.end && run.digest == last.digest;
  into.mixed |= run.mixed || (!repeated && run.begin != into.end);
  if (!repeated) into.digest += run.digest;
  into.end = std::max(into.end, run.end);
}

}  // namespace

std::uint64_t digest_of(std::uint64_t address, const std::uint8_t* value, unsigned bytes) {
  std::uint64_t sum = 0;
  for (unsigned n = 0; n < bytes;) {
    const std::uint64_t at = address + n;
    // One factor per dword, so that a dword and its four bytes have the same sum.
    std::uint64_t factor = at / 4 * 0x9e3779b97f4a7c15;
    factor = (factor ^ factor >> 32) * 0xd6e8feb86659fd93 | 1;
    std::uint64_t part = value[n];
    const unsigned step = at % 4 == 0 && n + 4 <= bytes ? 4 : 1;
    for (unsigned b = 1; b < step; ++b) part |= std::uint64_t{value[n + b]} << (8 * b);
    sum += (part << (8 * (at % 4))) * factor;
    n += step;
  }
  return sum;
}

void compact(std::vector<Run>& runs) {
  std::ranges::sort(runs, before);
  std::size_t kept = 0;
  Run previous;
  for (std::size_t n = 0; n < runs.size(); ++n) {
    const Run run = runs[n];
    Run* const last = kept == 0 ? nullptr : &runs[kept - 1];
    if (last != nullptr && kind_of(*last) == kind_of(runs[n]) && runs[n].begin <= last->end) {
      append(*last, previous, run);
    } else {
      runs[kept++] = run;
    }
    previous = run;
  }
  runs.resize(kept);
}

void GlobalRaces::begin_workgroup(std::uint64_t linear_id) {
  workgroup_ = static_cast<std::uint32_t>(linear_id);
  acquired_ = wrote_ = phase_wrote_ = phase_synchronised_ = false;
  phase_.clear();
  group_.clear();
  last_of_place_.clear();
}

void GlobalRaces::access(const LaneAccess& access, const InstructionFacts& facts, unsigned wave,
                         std::uint32_t phase_step, const LaneDigests& digests) {
  Run run;
  run.workgroup = workgroup_;
  run.vaddr = facts.vaddr;
  run.phase_step = phase_step;
  run.wave = static_cast<std::uint8_t>(wave);
  run.is_write = access.is_write;
  // Accesses of agent scope are how flags are polled: as good as atomics.
  run.is_atomic = access.is_atomic || facts.form.agent_scope;
  run.acquired = acquired_;
  if (run.is_write) phase_wrote_ = wrote_ = true;
  const bool with_value = run.is_write && !access.is_atomic;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t at = access.at[lane];
    if (run.end != 0 && at == run.end) {
      run.end = at + access.bytes;
      if (with_value) run.digest += digests[lane];
      continue;
    }
    if (run.end != 0) phase_.push_back(run);
    run.begin = at;
    run.end = at + access.bytes;
    run.lane = static_cast<std::uint8_t>(lane);
    run.digest = with_value ? digests[lane] : 0;
  }
  if (run.end != 0) phase_.push_back(run);
  if (!phase_wrote_ && phase_.size() > kCompactAt) file_phase();
}

void GlobalRaces::flag() { phase_synchronised_ = true; }

void GlobalRaces::release() {
  if (phase_wrote_ && !phase_synchronised_) compare_waves();
  file_phase();
  last_of_place_.clear();  // what follows is another kind
  for (Run& run : group_) run.released = true;
}

void GlobalRaces::acquire() {
  if (phase_wrote_ && !phase_synchronised_) compare_waves();
  file_phase();
  last_of_place_.clear();
  acquired_ = true;
}

void GlobalRaces::end_phase() {
  if (phase_wrote_ && !phase_synchronised_) compare_waves();
  file_phase();
  phase_wrote_ = phase_synchronised_ = false;
}

void GlobalRaces::file_phase() {
  for (const Run& run : phase_) file(run);
  phase_.clear();
  if (group_.size() > 2 * kCompactAt) {
    compact(group_);
    last_of_place_.clear();
  }
}

void GlobalRaces::file(const Run& run) {
  const std::uint64_t place =
      std::uint64_t{run.vaddr} << 16 | std::uint64_t{run.wave} << 8 | run.lane;
  const auto [at, fresh] =
      last_of_place_.try_emplace(place, static_cast<std::uint32_t>(group_.size()));
  if (!fresh) {
    Run& last = group_[at->second];
    if (kind_of(last) == kind_of(run) && run.begin >= last.begin && run.begin <= last.end) {
      append(last, last, run);
      return;
    }
    at->second = static_cast<std::uint32_t>(group_.size());
  }
  group_.push_back(run);
}

void GlobalRaces::end_workgroup() {
  end_phase();
  compact(group_);
  launch_.insert(launch_.end(), group_.begin(), group_.end());
  group_.clear();
}

// Runs of a phase were made in the order in which the waves ran.
void GlobalRaces::compare_waves() {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> by_address(phase_.size());
  for (std::uint32_t n = 0; n < by_address.size(); ++n) by_address[n] = {phase_[n].begin, n};
  std::ranges::sort(by_address);
  std::vector<std::uint32_t> open;  // runs that reach beyond the current address
  for (const auto& [begin, n] : by_address) {
    const Run& run = phase_[n];
    std::erase_if(open, [&](std::uint32_t o) { return phase_[o].end <= run.begin; });
    for (const std::uint32_t o : open) {
      const Run& other = phase_[o];
      if (other.wave == run.wave || !conflict(run, other)) continue;
      if (n > o)
        report(run, other);
      else
        report(other, run);
    }
    open.push_back(n);
  }
}

void GlobalRaces::report(const Run& later, const Run& earlier) {
  constexpr std::string_view kKind = "global-race";
  const bool benign = same_value(later, earlier);
  const std::string_view extra = benign ? "waves, same value" : "waves";
  const bool earlier_first = earlier.phase_step <= later.phase_step;
  const Run &first = earlier_first ? earlier : later, &second = earlier_first ? later : earlier;
  if (reporter_.repeat(Tool::racecheck, kKind, second.vaddr, first.vaddr, extra)) return;
  const auto word = [](const Run& run) {
    return std::string(run.is_atomic ? "atomic" : run.is_write ? "write" : "read");
  };
  Finding f;
  f.tool = Tool::racecheck;
  f.kind = kKind;
  f.severity = benign ? Severity::note : Severity::error;
  const std::uint64_t begin = std::max(first.begin, second.begin);
  f.message = fmt::format("{}-after-{} race on global memory at {:#x}, {} bytes{}", word(second),
                          word(first), begin, std::min(first.end, second.end) - begin,
                          benign ? ": both waves write the same value" : "");
  f.accesses = {reporter_.access(word(second), second.vaddr, second.wave, second.lane),
                reporter_.access(word(first), first.vaddr, first.wave, first.lane)};
  f.detail.emplace_back("no s_barrier separates the two waves");
  // With a barrier the result would still be one of two.
  const bool both_write = first.is_write && second.is_write;
  f.fix = benign ? Fix::one_writer : both_write ? Fix::own_part : Fix::barrier;
  reporter_.add(std::move(f), extra);
}

// ---- Between workgroups ---------------------------------------------------------------------

namespace {

[[nodiscard]] bool ordered_by_release(const Run& a, const Run& b) {
  return (a.released && b.acquired) || (b.released && a.acquired);
}

/// The atomics of each workgroup. Who has changed a counter atomically knows how far the others
/// are: the last one may then set it back with a plain store.
class Atomics {
 public:
  explicit Atomics(const std::vector<Run>& runs) {
    for (const Run& run : runs)
      if (run.is_atomic && run.is_write) by_workgroup_[run.workgroup].push_back(&run);
  }
  [[nodiscard]] bool also_by(const Run& plain, const Run& atomic) const {
    const auto found = by_workgroup_.find(plain.workgroup);
    return found != by_workgroup_.end() && std::ranges::any_of(found->second, [&](const Run* own) {
             return overlap(*own, plain) && overlap(*own, atomic);
           });
  }

 private:
  std::unordered_map<std::uint32_t, std::vector<const Run*>> by_workgroup_;
};

class ConflictSet {
 public:
  explicit ConflictSet(const Atomics& atomics) : atomics_(atomics) {}

  void add(const Run& a, const Run& b) {
    if (a.workgroup == b.workgroup || !conflict(a, b) || ordered_by_release(a, b)) return;
    if (a.is_atomic != b.is_atomic &&
        (a.is_atomic ? atomics_.also_by(b, a) : atomics_.also_by(a, b)))
      return;
    const bool in_order = std::tie(a.workgroup, a.vaddr) <= std::tie(b.workgroup, b.vaddr);
    const Run &first = in_order ? a : b, &second = in_order ? b : a;
    const bool benign = same_value(first, second);
    const std::uint64_t begin = std::max(a.begin, b.begin), end = std::min(a.end, b.end);
    const auto key = std::tuple(std::min(a.vaddr, b.vaddr), std::max(a.vaddr, b.vaddr), benign);
    auto [at, fresh] = found_.try_emplace(key, Conflict{first, second, benign, begin, end, 1});
    Conflict& known = at->second;
    if (fresh) return;
    const std::uint64_t count = known.count + 1;
    const auto place = [](const Run& f, const Run& s, std::uint64_t at_byte) {
      return std::tuple(f.workgroup, s.workgroup, at_byte, f.vaddr, s.vaddr);
    };
    if (place(first, second, begin) < place(known.first, known.second, known.begin))
      known = {first, second, benign, begin, end, count};
    known.count = count;
  }
  [[nodiscard]] std::vector<Conflict> take() {
    std::vector<Conflict> out;
    for (auto& [key, conflict] : found_) out.push_back(conflict);
    return out;
  }

 private:
  const Atomics& atomics_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Conflict> found_;
};

/// How many runs that are open at one address are compared with each new one: in a launch where
/// every workgroup writes the same bytes, all pairs would be too many to look at.
constexpr std::size_t kMostOpen = 64;

}  // namespace

std::vector<Conflict> conflicts_between_workgroups(std::vector<Run> runs) {
  // Reads matter only where something is written.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> written;
  std::ranges::sort(runs, before_in_memory);
  for (const Run& run : runs) {
    if (!run.is_write) continue;
    if (!written.empty() && run.begin <= written.back().second)
      written.back().second = std::max(written.back().second, run.end);
    else
      written.emplace_back(run.begin, run.end);
  }
  const Atomics atomics(runs);
  ConflictSet conflicts(atomics);
  std::vector<const Run*> open;
  std::size_t next_written = 0;
  for (const Run& run : runs) {
    while (next_written < written.size() && written[next_written].second <= run.begin)
      ++next_written;
    if (next_written == written.size()) break;
    if (written[next_written].first >= run.end) continue;
    std::erase_if(open, [&](const Run* other) { return other->end <= run.begin; });
    for (const Run* const other : open) conflicts.add(run, *other);
    if (open.size() < kMostOpen || run.is_write) open.push_back(&run);
    if (open.size() > 2 * kMostOpen) open.erase(open.begin());
  }
  return conflicts.take();
}

}  // namespace margay::check
