// 8-bit floats (FNUZ: E4M3 with bias 8, E5M2 with bias 16, 0x80 the only NaN, no infinity): every
// code, every midpoint between neighbouring codes with one ulp around it, overflow, denormals and
// NaN. The reference finds the nearest code by checking all of them.
#include <algorithm>
#include <cmath>

#include "judge.h"

namespace {

using judge::expect_as;
using u32 = std::uint32_t;

struct Format {
  int mantissa, bias;
};
constexpr Format kFp8{3, 8}, kBf8{2, 16};

float value_of(Format f, u32 code) {
  if (code == 0x80) return NAN;
  const int exponent = static_cast<int>(code >> f.mantissa) & (127 >> f.mantissa);
  const double fraction = (code & ((1u << f.mantissa) - 1)) / std::ldexp(1.0, f.mantissa);
  const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - f.bias)
                                         : std::ldexp(1 + fraction, exponent - f.bias);
  return static_cast<float>(code & 0x80 ? -magnitude : magnitude);
}
/// The code nearest to x; of two the even one. Beyond the largest by half a step or more: NaN.
u32 nearest(Format f, float x) {
  if (!std::isfinite(x)) return 0x80;
  const double magnitude = std::fabs(static_cast<double>(x));
  const double largest = value_of(f, 0x7f), step = largest - value_of(f, 0x7e);
  if (magnitude >= largest + step / 2) return 0x80;
  u32 best = 0;
  for (u32 code = 1; code < 0x80; ++code) {
    const double d = std::fabs(value_of(f, code) - magnitude),
                 b = std::fabs(value_of(f, best) - magnitude);
    if (d < b || (d == b && code % 2 == 0)) best = code;
  }
  return best == 0 ? 0 : best | (std::signbit(x) ? 0x80 : 0);
}

TEST(Formats, largest_and_smallest) {
  EXPECT_EQ(value_of(kFp8, 0x7f), 240.f);
  EXPECT_EQ(value_of(kBf8, 0x7f), 57344.f);
  EXPECT_EQ(value_of(kFp8, 0x01), 0x1p-10f);
  EXPECT_EQ(value_of(kBf8, 0x01), 0x1p-17f);
}

/// All values and midpoints with their neighbours, both signs, and what is far away.
std::vector<float> numbers(Format f) {
  std::vector<float> out = judge::values<float>(3000);
  const auto around = [&](double x) {
    const auto at = static_cast<float>(x);
    for (const float y : {at, std::nextafter(at, INFINITY), std::nextafter(at, -INFINITY)}) {
      out.push_back(y);
      out.push_back(-y);
    }
  };
  for (u32 code = 0; code < 0x80; ++code) {
    around(value_of(f, code));
    if (code < 0x7f) around((static_cast<double>(value_of(f, code)) + value_of(f, code + 1)) / 2);
  }
  const double largest = value_of(f, 0x7f), step = largest - value_of(f, 0x7e);
  around(largest + step / 2);
  around(largest + step);
  return out;
}

#if defined(__HIP_DEVICE_COMPILE__)
#define FP8_CODE(...) __VA_ARGS__
#else
#define FP8_CODE(...) return {};
#endif

