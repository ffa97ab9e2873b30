#include "observe/check/global/global_races.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace margay::check {
namespace {

constexpr std::size_t kCompactAt = 1 << 15;

/// The properties that two runs of one workgroup must share to be merged.
auto kind_of(const Run& r, bool by_wave) {
  const unsigned flags =
      (r.is_write ? 1u : 0) | (r.is_atomic ? 2u : 0) | static_cast<unsigned>(r.scope) << 2;
  const std::uint64_t wave = by_wave ? r.wave : 0;
  return std::tuple(std::uint64_t{r.vaddr} << 16 | wave << 8 | flags,
                    std::uint64_t{r.issued} << 32 | r.completed,
                    std::uint64_t{r.version} << 32 | r.known);
}
/// By address, and independent of the order in which workgroups ran.
bool before_in_memory(const Run& a, const Run& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  return std::tuple(a.end, a.workgroup, kind_of(a, true), a.lane) <
         std::tuple(b.end, b.workgroup, kind_of(b, true), b.lane);
}

[[nodiscard]] bool overlap(const Run& a, const Run& b) {
  return a.begin < b.end && b.begin < a.end;
}
/// `enough`: the scope with which accesses do not race.
[[nodiscard]] bool conflict(const Run& a, const Run& b, Scope enough) {
  return (a.is_write || b.is_write) && !(a.scope >= enough && b.scope >= enough) && overlap(a, b);
}

/// Two plain writes of the same value, according to their digests and memory.
[[nodiscard]] bool same_value(const Run& a, const Run& b, const StillStands& still_stands) {
  if (!a.is_write || !b.is_write || a.is_atomic || b.is_atomic || a.mixed || b.mixed) return false;
  if (a.begin == b.begin && a.end == b.end) return a.digest == b.digest;
  return still_stands(a) && still_stands(b);
}
/// Merges `run`, which is adjacent to `into` and begins no earlier, into it; `into` ends with
/// `last`.
void append(Run& into, const Run& last, const Run& run) {
  const bool repeated = run.begin == last.begin && run.end == last.end && run.digest == last.digest;
  into.mixed |= run.mixed || (!repeated && run.begin != into.end);
  if (!repeated) into.digest += run.digest;
  into.end = std::max(into.end, run.end);
}

/// The runs that access written bytes, by address. Most runs of most kernels are reads of bytes
/// that are never written: they are dropped before the sort.
std::vector<Run> contested(const std::vector<Run>& runs) {
  struct Range {
    std::uint64_t begin, end;
  };
  std::vector<Range> written;
  for (const Run& run : runs)
    if (run.is_write) written.push_back({run.begin, run.end});
  if (written.empty()) return {};
  std::ranges::sort(written, {}, &Range::begin);
  std::size_t kept = 0;
  for (const Range& range : written) {
    if (range.begin <= written[kept].end)
      written[kept].end = std::max(written[kept].end, range.end);
    else
      written[++kept] = range;
  }
  written.resize(kept + 1);
  std::vector<Run> out;
  for (const Run& run : runs) {
    const auto above = std::ranges::upper_bound(written, run.begin, {}, &Range::end);
    if (above != written.end() && above->begin < run.end) out.push_back(run);
  }
  std::ranges::sort(out, before_in_memory);
  return out;
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

namespace {

/// Of what is in memory now; empty where it cannot be read.
std::optional<std::uint64_t> digest_in(const Memory& memory, std::uint64_t begin,
                                       std::uint64_t end) {
  if (begin < end && !memory.accessible_range(begin).contains(begin, end - begin)) return {};
  std::uint64_t sum = 0;
  for (std::uint64_t at = begin; at < end;) {
    const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(end - at, 1 << 16));
    sum += digest_of(at, reinterpret_cast<const std::uint8_t*>(at), bytes);
    at += bytes;
  }
  return sum;
}

}  // namespace

bool stands_in_memory(const Run& run, const Memory& memory) {
  if (run.mixed || !run.is_write || run.is_atomic) return false;
  return digest_in(memory, run.begin, run.end) == run.digest;
}

namespace {

/// A run that others are merged into, none of which begins before it.
class Merged {
 public:
  Merged(const Run& first, const Memory* memory)
      : run_(first), memory_(memory), compared_until_(first.begin) {}
  [[nodiscard]] const Run& run() const { return run_; }

  /// `last` was merged before.
  void append(const Run& last, const Run& run) {
    const bool overlaps = run.begin < run_.end && !(run.begin == last.begin && run.end == last.end);
    // If memory has the bytes of both, they have the same values where they overlap: the digest of
    // what is beyond that is to be added.
    if (overlaps && stands() && stands_in_memory(run, *memory_)) {
      const std::uint64_t end = std::max(run.end, run_.end);
      run_.digest += digest_in(*memory_, run_.end, end).value_or(0);
      run_.end = end;
      return;
    }
    margay::check::append(run_, last, run);
  }

