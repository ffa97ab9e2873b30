// Layout tags of register tiles and vectors.
//
// A base tile has 16x16 elements, four per lane. With L the lane and e the element number 0..3:
//   row layout: lane L holds row L%16, columns 4*(L/16) + e   (operands A and B^T of the MFMA)
//   col layout: lane L holds column L%16, rows 4*(L/16) + e   (operand B, and the result)
// Source: CDNA3 ISA, section 7.1, operand layout of V_MFMA_F32_16X16X16.
#pragma once

#include <concepts>

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

/// Where a lane keeps the elements of a vector; w counts tiles of 16 elements.
namespace rv_layout {
/// Lane L: elements 16w + 4*(L/16) + 0..3, as two pairs. Every 16 lanes hold the same.
struct align {
  static constexpr int inner_dim = 2;
};
/// Lane L: element 16w + L%16. The four quarters of the warp hold the same.
struct ortho {
  static constexpr int inner_dim = 1;
};
/// Lane L: element 64w + L, w counting blocks of 64. Nothing is held twice.
struct naive {
  static constexpr int inner_dim = 1;
};
template <typename T>
concept all = std::same_as<T, align> || std::same_as<T, ortho> || std::same_as<T, naive>;
}  // namespace rv_layout

}  // namespace ducks

using row_l = ducks::rt_layout::row;
using col_l = ducks::rt_layout::col;
using align_l = ducks::rv_layout::align;
using ortho_l = ducks::rv_layout::ortho;
using naive_l = ducks::rv_layout::naive;

}  // namespace kittens
