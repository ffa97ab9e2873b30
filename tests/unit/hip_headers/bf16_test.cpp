// hip_bf16.h on the host: every bfloat16 there is, and roundings against an independent reference.
#include <hip_bf16.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace {

__hip_bfloat16 of_bits(unsigned bits) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}
unsigned bits_of(__hip_bfloat16 value) { return __bfloat16_as_ushort(value); }

/// Nearest bfloat16 by its definition: of the two neighbours the nearer one, on a tie the one with
/// an even last bit. Infinity takes the place of the next power of two above the largest value.
unsigned nearest_bits(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const unsigned below = bits >> 16;  // toward zero
  const auto magnitude = [](unsigned b) {
    return (b & 0x7fffu) == 0x7f80u
               ? 0x1p128
               : std::fabs(double{std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16)});
  };
  if (magnitude(below) == std::fabs(double{value})) return below;
  const unsigned above = below + 1;
  const double down = std::fabs(double{value}) - magnitude(below);
  const double up = magnitude(above) - std::fabs(double{value});
  return down < up ? below : up < down ? above : (below & 1u) == 0 ? below : above;
}

TEST(Bf16, EveryValueSurvivesTheWayToFloatAndBack) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const __hip_bfloat16 value = of_bits(bits);
    const float wide = __bfloat162float(value);
    if (__hisnan(value)) {
      EXPECT_TRUE(std::isnan(wide));
      EXPECT_TRUE(__hisnan(__float2bfloat16(wide)));
    } else {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(wide), bits << 16);
      EXPECT_EQ(bits_of(__float2bfloat16(wide)), bits);
    }
  }
}

TEST(Bf16, RoundsToNearestEven) {
  // Around every value: the tie, and one float to either side of it.
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    if ((bits & 0x7f80u) == 0x7f80u) continue;
    for (const std::uint32_t low : {0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16 | low);
      ASSERT_EQ(bits_of(__float2bfloat16(value)), nearest_bits(value)) << value;
    }
  }
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(bits_of(__float2bfloat16(value)), nearest_bits(value)) << value;
  }
}

TEST(Bf16, NanStaysNanWhateverItsPayload) {
  for (const std::uint32_t bits :
       {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffffffffu, 0x7fc00000u}) {
    const float value = std::bit_cast<float>(bits);
    EXPECT_TRUE(__hisnan(__float2bfloat16(value))) << std::hex << bits;
  }
}

TEST(Bf16, DoublesAndIntegersAreRoundedOnce) {
  // By way of float, 1 + 2^-8 + 2^-30 would become the tie 1 + 2^-8, and that 1.
  EXPECT_EQ(bits_of(__double2bfloat16(1 + 0x1p-8 + 0x1p-30)), 0x3f81u);
  EXPECT_EQ(bits_of(__double2bfloat16(-1 - 0x1p-8 - 0x1p-30)), 0xbf81u);
  EXPECT_EQ(bits_of(__double2bfloat16(1 + 3 * 0x1p-8 - 0x1p-30)), 0x3f81u);
  EXPECT_EQ(bits_of(__hip_bfloat16(1 + 0x1p-8)), 0x3f80u);
  EXPECT_EQ(bits_of(__hip_bfloat16(0x1p-133 * 0.5)), 0x0000u);
  EXPECT_EQ(bits_of(__hip_bfloat16(0x1.000001p-134)), 0x0001u);
  EXPECT_EQ(bits_of(__hip_bfloat16(1e300)), 0x7f80u);
  EXPECT_EQ(bits_of(__hip_bfloat16(-1e-300)), 0x8000u);
  EXPECT_EQ(bits_of(__int2bfloat16_rn(0x01010001)), 0x4b81u);  // 2^24 + 2^16 + 1, above the tie
  EXPECT_EQ(bits_of(__hip_bfloat16(0x01010001u)), 0x4b81u);
}

