// What a kernel takes of a compute unit, and what limits how many workgroups fit.
#include "apps/asm/resources.h"

#include <gmock/gmock.h>

#include "listing_image.h"

namespace margay::assembly {
namespace {

using testing::ElementsAre;

KernelResources with(std::uint32_t vgprs, std::uint32_t lds_bytes, std::uint32_t workgroup_size) {
  Kernel kernel;
  kernel.entry_vaddr = listing_kernel().entry_vaddr;
  kernel.vgpr_count = vgprs;
  kernel.lds_bytes = lds_bytes;
  kernel.max_workgroup_size = workgroup_size;
  return resources_of(listing_object(), kernel);
}

TEST(Resources, OfAKernel) {
  const KernelResources r = resources_of(listing_object(), listing_kernel());
  EXPECT_EQ(r.vgprs, 200U);
  EXPECT_EQ(r.architected_vgprs, 136U);
  EXPECT_EQ(r.agprs, 64U);
  EXPECT_EQ(r.allocated_vgprs, 200U);
  EXPECT_EQ(r.sgprs, 38U);
  EXPECT_EQ(r.lds_bytes, 40960U);
  EXPECT_EQ(r.scratch_bytes, 16U);
  EXPECT_EQ(r.vgpr_spills, 3U);
  EXPECT_EQ(r.code_bytes, 68U);
  EXPECT_EQ(r.max_workgroup_size, 256U);
  EXPECT_EQ(r.waves_per_workgroup, 4U);
  EXPECT_EQ(r.occupancy.workgroups_per_cu, 1U);
  EXPECT_THAT(r.limits, ElementsAre(OccupancyLimit::lds));
}

TEST(Resources, EveryLimitThatBindsIsNamed) {
  EXPECT_THAT(with(32, 0, 256).limits, ElementsAre(OccupancyLimit::wave_slots));
  EXPECT_THAT(with(256, 0, 256).limits, ElementsAre(OccupancyLimit::vgprs));
  EXPECT_THAT(with(32, 32768, 256).limits, ElementsAre(OccupancyLimit::lds));
  // 256 VGPRs allow one workgroup of 8 waves, and so does all of the LDS: less of one gains
  // nothing.
  EXPECT_THAT(with(256, 65536, 512).limits,
              ElementsAre(OccupancyLimit::vgprs, OccupancyLimit::lds));
}

TEST(Resources, AKernelThatDoesNotFit) {
  const KernelResources r = with(32, 65537, 64);
  EXPECT_EQ(r.occupancy.workgroups_per_cu, 0U);
  EXPECT_THAT(r.limits, ElementsAre(OccupancyLimit::lds));
}

}  // namespace
}  // namespace margay::assembly
