// One compute unit over time: replays the instructions that its waves executed against its issue
// ports, matrix units, LDS, vL1D and its share of the levels beyond.
//
// The rules of issue reproduce measured sequences on MI300 (docs/time.md has the table):
//   - each SIMD offers one issue turn of 4 cycles; a wave issues at most one instruction in a turn,
//     in order; waves may issue to different units in one turn;
//   - the VALU port is busy for 4 cycles with an instruction, 16 with a transcendental one, and 4
//     with the issue of a matrix instruction, which keeps the matrix unit busy for its passes;
//   - a packed f32 instruction needs the port and an idle matrix unit;
//   - nothing else is interlocked: compilers put wait states where the hardware asks for them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "timing/change.h"
#include "timing/latencies.h"
#include "timing/parameters.h"
#include "timing/recording.h"
#include "timing/simd_clock.h"
#include "timing/site_time.h"
#include "timing/stall.h"
#include "timing/timeline.h"

namespace margay::timing {

/// What one compute unit gets of what all share, and how far away it is.
struct Share {
  double clock_ghz = 2.1;
  std::uint32_t active_cus = 1;  ///< Of the device, that work at the same time.
  std::uint32_t active_cus_per_xcd = 1;
  /// Of the lines that miss L2, the part that does not load HBM, and the part that does not wait
  /// for it (LaunchRecording).
  double infinity_cache_hits = 0, infinity_cache_write_hits = 0, infinity_cache_ready = 0;
  double untranslated = 0;  ///< Part of the memory that is beyond the reach of the TLBs.
  bool code_is_warm = true;
  double arguments_ns = 0;  ///< Until the first load of a kernel argument returns.
};

/// Cycles that a unit worked. SIMDs count one by one; the others once for the compute unit.
struct Busy {
  double valu = 0, matrix = 0, scalar = 0;  ///< Sum over the SIMDs.
  double lds = 0, vector_cache = 0, l2 = 0, fabric = 0, memory = 0;
};

struct ComputeUnitTime {
  double cycles = 0;
  std::vector<SiteTime> sites;  ///< As the instructions of the recording.
  Busy busy;
  std::vector<double> workgroup_begin, workgroup_end;  ///< By place in the recording.
  // With Watch::latencies.
  SimdTime simds;  ///< Of all SIMDs.
  std::vector<WaveLife> lives;
};

/// What else a replay looks at.
struct Watch {
  bool latencies = false;
  ComputeUnitTimeline* timeline = nullptr;  ///< Gets what waves do.
};

/// How many workgroups a compute unit runs.
struct Occupants {
  std::uint32_t resident = 1;    ///< At a time.
  std::uint32_t workgroups = 0;  ///< In all; more than were recorded: those again. 0: as recorded.
};

/// Replays `cu`.
[[nodiscard]] ComputeUnitTime replay(const ComputeUnitRecording& cu,
                                     std::span<const Instruction> instructions,
                                     const Occupants& occupants, const Gpu& gpu,
                                     const Parameters& parameters, const Share& share,
                                     const Change& change = {}, const Watch& watch = {});

}  // namespace margay::timing
