// The numbers: the bit model against a second formulation of it in double arithmetic, the vector
// kernels against the model and against plain loops, on every level, over operands of all kinds.
#include <gtest/gtest.h>

#include <algorithm>

#include "mfma/fast/fast.h"
#include "mfma/kernels/bit_model.h"
#include "mfma/kernels/reference.h"
#include "operands.h"
#include "support/cases.h"

namespace margay {
namespace {

using namespace test;

// The model, written again with doubles from its description.

struct Parts {
  double significand;
  int exponent;
};
Parts split(double value, int smallest) {
  int exponent;
  double significand = std::frexp(value, &exponent) * 2;
  exponent = value == 0 ? smallest : exponent - 1;
  if (exponent < smallest) {
    significand = std::ldexp(significand, exponent - smallest);
    exponent = smallest;
  }
  return {significand, exponent};
}

double decode(MfmaType type, std::uint32_t bits) {
  const FormatBits format = format_bits(type);
  const bool fnuz = type == MfmaType::fp8 || type == MfmaType::bf8;
  const int bias = (1 << (format.exponent - 1)) - (fnuz ? 0 : 1);
  const auto field = static_cast<int>(bits >> format.mantissa & ((1u << format.exponent) - 1));
  std::uint32_t mantissa = bits & ((1u << format.mantissa) - 1);
  const bool negative = bits >> (format.exponent + format.mantissa) & 1;
  if (fnuz && negative && field == 0 && mantissa == 0) return NAN;
  if (!fnuz && field == (1 << format.exponent) - 1)
    return mantissa ? NAN : negative ? -INFINITY : INFINITY;
  if (type == MfmaType::xf32) mantissa &= ~0x1fffu;
  const double magnitude = std::ldexp(mantissa + (field ? std::ldexp(1.0, format.mantissa) : 0),
                                      std::max(field, 1) - bias - format.mantissa);
  return negative ? -magnitude : magnitude;
}

int smallest_exponent(MfmaType type) {
  switch (type) {
    case MfmaType::f16:
      return -14;
    case MfmaType::fp8:
      return -7;
    case MfmaType::bf8:
      return -15;
    default:
      return -126;
  }
}

Parts truncated(const std::vector<Parts>& products) {
  int largest = -999;
  for (const Parts& p : products)
    if (p.significand != 0) largest = std::max(largest, p.exponent);
  double sum = 0;
  for (const Parts& p : products)
    if (p.significand != 0) sum += std::trunc(std::ldexp(p.significand, p.exponent - largest + 24));
  return {std::ldexp(sum, -24), largest};
}

float model(MfmaType ta, MfmaType tb, const std::uint32_t* a, const std::uint32_t* b, int count,
            float c, bool by_parity) {
  double special = c;
  std::vector<Parts> even, odd;
  for (int n = 0; n < count; ++n) {
    const double x = decode(ta, a[n]), y = decode(tb, b[n]);
    double product = x * y;
    if (std::fabs(product) >= 0x1p128) product = std::copysign(INFINITY, product);
    if (!std::isfinite(product)) special += product;
    const Parts px = split(x, smallest_exponent(ta)), py = split(y, smallest_exponent(tb));
    (by_parity && n % 2 ? odd : even)
        .push_back({px.significand * py.significand, px.exponent + py.exponent});
  }
  if (!std::isfinite(special)) return static_cast<float>(special);
  Parts sum = truncated(even);
  if (by_parity) {
    const Parts other = truncated(odd);
    const int top = std::max(sum.exponent, other.exponent);
    const auto cut = [&](const Parts& p) {
      return std::floor(std::ldexp(p.significand, p.exponent - top + 24));
    };
    sum = {std::ldexp(cut(sum) + cut(other), -24), top};
  }
  const Parts pc = split(c, -126);
  const int top = std::max(sum.exponent, pc.exponent);
  double total = std::ldexp(std::floor(std::ldexp(sum.significand, sum.exponent - top + 32)), -32);
  if (!(by_parity && pc.exponent < top - 25))
    total += std::ldexp(std::floor(std::ldexp(pc.significand, pc.exponent - top + 24)), -24);
  if (total == 0) return 0;  // +0 for any signs of the terms
  const Parts result = split(std::ldexp(total, top), -126);
  return static_cast<float>(
      std::ldexp(std::floor(std::ldexp(result.significand, 31)), result.exponent - 31));
}

std::uint32_t bits_or_nan(float value) {
  return std::isnan(value) ? kMfmaNan : std::bit_cast<std::uint32_t>(value);
}

class Model : public ::testing::TestWithParam<MfmaType> {};

TEST_P(Model, AgreesWithASecondFormulation) {
  const MfmaType type = GetParam();
  const bool by_parity = type == MfmaType::fp8 || type == MfmaType::bf8;
  const int group = mfma_group_size(type, 32);
  Random random(3);
  for (int round = 0; round < 120'000; ++round) {
    const MfmaType other = by_parity && random() % 2 ? MfmaType::fp8 : type;
    const Fill fill = kFills[round % std::size(kFills)];
    std::uint32_t a[16], b[16];
    MfmaFactor fa[16], fb[16];
    for (int n = 0; n < group; ++n) {
      a[n] = static_cast<std::uint32_t>(random_element(type, fill, random));
      b[n] = static_cast<std::uint32_t>(random_element(other, fill, random));
      fa[n] = mfma_factor(type, a[n]);
      fb[n] = mfma_factor(other, b[n]);
    }
    const Fill fill_c = kFills[random() % std::size(kFills)];
    const auto c = static_cast<std::uint32_t>(random_element(MfmaType::f32, fill_c, random));
    const float expected = model(type, other, a, b, group, std::bit_cast<float>(c), by_parity);
    ASSERT_EQ(mfma_group_sum(fa, fb, group, c, by_parity), bits_or_nan(expected))
        << "round " << round << " fill " << static_cast<int>(fill) << " c "
        << std::bit_cast<float>(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Model,
                         ::testing::Values(MfmaType::f16, MfmaType::bf16, MfmaType::xf32,
                                           MfmaType::fp8, MfmaType::bf8));

std::uint32_t group_of(MfmaType type, std::initializer_list<double> a,
                       std::initializer_list<double> b, float c) {
  const bool by_parity = type == MfmaType::fp8 || type == MfmaType::bf8;
  MfmaFactor fa[16] = {}, fb[16] = {};
  const int count = mfma_group_size(type, 32);
  for (int n = 0; n < count; ++n) {
    const auto element = [&](std::initializer_list<double> list) {
      return mfma_factor(type, n < static_cast<int>(list.size())
                                   ? static_cast<std::uint32_t>(encode(type, list.begin()[n]))
                                   : 0);
    };
    fa[n] = element(a);
    fb[n] = element(b);
  }
  return mfma_group_sum(fa, fb, count, std::bit_cast<std::uint32_t>(c), by_parity);
}

// Equation 10 of arXiv 2511.10909: -2^23 - 0.5 - 0.25 - 0.125 + 2^23; CDNA3's row of its table 8.
TEST(ModelExamples, ThePapersCancellation) {
  const auto run = [](MfmaType type) {
    return std::bit_cast<float>(
        group_of(type, {-0x1p13, -0.5, -0.25, -0.125}, {0x1p10, 1, 1, 1}, 0x1p23f));
  };
  EXPECT_EQ(run(MfmaType::f16), -0.5f);
  EXPECT_EQ(run(MfmaType::bf16), -0.5f);
  EXPECT_EQ(run(MfmaType::bf8), -1.0f);
}

TEST(ModelExamples, SpecialValues) {
  const auto bf16 = [](std::initializer_list<double> a, std::initializer_list<double> b, float c) {
    return group_of(MfmaType::bf16, a, b, c);
  };
  EXPECT_EQ(bf16({0x1p100}, {0x1p100}, 0), 0x7f800000u);              // overflow of a product
  EXPECT_EQ(bf16({0x1p64, -0x1p64}, {0x1p64, 0x1p64}, 0), kMfmaNan);  // of two, with opposite signs
  EXPECT_EQ(bf16({0x1p63, -0x1p63}, {0x1p64, 0x1p64}, 1), 0u);        // no overflow; C is far below
  EXPECT_EQ(bf16({}, {}, -0.0f), 0u);                                 // zeros sum to +0
  EXPECT_EQ(bf16({1}, {-1}, 1), 0u);
  EXPECT_EQ(bf16({}, {}, INFINITY), 0x7f800000u);
  EXPECT_EQ(bf16({}, {}, NAN), kMfmaNan);
  EXPECT_EQ(bf16({}, {}, 0x1p-149f), 1u);  // denormals stay
}

// A total below the smallest normal number is cut 31 bits below 2^-126, so that what is less than
// 2^-157 does not break a tie: MMA-Sim 2.0.2 to 2.1.1. (2.0.0 cut it relative to its own leading
// bit, and gave 1 for the first.)
TEST(ModelExamples, BelowTheNormalNumbers) {
  const auto sum = [](double other) {
    return group_of(MfmaType::bf16, {0x1p-75, other}, {0x1p-75, 0x1p-80}, 0);
  };
  EXPECT_EQ(sum(0x1p-85), 0u);   // 2^-150 + 2^-165
  EXPECT_EQ(sum(-0x1p-85), 0u);  // the tie's other side
  EXPECT_EQ(sum(0x1p-77), 1u);   // 2^-150 + 2^-157
  EXPECT_EQ(sum(0x1p-78), 0u);   // 2^-150 + 2^-158
  EXPECT_EQ(group_of(MfmaType::xf32, {0x1p-75, 0x1p-85}, {0x1p-75, 0x1p-80}, 0), 0u);
}

// Where the total has one exponent less than C, bit 32 of the products still counts: here it is
// what lifts 1 - 1.5 * 2^-24 above the middle between two floats.
constexpr double kBelowOne[] = {-191 * 0x1p-31, -0x1p-32};
constexpr std::uint32_t kBelowOneResult = 0x3f7fffff;
TEST(ModelExamples, TheSumOfProductsKeeps32Bits) {
  EXPECT_EQ(group_of(MfmaType::bf16, {kBelowOne[0], kBelowOne[1]}, {1, 1}, 1), kBelowOneResult);
}

// Kernels from here on.

class Kernels : public ::testing::TestWithParam<MfmaShape> {};

// Each element of D is a chain of groups; together far more than 10^5 groups per type.
TEST_P(Kernels, ExactAndFmaMatchTheReferenceOnEveryTarget) {
  const MfmaShape* shape = find_mfma_shape(GetParam().mnemonic);
  const bool f16_like = bits_of(shape->a) == 16;
  Registers registers;
  Random random(4);
  const int rounds = f16_like ? 2 : 1;
  for (int round = 0; round < rounds; ++round)
    for (const Fill ab : kFills)
      for (const Fill c : kFills)
        for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma}) {
          fill_operands(registers, *shape, ab, c, static_cast<int>(random() % 61) - 30, random);
          mfma_reference(*shape, mode, operands_at(registers, kD + 32));
          for (const std::string_view level : mfma_levels()) {
            mfma_kernel(*shape, mode, level).run(operands_at(registers));
            ASSERT_EQ(difference(*shape, registers.row(kD + 32), registers.row(kD)), "")
                << level << (mode == MfmaMode::exact ? " exact" : " fma") << ", A and B "
                << static_cast<int>(ab) << ", C " << static_cast<int>(c) << ", round " << round;
          }
        }
}

// A long accumulation: C climbs from far below the products to far above them.
TEST_P(Kernels, ExactMatchesTheReferenceThroughALongSum) {
  const MfmaShape* shape = find_mfma_shape(GetParam().mnemonic);
  Registers registers;
  Random random(5);
  for (const Fill fill : {Fill::positive, Fill::normal}) {
    std::fill_n(registers.row(kC), shape->d_registers * kLanes, 0);
    for (int step = 0; step < 40; ++step) {
      fill_rows(registers.row(kA), shape->a_registers, shape->a, fill, random);
      fill_rows(registers.row(kB), shape->b_registers, shape->b, fill, random);
      mfma_reference(*shape, MfmaMode::exact, operands_at(registers, kD + 32));
      for (const std::string_view level : mfma_levels()) {
        mfma_kernel(*shape, MfmaMode::exact, level).run(operands_at(registers));
        ASSERT_EQ(difference(*shape, registers.row(kD + 32), registers.row(kD)), "")
            << level << " step " << step;
      }
      std::copy_n(registers.row(kD), shape->d_registers * kLanes, registers.row(kC));
    }
  }
}

// One product or two in every element of D, on every level.
void expect_everywhere(std::string_view mnemonic, MfmaMode mode, std::initializer_list<double> a,
                       std::initializer_list<double> b, float c, std::uint32_t expected) {
  const MfmaShape* shape = find_mfma_shape(mnemonic);
  Registers registers;
  for (int i = 0; i < shape->m; ++i)
    for (int k = 0; k < static_cast<int>(a.size()); ++k) {
      const MfmaElement at = mfma_source_element(*shape, shape->a, i, k, 0);
      const auto put = [&](int base, double value) {
        registers.row(base + at.reg)[at.lane] |= static_cast<std::uint32_t>(encode(shape->a, value))
                                                 << at.bit;
      };
      put(kA, a.begin()[k]);
      put(kB, b.begin()[k]);
    }
  MfmaOperands operands = operands_at(registers);
  operands.c = nullptr;
  operands.c_constant = std::bit_cast<std::uint32_t>(c);
  for (const std::string_view level : mfma_levels()) {
    mfma_kernel(*shape, mode, level).run(operands);
    for (int n = 0; n < shape->d_registers * kLanes; ++n)
      ASSERT_EQ(registers.row(kD)[n], expected) << level;
  }
}

TEST(KernelExamples, TheSumOfProductsKeeps32Bits) {
  for (const auto* mnemonic : {"v_mfma_f32_16x16x16_bf16", "v_mfma_f32_32x32x8_bf16"})
    expect_everywhere(mnemonic, MfmaMode::exact, {kBelowOne[0], kBelowOne[1]}, {1, 1}, 1,
                      kBelowOneResult);
}

// 1 + 2^-23 + (2^-24 - 2^-54): in double this is the middle between two floats, in truth less.
TEST(KernelExamples, FusedMultiplyAddRoundsOnce) {
  constexpr auto kMnemonic = "v_mfma_f32_16x16x4_f32";
  constexpr double a = 1 + 0x1p-15, b = 0x1p-24 - 0x1p-39;
  expect_everywhere(kMnemonic, MfmaMode::fma, {a}, {b}, 1 + 0x1p-23f, 0x3f800001);
  expect_everywhere(kMnemonic, MfmaMode::fma, {a}, {-b}, -1 - 0x1p-23f, 0xbf800001);
  expect_everywhere(kMnemonic, MfmaMode::fma, {a}, {-b}, 1 + 0x1p-22f, 0x3f800002);
}

TEST_P(Kernels, DMayOverlapEveryOperand) {
  const MfmaShape* shape = find_mfma_shape(GetParam().mnemonic);
  Random random(6);
  const int rows = shape->d_registers;
  for (const std::string_view level : mfma_levels())
    for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma, MfmaMode::fast})
      for (const int d :
           {kC, kC - 2, kC + 2, kC + rows - 2, kC - rows + 2, kA, kA + 1, kB - 1, kB}) {
        if (d < 0) continue;
        Registers registers;
        fill_operands(registers, *shape, Fill::normal, Fill::normal, 0, random);
        const MfmaKernel kernel = mfma_kernel(*shape, mode, level);
        kernel.run(operands_at(registers, 128));
        Registers grouped = registers;
        kernel.run(operands_at(registers, d));
        ASSERT_EQ(difference(*shape, registers.row(128), registers.row(d)), "")
            << level << " D at " << d;
        // A run may round otherwise in mode `fast`.
        Registers apart = grouped;
        for (const auto& [at, result] : {std::pair(&apart, 128), std::pair(&grouped, d)}) {
          const MfmaStep one{.d = result, .a = kA, .b = kB, .c = kC};
          prepare_mfma_run(*shape, kernel, {&one, 1})->execute(at->row(0));
        }
        ASSERT_EQ(difference(*shape, apart.row(128), grouped.row(d)), "")
            << level << " group, D at " << d;
      }
}

