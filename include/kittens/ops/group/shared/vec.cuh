// Maps and reductions of shared vectors by a group of warps, without a barrier inside: writes of
// other warps to a source must precede a barrier before the call.
#pragma once

#include "tile_reductions.cuh"

namespace kittens {
namespace group_ops {

template <int GROUP_WARPS>
struct shared_vec {
  static constexpr int threads = GROUP_WARPS * WARP_THREADS;

  template <typename op, ducks::sv::all SV>
  static KITTENS_MEMBER void unary_op(SV& dst, const SV& src) {
    each<SV>([&](int i) { dst[i] = detail::operate<op>(src[i]); });
  }
  template <typename op, ducks::sv::all SV>
  static KITTENS_MEMBER void bin_op(SV& dst, const SV& lhs, const SV& rhs) {
    each<SV>([&](int i) { dst[i] = detail::operate<op>(lhs[i], rhs[i]); });
  }
  /// With a scalar.
  template <typename op, ducks::sv::all SV>
  static KITTENS_MEMBER void bin_op(SV& dst, const SV& src, const typename SV::T& param) {
    each<SV>([&](int i) { dst[i] = detail::operate<op>(src[i], param); });
  }

  /// Converts the element type.
  template <ducks::sv::all D, ducks::sv::all S>
  static KITTENS_MEMBER void copy(D& dst, const S& src) {
    static_assert(static_cast<int>(D::length) == static_cast<int>(S::length),
                  "kittens: copy(sv, sv) needs vectors of the same length");
    each<D>([&](int i) {
      dst[i] = base_types::convertor<typename D::T, typename S::T>::convert(src[i]);
    });
  }

#define KITTENS_STATIC         \
  template <ducks::sv::all SV> \
  static KITTENS_MEMBER
#define KITTENS_NULLARY_OP(name)                                                      \
  KITTENS_STATIC void name(SV& dst) {                                                 \
    each<SV>([&](int i) { dst[i] = base_types::constants<typename SV::T>::name(); }); \
  }
  KITTENS_NULLARY_NAMES(KITTENS_NULLARY_OP)
#undef KITTENS_NULLARY_OP

#define KITTENS_UNARY_OP(name) \
  KITTENS_STATIC void name(SV& dst, const SV& src) { unary_op<base_ops::name>(dst, src); }
  KITTENS_UNARY_NAMES(KITTENS_UNARY_OP)
#undef KITTENS_UNARY_OP

/// The right operand is a vector or a scalar.
#define KITTENS_BINARY_OP(name, operation)                                      \
  KITTENS_STATIC void name(SV& dst, const SV& lhs, const SV& rhs) {             \
    bin_op<base_ops::operation>(dst, lhs, rhs);                                 \
  }                                                                             \
  KITTENS_STATIC void name(SV& dst, const SV& lhs, const typename SV::T& rhs) { \
    bin_op<base_ops::operation>(dst, lhs, rhs);                                 \
  }
  KITTENS_BINARY_NAMES(KITTENS_BINARY_OP)
#undef KITTENS_BINARY_OP

/// sum(s, v): every thread of the group gets the sum; sum(s, v, a): a + the sum.
#define KITTENS_VECTOR_REDUCTION(name, operation)                                                  \
  KITTENS_STATIC void name(typename SV::T& dst, const SV& src) {                                   \
    dst = reduce<base_ops::operation>(src, [](const auto& x) { return x; });                       \
  }                                                                                                \
  KITTENS_STATIC void name(typename SV::T& dst, const SV& src, const typename SV::T& start) {      \
    dst = reduce<base_ops::operation>(src, [&](const auto& x) {                                    \
      using C = std::remove_cvref_t<decltype(x)>;                                                  \
      return base_ops::operation::op(base_types::convertor<C, typename SV::T>::convert(start), x); \
    });                                                                                            \
  }
  KITTENS_REDUCTION_NAMES(KITTENS_VECTOR_REDUCTION)
#undef KITTENS_VECTOR_REDUCTION
#undef KITTENS_STATIC

 private:
  template <ducks::sv::all SV, typename F>
  static KITTENS_MEMBER void each(F&& f) {
    for (int i = threadIdx.x % threads; i < static_cast<int>(SV::length); i += threads) f(i);
    detail::lds_writes_done();
  }
  /// Every warp reduces the whole vector for itself: that needs no barrier.
  template <typename op, ducks::sv::all SV, typename F>
  static KITTENS_MEMBER typename SV::T reduce(const SV& src, F&& finish) {
    using T = typename SV::T;
    using C = base_ops::detail::computed<T>;
    C sum = detail::neutral_of<op, C>();
    for (int i = laneid(); i < static_cast<int>(SV::length); i += WARP_THREADS) {
      sum = op::op(sum, base_types::convertor<C, T>::convert(src[i]));
    }
    return base_types::convertor<T, C>::convert(
        finish(detail::reduce_lanes<op, WARP_THREADS>(sum)));
  }
};

}  // namespace group_ops
}  // namespace kittens
