// What a kernel would take if something were otherwise.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "timing/change.h"
#include "timing/parameters.h"

namespace margay::timing {

class LaunchReplay;
struct LaunchRecording;
struct ReplayedLaunch;
struct SiteTime;

enum class WhatIfKind : std::uint8_t {
  no_bank_conflicts,
  no_l2_misses,  ///< A limit: what an XCD has not loaded yet always misses.
  shared_l2_lines,
  perfect_coalescing,
  no_scratch,
  all_lanes_active,  ///< Of VALU instructions: no divergent branches.
  no_barrier_skew,   ///< A limit, of what waves do; that they wait for memory is not counted.
  half_the_barriers,
  no_memory_waits,
  loads_ahead,
  waits_at_use,
  double_lds,
  additional_workgroup,
  fewer_workgroups,  ///< That do the same work: the dispatcher has less to start.
  longest_first,     ///< Of a launch that was recorded in part.
  no_tail,           ///< The work of the last workgroups is spread over all compute units.
  all_units,         ///< The work of few workgroups is spread over all compute units.
};
inline constexpr unsigned kWhatIfs = 17;

/// "no bank conflicts".
[[nodiscard]] std::string_view what_if_name(WhatIfKind kind);

/// One change, replayed.
struct WhatIf {
  WhatIfKind kind = WhatIfKind::no_bank_conflicts;
  /// Of the kernel's time at the boost clock; less than 0: it would take longer.
  double saves_percent = 0;
  /// Registers of each lane that it takes, as far as is known.
  std::uint32_t vgprs = 0;
  /// The instructions that cause what it saves, by address, the most first: those with bank
  /// conflicts, those whose lines miss, the waits.
  struct Site {
    std::uint32_t vaddr = 0;
    double share = 0;  ///< Of all causes, 0 to 1.
  };
  std::vector<Site> sites;
};

/// The launch on another device.
struct Elsewhere {
  std::string_view device;                ///< "MI300X"
  double us_boost = 0, us_sustained = 0;  ///< Modelled; 0 with:
  /// What misses L2 decides, and other workgroups share it there: the recording does not tell.
  bool misses_decide = false;
};

/// On all other devices. `all`, `few`: on this one, of how many compute units. `error_percent`: of
/// the kernel's time.
[[nodiscard]] std::vector<Elsewhere> elsewhere(const LaunchReplay& replay,
                                               const LaunchRecording& launch, const Gpu& gpu,
                                               const ReplayedLaunch& all, const ReplayedLaunch& few,
                                               double error_percent);

/// What is known from the launch, as parts of the kernel's time.
struct LaunchParts {
  double work = 1;  ///< In which compute units work.
  double tail = 0;  ///< In which only the last do.
  double idle = 0;  ///< That compute units without a workgroup could save.
};
/// All changes; `before`: a few compute units without any. `times`: of the instructions.
[[nodiscard]] std::vector<WhatIf> what_ifs(const LaunchReplay& replay,
                                           const LaunchRecording& launch,
                                           const ReplayedLaunch& before,
                                           const std::vector<SiteTime>& times, double ghz,
                                           const LaunchParts& parts);

/// Whether a saving is more than the model's error of savings. Two replays of one recording share
/// most of their errors: a fifth of the kernel's is left.
[[nodiscard]] constexpr bool is_beyond_error(double saves_percent, double error_percent) {
  constexpr double kPart = 0.2;
  return saves_percent >= kPart * error_percent;
}

}  // namespace margay::timing