// Runs of instructions as a kernel issues them: in a group they must give what one by one gives.
TEST_P(Kernels, GroupsEqualSingles) {
  const MfmaShape* shape = find_mfma_shape(GetParam().mnemonic);
  Random random(7);
  const int rows = shape->d_registers;
  for (const std::string_view level : mfma_levels())
    for (const MfmaMode mode : {MfmaMode::exact, MfmaMode::fma, MfmaMode::fast})
      for (int round = 0; round < 12; ++round) {
        Registers single;
        // A group may sum k in another order in mode `fast`, so there the sums are exact.
        const Fill fill = mode == MfmaMode::fast ? Fill::units : Fill::normal;
        fill_rows(single.row(0), 64, shape->a, fill, random);
        fill_rows(single.row(64), 160, result_type(*shape), fill, random);
        Registers grouped = single, again = single;
        std::vector<MfmaStep> steps;
        const auto count = static_cast<std::size_t>(1 + random() % 40);
        for (std::size_t n = 0; n < count; ++n) {
          const int a = static_cast<int>(random() % 6) * 2,
                    b = static_cast<int>(random() % 6) * 2 + 16;
          int d = 64 + static_cast<int>(random() % 4) * rows, c = d;
          // Occasionally something less regular: C elsewhere, or D on later operands.
          if (round % 4 == 1 && random() % 4 == 0) c = 64 + static_cast<int>(random() % 32);
          if (round % 4 == 2 && random() % 6 == 0) d = static_cast<int>(random() % 16) * 2;
          if (round % 4 == 3 && random() % 6 == 0) d += 2;
          const bool constant = round % 5 == 4 && random() % 3 == 0;
          steps.push_back({.d = d, .a = a, .b = b, .c = c, .c_is_constant = constant});
        }
        const MfmaKernel kernel = mfma_kernel(*shape, mode, level);
        for (const MfmaStep& step : steps) kernel.run(operands_of(step, single.row(0)));
        const auto run = prepare_mfma_run(*shape, kernel, steps);
        run->execute(grouped.row(0));
        run->execute(again.row(0));  // as another wave runs the same code
        ASSERT_EQ(grouped.words == again.words, true) << level;
        const auto differ =
            std::ranges::mismatch(single.words, grouped.words).in1 - single.words.begin();
        ASSERT_EQ(differ, std::ssize(single.words))
            << level << " mode " << static_cast<int>(mode) << " round " << round << ": register "
            << differ / kLanes;
      }
}

