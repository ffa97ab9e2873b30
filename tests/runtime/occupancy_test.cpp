// Waves and workgroups per compute unit, against LLVM's resource remarks for gfx942 and the
// machine's limits.
#include "exec/workgroup/occupancy.h"
#include "gpu/gfx942/gfx942.h"

#include <gtest/gtest.h>

namespace margay {
namespace {

Occupancy occupancy(const OccupancyQuery& query) { return margay::occupancy(kGfx942, query); }

TEST(Occupancy, waves_per_simd_by_vgprs_as_llvm_reports_them) {
  struct Row {
    std::uint32_t vgprs, waves;
  };
  // Largest VGPR count for each number of waves, and the next one. Source: -Rpass-analysis=
  // kernel-resource-usage of clang 19 on gfx942.
  for (const Row row : {Row{0, 8},
                        {1, 8},
                        {64, 8},
                        {65, 7},
                        {72, 7},
                        {73, 6},
                        {80, 6},
                        {81, 5},
                        {96, 5},
                        {97, 4},
                        {128, 4},
                        {129, 3},
                        {168, 3},
                        {169, 2},
                        {256, 2},
                        {257, 1},
                        {512, 1}}) {
    EXPECT_EQ(occupancy({.vgprs = row.vgprs}).waves_per_simd, row.waves) << row.vgprs;
  }
}

TEST(Occupancy, sgprs_above_96_cost_a_wave) {
  EXPECT_EQ(occupancy({.sgprs = 96}).waves_per_simd, 8U);
  EXPECT_EQ(occupancy({.sgprs = 97}).waves_per_simd, 7U);
  EXPECT_EQ(occupancy({.sgprs = 112}).limit, OccupancyLimit::sgprs);
}

TEST(Occupancy, single_wave_workgroups_fill_all_slots) {
  const Occupancy o = occupancy({.vgprs = 32, .workgroup_size = 64});
  EXPECT_EQ(o.workgroups_per_cu, 32U);
  EXPECT_EQ(o.waves_per_cu, 32U);
  EXPECT_EQ(o.limit, OccupancyLimit::wave_slots);
}

TEST(Occupancy, workgroups_are_counted_in_whole_waves) {
  EXPECT_EQ(occupancy({.workgroup_size = 1}).waves_per_cu, 32U);
  EXPECT_EQ(occupancy({.workgroup_size = 65}).workgroups_per_cu, 16U);
  EXPECT_EQ(occupancy({.workgroup_size = 256}).workgroups_per_cu, 8U);
  EXPECT_EQ(occupancy({.workgroup_size = 1024}).workgroups_per_cu, 2U);
}

TEST(Occupancy, lds_is_allocated_in_blocks_of_512_bytes) {
  EXPECT_EQ(occupancy({.lds_bytes = 65536}).workgroups_per_cu, 1U);
  EXPECT_EQ(occupancy({.lds_bytes = 32768}).workgroups_per_cu, 2U);
  EXPECT_EQ(occupancy({.lds_bytes = 32769}).workgroups_per_cu, 1U);
  EXPECT_EQ(occupancy({.lds_bytes = 1}).workgroups_per_cu, 32U);
  EXPECT_EQ(occupancy({.lds_bytes = 32768, .workgroup_size = 512}).limit, OccupancyLimit::lds);
}

TEST(Occupancy, registers_of_a_large_kernel) {
  // 8 waves of 256 registers: two waves on each of four SIMDs, which is one workgroup.
  const Occupancy o = occupancy({.vgprs = 256, .lds_bytes = 65536, .workgroup_size = 512});
  EXPECT_EQ(o.workgroups_per_cu, 1U);
  EXPECT_EQ(o.waves_per_cu, 8U);
  EXPECT_EQ(o.limit, OccupancyLimit::vgprs);
  // 16 waves of 512 registers do not fit at all.
  EXPECT_EQ(occupancy({.vgprs = 512, .workgroup_size = 1024}).workgroups_per_cu, 0U);
}

TEST(Occupancy, from_a_kernel) {
  Kernel kernel;
  kernel.vgpr_count = 100;
  kernel.lds_bytes = 1000;
  EXPECT_EQ(margay::occupancy(kGfx942, kernel, 256, 0).workgroups_per_cu, 4U);
  EXPECT_EQ(margay::occupancy(kGfx942, kernel, 256, 31000).workgroups_per_cu, 2U);
}

}  // namespace
}  // namespace margay
