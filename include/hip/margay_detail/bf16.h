// bfloat16 for HIP programs: __hip_bfloat16, __hip_bfloat162 and their functions, with the names
// and meanings of HIP 6 and 7 (HIP 5.2, which Debian 12 ships, does not have them), and no others:
// programs define what ROCm's header lacks, such as __float2bfloat162_rn. Where 6 and 7 differ it
// is as in 7, and a function returns what ROCm's returns, even where that differs from what its
// name says.
//
// Sources: HIP API reference, "HIP bfloat16" groups, ROCm 6.3 and 7.2; ROCm/clr, amd_hip_bf16.h,
// for the set of names, which of them the host has and what NaN gives. A bfloat16 is the upper half
// of an IEEE binary32, so every function here computes in float and rounds once at the end, to
// nearest even. Part of hip/hip_bf16.h; do not include it alone.
#pragma once

#if defined(__HIP__)
#include <hip/hip_runtime.h>
#define MARGAY_BF16_FN __host__ __device__ inline
#define MARGAY_BF16_MEMBER __host__ __device__
#else  // A host-only compiler: the host half of the header.
#include <hip/hip_vector_types.h>
#include <cmath>
#define MARGAY_BF16_FN inline
#define MARGAY_BF16_MEMBER
#endif

/// The bits of a bfloat16, without behaviour.
struct __attribute__((aligned(2))) __hip_bfloat16_raw {
  unsigned short x;
};
struct __attribute__((aligned(4))) __hip_bfloat162_raw {
  unsigned short x;
  unsigned short y;
};

namespace margay_bf16 {

/// Round to nearest, ties to even. Adding 0x7fff plus the lowest kept bit carries exactly when the
/// dropped half is above the tie, or on the tie with an odd result; infinity needs no special case.
/// A NaN is kept apart because the carry could turn it into an infinity.
MARGAY_BF16_FN constexpr unsigned short from_float(float value) {
  const unsigned bits = __builtin_bit_cast(unsigned, value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<unsigned short>((bits >> 16) | 0x40u);
  }
  return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// Rounded once. A float that the double was rounded away from zero to, or off an even one, is made
/// odd below, so that the second rounding sees that something was cut off ("round to odd").
MARGAY_BF16_FN constexpr unsigned short from_double(double value) {
  const float narrow = static_cast<float>(value);
  unsigned bits = __builtin_bit_cast(unsigned, narrow);
  const double back = narrow;
  if (back == value || value != value) return from_float(narrow);
  const bool away = value < 0 ? back < value : back > value;
  if (away) --bits;
  return from_float(__builtin_bit_cast(float, bits | 1u));
}

MARGAY_BF16_FN constexpr float to_float(unsigned short bits) {
  return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
}

/// Float to integer toward zero, saturating; NaN gives 0 (what the GPU's v_cvt_* do, and the CUDA
/// reference says of these conversions). A C++ cast would be undefined out of range.
template <typename Int>
MARGAY_BF16_FN constexpr Int to_int(float value) {
  constexpr bool is_signed = Int(-1) < Int(0);
  constexpr int value_bits = static_cast<int>(sizeof(Int)) * 8 - (is_signed ? 1 : 0);
  constexpr Int largest = static_cast<Int>(~(is_signed ? 1ull << value_bits : 0ull));
  constexpr Int smallest = is_signed ? static_cast<Int>(-largest - 1) : Int(0);
  float bound = 1;  // 2^value_bits, exact in float
  for (int bit = 0; bit < value_bits; ++bit) bound *= 2;
  if (value != value) return Int(0);
  if (value >= bound) return largest;
  if (value <= (is_signed ? -bound : 0.0f)) return smallest;
  return static_cast<Int>(value);
}

}  // namespace margay_bf16

#if defined(__clang__)
typedef __bf16 __bf16_2 __attribute__((ext_vector_type(2)));
#endif

struct __attribute__((aligned(2))) __hip_bfloat16 {
 protected:
  unsigned short __x;

