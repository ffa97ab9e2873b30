#include "observe/check/values/values.h"

#include <algorithm>
#include <bit>

#include "exec/instructions/sdwa_dpp.h"
#include "exec/program/bind.h"
#include "exec/rows/row_table.h"

namespace margay::check {
namespace {

using isa::bits;

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint32_t kComputed = 1;  // of an origin's number

}  // namespace

ValueTracker::ValueTracker(Reporter& reporter, std::uint32_t rows,
                           std::uint32_t scratch_bytes_per_lane, std::uint32_t accum_offset)
    : reporter_(reporter),
      accum_offset_(accum_offset),
      rows_(std::min(rows, 512u)),
      scratch_(scratch_bytes_per_lane, kAll),
      scratch_origin_(scratch_bytes_per_lane / 4) {}

void ValueTracker::begin(std::uint32_t wave, std::uint64_t lanes) {
  wave_ = wave;
  origins_.clear();
  told_.clear();
  rows_.reset();
  for (std::uint32_t row = 0; row < row_origin_.size(); ++row) row_origin_[row] = 2 * row;
  // v0 holds the work-item's ids. Source: LLVM, AMDGPU backend, initial kernel execution state.
  define(0, lanes);
  scalar_attention_ = {};
  scalar_bits_ = {};
  scc_undefined_ = false;
  std::fill_n(scratch_.begin(), scratch_used_, kAll);
  std::fill_n(scratch_origin_.begin(), (scratch_used_ + 3) / 4, 0);
  scratch_used_ = 0;
  scratch_partial_.clear();
}

// ---- Registers ------------------------------------------------------------------------------

std::uint64_t ValueTracker::scalar_bits(unsigned index, bool pair) const {
  if (index >= scalar_bits_.size()) return 0;
  const std::uint64_t high = pair && index + 1 < scalar_bits_.size() ? scalar_bits_[index + 1] : 0;
  return scalar_bits_[index] | high << 32;
}

void ValueTracker::set_scalar(unsigned index, std::uint64_t undefined, bool pair,
                              std::uint32_t origin) {
  for (unsigned n = 0; n < (pair ? 2u : 1u); ++n, ++index) {
    if (index >= scalar_bits_.size()) return;
    const auto word = static_cast<std::uint32_t>(undefined >> (32 * n));
    const std::uint64_t bit = 1ull << (index % 64);
    scalar_bits_[index] = word;
    scalar_origin_[index] = origin;
    std::uint64_t& attention = scalar_attention_[index / 64];
    attention = word != 0 ? attention | bit : attention & ~bit;
  }
}

OperandBits ValueTracker::scalar_operand(const Wave& wave, const Instruction& i, unsigned n) const {
  if (n >= i.row->source_count || n > 2) return {};
  const bool pair = is_64_bit(i.row->sources[n]);
  const std::uint64_t value =
      pair ? scalar_source64(wave, i, n) : std::uint64_t{scalar_source(wave, i, n)};
  const bool in_register = i.src[n].kind() == Source::kScalar;
  return {value, in_register ? scalar_bits(i.src[n].index(), pair) : 0};
}

std::uint32_t ValueTracker::scalar_origin(const Instruction& i, unsigned n) const {
  if (i.src[n].kind() != Source::kScalar) return 0;
  const unsigned index = i.src[n].index();
  for (unsigned at = index; at < index + 2 && at < scalar_bits_.size(); ++at)
    if (scalar_bits_[at] != 0) return scalar_origin_[at];
  return 0;
}

std::uint32_t ValueTracker::origin_in(RegisterRange range, std::uint64_t lanes) const {
  for (unsigned n = 0; n < range.count; ++n)
    if ((rows_.lanes(range.first + n) & lanes) != 0) return row_origin_[range.first + n];
  return 0;
}

/// The origin of the undefined bits among an instruction's operands: a load takes precedence over a
/// register, which is often only the unwritten part of a value.
std::uint32_t ValueTracker::origin_of(const InstructionFacts& facts) const {
  std::uint32_t found = 0;
  const auto take = [&](std::uint32_t origin) {
    if (found / 2 < row_origin_.size() && origin != 0) found = origin;
  };
  for (const RegisterRange& range : facts.use.sources)
    for (unsigned n = 0; n < range.count; ++n)
      if (rows_.lanes(range.first + n) != 0) take(row_origin_[range.first + n]);
  for (unsigned half = 0; half < 2; ++half)
    for (std::uint64_t rest = facts.use.scalar_reads[half] & scalar_attention_[half]; rest != 0;
         rest &= rest - 1)
      take(scalar_origin_[64 * half + static_cast<unsigned>(std::countr_zero(rest))]);
  if (facts.use.reads_scc && scc_undefined_) take(scc_origin_);
  return found;
}

std::uint32_t ValueTracker::add_origin(const Origin& origin) {
  // A loop loads from the same address repeatedly.
  std::uint32_t index = 0;
  while (index < origins_.size() && origins_[index].vaddr != origin.vaddr) ++index;
  if (index == origins_.size()) origins_.push_back(origin);
  return 2 * (static_cast<std::uint32_t>(row_origin_.size()) + index);
}

void ValueTracker::follow(const InstructionFacts& facts, Wave& wave) {
  switch (facts.instruction->row->instruction_class) {
    case InstructionClass::vmem:
    case InstructionClass::lds:
      return follow_memory(facts, wave, wave.exec());
    case InstructionClass::smem:
      return follow_scalar_memory(facts);
    case InstructionClass::salu:
      return follow_scalar(facts, wave);
    case InstructionClass::branch:
      return follow_branch(facts, wave);
    case InstructionClass::mfma:
      return follow_matrix(facts, wave);
    case InstructionClass::valu:
      return follow_vector(facts, wave, facts.use.ignores_exec ? kAll : wave.exec());
    case InstructionClass::other:
      return;
  }
}

// ---- Vector ALU -----------------------------------------------------------------------------

/// Where the operands of one vector instruction are, lane by lane.
struct ValueTracker::View {
  View(const ValueTracker& tracker, const Wave& wave, const Instruction& i)
      : tracker_(tracker), wave_(wave), i_(i), row_(*i.row) {
    for (unsigned n = 0; n < 3; ++n) source_[n] = i.src[n];
    dst = i.dst;
    if (i.modifiers.form == OperandForm::indexed) {  // as run_indexed does
      const std::uint32_t index = wave.s[kM0Index] & 0xff, enabled = wave.s[kM0Index] >> 12;
      for (unsigned n = 0; n < 3; ++n)
        if ((enabled >> n & 1) != 0 && source_[n].is_vgpr()) {
          const unsigned row = source_[n].index() + index;
          source_[n] = Source::vgpr(row < wave.vgpr_rows ? row : 0);
        }
      if ((enabled >> 3 & 1) != 0 && dst != kNoRegister) dst += index;
    }
    count_ = std::min<unsigned>(row_.source_count, 3);
    for (unsigned n = 0; n < count_; ++n) {
      if (source_[n].kind() != Source::kScalar) continue;
      const bool pair = is_64_bit(row_.sources[n]);
      const unsigned index = source_[n].index();
      scalar_[n] = {pair ? wave.scalar64(index) : wave.s[index], tracker.scalar_bits(index, pair)};
    }
    fourth_ = has_fourth_source(row_) ? tracker.scalar_bits(kVccIndex, true) : 0;
  }

