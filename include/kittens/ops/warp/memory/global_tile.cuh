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

/// A coordinate must be the same in all lanes, and the compiler must be able to see it: blockIdx,
/// warpid(), kernel arguments; uniform() declares it for anything else. Addresses derived from it
/// then stay in scalar registers and move out of loops. There is no readfirstlane here, because
/// LLVM 19 neither moves one out of a loop nor drops that of a scalar register.
///
/// Through a buffer resource, which does the address arithmetic in the instruction: it starts at
/// the tile's first row, and the lane's offset, the column and the rest of the row are 32-bit parts
/// in addition to it. So a tile's rows must span less than 4 GiB; KITTENS_DEBUG checks that.
template <int axis, typename GL>
struct buffer_tile {
  using T = typename GL::T;
  static constexpr int element_size = sizeof(T);

  i32x4 resource;
  uint32_t row_bytes;
  uint32_t first;

  /// rows and cols are the extent of the tile. A vector, which has one row, may start far along it.
  template <typename COORD>
  KITTENS_MEMBER buffer_tile(const GL& tensor, const COORD& at, int rows, int cols)
      : row_bytes(static_cast<uint32_t>(tensor.template stride<axis>()) * element_size) {
    const coord<> start = at.template unit_coord<axis, 3>();
    const bool vector = rows == 1;
    resource = make_srsrc(&tensor[coord<>(start.b, start.d, start.r, vector ? start.c : 0)],
                          whole_address_space);
    first = vector ? 0 : static_cast<uint32_t>(start.c) * element_size;
    check_inside<axis>(tensor, at, rows, cols);
    check_span<axis>(tensor, at, rows);
  }

  /// row0, col0 and the tile's column are in the scalar offset, except for compile-time constants,
  /// which go into the instruction.
  KITTENS_MEMBER uint32_t lane_part(int col0, int row, int col) const {
    return static_cast<uint32_t>(row) * row_bytes + static_cast<uint32_t>(col * element_size) +
           static_cast<uint32_t>(col0 * element_size);
  }
  KITTENS_MEMBER uint32_t uniform_part(int row0) const {
    return first + static_cast<uint32_t>(row0) * row_bytes;
  }

  template <int bytes>
  KITTENS_MEMBER word<bytes> read(int row0, int col0, int row, int col) const {
    return buffer_load<bytes>(resource, lane_part(col0, row, col), uniform_part(row0));
  }
  template <int bytes>
  KITTENS_MEMBER void write(int row0, int col0, int row, int col, word<bytes> value) const {
    buffer_store<bytes>(resource, lane_part(col0, row, col), uniform_part(row0), value);
  }
};

/// Through 64-bit addresses.
template <int axis, typename GL>
struct far_tile {
  using T = typename GL::T;
  static constexpr int element_size = sizeof(T);

  char* start;
  int64_t row_bytes;

  template <typename COORD>
  KITTENS_MEMBER far_tile(const GL& tensor, const COORD& at, int rows, int cols)
      : start(reinterpret_cast<char*>(&tensor[at.template unit_coord<axis, 3>()])),
        row_bytes(tensor.template stride<axis>() * element_size) {
    check_inside<axis>(tensor, at, rows, cols);
  }

  KITTENS_MEMBER uint64_t lane_offset(int row, int col) const {
    return static_cast<uint64_t>(row) * static_cast<uint64_t>(row_bytes) +
           static_cast<uint64_t>(col * element_size);
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

/// Rows along batch or depth may be any distance apart.
template <int axis, typename GL>
struct global_tile : std::conditional_t<axis == 2, buffer_tile<2, GL>, far_tile<axis, GL>> {
  using access = std::conditional_t<axis == 2, buffer_tile<2, GL>, far_tile<axis, GL>>;
  using access::access;
};

/// Of a tensor with safe edges. Rows along axis 2 go through a buffer resource that ends with the
/// tensor's last row: the hardware drops rows beyond it, and columns beyond the edge get an offset
/// that every resource drops. The whole offset is in the lane's part: whether the range check sees
/// the scalar offset is not documented. Rows along another axis are too far apart for 32-bit
/// offsets and are accessed under a mask.
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
  KITTENS_MEMBER global_tile(const bounded_gl<GL, whole>& source, const COORD& idx, int rows,
                             int /*cols*/) {
    const GL& tensor = source.tensor;
    const coord<> at = idx.template unit_coord<axis, 3>();
    check_start<axis>(tensor, idx);
    start = reinterpret_cast<char*>(&tensor[at]);
    row_bytes = tensor.template stride<axis>() * element_size;
    rows_left = tensor.template shape<axis>() - at.template dim<axis>();
    cols_left = tensor.cols() - at.c;
    const int64_t range = rows_left > 0 && cols_left > 0
                              ? (rows_left - 1) * row_bytes + int64_t{cols_left} * element_size
                              : 0;
    constexpr int64_t largest = outside - 16;
    resource = make_srsrc(start, range < largest ? range : largest);
    if constexpr (axis == 2) check_span<axis>(tensor, idx, rows);
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
    return col < cols_left
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
      buffer_store<bytes>(resource, buffer_offset(row, col), 0, value);
    } else if (inside(row, col)) {
      global_store<bytes, element_size>(address(row, col), uint64_t{0}, value);
    }
  }
};

}  // namespace detail
}  // namespace kittens