 public:
  __hip_bfloat16() = default;
  MARGAY_BF16_MEMBER constexpr __hip_bfloat16(const __hip_bfloat16_raw& raw) : __x(raw.x) {}
  MARGAY_BF16_MEMBER constexpr __hip_bfloat16(float value) : __x(margay_bf16::from_float(value)) {}
  // A double has every value of the other types.
#define MARGAY_BF16_FROM(Type)                            \
  MARGAY_BF16_MEMBER constexpr __hip_bfloat16(Type value) \
      : __x(margay_bf16::from_double(static_cast<double>(value))) {}
  MARGAY_BF16_FROM(double)
  MARGAY_BF16_FROM(short)
  MARGAY_BF16_FROM(unsigned short)
  MARGAY_BF16_FROM(int)
  MARGAY_BF16_FROM(unsigned int)
#undef MARGAY_BF16_FROM
#if defined(__clang__)
  // By way of memory: without optimisation clang moves a __bf16 on the host by calling functions
  // that Debian 12's libgcc does not have.
  MARGAY_BF16_MEMBER __hip_bfloat16(const __bf16& value) { __builtin_memcpy(&__x, &value, 2); }
  MARGAY_BF16_MEMBER operator __bf16() const {
    __bf16 value;
    __builtin_memcpy(&value, &__x, 2);
    return value;
  }
#endif

  MARGAY_BF16_MEMBER volatile __hip_bfloat16& operator=(const __hip_bfloat16_raw& raw) volatile {
    __x = raw.x;
    return *this;
  }
  MARGAY_BF16_MEMBER volatile __hip_bfloat16& operator=(
      const volatile __hip_bfloat16_raw& raw) volatile {
    __x = raw.x;
    return *this;
  }

  MARGAY_BF16_MEMBER constexpr operator __hip_bfloat16_raw() const { return {__x}; }
  MARGAY_BF16_MEMBER operator __hip_bfloat16_raw() const volatile { return {__x}; }
  MARGAY_BF16_MEMBER constexpr operator float() const { return margay_bf16::to_float(__x); }
  MARGAY_BF16_MEMBER constexpr operator bool() const { return (__x & 0x7fffu) != 0; }
#define MARGAY_BF16_TO(Type)                                     \
  MARGAY_BF16_MEMBER constexpr operator Type() const {           \
    return margay_bf16::to_int<Type>(static_cast<float>(*this)); \
  }
  MARGAY_BF16_TO(char)
  MARGAY_BF16_TO(signed char)
  MARGAY_BF16_TO(unsigned char)
  MARGAY_BF16_TO(short)
  MARGAY_BF16_TO(unsigned short)
  MARGAY_BF16_TO(int)
  MARGAY_BF16_TO(unsigned int)
  MARGAY_BF16_TO(long)
  MARGAY_BF16_TO(unsigned long)
  MARGAY_BF16_TO(long long)
  MARGAY_BF16_TO(unsigned long long)
#undef MARGAY_BF16_TO
};

struct __attribute__((aligned(4))) __hip_bfloat162 {
  __hip_bfloat16 x;
  __hip_bfloat16 y;

  __hip_bfloat162() = default;
  MARGAY_BF16_MEMBER constexpr __hip_bfloat162(const __hip_bfloat16& low,
                                               const __hip_bfloat16& high)
      : x(low), y(high) {}
  MARGAY_BF16_MEMBER constexpr __hip_bfloat162(const __hip_bfloat162_raw& raw)
      : x(__hip_bfloat16_raw{raw.x}), y(__hip_bfloat16_raw{raw.y}) {}

  MARGAY_BF16_MEMBER constexpr operator __hip_bfloat162_raw() const {
    return {static_cast<__hip_bfloat16_raw>(x).x, static_cast<__hip_bfloat16_raw>(y).x};
  }
  MARGAY_BF16_MEMBER operator float2() const {
    return float2{static_cast<float>(x), static_cast<float>(y)};
  }
#if defined(__clang__)
  MARGAY_BF16_MEMBER __hip_bfloat162(const __bf16_2& values) {
    __builtin_memcpy(&x, &values, 2);
    __builtin_memcpy(&y, reinterpret_cast<const char*>(&values) + 2, 2);
  }
  MARGAY_BF16_MEMBER operator __bf16_2() const {
    __bf16_2 values;
    __builtin_memcpy(&values, this, 4);
    return values;
  }
#endif
};

static_assert(sizeof(__hip_bfloat16) == 2 && alignof(__hip_bfloat16) == 2);
static_assert(sizeof(__hip_bfloat162) == 4 && alignof(__hip_bfloat162) == 4);

#define HIPRT_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define HIPRT_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)

#include <hip/margay_detail/bf16_convert.h>  // IWYU pragma: export

// Uses the conversions: must come after them.
#include <hip/margay_detail/bf16_arithmetic.h>  // IWYU pragma: export
#if defined(__HIP__)
#include <hip/margay_detail/bf16_device.h>  // IWYU pragma: export
#endif

#undef MARGAY_BF16_FN
#undef MARGAY_BF16_MEMBER