 private:
  /// All of it so far. What was compared before is not compared again.
  bool stands() {
    if (memory_ == nullptr || run_.mixed || !run_.is_write || run_.is_atomic) return false;
    const auto rest = digest_in(*memory_, compared_until_, run_.end);
    if (!rest || compared_ + *rest != run_.digest) return false;
    compared_ += *rest;
    compared_until_ = run_.end;
    return true;
  }

  Run run_;
  const Memory* memory_;
  std::uint64_t compared_until_, compared_ = 0;  // up to there memory has these bytes
};

/// What is sorted: small items that nearly always decide the order by themselves.
struct Entry {
  std::uint64_t begin;
  const Run* run;
};

/// By where they begin. Lanes that access scattered addresses make as many runs, and half
/// of the checker's time was std::sort of them.
void sort_by_begin(std::span<Entry> entries, std::vector<Entry>& scratch) {
  constexpr unsigned kDigitBits = 11;
  constexpr std::size_t kFew = 256;
  if (std::ranges::is_sorted(entries, {}, &Entry::begin)) return;
  if (entries.size() < kFew) {
    std::ranges::sort(entries, {}, &Entry::begin);
    return;
  }
  const auto [least, most] = std::ranges::minmax(entries, {}, &Entry::begin);
  const std::uint64_t from = least.begin, range = most.begin - from;
  scratch.resize(entries.size());
  std::span<Entry> in = entries, out = scratch;
  for (unsigned shift = 0; shift < 64 && range >> shift != 0; shift += kDigitBits) {
    const auto digit = [&](const Entry& entry) {
      return (entry.begin - from) >> shift & ((1u << kDigitBits) - 1);
    };
    std::array<std::uint32_t, 1 << kDigitBits> places{};
    for (const Entry& entry : in) ++places[digit(entry)];
    std::uint32_t place = 0;
    for (std::uint32_t& count : places) place += std::exchange(count, place);
    for (const Entry& entry : in) out[places[digit(entry)]++] = entry;
    std::swap(in, out);
  }
  if (in.data() != entries.data()) std::ranges::copy(in, entries.begin());
}

/// The order of runs of one kind that begin at the same place.
bool before_in_place(const Entry& a, const Entry& b) {
  const Run &x = *a.run, &y = *b.run;
  return std::tie(x.end, x.digest, x.wave, x.lane, x.phase_step) <
         std::tie(y.end, y.digest, y.wave, y.lane, y.phase_step);
}

/// Runs of one kind, by address.
void sort_kind(std::span<Entry> entries, std::vector<Entry>& scratch) {
  sort_by_begin(entries, scratch);
  for (auto first = entries.begin(); first != entries.end();) {
    const auto end = std::find_if(first, entries.end(),
                                  [&](const Entry& entry) { return entry.begin != first->begin; });
    if (end - first > 1) std::sort(first, end, before_in_place);
    first = end;
  }
}

}  // namespace

void drop_middle_polls(std::vector<Run>& runs) {
  const auto is_poll = [](const Run& run) { return run.scope == Scope::agent && !run.is_write; };
  const auto polls = std::ranges::partition(runs, std::not_fn(is_poll));
  const auto place = [](const Run& run) {
    return std::tuple(run.vaddr, run.workgroup, run.wave, run.begin, run.end);
  };
  std::ranges::sort(polls, {}, [&](const Run& run) {
    return std::tuple_cat(place(run), std::tuple(run.issued, run.known, run.version));
  });
  auto kept = polls.begin();
  for (auto first = polls.begin(); first != polls.end();) {
    const auto end = std::find_if(first, polls.end(),
                                  [&](const Run& run) { return place(run) != place(*first); });
    *kept++ = *first;
    if (end - first > 1) *kept++ = *std::prev(end);
    first = end;
  }
  runs.erase(kept, runs.end());
}

void compact(std::vector<Run>& runs, bool by_wave, const Memory* memory) {
  if (runs.size() >= kCompactAt) drop_middle_polls(runs);
  if (runs.empty()) return;
  // Kinds are few, and neighbours are mostly of one.
  std::map<decltype(kind_of(runs[0], by_wave)), std::vector<Entry>> kinds;
  auto last = kinds.end();
  for (const Run& run : runs) {
    const auto kind = kind_of(run, by_wave);
    if (last == kinds.end() || last->first != kind) last = kinds.try_emplace(kind).first;
    last->second.push_back({run.begin, &run});
  }
  std::vector<Run> kept;
  std::vector<Entry> scratch;
  for (auto& [kind, entries] : kinds) {
    sort_kind(entries, scratch);
    std::optional<Merged> merged;
    const Run* previous = nullptr;
    for (const Entry& entry : entries) {
      const Run& run = *entry.run;
      if (merged && run.begin <= merged->run().end) {
        merged->append(*previous, run);
      } else {
        if (merged) kept.push_back(merged->run());
        merged.emplace(run, memory);
      }
      previous = &run;
    }
    kept.push_back(merged->run());
  }
  runs.swap(kept);
}

void GlobalRaces::begin_workgroup(std::uint64_t linear_id, WaveOrder* order, bool between) {
  workgroup_ = static_cast<std::uint32_t>(linear_id);
  order_ = order;
  between_ = between;
  wrote_ = phase_wrote_ = false;
  phase_.clear();
  ++epoch_;
  group_.clear();
  settled_.clear();
  for (auto& pending : pending_) pending.clear();
  last_of_place_.clear();
  compact_at_ = compact_settled_at_ = kCompactAt;
  compact_group_at_ = 2 * kCompactAt;
}

void GlobalRaces::access(const LaneAccess& access, const InstructionFacts& facts, unsigned wave,
                         std::uint32_t phase_step, const LaneDigests& digests,
                         std::uint64_t serial) {
  Run run;
  run.workgroup = workgroup_;
  run.vaddr = facts.vaddr;
  run.phase_step = phase_step;
  run.wave = static_cast<std::uint8_t>(wave);
  run.is_write = access.is_write;
  run.is_atomic = access.is_atomic;
  run.compares = access.is_atomic && facts.compares;
  run.scope = facts.agent_scope ? Scope::agent : facts.scoped ? Scope::workgroup : Scope::none;
  run.issued = run.completed = 1;
  if (order_ != nullptr) {
    order_->used_segment(wave);
    run.issued = run.completed = order_->segment(wave);
    run.version = order_->version(wave);
    const Knowledge& known = order_->of(wave);
    // A load without scope may return what the caches held before they were invalidated.
    run.known = run.is_write || run.scope == Scope::agent ? known.seen : known.acquired;
  }
  if (run.is_write) phase_wrote_ = wrote_ = true;
  const bool repeated = is_repeated(run, access, digests);
  if (repeated && !between_) return;
  const bool with_value = run.is_write && !access.is_atomic;
  const auto add = [&] {
    if (run.end == 0) return;
    if (!repeated) phase_.push_back(run);
    if (between_) pending_[wave].push_back({run, serial});
  };
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t at = access.at[lane];
    if (run.end != 0 && at == run.end) {
      run.end = at + access.bytes;
      if (with_value) run.digest += digests[lane];
      continue;
    }
    add();
    run.begin = at;
    run.end = at + access.bytes;
    run.lane = static_cast<std::uint8_t>(lane);
    run.digest = with_value ? digests[lane] : 0;
  }
  add();
  if (phase_.size() > compact_at_) compact_phase();
}

