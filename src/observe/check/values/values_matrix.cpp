// ValueTracker: matrix instructions. D(i, j) depends on row i of A, on column j of B and on C(i,
// j). The instruction itself determines these elements: it is run with 1 for every undefined
// element and 0 for the others, once for A with a B of ones and once with the roles reversed. A
// result of 0 depends on no undefined element. This holds for every shape, for broadcast blocks and
// for sparse ones.
#include <algorithm>
#include <cstring>

#include "exec/rows/row_table.h"
#include "gpu/matrix_shapes.h"
#include "observe/check/values/values.h"

namespace margay::check {
namespace {

// Rows of the stage.
constexpr unsigned kA = 0, kB = 8, kIndex = 16, kD = 17, kStageRows = 17 + 32;

/// One, in every element of eight bytes.
std::uint64_t ones(MfmaType type) {
  switch (type) {
    case MfmaType::f64:
      return 0x3ff0000000000000;
    case MfmaType::f32:
    case MfmaType::xf32:
      return 0x3f8000003f800000;
    case MfmaType::f16:
      return 0x3c003c003c003c00;
    case MfmaType::bf16:
      return 0x3f803f803f803f80;
    case MfmaType::fp8:
    case MfmaType::bf8:  // with the bias of gfx942, 8 and 16
      return 0x4040404040404040;
    case MfmaType::i8:
      return 0x0101010101010101;
  }
  return 0;
}

}  // namespace

void ValueTracker::follow_matrix(const InstructionFacts& facts, const Wave& wave) {
  const Instruction& i = *facts.instruction;
  const RegisterUse& use = facts.use;
  const MfmaShape& shape = *i.row->shape;
  const RegisterRange a = use.sources[0], b = use.sources[1], c = use.sources[2],
                      d = use.destination;
  const std::uint64_t in_a = lanes_of(a), in_b = lanes_of(b);
  const bool unknown_index = shape.sparse && lanes_of(use.sources[3]) != 0;
  const std::uint32_t origin = origin_of(facts) | 1;
  const unsigned result_registers = shape.a == MfmaType::f64 ? 2 : 1;
  if (stage_ == nullptr)
    stage_ = std::make_unique<AlignedBuffer>(std::size_t{4} * kStageRows * kWaveLanes);
  auto* const rows = reinterpret_cast<std::uint32_t*>(stage_->data());
  const auto row = [&](unsigned n) { return rows + std::size_t{n} * kWaveLanes; };

  // C first: D may be the same registers.
  std::array<std::array<std::uint32_t, kWaveLanes>, 32> result{};
  for (unsigned r = 0; r < d.count && r < 32; ++r)
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
      const unsigned first = r - r % result_registers;
      for (unsigned half = 0; half < result_registers && first + half < c.count; ++half)
        if (rows_.bits(c.first + first + half, lane) != 0) result[r][lane] = ~0u;
      if (unknown_index) result[r][lane] = ~0u;
    }

  const auto fill_ones = [&](unsigned first, unsigned registers, MfmaType type) {
    for (unsigned r = 0; r < registers; ++r)
      std::fill_n(row(first + r), kWaveLanes,
                  static_cast<std::uint32_t>(ones(type) >> (32 * (r % 2))));
  };
  const auto fill_undefined = [&](unsigned first, RegisterRange range, MfmaType type) {
    const unsigned width = static_cast<unsigned>(mfma_type_bytes(type));
    for (unsigned r = 0; r < range.count; ++r)
      for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
        std::uint64_t undefined = rows_.bits(range.first + r, lane);
        if (width == 8)
          undefined = std::uint64_t{rows_.bits(range.first + (r & ~1u), lane)} |
                      std::uint64_t{rows_.bits(range.first + (r | 1u), lane)};
        std::uint32_t elements = 0;
        for (unsigned at = 0; at < 4; at += std::min(width, 4u)) {
          const std::uint64_t mask = low_ones(8 * std::min(width, 4u)) << (8 * at);
          if ((width == 8 ? undefined : undefined & mask) != 0)
            elements |= static_cast<std::uint32_t>(mask);
        }
        row(first + r)[lane] = elements & static_cast<std::uint32_t>(ones(type) >> (32 * (r % 2)));
      }
  };
  const auto run = [&] {
    std::fill_n(row(kD), std::size_t{32} * kWaveLanes, 0);
    Wave stage;
    stage.v = rows;
    stage.set_exec(~0ull);
    stage.group = wave.group;
    stage.vgpr_rows = kStageRows;
    Instruction inner = i;
    inner.execute = i.row->plain;  // alone, even if it is the first of a group
    inner.src[0] = Source::vgpr(kA);
    inner.src[1] = Source::vgpr(kB);
    inner.src[2] = shape.sparse ? Source::vgpr(kIndex) : Source{Source::kConstant};
    inner.constant[2] = 0;
    inner.dst = kD;
    if (inner.execute(stage, inner) == nullptr) return;  // faults when the wave runs it, too
    for (unsigned r = 0; r < d.count && r < 32; ++r)
      for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
        const unsigned first = kD + r - r % result_registers;
        for (unsigned half = 0; half < result_registers; ++half)
          if (row(first + half)[lane] != 0) result[r][lane] = ~0u;
      }
  };
  if (shape.sparse)
    std::memcpy(row(kIndex), wave.v + std::size_t{use.sources[3].first} * kWaveLanes,
                std::size_t{4} * kWaveLanes);
  if (in_a != 0) {
    fill_undefined(kA, a, shape.a);
    fill_ones(kB, b.count, shape.b);
    run();
  }
  if (in_b != 0) {
    fill_ones(kA, a.count, shape.a);
    fill_undefined(kB, b, shape.b);
    run();
  }
  for (unsigned r = 0; r < d.count && r < 32; ++r) {
    std::uint64_t lanes = 0;
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      if (result[r][lane] != 0) lanes |= 1ull << lane;
    define(d.first + r, ~0ull);
    if (lanes == 0) continue;
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      if (result[r][lane] != 0) rows_.set(d.first + r, lane, ~0u);
    row_origin_[d.first + r] = origin;
  }
}

}  // namespace margay::check