  /// Operand n of a lane, once SDWA, DPP and op_sel have chosen it.
  [[nodiscard]] OperandBits operand(unsigned n, unsigned lane) const {
    if (n >= count_) return {};
    const OperandType type = row_.sources[n];
    if (type == OperandType::mask) {
      const OperandBits m =
          source_[n].kind() == Source::kScalar ? scalar_[n] : OperandBits{i_.constant[n], 0};
      return {m.value >> lane & 1, m.undefined >> lane & 1};
    }
    OperandBits out = whole(n, lane);
    if (n == 2 && (fourth_ >> lane & 1) != 0) return {0, kAll};  // v_div_fmas reads VCC
    if (i_.modifiers.form == OperandForm::sdwa && n < 2 && !is_64_bit(type)) {
      const unsigned at = 16 + 8 * n;
      const unsigned selection = bits(i_.extra, at, at + 2);
      const bool extend = bits(i_.extra, at + 3, at + 3);
      out.value = select_part(static_cast<std::uint32_t>(out.value), selection, extend);
      out.undefined = select_part(static_cast<std::uint32_t>(out.undefined), selection, extend);
    }
    if (row_.packed == PackedForm::halves) return halves(n, out);
    if (is_mix(row_.packed)) {  // f32, or the half that op_sel names
      if ((i_.extra >> (3 + n) & 1) == 0) return out;
      return {0, out.undefined & ((i_.extra >> n & 1) != 0 ? 0xffff0000u : 0xffffu)};
    }
    if (is_16_bit(type)) {
      const unsigned shift = (i_.modifiers.op_select >> n & 1) != 0 ? 16 : 0;
      out = {out.value >> shift & 0xffff, out.undefined >> shift & 0xffff};
    }
    return out;
  }

