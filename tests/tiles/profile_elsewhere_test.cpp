// include/margay/profile.h where there is no Margay: it links, and says that nothing was profiled.
#include <gtest/gtest.h>
#include <margay/profile.h>

namespace {

TEST(ProfileScope, SaysThatNothingIsProfiledWithoutMargay) {
  EXPECT_FALSE(margay::can_profile());
  try {
    const margay::ProfileScope scope;
    ADD_FAILURE() << "a scope began";
  } catch (const margay::ProfileError& error) {
    EXPECT_EQ(std::string(error.what()),
              "this libamdhip64 is not Margay's: nothing was profiled. Start the program with "
              "`margay run -- PROGRAM`, or ask margay::can_profile() first.");
  }
}

}  // namespace
