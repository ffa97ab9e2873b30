// Sixteen lanes as one vector, and the few operations the compiler's vector extensions lack. A C or
// D register row is four of these. Compiled once per host level, inside that level's namespace; a
// level with narrower registers uses two or four of them per vector.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef MARGAY_HOST_LEVEL
#error \
    "compile this through one of the translation units of a host level (see src/mfma/CMakeLists.txt)"
#endif
#define MARGAY_INLINE [[gnu::always_inline]] inline

namespace margay::MARGAY_HOST_LEVEL {

typedef float F32 __attribute__((vector_size(64), aligned(64), may_alias));
typedef std::int32_t I32 __attribute__((vector_size(64), aligned(64), may_alias));
typedef std::uint32_t U32 __attribute__((vector_size(64), aligned(64), may_alias));
typedef std::uint16_t U16 __attribute__((vector_size(64), aligned(64), may_alias));
typedef std::uint8_t U8 __attribute__((vector_size(64), aligned(64), may_alias));
typedef double F64 __attribute__((vector_size(64), aligned(64), may_alias));
typedef std::uint64_t U64 __attribute__((vector_size(64), aligned(64), may_alias));

template <typename V>
[[nodiscard]] MARGAY_INLINE V load(const std::uint32_t* from) {
  return *reinterpret_cast<const V*>(from);
}
template <typename V>
MARGAY_INLINE void store(std::uint32_t* to, V value) {
  *reinterpret_cast<V*>(to) = value;
}

[[nodiscard]] MARGAY_INLINE F32 splat(float value) { return value - F32{}; }
[[nodiscard]] MARGAY_INLINE U32 splat(std::uint32_t value) { return value - U32{}; }
[[nodiscard]] MARGAY_INLINE U16 splat(std::uint16_t value) { return value - U16{}; }

[[nodiscard]] MARGAY_INLINE U8 max(U8 a, U8 b) { return a > b ? a : b; }
[[nodiscard]] MARGAY_INLINE U8 min(U8 a, U8 b) { return a < b ? a : b; }
[[nodiscard]] MARGAY_INLINE U16 max(U16 a, U16 b) { return a > b ? a : b; }
[[nodiscard]] MARGAY_INLINE U16 min(U16 a, U16 b) { return a < b ? a : b; }
[[nodiscard]] MARGAY_INLINE U32 max(U32 a, U32 b) { return a > b ? a : b; }
[[nodiscard]] MARGAY_INLINE U32 min(U32 a, U32 b) { return a < b ? a : b; }

/// Largest and smallest element.
[[nodiscard]] MARGAY_INLINE std::uint32_t highest(U32 v) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_epu32((__m512i)v);
#else
  std::uint32_t result = 0;
  for (int i = 0; i < 16; ++i) result = v[i] > result ? v[i] : result;
  return result;
#endif
}
[[nodiscard]] MARGAY_INLINE std::uint32_t lowest(U32 v) { return ~highest(~v); }

/// Whether any lane of a comparison's result is set.
[[nodiscard]] MARGAY_INLINE bool any(I32 mask) {
#if defined(__AVX512DQ__)
  return _mm512_movepi32_mask((__m512i)mask) != 0;
#elif defined(__AVX2__)
  const __m256i* const half = reinterpret_cast<const __m256i*>(&mask);
  return _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(half[0], half[1]))) != 0;
#else
  std::int32_t result = 0;
  for (int i = 0; i < 16; ++i) result |= mask[i];
  return result != 0;
#endif
}

/// Whether any bit is set.
[[nodiscard]] MARGAY_INLINE bool any_bit(U32 v) {
#if defined(__AVX512F__)
  return _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0;
#else
  return any((I32)(v != 0u));
#endif
}

/// Toward zero; the result is unspecified if it does not fit.
[[nodiscard]] MARGAY_INLINE I32 to_int(F32 v) {
#if defined(__AVX512F__)
  return (I32)_mm512_cvttps_epi32((__m512)v);
#elif defined(__AVX2__)
  I32 result;
  for (int half = 0; half < 2; ++half)
    reinterpret_cast<__m256i*>(&result)[half] =
        _mm256_cvttps_epi32(reinterpret_cast<const __m256*>(&v)[half]);
  return result;
#elif defined(__SSE2__)
  I32 result;
  for (int part = 0; part < 4; ++part)
    reinterpret_cast<__m128i*>(&result)[part] =
        _mm_cvttps_epi32(reinterpret_cast<const __m128*>(&v)[part]);
  return result;
#else
  // The portable conversion is undefined outside the range; such lanes are made 0 first.
  return __builtin_convertvector(((v > -0x1p31f) & (v < 0x1p31f)) ? v : F32{}, I32);
#endif
}
/// To nearest even.
[[nodiscard]] MARGAY_INLINE F32 to_float(I32 v) { return __builtin_convertvector(v, F32); }