bool GlobalRaces::is_repeated(const Run& run, const LaneAccess& access,
                              const LaneDigests& digests) {
  std::uint64_t hash = access.bytes;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1)
    hash = (std::rotl(hash, 23) ^ access.at[std::countr_zero(rest)]) * 0x9e3779b97f4a7c15;
  Repeated& last = repeated_[std::uint64_t{run.vaddr} << 8 | run.wave];
  const bool same = last.epoch == epoch_ && last.addresses == hash &&
                    last.active == access.active && last.issued == run.issued &&
                    last.version == run.version && last.known == run.known;
  if (!same) {
    last = {epoch_,
            hash,
            access.active,
            run.issued,
            run.version,
            run.known,
            static_cast<std::uint32_t>(phase_.size())};
    return false;
  }
  if (!run.is_write || access.is_atomic) return true;
  // The same runs as before, with neighbouring lanes merged.
  Run* known = &phase_[last.first];
  std::uint64_t end = 0, sum = 0;
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (end != 0 && access.at[lane] != end) {
      known->mixed |= known->digest != sum;
      ++known;
      sum = 0;
    }
    end = access.at[lane] + access.bytes;
    sum += digests[lane];
  }
  known->mixed |= known->digest != sum;
  return true;
}

// A loop that accesses the same addresses repeatedly leaves one run for each.
void GlobalRaces::compact_phase() {
  if (!phase_wrote_) return file_phase();
  ++epoch_;
  compact(phase_, true, &memory_);
  compact_at_ = std::max(kCompactAt, 2 * phase_.size());
}

