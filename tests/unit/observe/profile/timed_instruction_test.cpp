// What the model of time makes of an instruction.
#include "observe/profile/time/timed_instruction.h"

#include <gtest/gtest.h>

#include "exec/instructions/all_rows.h"
#include "exec/rows/row_table.h"
#include "gpu/gpu.h"

namespace margay::profile {
namespace {

using timing::Unit;

timing::Instruction timed(const char* name) {
  const Row* row = row_table({}, default_gpu().arch())->find(name);
  if (row == nullptr) {
    ADD_FAILURE() << name;
    return {};
  }
  Instruction instruction;
  instruction.row = row;
  return timed_instruction(instruction, {}, 4);
}

TEST(TimedInstruction, ConversionsBetweenFloatsAndIntegersAreSlow) {
  for (const char* name : {"v_cvt_i32_f32", "v_cvt_u32_f32", "v_cvt_f32_i32", "v_cvt_f32_u32"})
    EXPECT_EQ(timed(name).unit, Unit::conversion) << name;
  for (const char* name : {"v_cvt_f32_ubyte0", "v_cvt_f32_f64", "v_cvt_f16_f32", "v_cvt_f32_f16",
                           "v_cvt_pkrtz_f16_f32", "v_rndne_f32", "v_add_f32", "v_mul_lo_u32"})
    EXPECT_EQ(timed(name).unit, Unit::valu) << name;
  EXPECT_EQ(timed("v_exp_f32").unit, Unit::transcendental);
}

TEST(TimedInstruction, PackedF32AndDotProductsNeedTheIdleMatrixUnit) {
  for (const char* name : {"v_pk_mul_f32", "v_pk_mov_b32", "v_dot2_f32_f16", "v_dot4c_i32_i8"})
    EXPECT_EQ(timed(name).unit, Unit::packed) << name;
  for (const char* name : {"v_pk_mul_f16", "v_pk_fma_f16", "v_pk_add_u16"})
    EXPECT_EQ(timed(name).unit, Unit::valu) << name;
}

TEST(TimedInstruction, MatrixInstructionsTakeTheirPasses) {
  EXPECT_EQ(timed("v_mfma_f32_16x16x16_bf16").turns, 4);
  EXPECT_EQ(timed("v_mfma_f32_32x32x8_f16").turns, 8);
  for (const char* name : {"v_mfma_f32_16x16x4_f32", "v_mfma_f64_16x16x4_f64"})
    EXPECT_TRUE(timed(name).holds_vector) << name;
  for (const char* name : {"v_mfma_f32_32x32x8_f16", "v_mfma_f32_16x16x8_xf32", "v_exp_f32"})
    EXPECT_FALSE(timed(name).holds_vector) << name;
}

}  // namespace
}  // namespace margay::profile
