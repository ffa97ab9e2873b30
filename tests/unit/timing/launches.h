// Launches for the tests of whole devices.
#pragma once

#include <algorithm>
#include <cstdint>

#include "timing/launch/device.h"

namespace margay::timing {

/// Workgroups of one wave with `instructions` matrix instructions of 16x16x16 bf16 each.
inline LaunchRecording matrix_launch(std::uint64_t recorded, std::uint64_t grid,
                                     unsigned instructions, const Gpu& gpu = default_gpu()) {
  LaunchRecording launch;
  Instruction matrix;
  matrix.unit = Unit::matrix;
  matrix.turns = 4;
  launch.instructions = {matrix};
  launch.grid = grid;
  launch.equivalent_workgroups = static_cast<double>(grid);
  launch.workgroups.resize(recorded);
  const std::uint32_t cus = gpu.compute_units();
  launch.cus.resize(std::min<std::uint64_t>(recorded, cus));
  for (std::uint64_t n = 0; n < recorded; ++n) {
    launch.workgroups[n].id = n;
    launch.workgroups[n].waves.resize(1);
    launch.workgroups[n].waves[0].instructions.assign(instructions, 0);
    launch.cus[n % cus].workgroups.push_back(&launch.workgroups[n]);
  }
  launch.bf16_flops = static_cast<double>(grid) * instructions * 2 * 16 * 16 * 16;
  return launch;
}

inline const WhatIf& what_if_of(const KernelTime& time, WhatIfKind kind) {
  return *std::ranges::find(time.what_if, kind, &WhatIf::kind);
}

/// What changes would save is left out: it takes longer than all else.
inline KernelTime modelled(const LaunchRecording& launch) {
  return time_of(launch, default_gpu(), {.what_if = false});
}

}  // namespace margay::timing