// The release or barrier that follows knows what is complete.
void GlobalRaces::settle(unsigned wave, std::uint64_t completed) {
  auto& pending = pending_[wave];
  if (pending.empty()) return;
  order_->used_segment(wave);
  while (!pending.empty() && pending.front().serial <= completed) {
    settled_.push_back(pending.front().run);
    settled_.back().completed = order_->segment(wave);
    pending.pop_front();
  }
  if (settled_.size() <= compact_settled_at_) return;
  compact(settled_, true, &memory_);
  compact_settled_at_ = std::max(kCompactAt, 2 * settled_.size());
}

void GlobalRaces::end_phase() {
  file_phase();
  phase_wrote_ = false;
}

void GlobalRaces::file_phase() {
  if (!between_) {
    for (const Run& run : phase_) file(run);
  } else {
    for (Run& run : settled_) {
      run.issued = order_->canonical(run.wave, run.issued);
      run.completed = order_->canonical(run.wave, run.completed);
      run.version = 0;
      file(run);
    }
    settled_.clear();
    compact_settled_at_ = kCompactAt;
  }
  phase_.clear();
  ++epoch_;
  compact_at_ = kCompactAt;
  if (group_.size() > compact_group_at_) {
    compact(group_, between_, &memory_);
    compact_group_at_ = std::max(2 * kCompactAt, 2 * group_.size());
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
    // Values that overlap are for compact() to compare.
    const bool is_value = run.is_write && !run.is_atomic;
    const bool overlaps = run.begin < last.end && (run.begin != last.begin || run.end != last.end);
    if (kind_of(last, true) == kind_of(run, true) && run.begin >= last.begin &&
        run.begin <= last.end && !(is_value && overlaps)) {
      append(last, last, run);
      return;
    }
    at->second = static_cast<std::uint32_t>(group_.size());
  }
  group_.push_back(run);
}

void GlobalRaces::end_workgroup() {
  end_phase();
  compact(group_, between_, &memory_);
  launch_.insert(launch_.end(), group_.begin(), group_.end());
  group_.clear();
}

bool GlobalRaces::ordered(const Run& a, const Run& b) const {
  if (a.wave == b.wave) return true;
  if (order_ == nullptr) return false;
  return order_->issued_in(b.version)[a.wave] >= a.issued ||
         order_->issued_in(a.version)[b.wave] >= b.issued;
}

void GlobalRaces::compare_waves() {
  if (!phase_wrote_) return;
  // A single wave cannot race.
  if (std::ranges::all_of(phase_, [&](const Run& run) { return run.wave == phase_[0].wave; }))
    return;
  ++epoch_;
  compact(phase_, true, &memory_);
  const std::vector<Run> runs = contested(phase_);
  // Runs that reach beyond the current address, by wave.
  struct Open {
    std::vector<const Run*> runs;
    std::size_t look_at = 64;
    void forget(std::uint64_t before) {
      std::erase_if(runs, [&](const Run* run) { return run->end <= before; });
      look_at = std::max<std::size_t>(64, 2 * runs.size());
    }
  };
  // Those with a scope separately: they do not race with each other, and a wave may have executed
  // very many atomics on one word.
  std::array<std::array<Open, 2>, kMaxWaves> open;
  for (const Run& run : runs) {
    const bool scoped = run.scope >= Scope::workgroup;
    for (unsigned wave = 0; wave < kMaxWaves; ++wave) {
      if (wave == run.wave) continue;
      for (const bool theirs : {false, true}) {
        Open& others = open[wave][theirs];
        if (others.runs.empty() || (scoped && theirs)) continue;
        others.forget(run.begin);
        for (const Run* const other : others.runs)
          if (conflict(run, *other, Scope::workgroup) && !ordered(run, *other))
            report(run, *other, runs);
      }
    }
    Open& own = open[run.wave][scoped];
    if (own.runs.size() > own.look_at) own.forget(run.begin);
    own.runs.push_back(&run);
  }
}

bool starts_a_swap(const Run& a, const Run& b, const std::vector<Run>& all) {
  const Run &read = a.is_write ? b : a, &swap = a.is_write ? a : b;
  if (read.is_write || read.is_atomic || !swap.compares || !overlap(read, swap)) return false;
  return std::ranges::any_of(all, [&](const Run& own) {
    return own.compares && own.vaddr == swap.vaddr && own.workgroup == read.workgroup &&
           own.wave == read.wave && overlap(own, read);
  });
}