// The same for what `fast` plans ahead, with everything that keeps instructions from being
// reordered: results that become operands, accumulators that overlap, more A operands than are
// kept. Half of the rounds multiply each A of a block by each B, as a GEMM does.
class Planned : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Planned, RunsEqualSingles) {
  const MfmaShape* shape = find_mfma_shape(GetParam());
  const MfmaKernel kernel = mfma_kernel(*shape, MfmaMode::fast, "");
  const int rows = shape->d_registers;
  const bool is_integer = shape->a == MfmaType::i8;
  Random random(10);
  int compared = 0;
  for (int round = 0; round < test::cases(2000); ++round) {
    Registers single;
    fill_rows(single.row(0), 64, shape->a, Fill::units, random);
    if (shape->b != shape->a) fill_rows(single.row(32), 32, shape->b, Fill::units, random);
    fill_rows(single.row(64), Registers::kCount - 64, result_type(*shape), Fill::units, random);
    Registers grouped = single;
    std::vector<MfmaStep> steps;
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const int hazards = round % 3;  // none; some; many
    const int count = hazards == 0 ? 64 : 16;
    const bool is_block = round % 2 == 1;
    const int height = 1 + below(4), width = 1 + below(8 / height);
    for (int n = 0; n < count; ++n) {
      int a = below(16) * 2, b = below(16) * 2 + 32, d = 64 + below(8) * rows;
      if (is_block) {
        const int k = n / (height * width), row = n / width % height, column = n % width;
        a = (k * height + row) % 16 * 2;
        b = (k * width + column) % 16 * 2 + 32;
        d = 64 + (row * width + column) * rows;
      }
      int c = d;
      if (below(8) < hazards) d = below(34) * 2;
      if (below(8) < hazards) c = d;
      if (below(8) < hazards) c = 64 + below(8 * rows);
      const bool constant = below(16) < hazards;
      steps.push_back({.d = d, .a = a, .b = b, .c = c, .c_is_constant = constant});
    }
    // Results that are small integers are exact in any order, and bf16 when they become operands.
    bool exact = true;
    for (const MfmaStep& step : steps) {
      const MfmaOperands operands = operands_of(step, single.row(0));
      kernel.run(operands);
      exact = exact && (is_integer ||
                        std::all_of(operands.d, operands.d + rows * kLanes, [](std::uint32_t bits) {
                          const float value = std::bit_cast<float>(bits);
                          return std::fabs(value) <= 256 && value == std::trunc(value);
                        }));
    }
    if (!exact) continue;
    ++compared;
    prepare_mfma_run(*shape, kernel, steps)->execute(grouped.row(0));
    ASSERT_TRUE(single.words == grouped.words) << "round " << round;
  }
  // As bytes, most results are NaNs, and as f16 fractions.
  const bool stay_small = is_integer || shape->a == MfmaType::bf16;
  EXPECT_GT(compared, test::cases(stay_small ? 1500 : 750));
}

