// The host half of include/hip/hip_fp8.h. The reference derives the formats' values from their
// definition and finds the nearest code by looking at all of them.
#include <hip/hip_fp8.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// What one of the four formats is, in the words of the OFP8 specification and the MI300 ISA guide.
struct Format {
  __hip_fp8_interpretation_t interpretation;
  int mantissa, bias;
  unsigned largest;  ///< Code of the largest number.
  bool has_negative_zero;
  bool has_infinity;  ///< Right behind the largest.
  unsigned nan;       ///< What NaN becomes, without a sign that it may have.
};
constexpr Format kFormats[] = {{__HIP_E4M3, 3, 7, 0x7e, true, false, 0x7f},
                               {__HIP_E5M2, 2, 15, 0x7b, true, true, 0x7f},
                               {__HIP_E4M3_FNUZ, 3, 8, 0x7f, false, false, 0x80},
                               {__HIP_E5M2_FNUZ, 2, 16, 0x7f, false, false, 0x80}};

/// Of a code up to the largest.
double magnitude_of(const Format& f, unsigned code) {
  const int exponent = static_cast<int>(code >> f.mantissa);
  const double fraction = std::ldexp(code & ((1u << f.mantissa) - 1), -f.mantissa);
  return exponent == 0 ? std::ldexp(fraction, 1 - f.bias)
                       : std::ldexp(1 + fraction, exponent - f.bias);
}

unsigned with_sign(const Format& f, unsigned code, double like) {
  if (code == 0 && !f.has_negative_zero) return 0;
  return code == 0x80 ? 0x80 : code | (std::signbit(like) ? 0x80 : 0);
}
unsigned overflow(const Format& f, double like) {
  return with_sign(f, f.has_infinity ? f.largest + 1 : f.nan, like);
}
unsigned nearest(const Format& f, double x, bool saturates) {
  if (std::isnan(x)) return with_sign(f, f.nan, x);
  if (std::isinf(x)) return overflow(f, x);
  const double magnitude = std::fabs(x), largest = magnitude_of(f, f.largest);
  const double step = largest - magnitude_of(f, f.largest - 1);
  // At the middle the even one: the number behind the largest is even where the largest is odd.
  const bool beyond =
      f.largest % 2 == 1 ? magnitude >= largest + step / 2 : magnitude > largest + step / 2;
  if (beyond) return saturates ? with_sign(f, f.largest, x) : overflow(f, x);
  unsigned best = 0;
  for (unsigned code = 1; code <= f.largest; ++code) {
    const double d = std::fabs(magnitude_of(f, code) - magnitude),
                 b = std::fabs(magnitude_of(f, best) - magnitude);
    if (d < b || (d == b && code % 2 == 0)) best = code;
  }
  return with_sign(f, best, x);
}

/// Every value and every middle between two, with the neighbours of both.
template <typename T>
std::vector<T> numbers(const Format& f) {
  std::vector<T> out{0,
                     kInfinity,
                     std::numeric_limits<T>::quiet_NaN(),
                     std::numeric_limits<T>::denorm_min(),
                     std::numeric_limits<T>::min(),
                     std::numeric_limits<T>::max()};
  const auto around = [&](double x) {
    const T at = static_cast<T>(x);
    out.insert(out.end(), {at, std::nextafter(at, T(kInfinity)), std::nextafter(at, T(-1))});
  };
  for (unsigned code = 0; code <= f.largest; ++code) {
    const double next = code < f.largest ? magnitude_of(f, code + 1)
                                         : 2 * magnitude_of(f, code) - magnitude_of(f, code - 1);
    around(magnitude_of(f, code));
    around((magnitude_of(f, code) + next) / 2);
    around(next);
  }
  for (std::size_t n = out.size(); n-- != 0;) out.push_back(-out[n]);
  return out;
}

template <typename Judge>
void for_each_saturation(Judge&& judge) {
  judge(__HIP_NOSAT);
  judge(__HIP_SATFINITE);
}

