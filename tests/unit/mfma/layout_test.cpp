// The position of each element, tested one product at a time against the published layout tables,
// written down here a second time; CBSZ, ABID and BLGP against the ISA guide's words; and which
// mnemonics exist.
#include <gtest/gtest.h>

#include <algorithm>

#include "mfma/fast/fast.h"
#include "operands.h"

namespace margay {
namespace {

using namespace test;

/// Position of an element: the lane, and the bit from the operand's first register on.
struct Place {
  int lane, bit;
};

// A's tables (B's are the same with j for i): for each (lane, register, part) they give i, k and
// block. Here a lane's elements are numbered in register order. [AMD matrix instruction calculator,
// cdna3]
struct Position {
  int i, k, block;
};
Position position_of(const MfmaShape& s, int lane, int element) {
  const bool one_block = s.blocks == 1;
  if (s.a == MfmaType::f64)
    return s.m == 16 ? Position{lane % 16, lane / 16, 0}
                     : Position{lane % 4, lane / 16, lane / 4 % 4};
  if (!one_block) return {lane % s.m, element, lane / s.m};
  switch (s.a) {
    case MfmaType::f32:
      return {lane % s.m, lane / s.m, 0};
    case MfmaType::xf32:
      return {lane % s.m, 2 * (lane / s.m) + element, 0};
    case MfmaType::f16:
    case MfmaType::bf16:
      return {lane % s.m, 4 * (lane / s.m) + element, 0};
    default:
      return {lane % s.m, 8 * (lane / s.m) + element, 0};
  }
}

Place source_place(const MfmaShape& s, MfmaType type, int i, int k, int block) {
  const int per_lane = s.a_registers * 32 / bits_of(type);
  for (int lane = 0; lane < kLanes; ++lane)
    for (int element = 0; element < per_lane; ++element) {
      const Position p = position_of(s, lane, element);
      if (p.i == i && p.k == k && p.block == block) return {lane, element * bits_of(type)};
    }
  ADD_FAILURE() << "no place for i " << i << " k " << k << " block " << block;
  return {};
}

struct Target {
  int lane, gpr;
};
Target result_place(const MfmaShape& s, int i, int j, int block) {
  for (int gpr = 0; gpr < s.d_registers; ++gpr)
    for (int lane = 0; lane < kLanes; ++lane) {
      int ri, rj, rb;
      if (s.a == MfmaType::f64 && gpr % 2) continue;
      if (s.a == MfmaType::f64 && s.m == 16)
        ri = 4 * (gpr / 2) + lane / 16, rj = lane % 16, rb = 0;
      else if (s.a == MfmaType::f64)
        ri = lane / 16, rj = lane % 4, rb = lane / 4 % 4;
      else if (s.m == 32)
        ri = 8 * (gpr / 4 % 4) + 4 * (lane / 32) + gpr % 4, rj = lane % 32, rb = gpr / 16;
      else if (s.m == 16)
        ri = 4 * (lane / 16) + gpr % 4, rj = lane % 16, rb = gpr / 4;
      else
        ri = gpr % 4, rj = lane % 4, rb = lane / 4;
      if (ri == i && rj == j && rb == block) return {lane, gpr};
    }
  ADD_FAILURE() << "no place for i " << i << " j " << j;
  return {};
}

void put(std::uint32_t* rows, Place at, std::uint64_t value, int width) {
  std::uint32_t& word = rows[at.bit / 32 * kLanes + at.lane];
  word |= static_cast<std::uint32_t>(value << (width == 64 ? 0 : at.bit % 32));
  if (width == 64)
    rows[(at.bit / 32 + 1) * kLanes + at.lane] = static_cast<std::uint32_t>(value >> 32);
}

std::uint32_t one_bits(const MfmaShape& s, int value) {
  return s.a == MfmaType::i8 ? static_cast<std::uint32_t>(value)
                             : std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

class Layout : public ::testing::TestWithParam<MfmaShape> {};

// One-hot A and B for every (i, k, block) and (k, j, block): exactly one element of D is 2 * 3.
TEST_P(Layout, EveryProductLandsInItsPlace) {
  const MfmaShape& s = GetParam();
  const MfmaShape* shape = find_mfma_shape(s.mnemonic);
  ASSERT_NE(shape, nullptr);
  std::vector<MfmaFunction> kernels;
  for (const std::string_view level : mfma_levels())
    for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma, MfmaMode::fast})
      if (const MfmaFunction run = mfma_kernel(*shape, mode, level).run;
          std::find(kernels.begin(), kernels.end(), run) == kernels.end())
        kernels.push_back(run);
  for (const FastMethod& method : fast_mfma_methods(static_cast<std::size_t>(shape - kMfmaShapes)))
    if (method.kernel.run) kernels.push_back(method.kernel.run);
  Registers registers;
  const int width_a = bits_of(s.a), width_b = bits_of(s.b);
  int wrong = 0;
  for (int block = 0; block < s.blocks; ++block)
    for (int k = 0; k < s.k; ++k)
      for (int i = 0; i < s.m; ++i)
        // All j for a diagonal of i, else a moving sample: the two sides are independent.
        for (int j = 0; j < s.m; j += i == k ? 1 : 5) {
          std::fill_n(registers.row(kA), 8 * kLanes, 0);
          std::fill_n(registers.row(kB), 8 * kLanes, 0);
          put(registers.row(kA), source_place(s, s.a, i, k, block), encode(s.a, 2), width_a);
          put(registers.row(kB), source_place(s, s.b, (j + i) % s.m, k, block), encode(s.b, 3),
              width_b);
          const Target at = result_place(s, i, (j + i) % s.m, block);
          for (const MfmaFunction run : kernels) {
            MfmaOperands operands = operands_at(registers);
            operands.c = nullptr;
            std::fill_n(registers.row(kD), 32 * kLanes, 0xdeadbeef);
            run(operands);
            for (int n = 0; n < s.d_registers * kLanes; ++n) {
              std::uint32_t expected = n == at.gpr * kLanes + at.lane ? one_bits(s, 6) : 0;
              if (s.a == MfmaType::f64)
                expected = n == (at.gpr + 1) * kLanes + at.lane ? 0x40180000 : 0;
              if (registers.row(kD)[n] != expected && ++wrong < 4)
                ADD_FAILURE() << "i " << i << " j " << (j + i) % s.m << " k " << k << " block "
                              << block << ": D register " << n / kLanes << " lane " << n % kLanes
                              << " is " << registers.row(kD)[n];
            }
          }
        }
  EXPECT_EQ(wrong, 0);
}

// C passes to D in place, from registers and as a constant.
TEST_P(Layout, CPassesThrough) {
  const MfmaShape* shape = find_mfma_shape(GetParam().mnemonic);
  Registers registers;
  Random random(1);
  fill_operands(registers, *shape, Fill::normal, Fill::normal, 0, random);
  std::fill_n(registers.row(kA), 8 * kLanes, 0);
  for (const std::string_view level : mfma_levels())
    for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma, MfmaMode::fast}) {
      const MfmaFunction run = mfma_kernel(*shape, mode, level).run;
      run(operands_at(registers));
      EXPECT_EQ(difference(*shape, registers.row(kC), registers.row(kD)), "") << level;
      MfmaOperands constant = operands_at(registers);
      constant.c = nullptr;
      constant.c_constant = 0x40000000;  // 2.0, as f32 and as the upper half of f64
      run(constant);
      for (int n = 0; n < shape->d_registers * kLanes; ++n)
        ASSERT_EQ(registers.row(kD)[n],
                  shape->a == MfmaType::f64 && n / kLanes % 2 == 0 ? 0 : 0x40000000u)
            << n;
    }
}

