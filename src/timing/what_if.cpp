#include "timing/what_if.h"

#include <algorithm>

#include "timing/launch_replay.h"

namespace margay::timing {
namespace {

struct Row {
  std::string_view name;
  Change change;
};
constexpr Row kRows[kWhatIfs] = {
    {"no bank conflicts", {.no_bank_conflicts = true}},
    {"no L2 misses", {.no_l2_misses = true}},
    {"perfect coalescing", {.perfect_coalescing = true}},
    {"no barrier skew", {.no_barrier_skew = true}},
    {"no waits for memory", {.no_memory_waits = true}},
    {"double LDS bandwidth", {.lds_speed = 2}},
    {"one more workgroup per CU", {.additional_workgroups = 1}},
};

/// What the memory instructions of a launch cost, by number of the instruction.
struct Causes {
  std::vector<double> conflicts, lds, misses, lines;
};

Causes causes_of(const LaunchRecording& launch) {
  const std::size_t count = launch.instructions.size();
  Causes out{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count),
             std::vector<double>(count)};
  for (const WorkgroupRecording& group : launch.workgroups)
    for (const WaveRecording& wave : group.waves) {
      std::size_t work = 0;
      for (const std::uint32_t n : wave.instructions) {
        const Instruction& i = launch.instructions[n];
        if (!i.has_work) continue;
        const MemoryWork& one = wave.memory[work++];
        if (i.unit == Unit::lds) {
          out.conflicts[n] += one.conflicts;
          out.lds[n] += one.cycles;
        } else {
          out.misses[n] += one.far_lines;
          out.lines[n] += one.cycles;
        }
      }
    }
  return out;
}

/// Cycles in which waves were held up by instructions of `unit`.
std::vector<double> held_up(const LaunchRecording& launch, const std::vector<SiteTime>& times,
                            Unit unit) {
  std::vector<double> out(times.size());
  for (std::size_t n = 0; n < times.size(); ++n)
    if (launch.instructions[n].unit == unit) out[n] = times[n].stall();
  return out;
}

std::vector<double> weights(WhatIfKind kind, const LaunchRecording& launch, const Causes& causes,
                            const std::vector<SiteTime>& times) {
  switch (kind) {
    case WhatIfKind::no_bank_conflicts:
      return causes.conflicts;
    case WhatIfKind::double_lds:
      return causes.lds;
    case WhatIfKind::no_l2_misses:
      return causes.misses;
    case WhatIfKind::perfect_coalescing:
      return causes.lines;
    case WhatIfKind::no_barrier_skew:
      return held_up(launch, times, Unit::barrier);
    case WhatIfKind::no_memory_waits:
      return held_up(launch, times, Unit::wait);
    case WhatIfKind::additional_workgroup:
      return {};  // of the whole kernel
  }
  return {};
}

/// The largest parts first.
std::vector<WhatIf::Site> sites_of(const LaunchRecording& launch,
                                   const std::vector<double>& weights) {
  constexpr std::size_t kMost = 32;
  double all = 0;
  for (const double weight : weights) all += weight;
  std::vector<WhatIf::Site> out;
  for (std::size_t n = 0; n < weights.size(); ++n)
    if (weights[n] > 0) out.push_back({launch.instructions[n].vaddr, weights[n] / all});
  std::ranges::stable_sort(out, std::ranges::greater{}, &WhatIf::Site::share);
  if (out.size() > kMost) out.resize(kMost);
  return out;
}

}  // namespace

std::string_view what_if_name(WhatIfKind kind) { return kRows[static_cast<unsigned>(kind)].name; }

std::vector<WhatIf> what_ifs(const LaunchReplay& replay, const LaunchRecording& launch,
                             const ReplayedLaunch& before, double ghz, double part) {
  const Causes causes = causes_of(launch);
  std::vector<WhatIf> out;
  for (unsigned n = 0; n < kWhatIfs; ++n) {
    const ReplayedLaunch after = replay.few(ghz, kRows[n].change);
    WhatIf one;
    one.kind = static_cast<WhatIfKind>(n);
    const double saved = before.cycles > 0 ? 1 - after.cycles / before.cycles : 0;
    one.saves_percent = 100 * saved * part;
    one.sites = sites_of(launch, weights(one.kind, launch, causes, before.sites));
    out.push_back(std::move(one));
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &WhatIf::saves_percent);
  return out;
}

}  // namespace margay::timing