TEST(Fp8, EveryCodeIsItsNumber) {
  for (const Format& f : kFormats) {
    for (unsigned code = 0; code < 256; ++code) {
      const auto stored = static_cast<__hip_fp8_storage_t>(code);
      const float value =
          margay_fp8::half_value(__hip_cvt_fp8_to_halfraw(stored, f.interpretation).x);
      const unsigned low = code & 0x7f;
      SCOPED_TRACE(testing::Message() << f.interpretation << " code " << code);
      if (!f.has_negative_zero && code == 0x80) {
        EXPECT_TRUE(std::isnan(value));
      } else if (low <= f.largest) {
        EXPECT_EQ(std::fabs(value), magnitude_of(f, low));
        EXPECT_EQ(std::signbit(value), code >= 0x80);
      } else if (f.has_infinity && low == f.largest + 1) {
        EXPECT_EQ(value, code < 0x80 ? kInfinity : -kInfinity);
      } else {
        EXPECT_TRUE(std::isnan(value));
      }
    }
  }
  EXPECT_EQ(magnitude_of(kFormats[0], 0x7e), 448);
  EXPECT_EQ(magnitude_of(kFormats[1], 0x7b), 57344);
  EXPECT_EQ(magnitude_of(kFormats[2], 0x7f), 240);
  EXPECT_EQ(magnitude_of(kFormats[3], 0x7f), 57344);
}

TEST(Fp8, FloatsGoToTheNearest) {
  for (const Format& f : kFormats) {
    for_each_saturation([&](__hip_saturation_t saturation) {
      for (const float x : numbers<float>(f)) {
        const unsigned wanted = nearest(f, x, saturation == __HIP_SATFINITE);
        ASSERT_EQ(__hip_cvt_float_to_fp8(x, saturation, f.interpretation), wanted)
            << f.interpretation << " of " << x << " saturating " << saturation;
        ASSERT_EQ(__hip_cvt_float2_to_fp8x2(float2{x, 1.5f}, saturation, f.interpretation) & 0xff,
                  wanted);
        ASSERT_EQ(__hip_cvt_float2_to_fp8x2(float2{1.5f, x}, saturation, f.interpretation) >> 8,
                  wanted);
      }
    });
  }
}

TEST(Fp8, DoublesAreRoundedOnce) {
  for (const Format& f : kFormats) {
    for_each_saturation([&](__hip_saturation_t saturation) {
      for (const double x : numbers<double>(f)) {
        const unsigned wanted = nearest(f, x, saturation == __HIP_SATFINITE);
        ASSERT_EQ(__hip_cvt_double_to_fp8(x, saturation, f.interpretation), wanted)
            << f.interpretation << " of " << x << " saturating " << saturation;
        ASSERT_EQ(__hip_cvt_double2_to_fp8x2(double2{1.5, x}, saturation, f.interpretation) >> 8,
                  wanted);
      }
    });
  }
}

TEST(Fp8, HalvesAndBfloatsAreFloats) {
  for (const Format& f : kFormats) {
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
      const auto word = static_cast<unsigned short>(bits);
      // binary16 by its definition
      const int field = static_cast<int>(bits >> 10 & 31);
      const double fraction = std::ldexp(bits & 0x3ff, -10);
      double half = field == 0      ? std::ldexp(fraction, -14)
                    : field != 31   ? std::ldexp(1 + fraction, field - 15)
                    : fraction == 0 ? double{kInfinity}
                                    : std::nan("");
      half = std::copysign(half, bits & 0x8000 ? -1.0 : 1.0);
      __half_raw raw;
      raw.x = word;
      ASSERT_EQ(__hip_cvt_halfraw_to_fp8(raw, __HIP_SATFINITE, f.interpretation),
                __hip_cvt_double_to_fp8(half, __HIP_SATFINITE, f.interpretation))
          << bits;
      const float bfloat = std::bit_cast<float>(bits << 16);
      ASSERT_EQ(
          __hip_cvt_bfloat16raw_to_fp8(__hip_bfloat16_raw{word}, __HIP_NOSAT, f.interpretation),
          __hip_cvt_float_to_fp8(bfloat, __HIP_NOSAT, f.interpretation))
          << bits;
    }
  }
  __half2_raw halves;
  halves.x = 0x3c00, halves.y = 0xc000;  // 1, -2
  EXPECT_EQ(__hip_cvt_halfraw2_to_fp8x2(halves, __HIP_NOSAT, __HIP_E4M3), 0xc038);
  EXPECT_EQ(__hip_cvt_bfloat16raw2_to_fp8x2({0x3f80, 0xc000}, __HIP_NOSAT, __HIP_E4M3), 0xc038);
  EXPECT_EQ(__hip_cvt_fp8x2_to_halfraw2(0xc038, __HIP_E4M3).x, 0x3c00);
  EXPECT_EQ(__hip_cvt_fp8x2_to_halfraw2(0xc038, __HIP_E4M3).y, 0xc000);
}