// The blocks of A under CBSZ and ABID, and the lanes of B under BLGP, as the ISA guide describes
// them: modifiers on give what plain operands give whose lanes were moved by hand.
TEST_P(Layout, LaneModifiers) {
  const MfmaShape* shape = find_mfma_shape(GetParam().mnemonic);
  if (shape->modifiers == MfmaModifiers::none || shape->modifiers == MfmaModifiers::negate) {
    EXPECT_FALSE(mfma_modifiers_valid(*shape, 1, 0, 0));
    return;
  }
  constexpr int kMovedA = 4, kMovedB = 12;
  Registers registers;
  Random random(2);
  for (unsigned cbsz = 0; cbsz < 5; ++cbsz)
    for (unsigned abid = 0; abid < 1u << cbsz; ++abid)
      for (unsigned blgp = 0; blgp < 8; ++blgp) {
        if (!mfma_modifiers_valid(*shape, cbsz, abid, blgp)) {
          EXPECT_GT(1u << cbsz, shape->blocks);
          continue;
        }
        fill_operands(registers, *shape, Fill::normal, Fill::normal, 0, random);
        for (int lane = 0; lane < kLanes; ++lane) {
          const int block = lane / shape->m;
          const int group = block - block % (1 << cbsz);
          const int from_a = shape->blocks == 1
                                 ? lane
                                 : (group + static_cast<int>(abid)) * shape->m + lane % shape->m;
          int from_b = lane;
          if (blgp == 1) from_b = lane < 32 ? lane : lane - 32;
          if (blgp == 2) from_b = lane < 32 ? lane + 32 : lane;
          if (blgp == 3) from_b = lane < 48 ? lane + 16 : lane - 48;
          if (blgp >= 4) from_b = lane % 16 + static_cast<int>(blgp - 4) * 16;
          for (int r = 0; r < shape->a_registers; ++r) {
            registers.row(kMovedA + r)[lane] = registers.row(kA + r)[from_a];
            registers.row(kMovedB + r)[lane] = registers.row(kB + r)[from_b];
          }
        }
        for (const std::string_view level : mfma_levels())
          for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma}) {
            const MfmaFunction run = mfma_kernel(*shape, mode, level).run;
            MfmaOperands modified = operands_at(registers);
            modified.cbsz = static_cast<std::uint8_t>(cbsz);
            modified.abid = static_cast<std::uint8_t>(abid);
            modified.blgp = static_cast<std::uint8_t>(blgp);
            run(modified);
            run(operands_at(registers, kD + 32, kMovedA, kMovedB));
            ASSERT_EQ(difference(*shape, registers.row(kD + 32), registers.row(kD)), "")
                << level << " cbsz " << cbsz << " abid " << abid << " blgp " << blgp;
          }
      }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Layout, ::testing::ValuesIn(all_shapes()),
                         [](const auto& info) { return shape_name(info.param); });

