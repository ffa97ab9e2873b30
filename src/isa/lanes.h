// A chunk of lanes as a native vector, and the few operations on it that the compiler's vector
// extensions do not have. Instruction semantics (isa/gfx942/) are written in terms of this file;
// it is compiled once per host level, inside that level's namespace, with its own -march.
//
// A wave's 64 lanes are processed in 64 / kLanes chunks. f32, u32 and i32 chunks fill one native
// vector; 64-bit chunks fill two.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "isa/operand.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef MARGAY_HOST_LEVEL
#error \
    "compile this through one of the translation units of a host level (see src/exec/CMakeLists.txt)"
#endif

namespace margay::MARGAY_HOST_LEVEL {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
#elif defined(__AVX2__)
inline constexpr int kLanes = 8;
#else
inline constexpr int kLanes = 4;
#endif
inline constexpr int kChunks = kWaveLanes / kLanes;

template <typename T>
struct VectorOf {
  typedef T type
      __attribute__((vector_size(sizeof(T) * kLanes),
                     aligned(sizeof(T) * kLanes > 64 ? 64 : sizeof(T) * kLanes), may_alias));
};
template <typename T>
using Vec = typename VectorOf<T>::type;

using F32 = Vec<float>;
using U32 = Vec<std::uint32_t>;
using I32 = Vec<std::int32_t>;
using F64 = Vec<double>;
using U64 = Vec<std::uint64_t>;
using I64 = Vec<std::int64_t>;

template <typename V>
using Element = std::remove_cvref_t<decltype(std::declval<V>()[0])>;

/// The same bits as another vector (or number) type of the same size.
template <typename To, typename From>
[[nodiscard]] inline To as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

/// All lanes the same value.
template <typename V>
[[nodiscard]] inline V splat(Element<V> value) {
  return V{} + value;
}
template <>
[[nodiscard]] inline F32 splat<F32>(float value) {
  F32 out;
  for (int i = 0; i < kLanes; ++i) out[i] = value;  // keeps -0.0, which `V{} + value` loses
  return out;
}
template <>
[[nodiscard]] inline F64 splat<F64>(double value) {
  F64 out;
  for (int i = 0; i < kLanes; ++i) out[i] = value;
  return out;
}

/// `condition ? a : b` per lane; the condition is a vector of 0 and -1.
template <typename C, typename V>
[[nodiscard]] inline V select(C condition, V a, V b) {
  if constexpr (sizeof(Element<C>) == sizeof(Element<V>)) {
    return condition ? a : b;
  } else {  // a 32-bit condition on 64-bit values
    return __builtin_convertvector(as<I32>(condition), I64) ? a : b;
  }
}

/// Applies a scalar function to each lane. For cold functions without a vector form.
template <typename R, typename F, typename... Vs>
[[nodiscard]] inline Vec<R> per_lane(F function, Vs... vectors) {
  Vec<R> out;
  for (int i = 0; i < kLanes; ++i) out[i] = function(vectors[i]...);
  return out;
}

// ---- Conditions to and from lane masks -----------------------------------------------------

/// Bit i is set when lane i's condition (0 or -1) is.
[[nodiscard]] inline std::uint32_t to_bits(I32 condition) {
#if defined(__AVX512DQ__)
  return _mm512_movepi32_mask(as<__m512i>(condition));
#elif defined(__AVX2__)
  return static_cast<std::uint32_t>(_mm256_movemask_ps(as<__m256>(condition)));
#elif defined(__SSE2__)
  return static_cast<std::uint32_t>(_mm_movemask_ps(as<__m128>(condition)));
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= (condition[i] != 0 ? 1u : 0u) << i;
  return bits;
#endif
}

[[nodiscard]] inline I32 from_bits(std::uint32_t bits) {
#if defined(__AVX512DQ__)
  return as<I32>(_mm512_movm_epi32(static_cast<__mmask16>(bits)));
#else
  I32 lane_bit;
  for (int i = 0; i < kLanes; ++i) lane_bit[i] = 1 << i;
  return (splat<I32>(static_cast<std::int32_t>(bits)) & lane_bit) != 0;
#endif
}

/// A condition on 64-bit lanes as one on 32-bit lanes.
[[nodiscard]] inline I32 narrow(I64 condition) { return __builtin_convertvector(condition, I32); }
[[nodiscard]] inline I32 narrow(I32 condition) { return condition; }

// ---- 64-bit lanes from and to pairs of registers -------------------------------------------

[[nodiscard]] inline U64 join(U32 low, U32 high) {
  return __builtin_convertvector(low, U64) | (__builtin_convertvector(high, U64) << 32);
}
[[nodiscard]] inline U32 low_half(U64 value) { return __builtin_convertvector(value, U32); }
[[nodiscard]] inline U32 high_half(U64 value) { return __builtin_convertvector(value >> 32, U32); }

// ---- Floating point ------------------------------------------------------------------------

[[nodiscard]] inline F32 fma(F32 a, F32 b, F32 c) {
#if defined(__AVX512F__)
  return as<F32>(_mm512_fmadd_ps(as<__m512>(a), as<__m512>(b), as<__m512>(c)));
#elif defined(__FMA__)
  return as<F32>(_mm256_fmadd_ps(as<__m256>(a), as<__m256>(b), as<__m256>(c)));
#else
  return per_lane<float>([](float x, float y, float z) { return __builtin_fmaf(x, y, z); }, a, b,
                         c);
#endif
}

[[nodiscard]] inline F64 fma(F64 a, F64 b, F64 c) {
#if defined(__AVX512F__)
  struct Halves {
    __m512d part[2];
  };
  const auto x = as<Halves>(a), y = as<Halves>(b), z = as<Halves>(c);
  return as<F64>(Halves{{_mm512_fmadd_pd(x.part[0], y.part[0], z.part[0]),
                         _mm512_fmadd_pd(x.part[1], y.part[1], z.part[1])}});
#else
  return per_lane<double>([](double x, double y, double z) { return __builtin_fma(x, y, z); }, a, b,
                          c);
#endif
}

[[nodiscard]] inline F32 sqrt(F32 a) {
#if defined(__AVX512F__)
  return as<F32>(_mm512_sqrt_ps(as<__m512>(a)));
#elif defined(__AVX2__)
  return as<F32>(_mm256_sqrt_ps(as<__m256>(a)));
#else
  return per_lane<float>([](float x) { return __builtin_sqrtf(x); }, a);
#endif
}

/// Round to an integral value. `mode`: 0 nearest even, 1 down, 2 up, 3 toward zero.
template <int mode>
[[nodiscard]] inline F32 round_to_integral(F32 a) {
#if defined(__AVX512F__)
  return as<F32>(_mm512_roundscale_ps(as<__m512>(a), mode | _MM_FROUND_NO_EXC));
#elif defined(__AVX2__)
  return as<F32>(_mm256_round_ps(as<__m256>(a), mode | _MM_FROUND_NO_EXC));
#else
  return per_lane<float>(
      [](float x) {
        if constexpr (mode == 0) return __builtin_nearbyintf(x);
        if constexpr (mode == 1) return __builtin_floorf(x);
        if constexpr (mode == 2) return __builtin_ceilf(x);
        if constexpr (mode == 3) return __builtin_truncf(x);
      },
      a);
#endif
}
template <int mode>
[[nodiscard]] inline F64 round_to_integral(F64 a) {
  return per_lane<double>(
      [](double x) {
        if constexpr (mode == 0) return __builtin_nearbyint(x);
        if constexpr (mode == 1) return __builtin_floor(x);
        if constexpr (mode == 2) return __builtin_ceil(x);
        if constexpr (mode == 3) return __builtin_trunc(x);
      },
      a);
}

/// f16 bits (low half of each lane) to f32, exactly; a signalling NaN stays one.
[[nodiscard]] inline F32 half_to_float(U32 bits) {
  const U32 sign = (bits & 0x8000u) << 16;
  const U32 magnitude = bits & 0x7fffu;
  const U32 special = (magnitude << 13) | 0x7f800000u;
#if defined(__AVX512F__)
  const F32 converted = as<F32>(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(as<__m512i>(bits))));
  return select(magnitude > 0x7c00u, as<F32>(sign | special), converted);
#else
  // Rebias by a multiplication, which also normalises f16 denormals; then correct Inf and NaN.
  const F32 scaled = as<F32>(magnitude << 13) * 0x1p112f;
  return as<F32>(sign | select(magnitude >= 0x7c00u, special, as<U32>(scaled)));
#endif
}