  /// The active lanes that are written.
  [[nodiscard]] std::uint64_t written(std::uint64_t exec) const {
    if (i_.modifiers.form != OperandForm::dpp) return exec;
    std::uint64_t lanes = 0;
    const unsigned bank = bits(i_.extra, 24, 27), row = bits(i_.extra, 28, 31);
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
      if ((row >> (lane / 16) & 1) == 0 || (bank >> (lane / 4 % 4) & 1) == 0) continue;
      if (bits(i_.extra, 19, 19) || dpp_lane(lane) != kNoLane) lanes |= 1ull << lane;
    }
    return lanes & exec;
  }

  unsigned dst;

 private:
  [[nodiscard]] OperandBits whole(unsigned n, unsigned lane) const {
    if (source_[n].kind() == Source::kScalar) return scalar_[n];
    if (!source_[n].is_vgpr()) return {i_.constant[n], 0};
    if (n == 0 && i_.modifiers.form == OperandForm::dpp) {
      const int from = dpp_lane(lane);
      if (from == kNoLane) return {};
      lane = static_cast<unsigned>(from);
    }
    const unsigned row = source_[n].index();
    const std::uint32_t* const values = wave_.v + std::size_t{row} * kWaveLanes;
    OperandBits out{values[lane], tracker_.rows_.bits(row, lane)};
    for (unsigned r = 1; row_.sources[n] == OperandType::u128 && r < 4; ++r)
      if (tracker_.rows_.bits(row + r, lane) != 0) out.undefined = kAll;
    if (is_64_bit(row_.sources[n])) {
      out.value |= std::uint64_t{values[kWaveLanes + lane]} << 32;
      out.undefined |= std::uint64_t{tracker_.rows_.bits(row + 1, lane)} << 32;
    }
    return out;
  }
  [[nodiscard]] int dpp_lane(unsigned lane) const {
    const int from = dpp_source_lane(bits(i_.extra, 8, 16), static_cast<int>(lane));
    return from != kNoLane && (wave_.exec() >> from & 1) != 0 ? from : kNoLane;
  }
  /// For packed 16-bit numbers: the halves that op_sel and op_sel_hi select.
  [[nodiscard]] OperandBits halves(unsigned n, OperandBits raw) const {
    const auto half = [&](bool high) {
      return (high ? raw.undefined >> 16 : raw.undefined) & 0xffff;
    };
    return {0, half((i_.extra >> n & 1) != 0) | half((i_.extra >> (3 + n) & 1) != 0) << 16};
  }

  const ValueTracker& tracker_;
  const Wave& wave_;
  const Instruction& i_;
  const Row& row_;
  Source source_[3];
  OperandBits scalar_[3];
  unsigned count_ = 0;
  std::uint64_t fourth_ = 0;
};

bool ValueTracker::follow_lane_move(const InstructionFacts& facts, const Wave& wave,
                                    std::uint64_t exec) {
  const Instruction& i = *facts.instruction;
  const LaneOperation operation = i.row->lane;
  if (operation == LaneOperation::swap) {
    const unsigned a = i.dst, b = i.src[0].index();
    for (std::uint64_t rest = exec; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const std::uint32_t of_a = rows_.bits(a, lane);
      rows_.set(a, lane, rows_.bits(b, lane));
      rows_.set(b, lane, of_a);
    }
    std::swap(row_origin_[a], row_origin_[b]);
    return true;
  }
  if (!is_lane_move(*i.row)) return false;
  const bool first = operation == LaneOperation::read_first;
  const OperandBits number = first ? OperandBits{} : scalar_operand(wave, i, 1);
  const std::uint64_t active = wave.exec();
  const unsigned lane = first ? (active == 0 ? 0 : static_cast<unsigned>(std::countr_zero(active)))
                              : number.value & 63;
  const std::uint32_t origin = origin_of(facts);
  if (operation == LaneOperation::write) {
    if ((number.undefined & 63) != 0) report(facts, origin, 1, Decides::lane);
    const unsigned row = View(*this, wave, i).dst;
    rows_.set(row, lane, static_cast<std::uint32_t>(scalar_operand(wave, i, 0).undefined));
    if (rows_.bits(row, lane) != 0) row_origin_[row] = origin;
    return true;
  }
  const std::uint32_t undefined =
      (number.undefined & 63) != 0
          ? ~0u
          : static_cast<std::uint32_t>(View(*this, wave, i).operand(0, lane).undefined);
  set_scalar(i.sdst, undefined, false, origin);
  return true;
}