INSTANTIATE_TEST_SUITE_P(Fast, Planned,
                         ::testing::Values("v_mfma_f32_16x16x16_bf16", "v_mfma_f32_32x32x8_bf16",
                                           "v_mfma_f32_16x16x16_f16", "v_mfma_f32_32x32x8_f16",
                                           "v_mfma_f32_16x16x32_fp8_fp8",
                                           "v_mfma_f32_16x16x32_bf8_fp8",
                                           "v_mfma_f32_32x32x16_fp8_bf8",
                                           "v_mfma_f32_32x32x16_bf8_bf8", "v_mfma_i32_16x16x32_i8",
                                           "v_mfma_i32_32x32x16_i8"),
                         [](const auto& info) { return std::string(info.param.substr(7)); });

INSTANTIATE_TEST_SUITE_P(Shapes, Kernels, ::testing::ValuesIn(all_shapes()),
                         [](const auto& info) { return shape_name(info.param); });

// A run may take f16 as sums of two bf16: every f16 as A and as B, among zeros, times numbers with
// all bits of f16 and with few. The products are exact in f32.
TEST(Fast, RunsTakeEveryHalf) {
  for (const auto mnemonic : {"v_mfma_f32_16x16x16_f16", "v_mfma_f32_32x32x8_f16"}) {
    const MfmaShape* shape = find_mfma_shape(mnemonic);
    const MfmaStep step{.d = kD, .a = kA, .b = kB, .c = 0, .c_is_constant = true};
    const auto run = prepare_mfma_run(*shape, mfma_kernel(*shape, MfmaMode::fast, ""), {&step, 1});
    const MfmaFunction fma = mfma_kernel(*shape, MfmaMode::fma, "").run;
    const auto rows = static_cast<std::size_t>(shape->a_registers);
    const std::size_t count = shape->d_registers * std::size_t{kLanes};
    Registers registers, wanted;
    for (const int base : {kA, kB}) {
      std::fill_n(registers.row(base), rows * kLanes, 0);
      std::fill_n(registers.row(base == kA ? kB : kA), rows * kLanes, 0x3c013c00);
      wanted = registers;
      for (std::uint32_t half = 0; half < 0x10000; ++half) {
        const std::size_t place = half * 97u % (rows * kLanes * 2);
        registers.row(base)[place / 2] = wanted.row(base)[place / 2] = half << place % 2 * 16;
        run->execute(registers.row(0));
        MfmaOperands operands = operands_at(wanted);
        operands.c = nullptr;
        fma(operands);
        registers.row(base)[place / 2] = wanted.row(base)[place / 2] = 0;
        if (std::memcmp(registers.row(kD), wanted.row(kD), count * 4) == 0) continue;
        for (std::size_t n = 0; n < count; ++n) {
          const auto is_nan = [](std::uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; };
          const std::uint32_t got = registers.row(kD)[n], expected = wanted.row(kD)[n];
          ASSERT_TRUE(got == expected || (is_nan(got) && is_nan(expected)))
              << mnemonic << " half " << half << " as " << (base == kA ? "A" : "B") << ": " << got
              << " instead of " << expected;
        }
      }
    }
  }
}

