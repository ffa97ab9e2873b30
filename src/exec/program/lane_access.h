// The bytes of memory that an instruction accesses, lane by lane, computed as in the executor, for
// observers of a run.
#pragma once

#include <cstdint>

#include "exec/rows/row_table.h"
#include "exec/state/instruction.h"
#include "exec/state/wave.h"

namespace margay {

enum class MemorySpace : std::uint8_t { global, lds, scratch };

/// What kind of memory instruction one is; found once per instruction with memory_form().
struct MemoryForm {
  using Path = MemoryPath;
  Path path = Path::none;
  bool is_read = false, is_write = false, is_atomic = false;
  bool to_lds = false;            ///< The data goes straight to LDS.
  bool agent_scope = false;       ///< sc1: seen by the other workgroups of the launch.
  std::uint16_t bytes = 0;        ///< Per lane and access; scalar: all of it.
  std::uint16_t offset_unit = 1;  ///< ds_two: what its offsets count.
};
[[nodiscard]] MemoryForm memory_form(const Instruction& i);

/// One access of every lane in `active`, `bytes` wide.
struct LaneAccess {
  MemorySpace space = MemorySpace::global;
  bool is_read = false, is_write = false, is_atomic = false;
  bool to_lds = false;  ///< The LDS half of a load that goes straight to LDS.
  std::uint16_t bytes = 0;
  std::uint64_t active = 0;
  /// Global: the device address. LDS and scratch: the byte offset.
  alignas(64) std::uint64_t at[kWaveLanes];
};

/// At most three: a flat instruction may reach all spaces.
struct LaneAccesses {
  std::uint32_t count = 0;
  LaneAccess access[3];
};

/// The bytes that `i`, whose form is `form`, would access if it ran now; for buffer instructions
/// with conversion as many as their format has. Lanes whose buffer offset is out of range access
/// nothing; nor, for simplicity, do those that straddle a buffer's end.
void lane_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                   LaneAccesses& out);

}  // namespace margay
