// Global layouts: a row-major tensor {batch, depth, rows, columns} in device memory, and views into
// one. A gl is made on the host and passed to a kernel, or made in the kernel:
//
//   gl<bf16, 1, 1, -1, -1> group(x + first * cols, nullptr, nullptr, count, cols);  // from a
//   pointer auto group = g.x.row_range({first}, count);    // rows first .. first + count - 1, all
//   columns auto block = g.x.view({0, 0, r, c}, 64, 32);   // 64 rows and 32 columns from element
//   (r, c) on auto block = g.x.view(coord<st_bf<64, 32>>{r, c}, 64, 32);   // ... of the tile in
//   {r, c}
//
// With bounded() a load or store ends at the edges of the view, regardless of the memory around it.
#pragma once

#include <stdexcept>

#include "../../common/base_types.cuh"
#include "coord.cuh"

/// Margay's runtime has this function, a GPU's does not. It registers a tensor's address and shape,
/// so that accesses past its end are found, byte by byte, in memory that the runtime did not
/// allocate (NumPy's, torch's).
extern "C" __attribute__((weak)) void margayDescribeTensor(const void* data, size_t batch,
                                                           size_t depth, size_t rows,
                                                           size_t columns, size_t element_bytes);

namespace kittens {
namespace ducks {
namespace gl {
struct identifier {};
template <typename T>
concept all =
    requires { typename T::identifier; } && std::is_same_v<typename T::identifier, identifier>;
}  // namespace gl
}  // namespace ducks

/// As a further template argument of a gl: its rows, depths and batches are a stride apart that is
/// given at run time. Without it a tensor is contiguous and keeps no strides.
struct strided {};

namespace detail {
/// Elements from one index of an axis to the next, as far as the shape does not say.
template <bool kept>
struct gl_strides {
  constexpr gl_strides(int64_t, int64_t, int64_t) {}
};
template <>
struct gl_strides<true> {
  int64_t row_stride, depth_stride, batch_stride;
  constexpr gl_strides(int64_t row, int64_t depth, int64_t batch)
      : row_stride(row), depth_stride(depth), batch_stride(batch) {}
};

/// One dimension: fixed at compile time (> 0), or kept (-1). The constructors are constexpr because
/// clang omits a class with non-constexpr constructors that only host code uses from the device's
/// debug information, from which the checker reads a tensor's shape.
template <int axis, int size>
struct gl_dim {
  static_assert(size > 0 || size == -1,
                "kittens: a gl dimension is a positive number, or -1 for one given at run time");
  constexpr gl_dim(std::nullptr_t) {}
  constexpr gl_dim(int) {}
  static KITTENS_HD constexpr int get() { return size; }
};
template <int axis>
struct gl_dim<axis, -1> {
  int value;
  gl_dim(std::nullptr_t) = delete;
  constexpr gl_dim(int v) : value(v) {}
  KITTENS_HD int get() const { return value; }
};
}  // namespace detail

/// b, d, r and c are sizes, or -1 for one that is given at run time. Passed by value inside a
/// kernel's argument struct. `options` may be `strided`; others (upstream's TMA descriptors) are
/// accepted and ignored.
template <typename _T, int b, int d, int r, int c, typename... options>
struct gl : private detail::gl_dim<0, b>,
            private detail::gl_dim<1, d>,
            private detail::gl_dim<2, r>,
            private detail::gl_dim<3, c>,
            private detail::gl_strides<(std::is_same_v<options, strided> || ...)> {
  using identifier = ducks::gl::identifier;
  static_assert(ducks::base_types::T1<_T>,
                "kittens: gl holds float, bf16, half, fp8e4m3, fp8e5m2, int8_t, uint8_t, int or "
                "double");
  using T = _T;
  using T2 = typename base_types::packing<T>::packed_type;
  using dtype = T;

  static constexpr int __b__ = b, __d__ = d, __r__ = r, __c__ = c;
  static constexpr bool is_strided = (std::is_same_v<options, strided> || ...);

  T* raw_ptr;

 private:
  using strides_t = detail::gl_strides<is_strided>;

 public:
  /// A run-time dimension is given as a number, a compile-time one as nullptr.
  KITTENS_HD gl(T* data, auto _batch, auto _depth, auto _rows, auto _cols)
    requires(!is_strided)
      : gl(strides_t(0, 0, 0), data, _batch, _depth, _rows, _cols) {
    describe();
  }
  /// A strided one: row_stride (the leading dimension), and if they do not follow from it and the
  /// shape, depth_stride and batch_stride, in elements.
  KITTENS_HD gl(T* data, auto _batch, auto _depth, auto _rows, auto _cols, int64_t row_stride,
                int64_t depth_stride = -1, int64_t batch_stride = -1)
    requires(is_strided)
      : gl(strides_t(row_stride, depth_stride, batch_stride), data, _batch, _depth, _rows, _cols) {
    if (depth_stride < 0) this->depth_stride = row_stride * rows();
    if (batch_stride < 0) this->batch_stride = this->depth_stride * depth();
    describe();
  }

  KITTENS_HD constexpr int batch() const { return detail::gl_dim<0, b>::get(); }
  KITTENS_HD constexpr int depth() const { return detail::gl_dim<1, d>::get(); }
  KITTENS_HD constexpr int rows() const { return detail::gl_dim<2, r>::get(); }
  KITTENS_HD constexpr int cols() const { return detail::gl_dim<3, c>::get(); }

  template <int axis>
  KITTENS_HD constexpr int shape() const {
    static_assert(axis >= 0 && axis <= 3, "kittens: a gl has the axes 0 to 3");
    if constexpr (axis == 0) return batch();
    if constexpr (axis == 1) return depth();
    if constexpr (axis == 2) return rows();
    return cols();
  }
  /// Elements from one index of the axis to the next.
  template <int axis>
  KITTENS_HD constexpr int64_t stride() const {
    static_assert(axis >= 0 && axis <= 3, "kittens: a gl has the axes 0 to 3");
    if constexpr (axis == 3) return 1;
    if constexpr (is_strided) {
      if constexpr (axis == 2) return this->row_stride;
      if constexpr (axis == 1) return this->depth_stride;
      return this->batch_stride;
    }
    if constexpr (axis == 2) return cols();
    if constexpr (axis == 1) return int64_t{rows()} * cols();
    return int64_t{depth()} * rows() * cols();
  }

  /// 64-bit on purpose: a tensor may have more than 2^31 elements.
  KITTENS_HD int64_t index(const coord<ducks::default_type>& at) const {
    if constexpr (is_strided) {
      return at.b * stride<0>() + at.d * stride<1>() + at.r * stride<2>() + at.c;
    } else {
      return ((int64_t{at.b} * depth() + at.d) * rows() + at.r) * cols() + at.c;
    }
  }
  KITTENS_HD T& operator[](const coord<ducks::default_type>& at) const {
    return raw_ptr[index(at)];
  }

  /// A view of `_rows` x `_cols` elements from `first` on, which counts elements, or tiles of its
  /// type. Its rows are as far apart as this tensor's.
  template <ducks::coord::tile COORD = coord<>>
  KITTENS_HD gl<T, 1, 1, -1, -1, strided> view(const COORD& first, int _rows, int _cols) const {
    return {raw_ptr + index(first.template unit_coord<2, 3>()),
            nullptr,
            nullptr,
            _rows,
            _cols,
            stride<2>()};
  }
  /// The same over several batches and depths.
  template <ducks::coord::tile COORD = coord<>>
  KITTENS_HD gl<T, -1, -1, -1, -1, strided> view(const COORD& first, int _batch, int _depth,
                                                 int _rows, int _cols) const {
    return {raw_ptr + index(first.template unit_coord<2, 3>()),
            _batch,
            _depth,
            _rows,
            _cols,
            stride<2>(),
            stride<1>(),
            stride<0>()};
  }
  /// `_rows` whole rows from `first` {batch, depth, row} on. A view of a contiguous tensor is
  /// contiguous: it costs no strides.
  KITTENS_HD auto row_range(int3 first, int _rows) const {
    using columns = std::conditional_t<(c > 0), std::nullptr_t, int>;
    T* const start = raw_ptr + index({first.x, first.y, first.z, 0});
    if constexpr (is_strided) {
      return gl<T, 1, 1, -1, c, strided>(start, nullptr, nullptr, _rows, columns(cols()),
                                         stride<2>());
    } else {
      return gl<T, 1, 1, -1, c>(start, nullptr, nullptr, _rows, columns(cols()));
    }
  }
  KITTENS_HD auto row_range(int first_row, int _rows) const {
    return row_range(int3{0, 0, first_row}, _rows);
  }

 private:
  KITTENS_HD gl(const strides_t& strides, T* data, auto _batch, auto _depth, auto _rows, auto _cols)
      : detail::gl_dim<0, b>(dimension(_batch)),
        detail::gl_dim<1, d>(dimension(_depth)),
        detail::gl_dim<2, r>(dimension(_rows)),
        detail::gl_dim<3, c>(dimension(_cols)),
        strides_t(strides),
        raw_ptr(data) {}

  template <typename D>
  static KITTENS_HD constexpr auto dimension(D value) {
    if constexpr (std::is_same_v<D, std::nullptr_t>) {
      return nullptr;
    } else {
      return static_cast<int>(value);
    }
  }

  KITTENS_HD void describe() const {
#if !defined(__HIP_DEVICE_COMPILE__)
    if (margayDescribeTensor == nullptr) return;
    if constexpr (is_strided) {
      // As one row, from the first element to the last.
      const coord<> last(batch() - 1, depth() - 1, rows() - 1, cols() - 1);
      margayDescribeTensor(raw_ptr, 1, 1, 1, index(last) + 1, sizeof(T));
    } else {
      margayDescribeTensor(raw_ptr, batch(), depth(), rows(), cols(), sizeof(T));
    }
#endif
  }
};

/// Builds a gl from an address and a shape, and refuses a shape that a compile-time dimension
/// contradicts (unless `safe` is false).
template <ducks::gl::all GL, bool safe = true>
inline GL make_gl(uint64_t pointer, int batch, int depth, int rows, int cols) {
  if constexpr (safe) {
    const auto check = [](int want, int got, const char* sentence) {
      if (want > 0 && want != got) throw std::runtime_error(sentence);
    };
    check(GL::__b__, batch, "Batch dimension mismatch.");
    check(GL::__d__, depth, "Depth dimension mismatch.");
    check(GL::__r__, rows, "Row dimension mismatch.");
    check(GL::__c__, cols, "Column dimension mismatch.");
  }
  return GL(reinterpret_cast<typename GL::T*>(pointer), batch, depth, rows, cols);
}

}  // namespace kittens