// f64: BLGP's bits negate A, B and C.
TEST(Negate, F64) {
  for (const auto mnemonic : {"v_mfma_f64_16x16x4_f64", "v_mfma_f64_4x4x4_4b_f64"})
    for (const std::string_view level : mfma_levels()) {
      const MfmaShape* shape = find_mfma_shape(mnemonic);
      Registers registers;
      Random random(8);
      fill_operands(registers, *shape, Fill::normal, Fill::normal, 0, random);
      for (unsigned blgp = 0; blgp < 8; ++blgp) {
        Registers negated = registers;
        for (int lane = 0; lane < kLanes; ++lane) {
          if (blgp & 1) negated.row(kA + 1)[lane] ^= 0x80000000;
          if (blgp & 2) negated.row(kB + 1)[lane] ^= 0x80000000;
          if (blgp & 4)
            for (int r = 1; r < shape->d_registers; r += 2) negated.row(kC + r)[lane] ^= 0x80000000;
        }
        MfmaOperands operands = operands_at(registers);
        operands.blgp = static_cast<std::uint8_t>(blgp);
        const MfmaFunction run = mfma_kernel(*shape, MfmaMode::exact, level).run;
        run(operands);
        run(operands_at(negated));
        EXPECT_EQ(difference(*shape, negated.row(kD), registers.row(kD)), "")
            << level << " blgp " << blgp;
      }
    }
}

