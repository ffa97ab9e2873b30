// How far an approximate instruction may be from the exact value.
#include "apps/fuzz/programs/judge.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>

namespace margay::fuzz {
namespace {

unsigned function(std::string_view name, Type type) {
  for (unsigned n = 0; n < kApproximations.size(); ++n)
    if (kApproximations[n].name == name && kApproximations[n].type == type) return n;
  ADD_FAILURE() << name;
  return 0;
}
bool holds(std::string_view name, float device, double argument) {
  return approximation_holds(function(name, Type::f32), std::bit_cast<std::uint32_t>(device),
                             std::bit_cast<std::uint64_t>(argument));
}
float off_by(float value, int steps) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) + static_cast<unsigned>(steps));
}

TEST(Judge, OneUlpHoldsTwoDoNot) {
  EXPECT_TRUE(holds("rcp", 1.0f / 3, 3));
  EXPECT_TRUE(holds("rcp", off_by(1.0f / 3, 1), 3));
  EXPECT_FALSE(holds("rcp", off_by(1.0f / 3, 2), 3));
  EXPECT_FALSE(holds("sqrt", off_by(2.0f, 2), 4));
}

TEST(Judge, SpecialValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(holds("rcp", -kInfinity, -0.0));
  EXPECT_FALSE(holds("rcp", kInfinity, -0.0));
  EXPECT_TRUE(holds("rsq", kNan, -1));
  EXPECT_FALSE(holds("rsq", 1, -1));
  EXPECT_TRUE(holds("log2", -kInfinity, 0));
  EXPECT_FALSE(holds("log2", 0, 0));
  EXPECT_TRUE(holds("log2", -kInfinity, -0x1p-130));  // a zero to the instruction
  EXPECT_TRUE(holds("sin", 1, 1000.25));              // of any number of revolutions
  EXPECT_FALSE(holds("sin", 0, 1000.25));
}

TEST(Judge, Halves) {
  const unsigned rcp = function("rcp", Type::f16);
  EXPECT_TRUE(approximation_holds(rcp, 0x3555, std::bit_cast<std::uint64_t>(3.0)));
  EXPECT_FALSE(approximation_holds(rcp, 0x3557, std::bit_cast<std::uint64_t>(3.0)));
}

}  // namespace
}  // namespace margay::fuzz