TEST(Bf16, ArithmeticRoundsOnce) {
  const __hip_bfloat16 one = 1.0f;
  const __hip_bfloat16 tiny = 0x1p-9f;  // a quarter of the spacing at 1
  EXPECT_EQ(bits_of(one + tiny), bits_of(one));
  EXPECT_EQ(static_cast<float>(__hip_bfloat16(3.0f) * __hip_bfloat16(5.0f)), 15.0f);
  EXPECT_EQ(static_cast<float>(__hip_bfloat16(1.0f) / __hip_bfloat16(3.0f)), 0.333984375f);
  EXPECT_EQ(static_cast<float>(one - __hip_bfloat16(2)), -1.0f);
  // 1.0078125^2 = 1.01568603515625 rounds to 1.015625.
  const __hip_bfloat16 a = 1.0078125f;
  EXPECT_EQ(static_cast<float>(a * a - __hip_bfloat16(1.015625f)), 0.0f);
  __hip_bfloat16 counter = 1.0f;
  EXPECT_EQ(static_cast<float>(counter++), 1.0f);
  EXPECT_EQ(static_cast<float>(++counter), 3.0f);
  EXPECT_EQ(static_cast<float>(--counter), 2.0f);
  EXPECT_EQ(bits_of(-HIPRT_ZERO_BF16), 0x8000u);
  EXPECT_EQ(bits_of(__habs(__hip_bfloat16(-2.0f))), 0x4000u);
}

TEST(Bf16, ComparesLikeFloat) {
  const __hip_bfloat16 nan = HIPRT_NAN_BF16;
  const __hip_bfloat16 one = 1.0f;
  EXPECT_TRUE(one < __hip_bfloat16(2.0f) && one <= one && one != -one && one == one);
  EXPECT_FALSE(nan == nan);
  EXPECT_TRUE(nan != nan);
  EXPECT_FALSE(__hlt(nan, one) || __hge(nan, one) || __heq(nan, one));
  EXPECT_TRUE(__hltu(nan, one) && __hgeu(nan, one) && __hequ(nan, one) && __hneu(nan, one));
  EXPECT_TRUE(HIPRT_ZERO_BF16 == HIPRT_NEG_ZERO_BF16);
  EXPECT_EQ(bits_of(__hmax(nan, one)), bits_of(one));
  EXPECT_EQ(bits_of(__hmin(one, nan)), bits_of(one));
  EXPECT_EQ(__hisinf(HIPRT_INF_BF16), 1);
  EXPECT_EQ(__hisinf(-HIPRT_INF_BF16), 1);
  EXPECT_FALSE(__hne(nan, one));  // as numbers; != is C's
  EXPECT_EQ(__hisinf(HIPRT_MAX_NORMAL_BF16), 0);
}

TEST(Bf16, IntegersSaturate) {
  EXPECT_EQ(static_cast<int>(__hip_bfloat16(-2.5f)), -2);
  EXPECT_EQ(static_cast<int>(__hip_bfloat16(1e30f)), std::numeric_limits<int>::max());
  EXPECT_EQ(static_cast<int>(__hip_bfloat16(-1e30f)), std::numeric_limits<int>::min());
  EXPECT_EQ(static_cast<unsigned>(__hip_bfloat16(-1.0f)), 0u);
  EXPECT_EQ(static_cast<unsigned long long>(HIPRT_INF_BF16),
            std::numeric_limits<unsigned long long>::max());
  EXPECT_EQ(static_cast<long long>(-HIPRT_INF_BF16), std::numeric_limits<long long>::min());
  EXPECT_EQ(static_cast<short>(__hip_bfloat16(40000.0f)), 32767);
  EXPECT_EQ(static_cast<int>(HIPRT_NAN_BF16), 0);
  EXPECT_EQ(static_cast<float>(__int2bfloat16_rn(257)), 256.0f);  // the tie goes to even
  EXPECT_EQ(static_cast<float>(__hip_bfloat16(7)), 7.0f);
}

TEST(Bf16, PairsKeepTheirOrder) {
  const __hip_bfloat162 pair = __float22bfloat162_rn(float2{1.0f, 2.0f});
  EXPECT_EQ(std::bit_cast<std::uint32_t>(pair), 0x40003f80u);
  EXPECT_EQ(__low2float(pair), 1.0f);
  EXPECT_EQ(__high2float(pair), 2.0f);
  EXPECT_EQ(__bfloat1622float2(__lowhigh2highlow(pair)).x, 2.0f);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(pair + pair), 0x40804000u);
  EXPECT_TRUE(__hbeq2(pair, pair));
  const __hip_bfloat162 other = __float22bfloat162_rn(float2{1.0f, 3.0f});
  EXPECT_TRUE(pair != other);
  EXPECT_FALSE(__hbne2(pair, other));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(__hlt2(pair, other)), 0x3f800000u);
}

static_assert(std::bit_cast<std::uint16_t>(__hip_bfloat16(1.0f)) == 0x3f80);
static_assert(static_cast<float>(std::bit_cast<__hip_bfloat16>(std::uint16_t{0xc000})) == -2.0f);
static_assert(__hip_bfloat16(2.0f) * __hip_bfloat16(3.0f) == __hip_bfloat16(6.0f));

}  // namespace
