// What limits a kernel, and whether the sentence about one more workgroup is true.
#include "observe/profile/resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "exec/workgroup/occupancy.h"
#include "gpu/gfx942/gfx942.h"

namespace margay::profile {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

struct Needs {
  std::uint32_t vgprs = 32, sgprs = 32, lds_bytes = 0, dynamic_lds_bytes = 0, items = 256;
};

Resources resources(const Needs& needs) {
  Kernel kernel;
  kernel.vgpr_count = needs.vgprs;
  kernel.sgpr_count = needs.sgprs;
  kernel.lds_bytes = needs.lds_bytes;
  LaunchRequest request{};
  request.kernel = &kernel;
  request.grid = {1, 1, 1};
  request.block = {needs.items, 1, 1};
  request.dynamic_lds_bytes = needs.dynamic_lds_bytes;
  return resources_of(kGfx942, request, 400);
}

std::uint32_t workgroups(const Needs& n) {
  return occupancy(kGfx942, {n.vgprs, n.sgprs, n.lds_bytes + n.dynamic_lds_bytes, n.items})
      .workgroups_per_cu;
}

/// Takes the number of the sentence at its word.
void expect_true(const Resources& r, Needs needs) {
  if (r.next_step.empty()) return;
  unsigned wanted = 0;
  int read = 0;
  ASSERT_EQ(std::sscanf(r.next_step.c_str(), "one more workgroup per CU would fit with %u %n",
                        &wanted, &read),
            1)
      << r.next_step;
  const std::string name = r.next_step.substr(static_cast<std::size_t>(read));
  const std::uint32_t now = workgroups(needs);
  std::uint32_t granule = 0;
  Needs more = needs;
  const auto change = [&](std::uint32_t amount) {
    if (name.starts_with("VGPRs instead")) {
      granule = 8;
      more.vgprs = amount;
    } else if (name.starts_with("SGPRs instead")) {
      granule = 16;
      more.sgprs = amount;
    } else {
      ASSERT_THAT(name, StartsWith("bytes of LDS instead"));
      granule = 512;
      more.lds_bytes = amount;
      more.dynamic_lds_bytes = 0;
    }
  };
  change(wanted);
  EXPECT_GT(workgroups(more), now) << r.next_step;
  // It is the most with which one more fits.
  change(wanted + granule);
  EXPECT_EQ(workgroups(more), now) << r.next_step;
}

TEST(Resources, SayWhatLimits) {
  const Resources r = resources({.vgprs = 124});
  EXPECT_EQ(r.limit, "VGPRs");
  EXPECT_EQ(r.workgroups_per_cu, 4u);
  EXPECT_EQ(r.waves_per_cu, 16u);
  EXPECT_EQ(r.waves_per_simd, 4u);
  EXPECT_EQ(r.code_bytes, 400u);
  EXPECT_EQ(r.next_step, "one more workgroup per CU would fit with 96 VGPRs instead of 124");
  const Resources lds = resources({.lds_bytes = 30000, .dynamic_lds_bytes = 768});
  EXPECT_EQ(lds.limit, "LDS");
  EXPECT_EQ(lds.static_lds_bytes, 30000u);
  EXPECT_EQ(lds.dynamic_lds_bytes, 768u);
  EXPECT_EQ(lds.next_step,
            "one more workgroup per CU would fit with 21504 bytes of LDS instead of 30768");
  EXPECT_THAT(resources({}).next_step, IsEmpty());
  EXPECT_EQ(resources({}).limit, "wave slots");
}

TEST(Resources, TheNextStepIsTrue) {
  unsigned sentences = 0;
  for (const std::uint32_t items : {1u, 64u, 128u, 192u, 256u, 512u, 1024u})
    for (std::uint32_t vgprs = 1; vgprs <= 512; vgprs += 3)
      for (const std::uint32_t lds : {0u, 1u, 5000u, 16384u, 40000u, 65536u})
        for (const std::uint32_t sgprs : {16u, 102u, 112u}) {
          const Needs needs{vgprs, sgprs, lds, 0, items};
          if (workgroups(needs) == 0) continue;
          const Resources r = resources(needs);
          expect_true(r, needs);
          if (HasFailure()) FAIL() << vgprs << " VGPRs, " << lds << " bytes, " << items;
          sentences += r.next_step.empty() ? 0 : 1;
        }
  EXPECT_GT(sentences, 5000u);
}

TEST(Resources, NoSentenceWhereNothingTheKernelHasLimitsIt) {
  EXPECT_THAT(resources({.vgprs = 24, .items = 1024}).next_step, IsEmpty());
  EXPECT_THAT(resources({.items = 64}).next_step, IsEmpty());  // 32 waves of 32
}

}  // namespace
}  // namespace margay::profile
