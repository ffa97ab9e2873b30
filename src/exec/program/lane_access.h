// The bytes of memory that an instruction accesses, lane by lane, for observers of a run. They are
// computed by the functions that the handlers use (instructions/addresses.h), once: the handler of
// an instruction that is watched takes them from here.
#pragma once

#include <cstdint>

#include "exec/program/memory_model.h"
#include "exec/rows/row.h"
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
struct LaneAccess : LaneAddresses {
  MemorySpace space = MemorySpace::global;
  bool is_read = false, is_write = false, is_atomic = false;
  bool to_lds = false;  ///< The LDS half of a load that goes straight to LDS.
  std::uint16_t bytes = 0;
};

/// At most three: a flat instruction may reach all spaces.
struct LaneAccesses {
  std::uint32_t count = 0;
  LaneAccess access[3];

  /// Appends one whose lanes are not known yet.
  LaneAccess& append(const MemoryForm& form, MemorySpace space) {
    LaneAccess& next = access[count++];
    next.space = space;
    next.is_read = form.is_read;
    next.is_write = form.is_write;
    next.is_atomic = form.is_atomic;
    next.to_lds = false;
    next.bytes = form.bytes;
    next.out_of_range = next.partial = 0;
    return next;
  }
};

/// The bytes that `i`, whose form is `form`, would access if it ran now; for buffer instructions
/// with conversion as many as their format has. Lanes whose buffer offset is out of range access
/// nothing; nor, for simplicity, do those that straddle a buffer's end.
inline void lane_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                          LaneAccesses& out) {
  out.count = 0;
  if (form.path != MemoryPath::none) i.row->memory.accesses(wave, i, form, out);
}

/// The accesses of a scalar memory instruction; active is 0 if it is not entirely in a buffer.
void scalar_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                     LaneAccesses& out);
/// The LDS half of a direct load. Lanes out of a buffer's range write 0.
void add_direct_access(const Wave& wave, const Instruction& i, LaneAccesses& out);
/// Its first lane's address, for handlers: what the stream has computed, or computed now.
[[nodiscard]] inline std::uint32_t direct_lane(const Wave& wave, const Instruction& i) {
  if (wave.accesses == nullptr) return direct_address(wave, i);
  return static_cast<std::uint32_t>(wave.accesses->access[wave.accesses->count - 1].at[0]);
}

}  // namespace margay