/// f32 to f16 bits, rounded as the host rounds (to nearest even, unless exec/program/float_mode.cpp
/// has set another direction).
[[nodiscard]] inline U32 float_to_half(F32 value) {
#if defined(__AVX512F__)
  return as<U32>(
      _mm512_cvtepu16_epi32(_mm512_cvtps_ph(as<__m512>(value), _MM_FROUND_CUR_DIRECTION)));
#elif defined(__F16C__)
  return as<U32>(
      _mm256_cvtepu16_epi32(_mm256_cvtps_ph(as<__m256>(value), _MM_FROUND_CUR_DIRECTION)));
#else
  const U32 bits = as<U32>(value);
  const U32 sign = bits & 0x80000000u, magnitude = bits & 0x7fffffffu;
  // Adding a number whose unit in the last place is that of the f16 (2^13 times the value's own
  // power of two, or 0.5 for a denormal) drops the bits that an f16 does not have, in the host's
  // direction.
  const U32 power = (magnitude & 0x7f800000u) + (13u << 23);
  const F32 aligner = as<F32>(sign | select(power < 0x3f000000u, splat<U32>(0x3f000000u), power));
  const F32 rounded = (value + aligner) - aligner;
  const U32 kept = as<U32>(rounded) & 0x7fffffffu;
  const U32 normal = (kept - (112u << 23)) >> 13;
  const U32 denormal = as<U32>(as<F32>(kept) + 0.5f) - 0x3f000000u;  // exact
  U32 out = select(kept < (113u << 23), denormal, normal);
  // A result of 2^16 or more has overflowed: to infinity or to the largest number, as an f32 would.
  const F32 beyond = as<F32>(sign | 0x7f7fffffu) * 2.0f;
  const U32 overflowed = select((as<U32>(beyond) & 0x7fffffffu) == 0x7f800000u, splat<U32>(0x7c00u),
                                splat<U32>(0x7bffu));
  out = select(kept >= 0x47800000u, overflowed, out);
  out = select(magnitude >= 0x47800000u, overflowed, out);
  out = select(magnitude == 0x7f800000u, splat<U32>(0x7c00u), out);
  out = select(magnitude > 0x7f800000u, 0x7e00u | ((magnitude >> 13) & 0x3ffu), out);
  return (sign >> 16) | out;
#endif
}

[[nodiscard]] inline I32 is_nan(F32 a) { return a != a; }
[[nodiscard]] inline I64 is_nan(F64 a) { return a != a; }

}  // namespace margay::MARGAY_HOST_LEVEL