TEST(Decode, every_code) {
  std::vector<u32> words;
  for (u32 code = 0; code < 256; ++code)
    words.push_back(code | code * 7 << 8 | (code ^ 0x55) << 24);
  using Values = judge::List<float, 4>;
  using Pairs = judge::List<float, 4>;
  const auto bytes = [](Format f) {
    return [f](u32 w) {
      Values out;
      for (int n = 0; n < 4; ++n) out.at[n] = value_of(f, w >> (8 * n) & 0xff);
      return out;
    };
  };
  const auto fp8 = [] JUDGE_BOTH(u32 w) -> Values {
    (void)w;
    FP8_CODE(return judge::list<float>(__builtin_amdgcn_cvt_f32_fp8(static_cast<int>(w), 0),
                                       __builtin_amdgcn_cvt_f32_fp8(static_cast<int>(w), 1),
                                       __builtin_amdgcn_cvt_f32_fp8(static_cast<int>(w), 2),
                                       __builtin_amdgcn_cvt_f32_fp8(static_cast<int>(w), 3));)
  };
  const auto bf8 = [] JUDGE_BOTH(u32 w) -> Values {
    (void)w;
    FP8_CODE(return judge::list<float>(__builtin_amdgcn_cvt_f32_bf8(static_cast<int>(w), 0),
                                       __builtin_amdgcn_cvt_f32_bf8(static_cast<int>(w), 1),
                                       __builtin_amdgcn_cvt_f32_bf8(static_cast<int>(w), 2),
                                       __builtin_amdgcn_cvt_f32_bf8(static_cast<int>(w), 3));)
  };
  const auto fp8_pairs = [] JUDGE_BOTH(u32 w) -> Pairs {
    (void)w;
    FP8_CODE(const auto low = __builtin_amdgcn_cvt_pk_f32_fp8(static_cast<int>(w), false);
             const auto high = __builtin_amdgcn_cvt_pk_f32_fp8(static_cast<int>(w), true);
             return judge::list<float>(low[0], low[1], high[0], high[1]);)
  };
  const auto bf8_pairs = [] JUDGE_BOTH(u32 w) -> Pairs {
    (void)w;
    FP8_CODE(const auto low = __builtin_amdgcn_cvt_pk_f32_bf8(static_cast<int>(w), false);
             const auto high = __builtin_amdgcn_cvt_pk_f32_bf8(static_cast<int>(w), true);
             return judge::list<float>(low[0], low[1], high[0], high[1]);)
  };
  expect_as("v_cvt_f32_fp8", fp8, bytes(kFp8), words);
  expect_as("v_cvt_f32_bf8", bf8, bytes(kBf8), words);
  expect_as("v_cvt_pk_f32_fp8", fp8_pairs, bytes(kFp8), words);
  expect_as("v_cvt_pk_f32_bf8", bf8_pairs, bytes(kBf8), words);
  // Selections that name no byte mean byte 0; of a pair, word 1 only by its lower bits.
  const auto odd_selections = [] JUDGE_BOTH(u32 w) -> judge::List<float, 3> {
    (void)w;
    FP8_CODE(float a, b; typedef float Two __attribute__((ext_vector_type(2))); Two c;
             asm volatile("v_cvt_f32_fp8_sdwa %0, %1 src0_sel:WORD_1" : "=v"(a) : "v"(w));
             asm volatile("v_cvt_f32_fp8_sdwa %0, %1 src0_sel:DWORD" : "=v"(b) : "v"(w));
             asm volatile("v_cvt_pk_f32_fp8_sdwa %0, %1 src0_sel:BYTE_1" : "=v"(c) : "v"(w));
             return judge::list<float>(a, b, c[0]);)
  };
  expect_as(
      "odd selections", odd_selections,
      [](u32 w) {
        return judge::list<float>(value_of(kFp8, w & 0xff), value_of(kFp8, w & 0xff),
                                  value_of(kFp8, w >> 16 & 0xff));
      },
      words);
}

