// Arithmetic under every MODE against the host's own, with fesetround and explicit flushing; f16
// against numbers computed exactly and rounded here. Every host level, with the values where
// rounding, denormals and overflow matter.
#include "exec/program/float_mode.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <random>

#include "exec/instructions/all_rows.h"
#include "exec/program/bind.h"
#include "exec/state/wave.h"
#include "gpu/gpu.h"

namespace margay {
namespace {

constexpr unsigned kRows = 16;
constexpr int kHostRound[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

/// The host's arithmetic in a rounding mode; volatile keeps the compiler from doing it beforehand.
template <typename T, typename F>
T with_rounding(unsigned round, F&& f) {
  std::fesetround(kHostRound[round]);
  volatile T out = f();
  std::fesetround(FE_TONEAREST);
  return out;
}

// ---- f16, computed here -----------------------------------------------------------------------

long double half_value(std::uint32_t h) {
  const long double sign = h & 0x8000 ? -1 : 1;
  const int exponent = static_cast<int>(h >> 10 & 31);
  const long double fraction = h & 0x3ff;
  if (exponent == 31) return fraction != 0 ? NAN : sign * static_cast<long double>(INFINITY);
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}
/// Rounds an exact number; `negative_zero` is the sign of a zero.
std::uint32_t round_half(long double x, unsigned round, bool saturates, bool negative_zero) {
  const std::uint32_t sign = x < 0 || (x == 0 && negative_zero) ? 0x8000 : 0;
  if (x != x) return 0x7e00;
  long double magnitude = x < 0 ? -x : x;
  if (std::isinf(magnitude)) return sign | 0x7c00;
  int exponent = -14;
  while (std::ldexp(1.0L, exponent + 1) <= magnitude) ++exponent;
  const long double unit = std::ldexp(1.0L, exponent - 10);
  auto count = static_cast<std::uint64_t>(magnitude / unit);
  const long double rest = magnitude / unit - static_cast<long double>(count);
  const bool away = round == 0   ? rest > 0.5L || (rest == 0.5L && (count & 1))
                    : round == 1 ? rest > 0 && sign == 0
                    : round == 2 ? rest > 0 && sign != 0
                                 : false;
  magnitude = static_cast<long double>(count + (away ? 1 : 0)) * unit;
  if (magnitude >= 65536) {
    const bool infinite =
        !saturates && (round == 0 || (round == 1 && sign == 0) || (round == 2 && sign != 0));
    return sign | (infinite ? 0x7c00 : 0x7bff);
  }
  if (magnitude < std::ldexp(1.0L, -14))
    return sign | static_cast<std::uint32_t>(std::ldexp(magnitude, 24));
  exponent = -14;
  while (std::ldexp(1.0L, exponent + 1) <= magnitude) ++exponent;
  return sign | (static_cast<std::uint32_t>(std::ldexp(magnitude, 10 - exponent)) - 1024 +
                 (static_cast<std::uint32_t>(exponent + 15) << 10));
}

/// a * b + c for numbers of f16, which need up to 80 bits: where 64 do not hold them, the next
/// number toward the exact one rounds as that does.
long double sum_of_product(long double a, long double b, long double c) {
  const long double product = a * b;  // exact
  const long double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const long double part = sum - product, lost = (product - (sum - part)) + (c - part);
  return lost == 0 ? sum : std::nextafter(sum, lost > 0 ? INFINITY : -INFINITY);
}

// ---- Operands ---------------------------------------------------------------------------------

std::uint64_t random_f64(std::mt19937_64& random) {
  constexpr std::uint64_t kCorners[] = {0,
                                        1ull << 63,
                                        1,
                                        0x000fffffffffffff,
                                        0x0010000000000000,
                                        0x7fefffffffffffff,
                                        0x7ff0000000000000,
                                        0x3ff0000000000001,
                                        0x3fefffffffffffff,
                                        0x800fffffffffffff,
                                        0x36a0000000000000,
                                        0x380fffffffffffff,
                                        0x47efffffe0000000,
                                        0x47effffff0000000};
  if (random() % 3 == 0) return kCorners[random() % std::size(kCorners)] ^ (random() & 1ull << 63);
  // Exponents that meet: near 1, near the smallest.
  const std::uint64_t exponent = random() % 2 ? 1015 + random() % 16 : random() % 60;
  return (random() & 0x800fffffffffffff) | exponent << 52;
}
std::uint32_t random_f32(std::mt19937_64& random) {
  constexpr std::uint32_t kCorners[] = {0,          0x80000000, 1,          0x7fffff,   0x800000,
                                        0x7f7fffff, 0x7f800000, 0x3f800001, 0x3f7fffff, 0x807fffff,
                                        0x477fe000, 0x477fefff, 0x477ff000, 0x33000000, 0x33000001,
                                        0x387fc000, 0x387fe000, 0x38800000, 0x47800000};
  if (random() % 3 == 0)
    return kCorners[random() % std::size(kCorners)] ^
           static_cast<std::uint32_t>(random() & 1ull << 31);
  const auto bits = static_cast<std::uint32_t>(random());
  const std::uint32_t exponent =
      random() % 2 ? 120 + bits % 16 : (random() % 2 ? bits % 40 : 100 + bits % 44);
  return (static_cast<std::uint32_t>(random()) & 0x807fffff) | exponent << 23;
}

template <typename T>
T flushed(T x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(T{0}, x) : x;
}
std::uint32_t flushed_half(std::uint32_t h) { return (h & 0x7c00) == 0 ? h & 0x8000 : h; }

class FloatMode : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    table_ = row_table(GetParam(), default_gpu().arch());
    // Each instruction-set level of the host has its own code; this host may lack the highest.
    if (table_ == nullptr) GTEST_SKIP() << "this host or this build does not have " << GetParam();
    wave_.v = rows_.data();
    wave_.vgpr_rows = kRows;
    wave_.group = &group_;
    wave_.set_exec(~0ull);
  }
  /// Runs `mnemonic` with sources in rows 0, 2, 4 and the result in row 8.
  void run(std::string_view mnemonic, std::uint32_t mode, Modifiers modifiers = Modifiers(),
           std::uint32_t extra = 0) {
    const Row* const row = table_->find(mnemonic);
    ASSERT_NE(row, nullptr) << mnemonic;
    Instruction i;
    i.row = row;
    i.execute = run_in_float_mode;
    for (unsigned n = 0; n < 3; ++n) i.src[n] = Source::vgpr(2 * n);
    i.dst = 8;
    if (row->accumulates) i.src[row->source_count - 1] = Source::vgpr(8);
    i.sdst = 20;
    i.modifiers = modifiers;
    i.extra = extra;
    wave_.mode = mode;
    ASSERT_EQ(run_in_float_mode(wave_, i), &i + 1) << mnemonic;
  }
  std::uint32_t& at(unsigned row, unsigned lane) { return rows_[row * kWaveLanes + lane]; }
  float f32_at(unsigned row, unsigned lane) { return std::bit_cast<float>(at(row, lane)); }
  double f64_at(unsigned row, unsigned lane) {
    return std::bit_cast<double>(at(row, lane) | std::uint64_t{at(row + 1, lane)} << 32);
  }

