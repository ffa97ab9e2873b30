#include "mfma/kernels/reference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "mfma/kernels/bit_model.h"

namespace margay {
namespace {

constexpr int kLanes = 64;
constexpr int kMaxK = 32, kMaxBlocks = 16, kMaxSourceRows = 2;

std::uint32_t word(const std::uint32_t* rows, const MfmaElement& at) {
  return rows[at.reg * kLanes + at.lane];
}

std::uint64_t pair(const std::uint32_t* rows, const MfmaElement& at) {
  return word(rows, at) | std::uint64_t{word(rows + kLanes, at)} << 32;
}

int type_bits(MfmaType type) {
  switch (type) {
    case MfmaType::f64:
      return 64;
    case MfmaType::f32:
    case MfmaType::xf32:
      return 32;
    case MfmaType::f16:
    case MfmaType::bf16:
      return 16;
    default:
      return 8;
  }
}

/// The bits of an element of 32 bits or less.
std::uint32_t element(const std::uint32_t* rows, MfmaType type, const MfmaElement& at) {
  const int bits = type_bits(type);
  return word(rows, at) >> at.bit & (bits == 32 ? ~0u : (1u << bits) - 1);
}

/// The value of an element as f32; exact for every type.
float to_float(MfmaType type, std::uint32_t bits) {
  if (type == MfmaType::f32) return std::bit_cast<float>(bits);
  const MfmaFactor factor = mfma_factor(type, bits);
  if (factor.kind == MfmaFactor::Kind::nan) return std::bit_cast<float>(kMfmaNan);
  const float magnitude = factor.kind == MfmaFactor::Kind::infinity
                              ? std::bit_cast<float>(0x7f800000u)
                              : std::ldexp(static_cast<float>(factor.significand),
                                           factor.exponent - factor.fraction_bits);
  return factor.negative ? -magnitude : magnitude;
}

std::uint32_t canonical(float value) {
  return std::isnan(value) ? kMfmaNan : std::bit_cast<std::uint32_t>(value);
}

/// A row of A or a column of B: its elements as raw bits, and as `exact` needs them.
struct Line {
  std::array<std::uint32_t, kMaxK> bits;
  std::array<MfmaFactor, kMaxK> factors;

