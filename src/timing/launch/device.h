// A kernel's time on the whole device: what its compute units take, launch, tail and write-back, at
// the boost clock and at the clock that the device can hold.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "timing/compute_unit.h"
#include "timing/launch/between_workgroups.h"
#include "timing/launch/what_if.h"
#include "timing/time_config.h"
#include "timing/timeline.h"

namespace margay::timing {

/// What limits a kernel.
enum class Bound : std::uint8_t {
  valu,
  matrix,
  scalar,  ///< Scalar ALU.
  lds,
  vector_cache,
  l2,
  infinity_cache,
  memory,
  dispatcher,  ///< Workgroups end as fast as they are started.
  latency,     ///< No unit is busy: waves wait.
  tail,        ///< Compute units are idle while the last workgroups run.
  launch,
};
inline constexpr unsigned kBounds = 12;
[[nodiscard]] std::string_view bound_name(Bound bound);

/// Part of the compute units' time, 0 to 1; see Busy.
struct Utilisation {
  double valu = 0, matrix = 0, scalar = 0;
  double lds = 0, vector_cache = 0, l2 = 0, infinity_cache = 0, memory = 0;
  double dispatcher = 0;
};

struct KernelTime {
  double cycles = 0;  ///< At the boost clock, launch included.
  double us_boost = 0, us_sustained = 0;
  double boost_ghz = 0, sustained_ghz = 0;
  double error_percent = 0;  ///< Of the times; see docs/time.md.
  double launch_us = 0;      ///< Launch and write-back.
  double write_back_us = 0;  ///< Of it, what L2 writes back when the last workgroup has ended.
  double tail_us = 0;
  /// Instructions of a recorded workgroup to those of one of the launch. Far from 1, what others
  /// take for each of theirs is not known; error_percent says so.
  double sample_length = 1;
  bool warm = false;          ///< A launch like this one went before: LaunchRecording::is_warm.
  BetweenWorkgroups between;  ///< What the time is without.
  double flops = 0;           ///< Operations on numbers: of active lanes, and of whole matrices.
  Bound bound = Bound::latency;
  Utilisation busy;
  std::array<double, kStalls> stalls{};  ///< Wave cycles, of all recorded waves.
  double issue = 0;                      ///< Wave cycles in which an instruction went.
  std::vector<SiteTime> sites;
  // With TimeConfig::latencies.
  /// Of those that were replayed, until their compute unit ended, 0 to 1.
  SimdTime simds;
  double simd_cycles = 0;         ///< What these are parts of; SiteTime::lost is part of it.
  double waves_per_simd = 0;      ///< On average, until its compute unit ended.
  std::vector<double> occupancy;  ///< Waves of a SIMD on average, over equal parts of:
  double occupancy_cycles = 0;    ///< from the first workgroup on.
  std::vector<WhatIf> what_if;    ///< What saves most first.
  std::vector<Elsewhere> elsewhere;
  Timeline timeline;  ///< Only when asked for.
};

/// Whether a sample is as long as the launch's other workgroups, but for what its error allows.
[[nodiscard]] constexpr bool is_like_others(double sample_length) {
  return sample_length > 0.85 && sample_length < 1.25;
}

/// KernelTime::sample_length of a launch; 1 where the lengths of its workgroups are not known.
[[nodiscard]] double sample_length(const LaunchRecording& launch);

/// `host_threads` make no difference to the result.
[[nodiscard]] KernelTime time_of(const LaunchRecording& launch, const Gpu& gpu,
                                 const TimeConfig& config = {}, unsigned host_threads = 1);

}  // namespace margay::timing