  const RowTable* table_ = nullptr;
  Wave wave_;
  WorkgroupState group_;
  std::mt19937_64 random_{7};
  alignas(64) std::array<std::uint32_t, (kRows + kTemporaryRows) * kWaveLanes> rows_ = {};
};

/// MODE for the given rounding and denormals of both groups, which differ from each other.
std::uint32_t mode_of(unsigned round, unsigned denormals, bool single) {
  const std::uint32_t other_round = (round + 1) & 3, other_denormals = ~denormals & 3;
  const std::uint32_t rest = mode::kDx10Clamp | mode::kIeee;
  return single ? rest | round | other_round << 2 | denormals << 4 | other_denormals << 6
                : rest | other_round | round << 2 | other_denormals << 4 | denormals << 6;
}

template <typename T>
struct Operation {
  const char* mnemonic;
  T (*host)(T, T, T);
};
template <typename T>
constexpr bool same(T a, T b) {
  return (a != a && b != b) || std::memcmp(&a, &b, sizeof a) == 0;
}

TEST_P(FloatMode, SinglePrecision) {
  const Operation<float> operations[] = {
      {"v_add_f32", [](float a, float b, float) { return a + b; }},
      {"v_sub_f32", [](float a, float b, float) { return a - b; }},
      {"v_subrev_f32", [](float a, float b, float) { return b - a; }},
      {"v_mul_f32", [](float a, float b, float) { return a * b; }},
      {"v_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); }},
      {"v_fmac_f32", [](float a, float b, float c) { return std::fma(a, b, c); }},
      {"v_ldexp_f32", [](float a, float, float) { return std::ldexp(a, -3); }},
      {"v_max_f32",
       [](float a, float b, float) { return a > b || (a == b && !std::signbit(a)) ? a : b; }},
      {"v_rndne_f32", [](float a, float, float) { return roundevenf(a); }},
  };
  int shown = 0;
  for (const auto& [mnemonic, host] : operations)
    for (unsigned round = 0; round < 4; ++round)
      for (unsigned denormals = 0; denormals < 4; ++denormals)
        for (int repeat = 0; repeat < 10; ++repeat) {
          const bool ldexp = std::string_view(mnemonic) == "v_ldexp_f32";
          for (unsigned lane = 0; lane < 64; ++lane) {
            for (const unsigned row : {0u, 2u, 4u}) at(row, lane) = random_f32(random_);
            if (ldexp) at(2, lane) = static_cast<std::uint32_t>(-3);
            at(8, lane) = at(4, lane);  // v_fmac's third source
          }
          run(mnemonic, mode_of(round, denormals, true));
          for (unsigned lane = 0; lane < 64 && shown < 20; ++lane) {
            volatile float in[3];
            for (unsigned n = 0; n < 3; ++n) {
              in[n] = f32_at(2 * n, lane);
              if (!(denormals & 1)) in[n] = flushed<float>(in[n]);
            }
            float expected = with_rounding<float>(round, [&] { return host(in[0], in[1], in[2]); });
            if (!(denormals & 2)) expected = flushed(expected);
            if (same(f32_at(8, lane), expected)) continue;
            ++shown;
            ADD_FAILURE() << mnemonic << " round " << round << " denormals " << denormals << ": "
                          << std::hexfloat << f32_at(0, lane) << ", " << f32_at(2, lane) << ", "
                          << f32_at(4, lane) << " gives " << f32_at(8, lane) << ", not "
                          << expected;
          }
        }
}

TEST_P(FloatMode, DoublePrecision) {
  const Operation<double> operations[] = {
      {"v_add_f64", [](double a, double b, double) { return a + b; }},
      {"v_mul_f64", [](double a, double b, double) { return a * b; }},
      {"v_fma_f64", [](double a, double b, double c) { return std::fma(a, b, c); }},
  };
  int shown = 0;
  for (const auto& [mnemonic, host] : operations)
    for (unsigned round = 0; round < 4; ++round)
      for (unsigned denormals = 0; denormals < 4; ++denormals)
        for (int repeat = 0; repeat < 10; ++repeat) {
          for (unsigned lane = 0; lane < 64; ++lane)
            for (const unsigned row : {0u, 2u, 4u}) {
              const std::uint64_t bits = random_f64(random_);
              at(row, lane) = static_cast<std::uint32_t>(bits);
              at(row + 1, lane) = static_cast<std::uint32_t>(bits >> 32);
            }
          run(mnemonic, mode_of(round, denormals, false));
          for (unsigned lane = 0; lane < 64 && shown < 20; ++lane) {
            volatile double in[3];
            for (unsigned n = 0; n < 3; ++n) {
              in[n] = f64_at(2 * n, lane);
              if (!(denormals & 1)) in[n] = flushed<double>(in[n]);
            }
            double expected =
                with_rounding<double>(round, [&] { return host(in[0], in[1], in[2]); });
            if (!(denormals & 2)) expected = flushed(expected);
            if (same(f64_at(8, lane), expected)) continue;
            ++shown;
            ADD_FAILURE() << mnemonic << " round " << round << " denormals " << denormals << ": "
                          << std::hexfloat << f64_at(0, lane) << ", " << f64_at(2, lane) << ", "
                          << f64_at(4, lane) << " gives " << f64_at(8, lane) << ", not "
                          << expected;
          }
        }
}

/// Scalar and packed, with and without FP16_OVFL.
TEST_P(FloatMode, HalfPrecision) {
  struct {
    const char *mnemonic, *packed;
    long double (*exact)(long double, long double, long double);
  } const operations[] = {
      {"v_add_f16", "v_pk_add_f16",
       [](long double a, long double b, long double) { return a + b; }},
      {"v_mul_f16", "v_pk_mul_f16",
       [](long double a, long double b, long double) { return a * b; }},
      {"v_fma_f16", "v_pk_fma_f16", sum_of_product},
  };
  constexpr std::uint32_t kCorners[] = {0,      0x8000, 1,      0x3ff,  0x400,  0x7bff, 0xfbff,
                                        0x7c00, 0xfc00, 0x3c01, 0x3bff, 0x83ff, 0x7800, 0x5bff};
  const auto draw = [&] {
    return random_() % 3 == 0 ? kCorners[random_() % std::size(kCorners)]
                              : static_cast<std::uint32_t>(random_() & 0xffff);
  };
  int shown = 0;
  for (const auto& operation : operations)
    for (unsigned setting = 0; setting < 64; ++setting) {
      const unsigned round = setting & 3, denormals = setting >> 2 & 3;
      const bool saturates = setting & 16, packed = setting & 32;
      for (int repeat = 0; repeat < 10; ++repeat) {
        for (unsigned lane = 0; lane < 64; ++lane)
          for (const unsigned row : {0u, 2u, 4u}) at(row, lane) = draw() | draw() << 16;
        run(packed ? operation.packed : operation.mnemonic,
            mode_of(round, denormals, false) | (saturates ? mode::kFp16Overflow : 0), Modifiers(),
            packed ? 7u << 3 : 0);
        for (unsigned lane = 0; lane < 64 && shown < 20; ++lane)
          for (unsigned shift = 0; shift < 32; shift += 16) {
            const std::uint32_t got = at(8, lane) >> shift & 0xffff;
            if (shift != 0 && !packed) {
              EXPECT_EQ(got, 0u);
              continue;
            }
            long double in[3];
            for (unsigned n = 0; n < 3; ++n) {
              std::uint32_t half = at(2 * n, lane) >> shift & 0xffff;
              if (!(denormals & 1)) half = flushed_half(half);
              in[n] = half_value(half);
            }
            // The sign of an exact zero is the host's affair: it rounds as f32 does.
            volatile float a = static_cast<float>(in[0]), b = static_cast<float>(in[1]),
                           c = static_cast<float>(in[2]);
            const std::string_view name = operation.mnemonic;
            const float zero = with_rounding<float>(round, [&] {
              return name == "v_add_f16" ? a + b : name == "v_mul_f16" ? a * b : std::fma(a, b, c);
            });
            std::uint32_t expected = round_half(operation.exact(in[0], in[1], in[2]), round,
                                                saturates, std::signbit(zero));
            if (!(denormals & 2)) expected = flushed_half(expected);
            const bool nans = (got & 0x7fff) > 0x7c00 && (expected & 0x7fff) > 0x7c00;
            if (nans || got == expected) continue;
            ++shown;
            ADD_FAILURE() << (packed ? operation.packed : operation.mnemonic) << " setting "
                          << setting << ": " << std::hex << at(0, lane) << ", " << at(2, lane)
                          << ", " << at(4, lane) << " >> " << shift << " gives " << got << ", not "
                          << expected;
          }
      }
    }
}

TEST_P(FloatMode, Conversions) {
  int shown = 0;
  for (unsigned setting = 0; setting < 32; ++setting) {
    const unsigned round = setting & 3, denormals = setting >> 2 & 3;
    const bool saturates = setting & 16;
    // f32 to f16 rounds and flushes its result as f16, and flushes its source as f32.
    for (int repeat = 0; repeat < 20; ++repeat) {
      for (unsigned lane = 0; lane < 64; ++lane) at(0, lane) = random_f32(random_);
      const std::uint32_t mode = mode_of(round, denormals, false);
      run("v_cvt_f16_f32", mode | (saturates ? mode::kFp16Overflow : 0));
      for (unsigned lane = 0; lane < 64; ++lane) {
        float in = f32_at(0, lane);
        if (!(mode >> 4 & 1)) in = flushed(in);
        std::uint32_t expected =
            round_half(static_cast<long double>(in), round, saturates, std::signbit(in));
        if (!(denormals & 2)) expected = flushed_half(expected);
        if (at(8, lane) != expected && ++shown < 20)
          ADD_FAILURE() << "v_cvt_f16_f32 setting " << setting << ": " << std::hexfloat << in
                        << " gives " << std::hex << at(8, lane) << ", not " << expected;
      }
      // f64 to f32 is rounded as f32.
      for (unsigned lane = 0; lane < 64; ++lane) {
        const std::uint64_t bits = random_f64(random_);
        at(0, lane) = static_cast<std::uint32_t>(bits);
        at(1, lane) = static_cast<std::uint32_t>(bits >> 32);
      }
      const std::uint32_t single = mode_of(round, denormals, true);
      run("v_cvt_f32_f64", single);
      for (unsigned lane = 0; lane < 64; ++lane) {
        volatile double in = f64_at(0, lane);
        if (!(single >> 6 & 1)) in = flushed<double>(in);
        float expected = with_rounding<float>(round, [&] { return static_cast<float>(in); });
        if (!(denormals & 2)) expected = flushed(expected);
        if (!same(f32_at(8, lane), expected) && ++shown < 20)
          ADD_FAILURE() << "v_cvt_f32_f64 setting " << setting << ": " << std::hexfloat << in
                        << " gives " << f32_at(8, lane) << ", not " << expected;
      }
      for (unsigned lane = 0; lane < 64; ++lane)
        at(0, lane) = static_cast<std::uint32_t>(random_());
      run("v_cvt_f32_u32", single);
      for (unsigned lane = 0; lane < 64; ++lane) {
        volatile std::uint32_t in = at(0, lane);
        const float expected = with_rounding<float>(round, [&] { return static_cast<float>(in); });
        if (!same(f32_at(8, lane), expected) && ++shown < 20)
          ADD_FAILURE() << "v_cvt_f32_u32 round " << round << ": " << in;
      }
    }
  }
}

/// Every f16 through FP16_OVFL; true infinities stay.
TEST_P(FloatMode, OverflowKeepsTrueInfinities) {
  for (std::uint32_t first = 0; first < 0x10000; first += 64) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      at(0, lane) = first + lane;
      at(2, lane) = 0x4000;  // 2
    }
    run("v_mul_f16", mode::kUsual | mode::kFp16Overflow);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const std::uint32_t in = first + lane, magnitude = in & 0x7fff;
      if (magnitude > 0x7c00) continue;
      const std::uint32_t expected =
          magnitude == 0x7c00 ? in : round_half(2 * half_value(in), 0, true, (in & 0x8000) != 0);
      ASSERT_EQ(at(8, lane), expected) << std::hex << in;
    }
    run("v_rcp_f16", mode::kUsual | mode::kFp16Overflow);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const std::uint32_t in = first + lane;
      if ((in & 0x7fff) == 0) ASSERT_EQ(at(8, lane), in | 0x7c00);  // of zero: an infinity
      if ((in & 0x7fff) == 1) ASSERT_EQ(at(8, lane), (in & 0x8000) | 0x7bff);  // 2^24
    }
  }
}