TEST(Encode, to_nearest) {
  for (const bool fp8 : {true, false}) {
    const Format f = fp8 ? kFp8 : kBf8;
    const auto a = numbers(f);
    std::vector<float> b(a.begin(), a.end());
    std::rotate(b.begin(), b.begin() + 777, b.end());
    using Words = judge::List<u32, 2>;
    const auto device = [fp8] JUDGE_BOTH(float a, float b) -> Words {
      (void)a, (void)b, (void)fp8;
      FP8_CODE(const int old = 0x11223344;
               if (fp8) return judge::list<u32>(__builtin_amdgcn_cvt_pk_fp8_f32(a, -b, old, false),
                                                __builtin_amdgcn_cvt_pk_fp8_f32(a, b, old, true));
               return judge::list<u32>(__builtin_amdgcn_cvt_pk_bf8_f32(a, -b, old, false),
                                       __builtin_amdgcn_cvt_pk_bf8_f32(a, b, old, true));)
    };
    expect_as(
        fp8 ? "v_cvt_pk_fp8_f32" : "v_cvt_pk_bf8_f32", device,
        [f](float a, float b) {
          return judge::list<u32>(0x11220000u | nearest(f, -b) << 8 | nearest(f, a),
                                  0x3344u | nearest(f, b) << 24 | nearest(f, a) << 16);
        },
        a, b);
  }
}

/// |x| is between two codes; the upper one is chosen if the distance of x from the lower one,
/// relative to the distance of the codes and truncated to the extra bits of an f32, plus the random
/// part is one or more.
u32 stochastic(Format f, float x, u32 random) {
  if (!std::isfinite(x)) return 0x80;
  const double magnitude = std::fabs(static_cast<double>(x));
  u32 below = 0;
  while (below < 0x7f && value_of(f, below + 1) <= magnitude) ++below;
  const double low = value_of(f, below),
               step = below < 0x7f ? value_of(f, below + 1) - low : low - value_of(f, below - 1);
  const int dropped = 23 - f.mantissa;
  const double part = std::floor(std::ldexp((magnitude - low) / step, dropped));
  const u32 added = random >> (32 - dropped);
  double sum = part + added;
  u32 code = below;
  for (; sum >= std::ldexp(1.0, dropped) && code < 0x100; sum -= std::ldexp(1.0, dropped)) ++code;
  if (code > 0x7f || magnitude >= 2 * value_of(f, 0x7f)) return 0x80;
  return code == 0 ? 0 : code | (std::signbit(x) ? 0x80 : 0);
}
TEST(Encode, stochastically) {
  for (const bool fp8 : {true, false}) {
    const Format f = fp8 ? kFp8 : kBf8;
    const auto a = numbers(f);
    std::vector<u32> random;
    judge::Random source(8);
    for (std::size_t n = 0; n < a.size(); ++n)
      random.push_back(n % 4 == 0 ? 0 : n % 4 == 1 ? ~0u : static_cast<u32>(source.next()));
    using Words = judge::List<u32, 4>;
    const auto device = [fp8] JUDGE_BOTH(float a, u32 r) -> Words {
      (void)a, (void)r, (void)fp8;
      FP8_CODE(const int old = 0x11223344; const int random = static_cast<int>(r);
               if (fp8) return judge::list<u32>(__builtin_amdgcn_cvt_sr_fp8_f32(a, random, old, 0),
                                                __builtin_amdgcn_cvt_sr_fp8_f32(a, random, old, 1),
                                                __builtin_amdgcn_cvt_sr_fp8_f32(a, random, old, 2),
                                                __builtin_amdgcn_cvt_sr_fp8_f32(a, random, old, 3));
               return judge::list<u32>(__builtin_amdgcn_cvt_sr_bf8_f32(a, random, old, 0),
                                       __builtin_amdgcn_cvt_sr_bf8_f32(a, random, old, 1),
                                       __builtin_amdgcn_cvt_sr_bf8_f32(a, random, old, 2),
                                       __builtin_amdgcn_cvt_sr_bf8_f32(a, random, old, 3));)
    };
    expect_as(
        fp8 ? "v_cvt_sr_fp8_f32" : "v_cvt_sr_bf8_f32", device,
        [f](float a, u32 r) {
          const u32 code = stochastic(f, a, r);
          judge::List<u32, 4> out;
          for (int n = 0; n < 4; ++n)
            out.at[n] = (0x11223344u & ~(255u << (8 * n))) | code << (8 * n);
          return out;
        },
        a, random);
  }
}

}  // namespace
