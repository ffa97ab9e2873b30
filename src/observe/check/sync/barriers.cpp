#include "observe/check/sync/barriers.h"

#include <algorithm>
#include <bit>

namespace margay::check {

void BarrierTracker::begin_workgroup(const Workgroup& group) {
  waves_.resize(group.waves().size());
  for (std::size_t n = 0; n < waves_.size(); ++n) {
    waves_[n].barriers.clear();
    waves_[n].lanes = group.waves()[n].exec();
    waves_[n].missing = 0;
    waves_[n].ended_at = 0;
  }
}

void BarrierTracker::arrive(const InstructionFacts& facts, const Wave& wave) {
  PerWave& w = waves_[wave.index_in_group];
  w.barriers.push_back(facts.vaddr);
  const std::uint64_t missing = w.lanes & ~wave.exec();
  if (missing == 0 || w.missing != 0) return;
  w.missing = missing;
  w.missing_at = facts.vaddr;
}

void BarrierTracker::end(const InstructionFacts& facts, const Wave& wave) {
  waves_[wave.index_in_group].ended_at = facts.vaddr;
}

// Lanes that have returned from the kernel never become active again; lanes that do have skipped
// the barrier by a branch.
void BarrierTracker::watch(const InstructionFacts& facts, const Wave& wave) {
  PerWave& w = waves_[wave.index_in_group];
  const std::uint64_t back = w.missing & wave.exec();
  if (back == 0) return;
  w.missing = 0;
  constexpr FindingKind kKind = FindingKind::barrier_divergent_lanes;
  if (reporter_.repeat(kKind, w.missing_at, facts.vaddr)) return;
  Finding f;
  f.kind = kKind;
  f.message = say<Says::lanes_off>(std::popcount(back));
  const auto index = static_cast<std::int32_t>(wave.index_in_group);
  f.accesses = {reporter_.access(Role::barrier, w.missing_at, index),
                reporter_.access(Role::runs_on, facts.vaddr, index, std::countr_zero(back))};
  f.detail = {say<Says::waves_are_counted>()};
  f.fix = Fix::outside_branch;
  reporter_.add(std::move(f));
}

void BarrierTracker::end_workgroup() {
  const auto most =
      std::ranges::max_element(waves_, {}, [](const PerWave& w) { return w.barriers.size(); });
  if (most == waves_.end()) return;
  for (std::size_t n = 0; n < waves_.size(); ++n) {
    const PerWave& w = waves_[n];
    const std::size_t reached = w.barriers.size();
    if (reached == most->barriers.size()) continue;
    // The first barrier at which the two differ, or else the first one it did not reach.
    std::size_t at = 0;
    while (at < reached && w.barriers[at] == most->barriers[at]) ++at;
    // Barriers do not wait for waves that have ended, neither on the hardware nor by CUDA's and
    // HIP's definition.
    const bool has_ended = at == reached;
    const std::string_view extra = has_ended ? "ended" : "";
    constexpr FindingKind kKind = FindingKind::barrier_not_reached;
    const std::uint32_t vaddr = most->barriers[at];
    if (reporter_.repeat(kKind, vaddr, w.ended_at, extra)) continue;
    Finding f;
    f.kind = kKind;
    f.severity = has_ended ? Severity::note : Severity::error;
    f.message =
        say<Says::barriers_differ>(n, reached, most - waves_.begin(), most->barriers.size());
    f.accesses = {
        reporter_.access(Role::barrier, vaddr, static_cast<std::int32_t>(most - waves_.begin())),
        reporter_.access(Role::ended, w.ended_at, static_cast<std::int32_t>(n))};
    if (has_ended) {
      f.detail = {say<Says::ended_is_right>()};
    } else {
      f.detail = {say<Says::meet_elsewhere>(at + 1)};
      f.fix = Fix::outside_branch;
    }
    reporter_.add(std::move(f), extra);
  }
}

void BarrierTracker::deadlock(const Workgroup& group) {
  Error error = group.deadlock();
  Finding f;
  f.kind = FindingKind::deadlock;
  f.message = say<Says::text>(std::move(error.what));
  if (!error.hint.empty()) f.fix_arguments = {std::move(error.hint)};
  // Those that wait at a barrier first, then those that spin in a loop; one per place.
  for (const WaveStop stop : {WaveStop::barrier, WaveStop::grid_barrier, WaveStop::running}) {
    for (const Wave& wave : group.waves()) {
      if (wave.stop != stop) continue;
      const std::uint64_t vaddr = Workgroup::where_it_stands(wave).vaddr;
      if (std::ranges::find(f.accesses, vaddr, &Access::vaddr) != f.accesses.end()) continue;
      f.accesses.push_back(
          reporter_.access(stop == WaveStop::running ? Role::loops_here : Role::waits_here, vaddr,
                           static_cast<std::int32_t>(wave.index_in_group)));
    }
  }
  const Key key = key_of(f);
  if (reporter_.repeat(f.kind, key.vaddr0, key.vaddr1)) return;
  reporter_.add(std::move(f));
}

}  // namespace margay::check