TEST_P(FloatMode, EightBitFloatsSaturate) {
  struct {
    const char* mnemonic;
    float largest, below;
    std::uint32_t code;
  } const formats[] = {{"v_cvt_pk_fp8_f32", 240, 232, 0x7f},
                       {"v_cvt_pk_bf8_f32", 57344, 53248, 0x7f}};
  for (const auto& f : formats) {
    const float in[] = {f.largest, f.largest * 2, -f.largest * 4, INFINITY, -INFINITY, NAN, 3e38f};
    for (unsigned lane = 0; lane < std::size(in); ++lane) {
      at(0, lane) = std::bit_cast<std::uint32_t>(in[lane]);
      at(2, lane) = std::bit_cast<std::uint32_t>(-in[lane]);
    }
    run(f.mnemonic, mode::kUsual | mode::kFp16Overflow);
    for (unsigned lane = 0; lane < std::size(in); ++lane) {
      const auto code = [&](float x) { return x != x ? 0x80u : f.code | (x < 0 ? 0x80u : 0u); };
      EXPECT_EQ(at(8, lane) & 0xffff, code(in[lane]) | code(-in[lane]) << 8) << in[lane];
    }
    run(f.mnemonic, mode::kUsual);
    EXPECT_EQ(at(8, 1) & 0xff, 0x80u);
    EXPECT_EQ(at(8, 3) & 0xff, 0x80u);
  }
}