// Pairs of 32-bit numbers: each result has its own registers, so no operand is read twice.
void ValueTracker::follow_pairs(const InstructionFacts& facts, std::uint64_t exec) {
  const Instruction& i = *facts.instruction;
  const bool moves = i.row->packed == PackedForm::moves;
  const std::uint32_t origin = origin_of(facts) | (moves ? 0 : kComputed);
  const auto part = [&](unsigned n, bool high, unsigned lane) -> std::uint32_t {
    if (i.src[n].kind() == Source::kScalar) return scalar_bits_[i.src[n].index() + (high ? 1 : 0)];
    return i.src[n].is_vgpr() ? rows_.bits(i.src[n].index() + (high ? 1 : 0), lane) : 0;
  };
  for (std::uint64_t rest = exec; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::uint32_t result[2] = {};
    for (unsigned half = 0; half < 2; ++half) {
      if (moves) {  // the lower result is a half of source 0, the upper of source 1
        result[half] = part(half, (i.extra >> half & 1) != 0, lane);
        continue;
      }
      for (unsigned n = 0; n < i.row->source_count && n < 3; ++n)
        if (part(n, (i.extra >> (3 * half + n) & 1) != 0, lane) != 0) result[half] = ~0u;
    }
    for (unsigned half = 0; half < 2; ++half) {
      rows_.set(i.dst + half, lane, result[half]);
      if (result[half] != 0) row_origin_[i.dst + half] = origin;
    }
  }
}

void ValueTracker::follow_vector(const InstructionFacts& facts, Wave& wave, std::uint64_t exec) {
  const Instruction& i = *facts.instruction;
  const Row& row = *i.row;
  const RegisterUse& use = facts.use;
  const bool indexed = i.modifiers.form == OperandForm::indexed;
  const std::uint64_t looked_at = use.crosses_lanes ? kAll : exec;
  std::uint64_t sources = indexed ? kAll : 0;
  for (const RegisterRange& range : use.sources) sources |= lanes_of(range) & looked_at;
  const bool scalars = (use.scalar_reads[0] & scalar_attention_[0]) != 0 ||
                       (use.scalar_reads[1] & scalar_attention_[1]) != 0;
  if (sources == 0 && !scalars && !use.merges_destination) {  // usually a first write
    for (unsigned n = 0; n < use.destination.count; ++n) define(use.destination.first + n, exec);
    if (row.scalar_result) set_scalar(i.sdst, 0, false, 0);
    if (row.mask_result) set_scalar(i.sdst, 0, true, 0);
    return;
  }
  if (follow_lane_move(facts, wave, exec)) return;
  if (row.packed == PackedForm::words || row.packed == PackedForm::moves)
    return follow_pairs(facts, exec);

  const ResultRule& rule = facts.result;
  const View view(*this, wave, i);
  const std::uint64_t lanes = view.written(exec);
  const std::uint32_t origin = origin_of(facts) | (rule.computes ? kComputed : 0);
  const bool same = rule.rule == BitRule::bit_xor || rule.rule == BitRule::difference ||
                    rule.rule == BitRule::compare;
  const bool cancels =  // x ^ x, x - x, x == x
      same && row.source_count == 2 && i.src[0].is_vgpr() && i.src[0].bits == i.src[1].bits &&
      i.modifiers.form == OperandForm::plain && !i.modifiers.any();
  const bool mask_only = row.result == OperandType::mask;
  const unsigned registers = mask_only || i.dst == kNoRegister ? 0 : register_count(row.result);
  const bool half = is_16_bit(row.result) && (i.modifiers.op_select & 8) != 0;
  const bool sdwa = i.modifiers.form == OperandForm::sdwa && registers == 1;
  const bool mix = row.packed == PackedForm::mix_low || row.packed == PackedForm::mix_high;
  std::uint64_t mask = 0;
  for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const OperandBits operands[3] = {view.operand(0, lane), view.operand(1, lane),
                                     view.operand(2, lane)};
    std::uint64_t result = cancels ? 0 : undefined_result(rule, operands);
    const std::uint64_t any = operands[0].undefined | operands[1].undefined | operands[2].undefined;
    if (mask_only ? result != 0 : any != 0 && !cancels) mask |= 1ull << lane;
    if (registers == 0) continue;
    const std::uint32_t old = rows_.bits(view.dst, lane);
    auto low = static_cast<std::uint32_t>(result);
    if (sdwa) {
      low = merge_part(old, low, bits(i.extra, 8, 10), bits(i.extra, 11, 12));
    } else if (mix) {
      const bool high = row.packed == PackedForm::mix_high;
      low = high ? (old & 0xffff) | low << 16 : (old & 0xffff0000u) | (low & 0xffff);
    } else if (row.keeps_rest &&
               rule.rule !=
                   BitRule::insert_byte) {  // 8-bit floats: op_sel names the word, or the byte
      const bool pair = rule.rule == BitRule::bytes2;
      const unsigned shift =
          pair ? ((i.modifiers.op_select & 8) != 0 ? 16 : 0) : 8 * (i.modifiers.op_select >> 2 & 3);
      const std::uint32_t field = (pair ? 0xffffu : 0xffu) << shift;
      low = (old & ~field) | (low << shift & field);
    } else if (half) {
      low = (old & 0xffff) | low << 16;
    }
    rows_.set(view.dst, lane, low);
    if (low != 0 && any != 0) row_origin_[std::min(view.dst, 511u)] = origin;
    for (unsigned n = 1; n < registers; ++n) {
      const auto word = static_cast<std::uint32_t>(n == 1 ? result >> 32 : any != 0 ? kAll : 0);
      rows_.set(view.dst + n, lane, word);
      if (word != 0) row_origin_[std::min(view.dst + n, 511u)] = origin;
    }
  }
  if (!row.mask_result) return;
  if (row.writes_exec) write_exec(facts, mask, origin);
  if (i.sdst != kNoRegister && (i.sdst != kExecIndex || !row.writes_exec))
    set_scalar(i.sdst, mask, true, origin | kComputed);
}

