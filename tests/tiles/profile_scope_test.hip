// include/margay/profile.h: what tests see of a kernel, and the errors for wrong queries.
#include <gmock/gmock.h>

#include "profiled.h"

namespace {

using margay::KernelCounts;
using margay::ProfileError;
using margay::ProfileScope;

__global__ void twice(float* data) { data[threadIdx.x] *= 2; }
template <int n>
__global__ void idle() {
  asm volatile("s_nop %0" ::"n"(n));
}

/// The text of the exception that `act` throws; it has to be of this type.
template <typename Error, typename F>
std::string thrown_by(F&& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
  }
  return "";
}

TEST(ProfileScope, CountsWhatRanInIt) {
  ASSERT_TRUE(margay::can_profile());
  const tile_test::Buffer<float> data(std::vector<float>(64, 1));
  twice<<<1, 64>>>(data.get());
  ProfileScope scope;
  twice<<<2, 64>>>(data.get());
  twice<<<2, 64>>>(data.get());
  idle<1><<<3, 64>>>();
  const margay::Profile ended = scope.end();
  twice<<<2, 64>>>(data.get());

  const KernelCounts profile = ended.kernel("twice");
  EXPECT_EQ(profile["launches"], 2);
  EXPECT_EQ(profile["SQ_WAVES"], 4);
  EXPECT_EQ(profile["SQ_INSTS_VMEM_RD"], 4);
  EXPECT_EQ(profile["TCP_TOTAL_READ"], profile["TCP_TOTAL_READ_sum"]);
  EXPECT_EQ(profile["coalescing"], 1.0);
  EXPECT_EQ(ended.kernel("idle")["waves"], 3);
  EXPECT_NE(ended.json().find("\"device\":\"AMD Instinct MI325X\""), std::string::npos);
}

TEST(ProfileScope, ModelledTime) {
  const tile_test::Buffer<float> data(std::vector<float>(64, 1));
  ProfileScope scope("time=1");
  twice<<<1, 64>>>(data.get());
  idle<1><<<3, 64>>>();
  const margay::Profile ended = scope.end();
  const margay::ModelledTime time = ended.kernel("twice").time();
  EXPECT_GT(time.us_boost, 1);
  EXPECT_LT(time.us_boost, 100);
  EXPECT_GE(time.us_sustained, time.us_boost);
  EXPECT_GT(time.cycles, 1000);
  EXPECT_GT(time.error_percent, 0);
  EXPECT_NEAR(time.tflops_boost, 64e-6 / time.us_boost, 1e-9) << "64 multiplications";
  EXPECT_EQ(ended.kernel("twice")["time.us_boost"], time.us_boost);
  EXPECT_EQ(ended.kernel("idle").time().tflops_boost, 0);
  EXPECT_THAT(thrown_by<std::out_of_range>([&] { return ended.kernel("twice")["time.us"]; }),
              testing::HasSubstr("time.us_boost"));

  ProfileScope untimed;
  twice<<<1, 64>>>(data.get());
  const KernelCounts counts = untimed.end().kernel("twice");
  EXPECT_THAT(thrown_by<ProfileError>([&] { return counts.time().us_boost; }),
              testing::AllOf(testing::HasSubstr("no modelled time"), testing::HasSubstr("time=1")));
}

TEST(ProfileScope, UnknownNamesHaveNeighbours) {
  ProfileScope scope;
  idle<1><<<1, 64>>>();
  const KernelCounts profile = scope.end().kernel();
  EXPECT_THAT(thrown_by<std::out_of_range>([&] { return profile["lds_bank_conflict"]; }),
              testing::AllOf(testing::HasSubstr("no counter or metric \"lds_bank_conflict\""),
                             testing::HasSubstr("did you mean lds_bank_conflicts,")));
  EXPECT_THAT(thrown_by<std::out_of_range>([&] { return profile["coalescing"]; }),
              testing::HasSubstr("divides by zero"));
  EXPECT_EQ(profile["SQ_WAVES"], 1) << "an error does not end it";
}

TEST(ProfileScope, UnknownAndAmbiguousKernels) {
  ProfileScope scope;
  idle<1><<<1, 64>>>();
  idle<2><<<1, 64>>>();
  const margay::Profile profile = scope.end();
  EXPECT_THAT(thrown_by<std::out_of_range>([&] { return profile.kernel("twice"); }),
              testing::AllOf(testing::HasSubstr("\"twice\""), testing::HasSubstr("idle<1>"),
                             testing::HasSubstr("idle<2>")));
  EXPECT_THAT(thrown_by<std::out_of_range>([&] { return profile.kernel("idle"); }),
              testing::HasSubstr("several kernels or launch sizes"));
  EXPECT_EQ(profile.kernel("idle<2>")["SQ_WAVES"], 1);
}

TEST(ProfileScope, OneAtATimeAndOnce) {
  ProfileScope scope;
  EXPECT_THAT(thrown_by<ProfileError>([] { ProfileScope inner; }),
              testing::HasSubstr("being profiled already"));
  scope.end();
  EXPECT_EQ(thrown_by<ProfileError>([&] { return scope.end(); }), "this profile has ended already");
}

TEST(ProfileScope, AScopeThatIsLeftEnds) {
  EXPECT_THROW(
      {
        ProfileScope scope;
        throw std::runtime_error("the test's own");
      },
      std::runtime_error);
  ProfileScope scope;
  idle<1><<<1, 64>>>();
  EXPECT_EQ(scope.end().kernel()["launches"], 1);
}

TEST(ProfileScope, CountsOfAnEarlierProfileAreNotThoseOfALaterOne) {
  ProfileScope first;
  idle<1><<<1, 64>>>();
  const KernelCounts profile = first.end().kernel();
  EXPECT_EQ(profile["SQ_WAVES"], 1);
  ProfileScope second;
  idle<1><<<2, 64>>>();
  EXPECT_EQ(profile["SQ_WAVES"], 1);
  const KernelCounts later = second.end().kernel("idle");
  EXPECT_THAT(thrown_by<ProfileError>([&] { return profile["SQ_WAVES"]; }),
              testing::HasSubstr("after another profile had ended"));
  EXPECT_EQ(later["SQ_WAVES"], 2);
}

}  // namespace