TEST_P(FloatMode, ClampAndNan) {
  const std::uint32_t in[] = {0x7fc00001, 0xff800000, 0x7f800000,
                              0x3f000000, 0xbf000000, 0x40000000};
  for (unsigned lane = 0; lane < std::size(in); ++lane) at(0, lane) = in[lane], at(2, lane) = 0;
  const Modifiers clamp{.clamp = 1};
  run("v_add_f32", mode::kUsual & ~mode::kDx10Clamp, clamp);
  const std::uint32_t passed[] = {0x7fc00001, 0, 0x3f800000, 0x3f000000, 0, 0x3f800000};
  for (unsigned lane = 0; lane < std::size(in); ++lane)
    EXPECT_EQ(at(8, lane), passed[lane]) << lane;
  run("v_add_f32", mode::kUsual | 1, clamp);
  EXPECT_EQ(at(8, 0), 0u);
}

TEST_P(FloatMode, SignallingNans) {
  at(0, 0) = 0x7f800001, at(2, 0) = 0x3f800000;  // signalling, 1
  at(0, 1) = 0x3f800000, at(2, 1) = 0xff800001;
  at(0, 2) = 0x7fc00000, at(2, 2) = 0x3f800000;  // quiet, 1
  run("v_min_f32", mode::kUsual | 1);
  EXPECT_EQ(at(8, 0), 0x7fc00001u);
  EXPECT_EQ(at(8, 1), 0xffc00001u);
  EXPECT_EQ(at(8, 2), 0x3f800000u);
  run("v_min_f32", mode::kUsual & ~mode::kIeee);
  for (unsigned lane = 0; lane < 3; ++lane) EXPECT_EQ(at(8, lane), 0x3f800000u) << lane;
  at(0, 0) = 0x3c007c01, at(2, 0) = 0x7d013c00;  // pairs of f16
  run("v_pk_max_f16", mode::kUsual & ~mode::kIeee, Modifiers(), 7u << 3);
  EXPECT_EQ(at(8, 0), 0x3c003c00u);
}