TEST(Fp8, TypesConvert) {
  static_assert(sizeof(__hip_fp8_e4m3_fnuz) == 1 && sizeof(__hip_fp8x2_e5m2_fnuz) == 2 &&
                sizeof(__hip_fp8x4_e4m3) == 4);
  static_assert(std::is_trivial_v<__hip_fp8_e5m2> && std::is_standard_layout_v<__hip_fp8_e5m2>);
  static_assert(!std::is_same_v<__hip_fp8_e4m3, __hip_fp8_e4m3_fnuz>);
  static_assert(__hip_fp8_e5m2_fnuz::__we == 5 && __hip_fp8_e5m2_fnuz::__wm == 2);
  EXPECT_EQ(__hip_fp8_e4m3_fnuz(1.0f).__x, 0x40);
  EXPECT_EQ(__hip_fp8_e4m3(1.0).__x, 0x38);
  EXPECT_EQ(__hip_fp8_e5m2_fnuz(1).__x, 0x40);
  EXPECT_EQ(__hip_fp8_e5m2(-1ll).__x, 0xbc);
  EXPECT_EQ(__hip_fp8_e4m3_fnuz(1e9f).__x, 0x7f);  // saturates by default
  EXPECT_EQ(__hip_fp8_e4m3_fnuz(kInfinity).__x, 0x80);
  EXPECT_EQ(__hip_fp8_e5m2(__half(-1.5f)).__x, 0xbe);
  EXPECT_EQ(__hip_fp8_e5m2(__hip_bfloat16(1.5f)).__x, 0x3e);

  const __hip_fp8_e4m3_fnuz value(-208.0f);
  EXPECT_EQ(static_cast<float>(value), -208.0f);
  EXPECT_EQ(static_cast<double>(value), -208.0);
  EXPECT_EQ(static_cast<int>(value), -208);
  EXPECT_EQ(static_cast<signed char>(value), -128);
  EXPECT_EQ(static_cast<unsigned>(value), 0u);
  EXPECT_EQ(static_cast<float>(static_cast<__hip_bfloat16>(value)), -208.0f);
  EXPECT_EQ(static_cast<__half_raw>(static_cast<__half>(value)).x, 0xda80);
  EXPECT_TRUE(static_cast<bool>(value));
  EXPECT_FALSE(static_cast<bool>(__hip_fp8_e4m3(-0.0f)));
  __hip_fp8_e4m3_fnuz nan;
  nan.__x = 0x80;
  EXPECT_EQ(static_cast<int>(nan), 0);
  EXPECT_TRUE(std::isnan(static_cast<float>(nan)));

  const float2 two = __hip_fp8x2_e4m3(double2{0.5, -3});
  EXPECT_TRUE(two.x == 0.5f && two.y == -3);
  const __hip_fp8x4_e5m2_fnuz four(float4{1, 2, 3, 4});
  EXPECT_EQ(four.__x, 0x48464440u);
  const float4 back = four;
  EXPECT_TRUE(back.x == 1 && back.y == 2 && back.z == 3 && back.w == 4);
  EXPECT_EQ(__hip_fp8x4_e5m2_fnuz(double4{1, 2, 3, 4}).__x, four.__x);
  EXPECT_EQ(__hip_fp8x4_e5m2_fnuz(__hip_bfloat162(1.0f, 2.0f), __hip_bfloat162(3.0f, 4.0f)).__x,
            four.__x);
  EXPECT_EQ(__hip_fp8x4_e5m2_fnuz(__half2(1.0f, 2.0f), __half2(3.0f, 4.0f)).__x, four.__x);
}

}  // namespace