// `fast` may round and flush as the host pleases, but stays within k roundings of f32 and the
// denormals it flushes: |error| <= (k + 1) 2^-23 (|c| + sum |a b|) + k 2^-120.
TEST(Fast, EveryMethodIsWithinItsBoundOfDoubleArithmetic) {
  for (const MfmaShape& s : kMfmaShapes) {
    if (s.a == MfmaType::f64 || s.a == MfmaType::i8 || s.a == MfmaType::xf32) continue;
    const auto methods = fast_mfma_methods(static_cast<std::size_t>(&s - kMfmaShapes));
    Registers registers;
    Random random(9);
    for (std::size_t round = 0; round < 20 * methods.size(); ++round) {
      MfmaKernel kernel = methods[round % methods.size()].kernel;
      if (!kernel.run && !kernel.prepare) kernel = mfma_kernel(s, MfmaMode::fma, "");
      const Fill fill = random() % 2 ? Fill::normal : Fill::positive;
      fill_operands(registers, s, fill, Fill::normal, static_cast<int>(random() % 7), random);
      if (kernel.run && random() % 2) {
        kernel.run(operands_at(registers));
      } else {
        const MfmaStep step{.d = kD, .a = kA, .b = kB, .c = kC};
        prepare_mfma_run(s, kernel, {&step, 1})->execute(registers.row(0));
      }
      for (int block = 0; block < s.blocks; ++block)
        for (int i = 0; i < s.m; ++i)
          for (int j = 0; j < s.m; ++j) {
            const MfmaElement at = mfma_result_element(s, i, j, block);
            const auto value = [&](int base, MfmaType type, const MfmaElement& e) {
              return decode(type, registers.row(base + e.reg)[e.lane] >> e.bit &
                                      (bits_of(type) == 32 ? ~0u : (1u << bits_of(type)) - 1));
            };
            double sum = value(kC, MfmaType::f32, at), size = std::fabs(sum);
            for (int k = 0; k < s.k; ++k) {
              const double product = value(kA, s.a, mfma_source_element(s, s.a, i, k, block)) *
                                     value(kB, s.b, mfma_source_element(s, s.b, j, k, block));
              sum += product;
              size += std::fabs(product);
            }
            ASSERT_NEAR(value(kD, MfmaType::f32, at), sum,
                        (s.k + 1) * 0x1p-23 * size + s.k * 0x1p-120)
                << s.mnemonic << " " << methods[round % methods.size()].name << " i " << i << " j "
                << j;
          }
    }
  }
}

}  // namespace
}  // namespace margay