// ---- Findings -------------------------------------------------------------------------------

void ValueTracker::report(const InstructionFacts& facts, RegisterRange rows, std::uint64_t lanes,
                          Decides use) {
  for (unsigned n = 0; n < rows.count; ++n) {
    const std::uint32_t origin = row_origin_[rows.first + n];
    if ((rows_.lanes(rows.first + n) & lanes) == 0) continue;
    // For registers: the name of the one that is used.
    const bool of_register = origin / 2 < row_origin_.size();
    return report(facts, of_register ? 2 * (rows.first + n) : origin,
                  rows_.lanes(rows.first + n) & lanes, use);
  }
}

void ValueTracker::report(const InstructionFacts& facts, std::uint32_t number, std::uint64_t lanes,
                          Decides use, Severity severity) {
  const auto wave = static_cast<std::int32_t>(wave_);
  const std::int32_t lane = std::countr_zero(lanes);
  Finding f;
  f.severity = severity;
  const std::string_view extra = severity == Severity::note ? "note" : "";
  if (number / 2 < row_origin_.size()) {
    f.kind = FindingKind::uninitialised_register;
    const std::string name = register_name(number / 2, accum_offset_);
    if (reporter_.repeat(f.kind, facts.vaddr, kNoVaddr, name)) return;
    f.message = say<Says::register_unwritten>(name, std::popcount(lanes), use);
    f.accesses = {reporter_.access(Role::use, facts.vaddr, wave, lane)};
    f.fix = Fix::value_on_every_path;
    return reporter_.add(std::move(f), name);
  }
  const Origin& origin = origins_[number / 2 - row_origin_.size()];
  // One finding per load and wave is enough.
  if (std::ranges::find(told_, origin.vaddr) != told_.end()) return;
  if (severity == Severity::error) told_.push_back(origin.vaddr);
  const bool lds = origin.kind == Origin::Kind::lds;
  f.kind = lds ? FindingKind::uninitialised_lds : FindingKind::uninitialised_global;
  if (reporter_.repeat(f.kind, origin.vaddr, facts.vaddr, extra)) return;
  f.message = lds ? say<Says::lds_unwritten>(origin.address, use)
                  : say<Says::global_unwritten>(origin.address, use);
  f.accesses = {reporter_.access(Role::read, origin.vaddr, wave, origin.lane),
                reporter_.access(Role::use, facts.vaddr, wave, lane)};
  f.fix = lds ? Fix::store_lds : Fix::fill_memory;
  reporter_.add(std::move(f), extra);
}

void ValueTracker::atomic_on(const InstructionFacts& facts, const Origin& origin) {
  const bool lds = origin.kind == Origin::Kind::lds;
  Finding f;
  f.kind = lds ? FindingKind::uninitialised_lds : FindingKind::uninitialised_global;
  if (reporter_.repeat(f.kind, facts.vaddr)) return;
  f.message = lds ? say<Says::lds_atomic_unwritten>(origin.address)
                  : say<Says::global_atomic_unwritten>(origin.address);
  f.accesses = {reporter_.access(Role::atomic, facts.vaddr, static_cast<std::int32_t>(wave_),
                                 static_cast<std::int32_t>(origin.lane))};
  f.fix = lds ? Fix::set_lds_counter : Fix::set_counter;
  reporter_.add(std::move(f));
}

}  // namespace margay::check
