// What a vector memory instruction would ask for if its lanes were side by side.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/gpu.h"
#include "timing/recording.h"

namespace margay::timing {

struct LeastWork {
  std::uint16_t cycles = 0;    ///< Of the TA and vL1D: 64 bytes in each.
  std::uint16_t l2_lines = 0;  ///< As MemoryWork::l2_lines: lines read, sectors written.
};

[[nodiscard]] inline LeastWork least_work(const Instruction& i, const Gpu& gpu) {
  const Caches& caches = gpu.arch().caches;
  const unsigned bytes = std::max(i.lane_bytes_in, i.lane_bytes_out) * gpu.arch().wavefront_size;
  const auto of = [&](unsigned piece) {
    return static_cast<std::uint16_t>(std::max(1u, (bytes + piece - 1) / piece));
  };
  const bool sectors = i.is_store || i.is_atomic;
  return {of(caches.sector_bytes), of(sectors ? caches.sector_bytes : caches.line_bytes)};
}

}  // namespace margay::timing
