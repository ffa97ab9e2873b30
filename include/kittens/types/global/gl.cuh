// Global layouts: a row-major tensor {batch, depth, rows, columns} in device memory.
#pragma once

#include <stdexcept>

#include "../../common/base_types.cuh"
#include "coord.cuh"

/// Margay's runtime has this, a GPU's does not: where a tensor lies and its shape, so that accesses
/// past its end are found, byte by byte, in memory the runtime did not allocate (NumPy's, torch's).
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

namespace detail {
/// One dimension: fixed at compile time (> 0), or kept (-1). The constructors are constexpr because
/// clang leaves a class whose others are used in host code only out of the device's debug
/// information, by which the checker reads a tensor's shape.
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

/// Passed by value inside a kernel's argument struct. Further template arguments (upstream's TMA
/// descriptors) are accepted and ignored.
template <typename _T, int b, int d, int r, int c, typename...>
struct gl : private detail::gl_dim<0, b>,
            private detail::gl_dim<1, d>,
            private detail::gl_dim<2, r>,
            private detail::gl_dim<3, c> {
  using identifier = ducks::gl::identifier;
  using T = _T;
  using T2 = typename base_types::packing<T>::packed_type;
  using dtype = T;

  static constexpr int __b__ = b, __d__ = d, __r__ = r, __c__ = c;

  T* raw_ptr;

  /// A run-time dimension is given as a number, a compile-time one as nullptr.
  gl(T* data, auto _batch, auto _depth, auto _rows, auto _cols)
      : detail::gl_dim<0, b>(dimension(_batch)),
        detail::gl_dim<1, d>(dimension(_depth)),
        detail::gl_dim<2, r>(dimension(_rows)),
        detail::gl_dim<3, c>(dimension(_cols)),
        raw_ptr(data) {
    if (margayDescribeTensor != nullptr) {
      margayDescribeTensor(data, batch(), depth(), rows(), cols(), sizeof(T));
    }
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
    if constexpr (axis == 2) return cols();
    if constexpr (axis == 1) return int64_t{rows()} * cols();
    return int64_t{depth()} * rows() * cols();
  }

  /// 64-bit on purpose: a tensor may have more than 2^31 elements.
  KITTENS_HD int64_t index(const coord<ducks::default_type>& at) const {
    return ((int64_t{at.b} * depth() + at.d) * rows() + at.r) * cols() + at.c;
  }
  KITTENS_HD T& operator[](const coord<ducks::default_type>& at) const {
    return raw_ptr[index(at)];
  }

 private:
  template <typename D>
  static auto dimension(D value) {
    if constexpr (std::is_same_v<D, std::nullptr_t>) {
      return nullptr;
    } else {
      return static_cast<int>(value);
    }
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