namespace {

/// Of a kernel whose lanes replicate: `read` comes before `write` in the program, and the wave that
/// writes has read the same bytes with the same instruction. The other wave's value is a copy that
/// the compiler made and does not store.
bool reads_a_copy(const Run& read, const Run& write, const std::vector<Run>& all) {
  if (read.is_write || !write.is_write) return false;
  const std::uint64_t begin = std::max(read.begin, write.begin);
  const std::uint64_t end = std::min(read.end, write.end);
  return std::ranges::any_of(all, [&](const Run& own) {
    return !own.is_write && own.wave == write.wave && own.vaddr == read.vaddr &&
           own.begin <= begin && end <= own.end;
  });
}

}  // namespace

void GlobalRaces::report(const Run& later, const Run& earlier, const std::vector<Run>& all) {
  constexpr FindingKind kKind = FindingKind::global_race;
  // Reported in program order, and equal ones in the order of the waves.
  const bool earlier_first =
      std::tie(earlier.phase_step, earlier.wave) <= std::tie(later.phase_step, later.wave);
  const Run &first = earlier_first ? earlier : later, &second = earlier_first ? later : earlier;
  const bool benign =
      same_value(first, second, [&](const Run& run) { return stands_in_memory(run, memory_); });
  const std::string_view extra = benign ? "waves, same value" : "waves";
  if (replicates_ && (benign || reads_a_copy(first, second, all))) return;
  if (starts_a_swap(first, second, all)) return;
  if (reporter_.repeat(kKind, second.vaddr, first.vaddr, extra)) return;
  const auto role = [](const Run& run) {
    return run.is_atomic ? Role::atomic : run.is_write ? Role::write : Role::read;
  };
  Finding f;
  f.kind = kKind;
  f.severity = benign ? Severity::note : Severity::error;
  const std::uint64_t begin = std::max(first.begin, second.begin);
  f.message = say<Says::waves_race>(role(second), role(first), begin,
                                    std::min(first.end, second.end) - begin, benign);
  f.accesses = {reporter_.access(role(second), second.vaddr, second.wave, second.lane),
                reporter_.access(role(first), first.vaddr, first.wave, first.lane)};
  f.detail = {say<Says::no_barrier_between_waves>()};
  // With a barrier the result would still be nondeterministic.
  const bool both_write = first.is_write && second.is_write;
  f.fix = benign ? Fix::one_writer : both_write ? Fix::own_part : Fix::barrier;
  reporter_.add(std::move(f), extra);
}

// ---- Between workgroups ---------------------------------------------------------------------

namespace {

class ConflictSet {
 public:
  ConflictSet(SyncGraph& graph, const StillStands& still_stands)
      : graph_(graph), still_stands_(still_stands) {}

  void add(const Run& a, const Run& b) {
    if (a.workgroup == b.workgroup || !conflict(a, b, Scope::agent)) return;
    if (ordered(a, b) || ordered(b, a)) return;
    const bool in_order = std::tie(a.workgroup, a.vaddr) <= std::tie(b.workgroup, b.vaddr);
    const Run &first = in_order ? a : b, &second = in_order ? b : a;
    const bool benign = same_value(first, second, [&](const Run& run) { return stands(run); });
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
  [[nodiscard]] bool ordered(const Run& a, const Run& b) {
    if (b.known == 0) return false;
    const bool plain_store = a.is_write && a.scope != Scope::agent;
    return graph_.ordered({a.workgroup, a.wave, a.issued, a.completed, plain_store}, b.known);
  }
  [[nodiscard]] bool stands(const Run& run) {
    const auto [at, fresh] = stands_.try_emplace({run.begin, run.end, run.digest}, false);
    if (fresh) at->second = still_stands_(run);
    return at->second;
  }

  SyncGraph& graph_;
  const StillStands& still_stands_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, bool> stands_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, Conflict> found_;
};

/// How many open runs at one address are compared with each new one: in a launch where every
/// workgroup writes the same bytes, comparing all pairs would take too long.
constexpr std::size_t kMostOpen = 64;

}  // namespace

std::vector<Conflict> conflicts_between_workgroups(const std::vector<Run>& all, SyncGraph& graph,
                                                   const StillStands& still_stands) {
  const std::vector<Run> runs = contested(all);
  ConflictSet conflicts(graph, still_stands);
  std::vector<const Run*> open;
  for (const Run& run : runs) {
    std::erase_if(open, [&](const Run* other) { return other->end <= run.begin; });
    for (const Run* const other : open) conflicts.add(run, *other);
    if (open.size() < kMostOpen || run.is_write) open.push_back(&run);
    if (open.size() > 2 * kMostOpen) open.erase(open.begin());
  }
  return conflicts.take();
}

}  // namespace margay::check