/// Only with IEEE off and denormals flushed.
TEST_P(FloatMode, OutputModifiers) {
  const float in[] = {3, -0.0f, 0x1p-126f, 0x1.8p127f, 0x1p-127f};
  for (unsigned lane = 0; lane < std::size(in); ++lane)
    at(0, lane) = std::bit_cast<std::uint32_t>(in[lane]), at(2, lane) = 0x80000000;
  const auto results = [&](unsigned output, std::uint32_t mode) {
    run("v_add_f32", mode, Modifiers{.output = static_cast<std::uint16_t>(output)});
    std::vector<std::uint32_t> out;
    for (unsigned lane = 0; lane < std::size(in); ++lane) out.push_back(at(8, lane));
    return out;
  };
  const auto bits = [](std::initializer_list<float> values) {
    std::vector<std::uint32_t> out;
    for (const float x : values) out.push_back(std::bit_cast<std::uint32_t>(x));
    return out;
  };
  const std::uint32_t flushing = mode::kDx10Clamp;
  EXPECT_EQ(results(2, flushing), bits({12, 0, 0x1p-124f, INFINITY, 0}));
  EXPECT_EQ(results(2, flushing | 3), bits({12, 0, 0x1p-124f, 0x1.fffffep127f, 0}));
  EXPECT_EQ(results(3, flushing), bits({1.5f, 0, 0, 0x1.8p126f, 0}));
  EXPECT_EQ(results(1, flushing | mode::kIeee), bits({3, -0.0f, 0x1p-126f, 0x1.8p127f, 0}));
  EXPECT_EQ(results(1, mode::kUsual & ~mode::kIeee),
            bits({3, -0.0f, 0x1p-126f, 0x1.8p127f, 0x1p-127f}));
}