/// floor(v / 2^by) for any by >= 0.
[[nodiscard]] MARGAY_INLINE I32 shift_right(I32 v, I32 by) {
#if defined(__AVX512F__)
  return (I32)_mm512_srav_epi32((__m512i)v, (__m512i)by);
#else
  return v >> (by < 31 ? by : I32{} + 31);
#endif
}
/// All bits from bit n up; none where n is above 31.
[[nodiscard]] MARGAY_INLINE U32 ones_from(U32 n) {
#if defined(__AVX512F__)
  return (U32)_mm512_sllv_epi32(_mm512_set1_epi32(-1), (__m512i)n);
#else
  return (U32)(n < 32u) & (splat(~0u) << (n & 31u));
#endif
}
/// a - b, or 0 where b is larger. For numbers below 2^16.
[[nodiscard]] MARGAY_INLINE U32 less_or_zero(U32 a, U32 b) {
#if defined(__AVX512BW__)
  return (U32)_mm512_subs_epu16((__m512i)a, (__m512i)b);
#else
  return max(a, b) - b;
#endif
}
/// Leading zeros of v, which is not negative; below 2^28 any number of at least 3 will do.
[[nodiscard]] MARGAY_INLINE I32 leading_zeros(I32 v) {
#if defined(__AVX512CD__)
  return (I32)_mm512_lzcnt_epi32((__m512i)v);
#else
  return 1 - ((v < 1 << 30) + (v < 1 << 29));
#endif
}

/// a * b toward -infinity, where b is a power of two: -0 or less where a negative product is too
/// small for a float. (Without such a rounding: to nearest.)
[[nodiscard]] MARGAY_INLINE F32 scaled(F32 a, F32 b) {
#if defined(__AVX512F__)
  return (F32)_mm512_mul_round_ps((__m512)a, (__m512)b, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
  return a * b;
#endif
}
/// floor(a * b) of product = scaled(a, b), exactly.
[[nodiscard]] MARGAY_INLINE I32 scaled_floor(F32 product, [[maybe_unused]] F32 a) {
#if defined(__AVX512F__)
  return (I32)_mm512_cvt_roundps_epi32((__m512)product, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
  const I32 whole = to_int(product);
  // Truncation went up where a negative product had a fraction, or vanished altogether.
  return whole + ((product < to_float(whole)) | ((a < 0.0f) & (whole == 0)));
#endif
}

/// a * b + c with one rounding.
[[nodiscard]] MARGAY_INLINE F32 fused(F32 a, F32 b, F32 c) {
#if defined(__AVX512F__)
  return (F32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  F32 result;
  for (int half = 0; half < 2; ++half)
    reinterpret_cast<__m256*>(&result)[half] = _mm256_fmadd_ps(
        reinterpret_cast<const __m256*>(&a)[half], reinterpret_cast<const __m256*>(&b)[half],
        reinterpret_cast<const __m256*>(&c)[half]);
  return result;
#else
  // In double the product is exact; the sum is rounded to odd, which does not affect the rounding
  // to float (Boldo and Melquiond, "When double rounding is odd", 2005).
  typedef double Wide __attribute__((vector_size(128), aligned(64)));
  typedef std::int64_t WideBits __attribute__((vector_size(128), aligned(64)));
  const Wide product = __builtin_convertvector(a, Wide) * __builtin_convertvector(b, Wide);
  const Wide addend = __builtin_convertvector(c, Wide);
  Wide sum = product + addend;
  const Wide shadow = sum - product;
  const Wide error = (product - (sum - shadow)) + (addend - shadow);
  WideBits bits = (WideBits)sum;
  const WideBits inexact = (error > 0) | (error < 0);  // not for NaN: then the sum is not finite
  const WideBits outward = (error > 0) == (sum > 0);
  bits += inexact & ~-(bits & 1) & (outward ? WideBits{} + 1 : WideBits{} - 1);
  return __builtin_convertvector((Wide)bits, F32);
#endif
}

/// a * b + c with one rounding, for doubles.
[[nodiscard]] MARGAY_INLINE F64 fused(F64 a, F64 b, F64 c) {
#if defined(__AVX512F__)
  return (F64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#else
  F64 result;
  for (int i = 0; i < 8; ++i) result[i] = __builtin_fma(a[i], b[i], c[i]);
  return result;
#endif
}

/// The f16 in the lower half of each lane, as f32. The upper halves are ignored.
[[nodiscard]] MARGAY_INLINE F32 half_to_float(U32 v) {
#if defined(__AVX512F__)
  return (F32)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)v));
#else
  const U32 magnitude = v & 0x7fffu;
  const U32 exponent = magnitude >> 10;
  // As an integer times a power of two, so that denormals need no denormal arithmetic.
  const U32 significand = exponent == 0u ? magnitude : ((magnitude & 0x3ffu) | 0x400u);
  const U32 scale = ((exponent == 0u ? splat(1u) : exponent) + (127u - 15u - 10u)) << 23;
  const F32 finite = to_float((I32)significand) * (F32)scale;
  const U32 special = 0x7f800000u | ((magnitude & 0x3ffu) << 13);
  return (F32)((exponent == 31u ? special : (U32)finite) | ((v & 0x8000u) << 16));
#endif
}

}  // namespace margay::MARGAY_HOST_LEVEL
