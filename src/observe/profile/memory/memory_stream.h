// The cache requests of one workgroup, in the order of its own schedule: recorded while the
// workgroup runs, and replayed later against the caches of its XCD (replay.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "observe/profile/memory/coalescer.h"
#include "timing/recording.h"

namespace margay::profile {

struct MemoryEvent {
  enum class Kind : std::uint8_t {
    vector_read,
    vector_write,
    vector_atomic,
    scalar_read,
    scalar_write,
    scalar_atomic
  };
  std::uint32_t step = 0;       ///< Since the workgroup began; see kSchedule.
  std::uint32_t site = 0;       ///< The instruction's dword in the code.
  std::uint32_t first_run = 0;  ///< Into MemoryStream::runs.
  std::uint16_t run_count = 0;
  std::uint8_t wave = 0;  ///< In its workgroup.
  Kind kind = Kind::vector_read;
  bool bypasses_l1 = false;    ///< vL1D or sL1D.
  bool returns_value = false;  ///< Atomics.
  /// Kernel arguments, which L2 does not cache; as MemoryWork::argument_lines.
  std::uint8_t argument_lines = 0;
  static constexpr std::uint32_t kUntimed = ~0u;
  std::uint32_t work = kUntimed;  ///< Into the recorded wave's MemoryWork.
};

struct MemoryStream {
  std::uint64_t workgroup = 0;
  std::uint32_t steps = 0;          ///< How long the workgroup ran.
  std::vector<MemoryEvent> events;  ///< By step.
  std::vector<LineRun> runs;
  std::shared_ptr<timing::WorkgroupRecording> recording;  ///< If time is asked for.
};

/// The order for which the cache counters are valid, as text for reports.
inline constexpr const char* kSchedule =
    "workgroups go round robin over the 8 XCDs, in an XCD round robin over its 4 shader engines, "
    "there to the CU with the fewest, as many per CU as fit; every resident wave issues one "
    "instruction per step, MFMA taking as many steps as passes; barriers let waves wait for each "
    "other; memory answers at once; vL1D, sL1D and L2 are cold when a launch begins";

}  // namespace margay::profile
