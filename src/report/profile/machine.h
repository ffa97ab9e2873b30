// The sizes that the profiler's address arithmetic is compiled for: constants, because it divides
// by them for every access. They are those of the architecture, and equal for all supported ones
// (tested by gpu_test). Values that differ between machines come from the Gpu.
//
// The L2 channel of a line is a hash that is not published ("evenly" according to
// rocprofiler-compute); ours folds the address (cache.h).
#pragma once

#include <cstdint>

#include "gpu/gfx942/gfx942.h"
#include "gpu/gpu.h"

namespace margay::profile {

inline constexpr std::uint32_t kLineBytes = kGfx942.caches.line_bytes;
inline constexpr std::uint32_t kSectorBytes = kGfx942.caches.sector_bytes;
inline constexpr std::uint32_t kScalarLineBytes = kGfx942.caches.scalar_line_bytes;
inline constexpr std::uint32_t kFetchBytes = kGfx942.caches.fetch_bytes;
inline constexpr std::uint32_t kInstructionFillBytes = kGfx942.caches.instruction_fill_bytes;

}  // namespace margay::profile
