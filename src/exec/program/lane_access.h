// Which bytes of which memory an instruction touches, lane by lane, as the executor would: for
// everything that watches a run.
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

/// What `i`, whose form is `form`, would touch if it ran now; buffer instructions with conversion
/// as many bytes as their format has. Lanes whose buffer offset is out of
/// range touch nothing; nor do, for simplicity, those that straddle a buffer's end.
void lane_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                   LaneAccesses& out);

}  // namespace margay
