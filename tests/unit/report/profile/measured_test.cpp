// A measured time against the modelled one.
#include "report/profile/time/measured.h"

#include <gtest/gtest.h>

namespace margay::profile {
namespace {

TEST(Measured, TimesAreReadInTheirUnit) {
  EXPECT_DOUBLE_EQ(parse_microseconds("118us").value(), 118);
  EXPECT_DOUBLE_EQ(parse_microseconds("118").value(), 118);
  EXPECT_DOUBLE_EQ(parse_microseconds("0.5ms").value(), 500);
  EXPECT_DOUBLE_EQ(parse_microseconds("2e-6s").value(), 2);
  EXPECT_DOUBLE_EQ(parse_microseconds("250ns").value(), 0.25);
  for (const char* const wrong : {"", "us", "-1us", "0", "inf", "nan", "1 us", "1min", "1usx"})
    EXPECT_FALSE(parse_microseconds(wrong)) << wrong;
}

KernelProfile kernel(double boost, double sustained) {
  KernelProfile out;
  out.time.emplace();
  out.time->us_boost = boost;
  out.time->us_sustained = sustained;
  out.time->error_percent = 15;
  return out;
}

TEST(Measured, AnErrorThatIsLargerThanStatedIsNotHidden) {
  EXPECT_NE(measured_text(kernel(100, 120), 200).find("MORE than the 15 %"), std::string::npos);
  EXPECT_NE(measured_text(kernel(100, 120), 50).find("+100 % at the boost"), std::string::npos);
  EXPECT_NE(measured_text(kernel(100, 120), 50).find("MORE than"), std::string::npos);
}

TEST(Measured, BetweenTheClocksTheModelIsRight) {
  for (const double us : {90.0, 100.0, 150.0, 200.0, 220.0})
    EXPECT_NE(measured_text(kernel(100, 200), us).find("within the 15 %"), std::string::npos) << us;
}

}  // namespace
}  // namespace margay::profile
