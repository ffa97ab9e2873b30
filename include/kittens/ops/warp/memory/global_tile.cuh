// A tile's place in a tensor, and the accesses there.
//
// Every access is named by a part that is the same in all lanes (row0, col0) and the lane's own
// part (row, col), both counted in elements from the tile's first one, so that the first can stay
// in scalar registers.
#pragma once

#include "../../../types/types.cuh"
#include "debug.cuh"

namespace kittens {
namespace detail {

/// A coordinate that is the same in all lanes, told to the compiler: addresses derived from it stay
/// in scalar registers.
template <typename BASE>
KITTENS_DEVICE coord<BASE> uniform(const coord<BASE>& at) {
  return {__builtin_amdgcn_readfirstlane(at.b), __builtin_amdgcn_readfirstlane(at.d),
          __builtin_amdgcn_readfirstlane(at.r), __builtin_amdgcn_readfirstlane(at.c)};
}

/// Rows along axis 2 are `columns` apart, and a lane's offset within a group of rows is kept in 32
/// bits, so the rows of one base tile (or of one round of chunks) must span less than 4 GiB. The
/// start of the tile, and rows along another axis, use 64 bits.
template <int axis, typename GL>
struct global_tile {
  using T = typename GL::T;
  using offset_t = std::conditional_t<axis == 2, uint32_t, uint64_t>;
  static constexpr int element_size = sizeof(T);

  char* start;
  int64_t row_bytes;

  /// rows and cols are the extent of the tile, for KITTENS_DEBUG.
  template <typename COORD>
  KITTENS_MEMBER global_tile(const GL& tensor, const COORD& at, int rows, int cols)
      : start(reinterpret_cast<char*>(&tensor[uniform(at).template unit_coord<axis, 3>()])),
        row_bytes(tensor.template stride<axis>() * element_size) {
    check_inside<axis>(tensor, at, rows, cols);
  }

  KITTENS_MEMBER offset_t lane_offset(int row, int col) const {
    return static_cast<offset_t>(row) * static_cast<offset_t>(row_bytes) +
           static_cast<offset_t>(col * element_size);
  }
  KITTENS_MEMBER char* at(int row0, int col0) const {
    return start + row0 * row_bytes + col0 * element_size;
  }

  template <int bytes>
  KITTENS_MEMBER word<bytes> read(int row0, int col0, int row, int col) const {
    return global_load<bytes, element_size>(at(row0, col0), lane_offset(row, col));
  }
  template <int bytes>
  KITTENS_MEMBER void write(int row0, int col0, int row, int col, word<bytes> value) const {
    global_store<bytes, element_size>(at(row0, col0), lane_offset(row, col), value);
  }
};

/// Of a tensor with safe edges. Rows along axis 2 go through a buffer resource that covers the rows
/// that are left: an access with an offset beyond every resource is dropped. Rows along another
/// axis are too far apart for 32-bit offsets and are accessed under a mask.
template <int axis, typename GL, int whole>
struct global_tile<axis, bounded_gl<GL, whole>> {
  using T = typename GL::T;
  static constexpr int element_size = sizeof(T);
  static constexpr uint32_t outside = 0xffffffff;

  char* start;
  int64_t row_bytes;
  int rows_left;
  int cols_left;
  i32x4 resource;

  template <typename COORD>
  KITTENS_MEMBER global_tile(const bounded_gl<GL, whole>& source, const COORD& idx, int /*rows*/,
                             int /*cols*/) {
    const GL& tensor = source.tensor;
    const auto at = uniform(idx).template unit_coord<axis, 3>();
    check_start<axis>(tensor, idx);
    start = reinterpret_cast<char*>(&tensor[at]);
    row_bytes = tensor.template stride<axis>() * element_size;
    rows_left = tensor.template shape<axis>() - at.template dim<axis>();
    cols_left = tensor.cols() - at.c;
    const int64_t range = rows_left > 0 ? rows_left * row_bytes - at.c * element_size : 0;
    constexpr int64_t largest = outside - 16;
    resource = make_srsrc(start, range < largest ? (range > 0 ? range : 0) : largest);
  }

  template <int bytes>
  KITTENS_MEMBER word<bytes> read(int row0, int col0, int row, int col) const {
    row += row0;
    col += col0;
    constexpr int count = bytes / element_size;
    // Every access starts at a multiple of its length from the tile's start, so if what is left is
    // such a multiple too, no access is cut by the edge. All lanes agree.
    if (whole % count == 0 || cols_left % count == 0) return read_whole<bytes>(row, col);
    elements<T, count> list;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      list.e[i] = bits_as<T>(read_whole<element_size>(row, col + i));
    }
    return bits_as<word<bytes>>(list);
  }
  template <int bytes>
  KITTENS_MEMBER void write(int row0, int col0, int row, int col, word<bytes> value) const {
    row += row0;
    col += col0;
    constexpr int count = bytes / element_size;
    if (whole % count == 0 || cols_left % count == 0) return write_whole<bytes>(row, col, value);
    const auto list = bits_as<elements<T, count>>(value);
#pragma unroll
    for (int i = 0; i < count; ++i) {
      write_whole<element_size>(row, col + i, bits_as<word<element_size>>(list.e[i]));
    }
  }

 private:
  KITTENS_MEMBER bool inside(int row, int col) const { return row < rows_left && col < cols_left; }
  KITTENS_MEMBER uint32_t buffer_offset(int row, int col) const {
    return inside(row, col)
               ? static_cast<uint32_t>(row) * static_cast<uint32_t>(row_bytes) + col * element_size
               : outside;
  }
  KITTENS_MEMBER char* address(int row, int col) const {
    return start + row * row_bytes + col * element_size;
  }
  template <int bytes>
  KITTENS_MEMBER word<bytes> read_whole(int row, int col) const {
    if constexpr (axis == 2) return buffer_load<bytes>(resource, buffer_offset(row, col));
    word<bytes> value = {};
    if (inside(row, col)) {
      value = global_load<bytes, element_size>(address(row, col), uint64_t{0});
    }
    return value;
  }
  template <int bytes>
  KITTENS_MEMBER void write_whole(int row, int col, word<bytes> value) const {
    if constexpr (axis == 2) {
      buffer_store<bytes>(resource, buffer_offset(row, col), value);
    } else if (inside(row, col)) {
      global_store<bytes, element_size>(address(row, col), uint64_t{0}, value);
    }
  }
};

}  // namespace detail
}  // namespace kittens