TEST_P(FloatMode, FlushingLeavesSourcesAndInactiveLanes) {
  constexpr std::uint32_t kDenormal = 0x80000123, kOne = 0x3f800000;
  constexpr std::uint64_t kExec = 0x5555'5555'5555'5555;
  wave_.set_exec(kExec);
  for (const char* const mnemonic : {"v_mul_f32", "v_pk_mul_f32"})
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
      // One lane alone has a denormal, and its neighbours none.
      for (unsigned other = 0; other < kWaveLanes; ++other)
        for (const unsigned row : {0u, 1u, 2u, 3u, 8u, 9u}) at(row, other) = kOne;
      for (const unsigned row : {0u, 1u, 8u, 9u}) at(row, lane) = kDenormal;
      const unsigned registers = std::string_view(mnemonic) == "v_mul_f32" ? 1 : 2;
      run(mnemonic, mode::kDx10Clamp | mode::kIeee, Modifiers(), registers == 2 ? 0x38 : 0);
      for (unsigned n = 0; n < registers; ++n) {
        EXPECT_EQ(at(n, lane), kDenormal) << mnemonic << " lane " << lane;
        EXPECT_EQ(at(8 + n, lane), kExec >> lane & 1 ? 0x80000000 : kDenormal) << mnemonic << lane;
        EXPECT_EQ(at(8 + n, lane ^ 2), kOne) << mnemonic << lane;
      }
    }
}

