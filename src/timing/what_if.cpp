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

/// The instructions that wait less, the largest parts first.
std::vector<WhatIf::Site> saved(const LaunchRecording& launch, const std::vector<SiteTime>& before,
                                const std::vector<SiteTime>& after) {
  constexpr std::size_t kMost = 32;
  std::vector<WhatIf::Site> out;
  for (std::size_t n = 0; n < before.size(); ++n)
    if (const double cycles = before[n].latency - after[n].latency; cycles > 0)
      out.push_back({launch.instructions[n].vaddr, cycles});
  std::ranges::stable_sort(out, std::ranges::greater{}, &WhatIf::Site::cycles);
  if (out.size() > kMost) out.resize(kMost);
  return out;
}

}  // namespace

std::string_view what_if_name(WhatIfKind kind) { return kRows[static_cast<unsigned>(kind)].name; }

std::vector<WhatIf> what_ifs(const LaunchReplay& replay, const LaunchRecording& launch, double ghz,
                             double kernel_cycles, double replayed_cycles) {
  const ReplayedLaunch before = replay.few(ghz);
  std::vector<WhatIf> out;
  for (unsigned n = 0; n < kWhatIfs; ++n) {
    const ReplayedLaunch after = replay.few(ghz, kRows[n].change);
    WhatIf one;
    one.kind = static_cast<WhatIfKind>(n);
    const double part = before.cycles > 0 ? 1 - after.cycles / before.cycles : 0;
    one.saves_percent = 100 * part * replayed_cycles / kernel_cycles;
    one.sites = saved(launch, before.sites, after.sites);
    out.push_back(std::move(one));
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &WhatIf::saves_percent);
  return out;
}

}  // namespace margay::timing
