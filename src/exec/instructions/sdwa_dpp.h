// How SDWA chooses parts of registers and DPP other lanes, for the executor and for observers that
// follow values. Source: MI300 ISA guide, sections 6.3 (SDWA) and 6.4 (DPP).
#pragma once

#include <cstdint>

#include "isa/encoding.h"

namespace margay {

enum SdwaSelection : unsigned { kByte0, kByte1, kByte2, kByte3, kWord0, kWord1, kDword };

[[nodiscard]] inline std::uint32_t select_part(std::uint32_t value, unsigned selection,
                                               bool sign_extend) {
  if (selection == kDword) return value;
  const unsigned width = selection < kWord0 ? 8 : 16;
  const unsigned shift = selection < kWord0 ? 8 * selection : 16 * (selection - kWord0);
  const std::uint32_t part = (value >> shift) & ((1u << width) - 1);
  return sign_extend ? static_cast<std::uint32_t>(isa::sign_extend(part, width)) : part;
}

/// The position of a result in its register, and the effect on the rest.
[[nodiscard]] inline std::uint32_t merge_part(std::uint32_t old, std::uint32_t value,
                                              unsigned selection, unsigned unused) {
  if (selection == kDword) return value;
  const unsigned width = selection < kWord0 ? 8 : 16;
  const unsigned shift = selection < kWord0 ? 8 * selection : 16 * (selection - kWord0);
  const std::uint32_t field = ((1u << width) - 1) << shift;
  const std::uint32_t placed = value << shift & field;
  switch (unused) {
    case 0:
      return placed;  // pad with zeros
    case 1: {         // sign-extend above, zeros below
      const bool negative = value >> (width - 1) & 1;
      return placed | (negative && shift + width < 32 ? ~0u << (shift + width) : 0);
    }
    default:
      return (old & ~field) | placed;  // preserve
  }
}

inline constexpr int kNoLane = -1;

/// Which lane `lane` reads under a DPP control value; kNoLane when there is none.
[[nodiscard]] inline int dpp_source_lane(unsigned control, int lane) {
  const int row = lane & ~15, in_row = lane & 15;
  if (control <= 0xff)
    return (lane & ~3) | static_cast<int>(control >> (2 * (lane & 3)) & 3);  // quad_perm
  const int amount = static_cast<int>(control & 15);
  switch (control & 0x1f0) {
    case 0x100:
      return in_row + amount <= 15 ? lane + amount : kNoLane;  // row_shl
    case 0x110:
      return in_row - amount >= 0 ? lane - amount : kNoLane;  // row_shr
    case 0x120:
      return row | ((in_row - amount) & 15);  // row_ror
    case 0x150:
      return row | amount;  // row_newbcast
    default:
      break;
  }
  switch (control) {
    case 0x130:
      return lane < 63 ? lane + 1 : kNoLane;  // wave_shl:1
    case 0x134:
      return (lane + 1) & 63;  // wave_rol:1
    case 0x138:
      return lane > 0 ? lane - 1 : kNoLane;  // wave_shr:1
    case 0x13c:
      return (lane - 1) & 63;  // wave_ror:1
    case 0x140:
      return row | (15 - in_row);  // row_mirror
    case 0x141:
      return (lane & ~7) | (7 - (lane & 7));  // row_half_mirror
    case 0x142:
      return row == 0 ? kNoLane : row - 1;  // row_bcast:15, to the next row
    case 0x143:
      return lane < 32 ? kNoLane : 31;  // row_bcast:31, to the upper half
    default:
      return kNoLane;
  }
}

}  // namespace margay