TEST_P(FloatMode, FlushesConstants) {
  Instruction i;
  i.row = table_->find("v_mul_f32");
  i.execute = run_in_float_mode;
  i.src[0] = Source::constant();
  i.src[1] = Source::vgpr(0);
  i.dst = 8;
  at(0, 0) = 0x4b800000;  // 2^24
  wave_.mode = mode::kDx10Clamp | mode::kIeee;
  for (const auto& [constant, expected] : {std::pair{0x80000003u, 0x80000000u},
                                           {0x80800000u, 0x8c800000u},
                                           {0x40400000u, 0x4c400000u}}) {
    i.constant[0] = constant;
    ASSERT_EQ(run_in_float_mode(wave_, i), &i + 1);
    EXPECT_EQ(at(8, 0), expected);
  }
}

/// SDWA's and DPP's operands are what is flushed, not the registers they come from.
TEST_P(FloatMode, PartsOfRegisters) {
  const Row* const row = table_->find("v_add_f16");
  Instruction i;
  i.row = row;
  i.execute = run_in_float_mode;
  i.modifiers.form = OperandForm::sdwa;
  i.src[0] = Source::vgpr(0);
  i.src[1] = Source::vgpr(2);
  i.dst = 8;
  i.extra = 5u << 8 | 2u << 11 | 5u << 16 | 4u << 24;  // WORD_1 <- WORD_1 + WORD_0, preserve
  for (unsigned lane = 0; lane < 64; ++lane) {
    at(0, lane) = 0x03ff0001;
    at(2, lane) = 0x3c008400;
    at(8, lane) = 0x12340003;
  }
  wave_.mode = mode::kDx10Clamp | mode::kIeee;
  ASSERT_EQ(run_in_float_mode(wave_, i), &i + 1);
  EXPECT_EQ(at(8, 5), 0x84000003u);  // 0 - 2^-14; the rest is no number of this instruction
}

INSTANTIATE_TEST_SUITE_P(HostLevels, FloatMode,
                         testing::Values("generic", "x86-64-v3", "x86-64-v4"));

}  // namespace
}  // namespace margay