TEST(Shapes, RegisterCountsAreTheGuides) {
  const auto counts = [](std::string_view mnemonic) {
    const MfmaShape* s = find_mfma_shape(mnemonic);
    return s ? std::array<int, 3>{s->a_registers, s->b_registers, s->d_registers}
             : std::array<int, 3>{};
  };
  EXPECT_EQ(counts("v_mfma_f32_16x16x16_bf16"), (std::array{2, 2, 4}));
  EXPECT_EQ(counts("v_mfma_f32_32x32x4_2b_f16"), (std::array{2, 2, 32}));
  EXPECT_EQ(counts("v_mfma_f32_4x4x1_16b_f32"), (std::array{1, 1, 4}));
  EXPECT_EQ(counts("v_mfma_i32_32x32x4_2b_i8"), (std::array{1, 1, 32}));
  EXPECT_EQ(counts("v_mfma_f64_16x16x4_f64"), (std::array{2, 2, 8}));
  EXPECT_EQ(counts("v_mfma_f64_4x4x4_4b_f64"), (std::array{2, 2, 2}));
  EXPECT_EQ(counts("v_mfma_f32_32x32x16_fp8_bf8"), (std::array{2, 2, 16}));
}

TEST(Shapes, OldSpellingsAndUnknownNames) {
  EXPECT_EQ(find_mfma_shape("v_mfma_f32_16x16x16bf16_1k"),
            find_mfma_shape("v_mfma_f32_16x16x16_bf16"));
  EXPECT_EQ(find_mfma_shape("v_mfma_f32_4x4x4f16"), find_mfma_shape("v_mfma_f32_4x4x4_16b_f16"));
  EXPECT_EQ(find_mfma_shape("v_mfma_f32_32x32x2bf16"), nullptr);  // gfx908 only
  EXPECT_EQ(find_mfma_shape("v_smfmac_f32_16x16x32_f16"), nullptr);
  EXPECT_EQ(find_mfma_shape(""), nullptr);
}

TEST(Shapes, UnknownTargetsHaveNoKernels) {
  EXPECT_EQ(mfma_kernel(kMfmaShapes[0], MfmaMode::fma, "x86-64-v9").run, nullptr);
  EXPECT_NE(mfma_kernel(kMfmaShapes[0], MfmaMode::fma, mfma_levels().front()).run, nullptr);
}

}  // namespace
}  // namespace margay