  void decode(MfmaType type, int k) {
    for (int n = 0; n < k; ++n) factors[n] = mfma_factor(type, bits[n]);
  }
};

bool has_bit_model(MfmaType type) {
  return type != MfmaType::f64 && type != MfmaType::f32 && type != MfmaType::i8;
}

std::uint32_t dot(const MfmaShape& shape, MfmaMode mode, const Line& a, const Line& b,
                  std::uint32_t c) {
  if (shape.a == MfmaType::i8) {
    std::uint32_t sum = c;  // wraps, as the adder does without clamp
    for (int k = 0; k < shape.k; ++k)
      sum += static_cast<std::uint32_t>(static_cast<std::int8_t>(a.bits[k]) *
                                        static_cast<std::int8_t>(b.bits[k]));
    return sum;
  }
  if (mode != MfmaMode::exact || !has_bit_model(shape.a)) {
    float sum = std::bit_cast<float>(c);
    for (int k = 0; k < shape.k; ++k)
      sum = std::fma(to_float(shape.a, a.bits[k]), to_float(shape.b, b.bits[k]), sum);
    return canonical(sum);
  }
  const int group = mfma_group_size(shape.a, shape.k);
  const bool split = shape.a == MfmaType::fp8 || shape.a == MfmaType::bf8;
  for (int k = 0; k < shape.k; k += group)
    c = mfma_group_sum(&a.factors[k], &b.factors[k], group, c, split);
  return c;
}

/// Which results: those of the rows of A and of the columns of B whose bits are set, by block.
struct ResultsOf {
  std::array<std::uint32_t, kMaxBlocks> rows, columns;
  [[nodiscard]] bool have(int block, int i, int j) const {
    return ((rows[block] >> i | columns[block] >> j) & 1) != 0;
  }
};
constexpr ResultsOf kEveryResult = [] {
  ResultsOf every;
  every.rows.fill(~0u);
  every.columns.fill(~0u);
  return every;
}();

template <typename F>
void for_each_result(const MfmaShape& shape, const ResultsOf& results, F&& visit) {
  for (int block = 0; block < shape.blocks; ++block)
    for (int i = 0; i < shape.m; ++i)
      for (int j = 0; j < shape.m; ++j)
        if (results.have(block, i, j)) visit(block, i, j);
}

int block_of_a(const MfmaOperands& operands, int block) {
  return (block >> operands.cbsz << operands.cbsz) + operands.abid;
}

double negated_if(double value, bool negate) { return negate ? -value : value; }

void reference_f64(const MfmaShape& shape, const MfmaOperands& operands,
                   std::vector<std::uint32_t>& d) {
  for (int block = 0; block < shape.blocks; ++block)
    for (int i = 0; i < shape.m; ++i)
      for (int j = 0; j < shape.m; ++j) {
        const MfmaElement at = mfma_result_element(shape, i, j, block);
        double sum = std::bit_cast<double>(operands.c ? pair(operands.c, at)
                                                      : std::uint64_t{operands.c_constant} << 32);
        sum = negated_if(sum, operands.blgp & 4);
        for (int k = 0; k < shape.k; ++k) {
          const auto a = std::bit_cast<double>(
              pair(operands.a, mfma_source_element(shape, shape.a, i, k, block)));
          const auto b = std::bit_cast<double>(
              pair(operands.b, mfma_source_element(shape, shape.b, j, k, block)));
          sum = std::fma(negated_if(a, operands.blgp & 1), negated_if(b, operands.blgp & 2), sum);
        }
        const std::uint64_t bits =
            std::isnan(sum) ? std::uint64_t{0x7ff80000} << 32 : std::bit_cast<std::uint64_t>(sum);
        d[at.reg * kLanes + at.lane] = static_cast<std::uint32_t>(bits);
        d[(at.reg + 1) * kLanes + at.lane] = static_cast<std::uint32_t>(bits >> 32);
      }
}

/// The results of all types but f64, where they are in D, into `d`.
void reference_results(const MfmaShape& shape, MfmaMode mode, const MfmaOperands& operands,
                       const ResultsOf& results, std::vector<std::uint32_t>& d) {
  std::vector<Line> a(std::size_t{shape.m} * shape.blocks), b(a.size());
  for (int block = 0; block < shape.blocks; ++block)
    for (int i = 0; i < shape.m; ++i) {
      Line& row = a[block * shape.m + i];
      Line& column = b[block * shape.m + i];
      for (int k = 0; k < shape.k; ++k) {
        row.bits[k] =
            element(operands.a, shape.a,
                    mfma_source_element(shape, shape.a, i, k, block_of_a(operands, block)));
        MfmaElement at = mfma_source_element(shape, shape.b, i, k, block);
        at.lane = mfma_blgp_lane(operands.blgp, at.lane);
        column.bits[k] = element(operands.b, shape.b, at);
      }
      if (mode == MfmaMode::exact && has_bit_model(shape.a)) {
        row.decode(shape.a, shape.k);
        column.decode(shape.b, shape.k);
      }
    }
  for_each_result(shape, results, [&](int block, int i, int j) {
    const MfmaElement at = mfma_result_element(shape, i, j, block);
    const std::uint32_t c = operands.c ? word(operands.c, at) : operands.c_constant;
    d[at.reg * kLanes + at.lane] =
        dot(shape, mode, a[block * shape.m + i], b[block * shape.m + j], c);
  });
}

/// Infinite, NaN, or a denormal that no f32 arithmetic keeps.
bool is_extreme(MfmaType type, std::uint32_t bits) {
  const MfmaFactor factor = mfma_factor(type, bits);
  const bool has_range_of_f32 = type == MfmaType::bf16 || type == MfmaType::xf32;
  return factor.kind != MfmaFactor::Kind::finite ||
         (has_range_of_f32 && factor.significand != 0 &&
          factor.significand >> factor.fraction_bits == 0);
}

/// An operand with zeros for its extreme elements, and the lines that have such.
struct Extremes {
  alignas(64) std::array<std::uint32_t, std::size_t{kMaxSourceRows} * kLanes> without;
  std::array<std::uint32_t, kMaxBlocks> lines{};

