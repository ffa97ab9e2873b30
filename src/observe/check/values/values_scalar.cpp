// ValueTracker: scalar registers, lane masks and branches.
#include <algorithm>
#include <array>
#include <bit>

#include "exec/rows/row_table.h"
#include "observe/check/values/values.h"

namespace margay::check {
namespace {

/// Whether "is not 0" is undefined for a value: no bit of it is known to be set.
bool undefined_as_condition(OperandBits value) {
  return value.undefined != 0 && (value.value & ~value.undefined) == 0;
}

/// The result of a scalar instruction, found by running it on a copy of the registers.
std::uint64_t result_value(Wave& wave, const Instruction& i, bool pair) {
  std::array<std::uint32_t, sizeof wave.s / sizeof wave.s[0]> saved;
  std::ranges::copy(wave.s, saved.begin());
  const bool scc = wave.scc;
  i.execute(wave, i);
  const std::uint64_t value = pair ? wave.scalar64(i.sdst) : wave.s[i.sdst];
  std::ranges::copy(saved, wave.s);
  wave.scc = scc;
  return value;
}

}  // namespace

void ValueTracker::write_exec(const InstructionFacts& facts, std::uint64_t undefined,
                              std::uint32_t origin) {
  if (undefined != 0) report(facts, origin, undefined, Decides::active_lanes);
}

void ValueTracker::follow_branch(const InstructionFacts& facts, const Wave& wave) {
  const Instruction& i = *facts.instruction;
  const Row& row = *i.row;
  const std::uint32_t origin = origin_of(facts);
  const std::uint64_t vcc = scalar_bits(kVccIndex, true);
  if (reads(row.state.vcc)) {
    if (undefined_as_condition({wave.scalar64(kVccIndex), vcc}))
      report(facts, origin, vcc, Decides::branch);
  } else if (reads(row.state.scc)) {
    if (scc_undefined_) report(facts, origin, 1, Decides::branch);
  } else if (origin != 0 && row.source_count != 0) {
    if (scalar_operand(wave, i, 0).undefined != 0) report(facts, origin, 1, Decides::code_address);
  }
  if (i.sdst != kNoRegister && writes(row.destination)) set_scalar(i.sdst, 0, true, 0);
}

void ValueTracker::follow_scalar(const InstructionFacts& facts, Wave& wave) {
  const Instruction& i = *facts.instruction;
  const Row& row = *i.row;
  const ResultRule& rule = facts.result;
  const std::uint32_t origin = origin_of(facts) | (rule.computes ? 1 : 0);
  if (writes(row.state.exec)) {  // s_*_saveexec, s_*_wrexec
    const OperandBits operands[3] = {scalar_operand(wave, i, 0), {wave.exec(), 0}, {}};
    write_exec(facts, undefined_result(rule, operands), origin | 1);
    scc_undefined_ = false;
    return set_scalar(i.sdst, 0, true, 0);
  }
  if (row.register_index != RegisterIndex::none) {
    if (row.source_count != 0 && (scalar_operand(wave, i, 0).undefined & 0xff) != 0)
      report(facts, origin, 1, Decides::register_number);
    return;
  }
  if (row.changes_mode) {
    if (origin != 0) report(facts, origin, 1, Decides::next_step);
    return;
  }
  OperandBits operands[3] = {scalar_operand(wave, i, 0), scalar_operand(wave, i, 1), {}};
  if (facts.use.reads_scc) operands[2] = {wave.scc, scc_undefined_ ? 1u : 0u};
  const bool pair = contains(facts.use.scalar_writes, i.sdst + 1u) && rule.width == 64;
  if (row.relative != RelativeScalar::none) {  // M0 counts registers from one that is named
    const bool from = row.relative == RelativeScalar::source;
    const std::uint64_t at = (from ? i.src[0].index() : i.sdst) + std::uint64_t{wave.s[kM0Index]};
    if (scalar_bits_[kM0Index] != 0) report(facts, origin, 1, Decides::register_number);
    if (at > 101) return;
    const auto index = static_cast<unsigned>(at);
    if (!from) return set_scalar(index, operands[0].undefined, pair, origin);
    const bool in_upper = pair && scalar_bits_[index] == 0;
    return set_scalar(i.sdst, scalar_bits(index, pair), pair,
                      scalar_origin_[in_upper ? index + 1 : index]);
  }
  const bool has_result =
      i.sdst != kNoRegister && facts.use.scalar_writes != decltype(facts.use.scalar_writes){};
  if (rule.rule == BitRule::set_bit) operands[1] = {0, scalar_bits(i.sdst, pair)};
  if (rule.rule == BitRule::conditional) {
    operands[1] = {pair ? wave.scalar64(i.sdst) : wave.s[i.sdst], scalar_bits(i.sdst, pair)};
    return set_scalar(i.sdst, undefined_result(rule, operands), pair, origin);
  }
  const std::uint64_t result = undefined_result(rule, operands);
  if (facts.use.writes_scc) {
    scc_origin_ = origin | 1;
    const bool condition = rule.rule == BitRule::compare || rule.rule == BitRule::test_bit;
    const bool not_zero = !rule.computes && has_result;
    scc_undefined_ =
        condition  ? result != 0
        : not_zero ? result != 0 && undefined_as_condition({result_value(wave, i, pair), result})
                   : (operands[0].undefined | operands[1].undefined | operands[2].undefined) != 0;
  }
  if (!has_result || rule.rule == BitRule::compare || rule.rule == BitRule::test_bit) return;
  if (i.sdst == kExecIndex || i.sdst == kExecIndex + 1)
    return write_exec(facts, i.sdst == kExecIndex ? result : result << 32, origin);
  set_scalar(i.sdst, result, pair, origin);
}

}  // namespace margay::check
