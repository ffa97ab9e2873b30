// include/hip/hip_math_constants.h against the host's long double.
#include <hip/hip_math_constants.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

const long double kPi = std::acos(-1.0L);

/// As near as a number of its type can be.
template <typename T>
void nearest(T constant, long double exact) {
  EXPECT_EQ(constant, static_cast<T>(exact)) << static_cast<double>(exact);
}
/// The pair has the digits of long double, the last of which may be off.
void pair(double whole, double high, double low, long double exact) {
  nearest(whole, exact);
  EXPECT_EQ(whole, high);
  EXPECT_NE(low, 0);
  EXPECT_LE(std::fabs(high + static_cast<long double>(low) - exact),
            4 * std::numeric_limits<long double>::epsilon() * exact);
}

TEST(MathConstants, Float) {
  EXPECT_EQ(HIP_INF_F, std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(HIP_NAN_F));
  EXPECT_EQ(HIP_MIN_DENORM_F, std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(HIP_MAX_NORMAL_F, std::numeric_limits<float>::max());
  EXPECT_EQ(HIP_NORM_HUGE_F, std::numeric_limits<float>::max());
  EXPECT_TRUE(HIP_NEG_ZERO_F == 0 && std::signbit(HIP_NEG_ZERO_F));
  EXPECT_TRUE(HIP_ZERO_F == 0 && HIP_ONE_F == 1);
  nearest(HIP_SQRT_HALF_F, std::sqrt(0.5L));
  nearest(HIP_SQRT_HALF_LO_F, std::sqrt(0.5L) - HIP_SQRT_HALF_HI_F);
  nearest(HIP_SQRT_TWO_F, std::sqrt(2.0L));
  nearest(HIP_THIRD_F, 1 / 3.0L);
  nearest(HIP_PIO4_F, kPi / 4);
  nearest(HIP_PIO2_F, kPi / 2);
  nearest(HIP_3PIO4_F, 3 * kPi / 4);
  nearest(HIP_2_OVER_PI_F, 2 / kPi);
  nearest(HIP_SQRT_2_OVER_PI_F, std::sqrt(2 / kPi));
  nearest(HIP_PI_F, kPi);
  nearest(HIP_L2E_F, 1 / std::log(2.0L));
  nearest(HIP_L2T_F, std::log2(10.0L));
  nearest(HIP_LG2_F, std::log10(2.0L));
  nearest(HIP_LGE_F, 1 / std::log(10.0L));
  nearest(HIP_LN2_F, std::log(2.0L));
  nearest(HIP_LNT_F, std::log(10.0L));
  nearest(HIP_LNPI_F, std::log(kPi));
  nearest(HIP_TWO_TO_M126_F, std::ldexp(1.0L, -126));
  nearest(HIP_TWO_TO_126_F, std::ldexp(1.0L, 126));
  EXPECT_TRUE(HIP_TWO_TO_23_F == std::ldexp(1.0f, 23) && HIP_TWO_TO_24_F == std::ldexp(1.0f, 24) &&
              HIP_TWO_TO_31_F == std::ldexp(1.0f, 31) && HIP_TWO_TO_32_F == std::ldexp(1.0f, 32));
  EXPECT_EQ(HIP_REMQUO_MASK_F, 7u);
  EXPECT_EQ(HIP_TRIG_PLOSS_F, 105615);
}

TEST(MathConstants, Double) {
  EXPECT_EQ(HIP_INF, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(HIP_NAN));
  EXPECT_EQ(HIP_MIN_DENORM, std::numeric_limits<double>::denorm_min());
  EXPECT_TRUE(HIP_NEG_ZERO == 0 && std::signbit(HIP_NEG_ZERO));
  EXPECT_TRUE(HIP_ZERO == 0 && HIP_ONE == 1);
  nearest(HIP_SQRT_TWO, std::sqrt(2.0L));
  nearest(HIP_THIRD, 1 / 3.0L);
  nearest(HIP_TWOTHIRD, 2 / 3.0L);
  nearest(HIP_3PIO4, 3 * kPi / 4);
  nearest(HIP_2_OVER_PI, 2 / kPi);
  nearest(HIP_SQRT_2OPI, std::sqrt(2 / kPi));
  nearest(HIP_L2T, std::log2(10.0L));
  nearest(HIP_LNPI, std::log(kPi));
  nearest(HIP_LN2_X_1024, std::log(2.0L) * 1024);
  nearest(HIP_LN2_X_1025, std::log(2.0L) * 1025);
  nearest(HIP_LN2_X_1075, std::log(2.0L) * 1075);
  nearest(HIP_LG2_X_1024, std::log10(2.0L) * 1024);
  nearest(HIP_LG2_X_1075, std::log10(2.0L) * 1075);
  EXPECT_TRUE(HIP_TWO_TO_23 == std::ldexp(1.0, 23) && HIP_TWO_TO_52 == std::ldexp(1.0, 52) &&
              HIP_TWO_TO_53 == std::ldexp(1.0, 53) && HIP_TWO_TO_54 == std::ldexp(1.0, 54) &&
              HIP_TWO_TO_M54 == std::ldexp(1.0, -54) &&
              HIP_TWO_TO_M1022 == std::numeric_limits<double>::min());
  EXPECT_EQ(HIP_TRIG_PLOSS, std::ldexp(1.0, 31));
  EXPECT_EQ(HIP_DBL2INT_CVT, std::ldexp(1.5, 52));
}

TEST(MathConstants, PairsOfDoubles) {
  pair(HIP_SQRT_HALF, HIP_SQRT_HALF_HI, HIP_SQRT_HALF_LO, std::sqrt(0.5L));
  pair(HIP_PIO4, HIP_PIO4_HI, HIP_PIO4_LO, kPi / 4);
  pair(HIP_PIO2, HIP_PIO2_HI, HIP_PIO2_LO, kPi / 2);
  pair(HIP_PI, HIP_PI_HI, HIP_PI_LO, kPi);
  pair(HIP_SQRT_2PI, HIP_SQRT_2PI_HI, HIP_SQRT_2PI_LO, std::sqrt(2 * kPi));
  pair(HIP_SQRT_PIO2, HIP_SQRT_PIO2_HI, HIP_SQRT_PIO2_LO, std::sqrt(kPi / 2));
  pair(HIP_L2E, HIP_L2E_HI, HIP_L2E_LO, 1 / std::log(2.0L));
  pair(HIP_LG2, HIP_LG2_HI, HIP_LG2_LO, std::log10(2.0L));
  pair(HIP_LGE, HIP_LGE_HI, HIP_LGE_LO, 1 / std::log(10.0L));
  pair(HIP_LN2, HIP_LN2_HI, HIP_LN2_LO, std::log(2.0L));
  pair(HIP_LNT, HIP_LNT_HI, HIP_LNT_LO, std::log(10.0L));
}

}  // namespace
