// Layout tags and base shapes of register tiles and vectors: which lane holds which elements.
//
// A register tile is made of base tiles that fit the MFMA of a shape. In a base tile each lane
// holds runs of neighbouring elements of one row (row layout) or of one column (col layout). With L
// the lane and e the number of the lane's element:
//
//   across = L % lead                                            the row (row) or column (col)
//   along  = e / run * (run * groups) + run * (L / lead) + e % run   the other one
//   groups = 64 / lead
//
//   shape         element     lead  along   run   elements per lane   MFMA
//   rt_16x16      2, 4 bytes   16    16      4            4           16x16x16 (f32: 16x16x4)
//   rt_16x16      1 byte       16    32      8            8           16x16x32
//   rt_16x16      8 bytes      16    16      1            4           16x16x4
//   rt_32x32      2, 4 bytes   32    32      4           16           32x32x8 (f32: 32x32x2)
//   rt_32x32      1 byte       32    32      8           16           32x32x16
//
// So lane L of a 16x16 row tile holds row L%16, columns 4*(L/16) + 0..3. These are the operands A
// and B^T (row layout), B (col layout) and the result (col layout) of the MFMA: CDNA3 ISA, section
// 7.1, and AMD's Matrix Instruction Calculator.
#pragma once

#include <concepts>

#include "../../common/base_types.cuh"

namespace kittens {
namespace ducks {

namespace rt_layout {
struct row {};
struct col {};
template <typename T>
concept all = std::same_as<T, row> || std::same_as<T, col>;
template <all L>
struct transpose {
  using type = row;
};
template <>
struct transpose<row> {
  using type = col;
};
}  // namespace rt_layout

namespace rt_shape {
struct rt_16x16 {
  static constexpr int lead = 16;
};
struct rt_32x32 {
  static constexpr int lead = 32;
};
template <typename T>
concept all = std::same_as<T, rt_16x16> || std::same_as<T, rt_32x32>;
}  // namespace rt_shape

/// Where a lane keeps the elements of a vector; w counts its tiles, which are those of the register
/// tile that the vector belongs to.
namespace rv_layout {
/// The elements along a base tile, packed: rt_16x16 of 2 or 4 bytes: lane L holds elements
/// 16w + 4*(L/16) + 0..3 as two pairs. Lanes of the same L / lead hold the same.
struct align {};
/// The elements across: lane L holds element lead*w + L%lead.
struct ortho {};
/// Lane L holds element 64w + L, w counting blocks of 64. Nothing is held twice.
struct naive {};
template <typename T>
concept all = std::same_as<T, align> || std::same_as<T, ortho> || std::same_as<T, naive>;
}  // namespace rv_layout

}  // namespace ducks

namespace detail {
/// The formula above for elements of a type.
template <typename T, ducks::rt_shape::all shape>
struct base_map {
  static_assert(shape::lead == 16 || sizeof(T) <= 4,
                "kittens: the hardware has no 32x32 MFMA of doubles; use rt_16x16");
  static constexpr int lead = shape::lead;
  static constexpr int groups = WARP_THREADS / lead;
  static constexpr int run = sizeof(T) == 1 ? 8 : (sizeof(T) == 8 ? 1 : 4);
  static constexpr int length = lead == 16 && sizeof(T) == 1 ? 32 : lead;
  static constexpr int per_lane = lead * length / WARP_THREADS;
  static constexpr int runs = per_lane / run;

  static KITTENS_HD constexpr int across(int lane) { return lane % lead; }
  static KITTENS_HD constexpr int along(int lane, int e) {
    return e / run * (run * groups) + run * (lane / lead) + e % run;
  }
};
}  // namespace detail

using row_l = ducks::rt_layout::row;
using col_l = ducks::rt_layout::col;
using rt_16x16_s = ducks::rt_shape::rt_16x16;
using rt_32x32_s = ducks::rt_shape::rt_32x32;
using align_l = ducks::rv_layout::align;
using ortho_l = ducks::rv_layout::ortho;
using naive_l = ducks::rv_layout::naive;

}  // namespace kittens
