// Vector instructions that address lanes by number: readlane, writelane, mbcnt, swaps and moves
// between register files. Compiled once per host level (they share the table of the vector rows).
#include <bit>

#include "exec/instructions/all_rows.h"
#include "exec/rows/row_table.h"
#include "exec/state/wave.h"
#include "isa/lanes.h"
#include "isa/type_name.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

/// Source 0 of one lane, wherever it is.
std::uint32_t lane_of_source(Wave& wave, const Instruction& i, unsigned lane) {
  return i.src[0].is_vgpr() ? wave.row(i.src[0].index())[lane] : scalar_source(wave, i, 0);
}

/// The lowest active lane; lane 0 if none is active.
const Instruction* read_first_lane(Wave& wave, const Instruction& i) {
  const std::uint64_t exec = wave.exec();
  wave.s[i.sdst] =
      lane_of_source(wave, i, exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(exec)));
  return following(i);
}
const Instruction* read_lane(Wave& wave, const Instruction& i) {
  wave.s[i.sdst] = lane_of_source(wave, i, scalar_source(wave, i, 1) & 63);
  return following(i);
}
/// Ignores EXEC.
const Instruction* write_lane(Wave& wave, const Instruction& i) {
  wave.row(i.dst)[scalar_source(wave, i, 1) & 63] = scalar_source(wave, i, 0);
  return following(i);
}

/// Counts the bits of source 0 below this lane, in the lower or upper half of the wave.
template <bool upper>
const Instruction* mask_bit_count(Wave& wave, const Instruction& i) {
  const std::uint64_t exec = wave.exec();
  std::uint32_t* const dst = wave.row(i.dst);
  alignas(64) std::uint32_t result[kWaveLanes];
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    const std::uint64_t below = (1ull << lane) - 1;
    const auto half = static_cast<std::uint32_t>(upper ? below >> 32 : below);
    const std::uint32_t base =
        i.src[1].is_vgpr() ? wave.row(i.src[1].index())[lane] : scalar_source(wave, i, 1);
    result[lane] =
        base + static_cast<std::uint32_t>(__builtin_popcount(lane_of_source(wave, i, lane) & half));
  }
  for (unsigned lane = 0; lane < kWaveLanes; ++lane)
    if (exec >> lane & 1) dst[lane] = result[lane];
  return following(i);
}

const Instruction* swap_rows(Wave& wave, const Instruction& i) {
  const std::uint64_t exec = wave.exec();
  std::uint32_t* const a = wave.row(i.dst);
  std::uint32_t* const b = wave.row(i.src[0].index());
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    if (!(exec >> lane & 1)) continue;
    const std::uint32_t old = a[lane];
    a[lane] = b[lane];
    b[lane] = old;
  }
  return following(i);
}

const Instruction* move_row(Wave& wave, const Instruction& i) {
  const std::uint64_t exec = wave.exec();
  std::uint32_t* const dst = wave.row(i.dst);
  if (i.src[0].is_vgpr() && exec == ~0ull) {
    __builtin_memmove(dst, wave.row(i.src[0].index()), 4 * kWaveLanes);
    return following(i);
  }
  for (unsigned lane = 0; lane < kWaveLanes; ++lane)
    if (exec >> lane & 1) dst[lane] = lane_of_source(wave, i, lane);
  return following(i);
}

}  // namespace

void add_lane_rows(RowTable& table) {
  constexpr auto u32 = OperandType::u32, kNone = OperandType::none;
  using enum LaneOperation;
  struct LaneRow {
    std::string_view mnemonic;
    Handler handler;
    LaneOperation lane;
    OperandType result;
    std::uint8_t sources;
    BitRule rule = BitRule::whole;
    NumberType number = NumberType::none;
  };
  static constexpr auto kCopy = BitRule::copy, kWhole = BitRule::whole;
  static constexpr LaneRow kRows[] = {
      {"v_readfirstlane_b32", read_first_lane, read_first, kNone, 1},
      {"v_readlane_b32", read_lane, read, kNone, 2},
      {"v_writelane_b32", write_lane, write, u32, 2},
      {"v_mbcnt_lo_u32_b32", mask_bit_count<false>, count_bits, u32, 2, kWhole, NumberType::i32},
      {"v_mbcnt_hi_u32_b32", mask_bit_count<true>, count_bits, u32, 2, kWhole, NumberType::i32},
      {"v_swap_b32", swap_rows, swap, u32, 1},
      {"v_accvgpr_read_b32", move_row, acc_read, u32, 1, kCopy},
      {"v_accvgpr_write_b32", move_row, acc_write, u32, 1, kCopy},
      {"v_accvgpr_mov_b32", move_row, acc_move, u32, 1, kCopy},
  };
  static_assert(all_different(kRows));
  for (const LaneRow& one : kRows) {
    Row row;
    row.mnemonic = one.mnemonic;
    row.instruction_class = InstructionClass::valu;
    row.plain = one.handler;
    row.lane = one.lane;
    row.result = one.result;
    for (unsigned n = 0; n < one.sources; ++n) row.sources[n] = u32;
    row.source_count = one.sources;
    row.scalar_result = one.result == kNone;
    row.definedness.rule = one.rule;
    row.number = one.number;
    table.add(row);
  }
}

}  // namespace margay::MARGAY_HOST_LEVEL