  Extremes(const MfmaShape& shape, MfmaType type, const std::uint32_t* rows, int registers) {
    std::copy_n(rows, registers * kLanes, without.begin());
    for (int block = 0; block < shape.blocks; ++block)
      for (int i = 0; i < shape.m; ++i)
        for (int k = 0; k < shape.k; ++k) {
          const MfmaElement at = mfma_source_element(shape, type, i, k, block);
          if (!is_extreme(type, element(rows, type, at))) continue;
          const int bits = type_bits(type);
          without[at.reg * kLanes + at.lane] &= bits == 32 ? 0 : ~(((1u << bits) - 1) << at.bit);
          lines[block] |= 1u << i;
        }
  }
  [[nodiscard]] bool any() const {
    return std::any_of(lines.begin(), lines.end(), [](std::uint32_t of_block) { return of_block; });
  }
};

}  // namespace

MfmaElement mfma_source_element(const MfmaShape& shape, MfmaType type, int i, int k, int block) {
  // A lane of a one-block shape holds consecutive k of one row; a multi-block lane holds all k of
  // one row of one block. The 4x4 f64 shape puts its blocks in 16 lanes and k across them.
  if (type == MfmaType::f64) return {i + shape.m * block + 16 * k, 0, 0};
  const int per_lane = shape.m * shape.k * shape.blocks / kLanes;
  const int bits = type_bits(type);
  const int element_bit = k % per_lane * bits;
  return {i + shape.m * (shape.blocks == 1 ? k / per_lane : block), element_bit / 32,
          element_bit % 32};
}

MfmaElement mfma_result_element(const MfmaShape& shape, int i, int j, int block) {
  if (shape.a == MfmaType::f64)
    return shape.m == 16 ? MfmaElement{16 * (i % 4) + j, i / 4 * 2, 0}
                         : MfmaElement{16 * i + 4 * block + j, 0, 0};
  switch (shape.m) {
    case 32:
      return {32 * (i / 4 % 2) + j, 16 * block + 4 * (i / 8) + i % 4, 0};
    case 16:
      return {16 * (i / 4) + j, 4 * block + i % 4, 0};
    default:
      return {4 * block + j, i, 0};
  }
}

int mfma_blgp_lane(unsigned blgp, int lane) {
  switch (blgp) {
    case 1:
      return lane % 32;
    case 2:
      return lane % 32 + 32;
    case 3:
      return (lane + 16) % 64;
    case 4:
    case 5:
    case 6:
    case 7:
      return lane % 16 + 16 * (static_cast<int>(blgp) - 4);
    default:
      return lane;
  }
}

int smfmac_index(const MfmaShape& shape, const SmfmacOperands& operands, int i, int p) {
  const int per_lane = smfmac_kept_per_lane(shape);
  const std::uint32_t bits = operands.index[i + p / per_lane * shape.m];
  return p / 2 * 4 + static_cast<int>(bits >> (operands.index_shift + p % per_lane * 2) & 3);
}

// The kept values are summed as the dense instruction of half the k would: that instruction takes
// as many passes. The documents do not say how sparse sums are rounded.
void smfmac_reference(const MfmaShape& shape, MfmaMode mode, const SmfmacOperands& operands) {
  std::vector<std::uint32_t> d(std::size_t{shape.d_registers} * kLanes);
  MfmaShape kept = shape;
  kept.k /= 2;
  for (int i = 0; i < shape.m; ++i)
    for (int j = 0; j < shape.m; ++j) {
      Line a, b;
      for (int p = 0; p < kept.k; ++p) {
        a.bits[p] = element(operands.a, shape.a, mfma_source_element(kept, shape.a, i, p, 0));
        b.bits[p] =
            element(operands.b, shape.b,
                    mfma_source_element(shape, shape.b, j, smfmac_index(shape, operands, i, p), 0));
      }
      if (has_bit_model(shape.a)) {
        a.decode(shape.a, kept.k);
        b.decode(shape.b, kept.k);
      }
      const MfmaElement at = mfma_result_element(shape, i, j, 0);
      d[at.reg * kLanes + at.lane] = dot(kept, mode, a, b, word(operands.d, at));
    }
  std::copy(d.begin(), d.end(), operands.d);
}

void mfma_reference(const MfmaShape& shape, MfmaMode mode, const MfmaOperands& operands) {
  std::vector<std::uint32_t> d(std::size_t{shape.d_registers} * kLanes);
  if (shape.a == MfmaType::f64)
    reference_f64(shape, operands, d);
  else
    reference_results(shape, mode, operands, kEveryResult, d);
  std::copy(d.begin(), d.end(), operands.d);
}

void mfma_around_extremes(const MfmaShape& shape, const MfmaOperands& operands,
                          MfmaFunction vectors) {
  Extremes a(shape, shape.a, operands.a, shape.a_registers);
  Extremes b(shape, shape.b, operands.b, shape.b_registers);
  if (!a.any() && !b.any()) {
    mfma_reference(shape, MfmaMode::exact, operands);
    return;
  }
  // Before D is written, for it may be C.
  std::vector<std::uint32_t> d(std::size_t{shape.d_registers} * kLanes);
  const ResultsOf lines{a.lines, b.lines};
  reference_results(shape, MfmaMode::exact, operands, lines, d);
  MfmaOperands ordinary = operands;
  ordinary.a = a.without.data();
  ordinary.b = b.without.data();
  vectors(ordinary);
  for_each_result(shape, lines, [&](int block, int i, int j) {
    const MfmaElement at = mfma_result_element(shape, i, j, block);
    operands.d[at.reg * kLanes + at.lane] = d[at.reg * kLanes + at.lane];
  });
}

}  // namespace margay
