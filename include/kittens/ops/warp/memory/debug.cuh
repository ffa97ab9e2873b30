// With -DKITTENS_DEBUG the device checks what is not known at compile time, prints the error, and
// stops the kernel: a tile coordinate that reaches outside its tensor (which tile of which tensor),
// and a group with more warps than the workgroup has. Without it nothing is checked.
#pragma once

#include "../../../types/types.cuh"

namespace kittens {
namespace detail {

#if defined(KITTENS_DEBUG)
constexpr bool debug = true;
#else
constexpr bool debug = false;
#endif

/// Prints and stops. The tile is named as in the call (its coordinate and the elements it covers),
/// the tensor by its shape, element size and address.
template <int axis, typename GL, typename COORD>
KITTENS_DEVICE void outside(const GL& tensor, const COORD& at, int rows, int cols) {
  constexpr bool counts_elements = std::is_same_v<typename COORD::BASE, ducks::default_type>;
  const coord<> first = at.template unit_coord<axis, 3>();
  const char* const axis_name = axis == 0 ? "batches" : (axis == 1 ? "depths" : "rows");
  if (laneid() == 0) {
    printf(
        "kittens: the coordinate {%d, %d, %d, %d}, which counts %s of %d x %d, means %s %d to %d, "
        "columns %d to %d, batch %d, depth %d: outside the tensor %d x %d x %d x %d of %d-byte "
        "elements at %p\n",
        at.b, at.d, at.r, at.c, counts_elements ? "elements, for a tile" : "tiles", rows, cols,
        axis_name, first.template dim<axis>(), first.template dim<axis>() + rows - 1, first.c,
        first.c + cols - 1, first.b, first.d, tensor.batch(), tensor.depth(), tensor.rows(),
        tensor.cols(), static_cast<int>(sizeof(typename GL::T)), tensor.raw_ptr);
  }
  __builtin_trap();
}

/// A workgroup must consist of whole groups of N_THREADS threads.
template <int N_THREADS>
KITTENS_DEVICE void check_group() {
  if constexpr (debug && N_THREADS > WARP_THREADS) {
    if (blockDim.x % N_THREADS != 0) {
      if (laneid() == 0) {
        printf(
            "kittens: an operation of a group of %d warps in a workgroup of %d threads: a "
            "workgroup must consist of whole groups\n",
            N_THREADS / WARP_THREADS, static_cast<int>(blockDim.x));
      }
      __builtin_trap();
    }
  }
}

/// A tile of rows x cols elements must be inside the tensor.
template <int axis, typename GL, typename COORD>
KITTENS_DEVICE void check_inside(const GL& tensor, const COORD& at, int rows, int cols) {
  if constexpr (debug) {
    const coord<> first = at.template unit_coord<axis, 3>();
    const bool negative = first.b < 0 || first.d < 0 || first.r < 0 || first.c < 0;
    if (negative || first.b + (axis == 0 ? rows : 1) > tensor.batch() ||
        first.d + (axis == 1 ? rows : 1) > tensor.depth() ||
        first.r + (axis == 2 ? rows : 1) > tensor.rows() || first.c + cols > tensor.cols()) {
      outside<axis>(tensor, at, rows, cols);
    }
  }
}

/// The rows of a tile must span less than 4 GiB: their offsets are kept in 32 bits.
template <int axis, typename GL, typename COORD>
KITTENS_DEVICE void check_span(const GL& tensor, const COORD& at, int rows) {
  if constexpr (debug) {
    const int64_t row_bytes = tensor.template stride<axis>() * int64_t{sizeof(typename GL::T)};
    if (rows > 1 && rows * row_bytes > int64_t{0xffffffff}) {
      if (laneid() == 0) {
        printf(
            "kittens: the %d rows of the tile {%d, %d, %d, %d} are %lld bytes apart, more than 4 "
            "GiB together: use a smaller tile, or an axis of the tensor other than its rows\n",
            rows, at.b, at.d, at.r, at.c, static_cast<long long>(row_bytes));
      }
      __builtin_trap();
    }
  }
}

/// A tile of a tensor with safe edges may hang over its rows and columns, but must start at one
/// that is not negative, in a batch and depth that exist.
template <int axis, typename GL, typename COORD>
KITTENS_DEVICE void check_start(const GL& tensor, const COORD& at) {
  if constexpr (debug) {
    const coord<> first = at.template unit_coord<axis, 3>();
    if (first.b < 0 || first.d < 0 || first.r < 0 || first.c < 0 ||
        (axis != 0 && first.b >= tensor.batch()) || (axis != 1 && first.d >= tensor.depth()) ||
        (axis != 2 && first.r >= tensor.rows())) {
      outside<axis>(tensor, at, 1, 1);
    }
  }
}

}  // namespace detail
}  // namespace kittens
