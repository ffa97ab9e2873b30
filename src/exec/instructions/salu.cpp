// The scalar ALU: the rows of isa/gfx942/scalar.h, and those that access more wave state than their
// operands.
#include <cstring>
#include <tuple>
#include <type_traits>

#include "exec/instructions/all_rows.h"
#include "exec/program/float_mode.h"
#include "exec/rows/row_table.h"
#include "exec/state/wave.h"
#include "isa/gfx942/scalar.h"
#include "isa/type_name.h"

namespace margay {

// Source: MI300 ISA guide, 3.8.2 (M0 as index) and s_set_gpr_idx_on: M0[7:0] is added to the
// register numbers that M0[15:12] names; a source out of range reads VGPR 0, a destination out of
// range is not written.
const Instruction* run_indexed(Wave& wave, const Instruction& i) {
  const std::uint32_t index = wave.s[kM0Index] & 0xff, enabled = wave.s[kM0Index] >> 12;
  Instruction inner = i;
  for (unsigned n = 0; n < 3; ++n) {
    if (!(enabled >> n & 1) || !inner.src[n].is_vgpr()) continue;
    const unsigned row = inner.src[n].index() + index;
    inner.src[n] = Source::vgpr(row < wave.vgpr_rows ? row : 0);
  }
  if (enabled >> 3 & 1 && inner.dst != kNoRegister) {
    if (inner.dst + index >= wave.vgpr_rows) return following(i);
    inner.dst = static_cast<std::uint16_t>(inner.dst + index);
  }
  const Handler run = i.execute == run_in_float_mode ? run_row_in_float_mode : i.row->plain;
  return run(wave, inner) == nullptr ? nullptr : following(i);
}

namespace {

// ---- Pure rows ------------------------------------------------------------------------------

template <typename R, int n, typename T>
T read(const Wave& wave, const Instruction& i) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(scalar_source64(wave, i, n));
  else
    return static_cast<T>(scalar_source(wave, i, n));
}

template <typename F>
struct Signature;
template <typename D, typename... S, auto... traits>
struct Signature<scalar::ScalarOp<D(S...), traits...>> {
  using Result = D;
  /// The row's effect on SCC, from the parameters of its eval after the sources.
  template <typename R>
  static constexpr Effect scc() {
    if constexpr (requires(S... s) { R::eval(s...); })
      return Effect::none;
    else if constexpr (requires(S... s) { R::eval(s..., true); })
      return Effect::reads;
    else if constexpr (requires(S... s, bool& out) { R::eval(s..., true, out); })
      return Effect::updates;
    else
      return Effect::writes;
  }
  template <typename R, std::size_t... n>
  static D run(Wave& wave, const Instruction& i, std::index_sequence<n...>) {
    constexpr Effect effect = scc<R>();
    if constexpr (effect == Effect::none)
      return R::eval(read<R, static_cast<int>(n), S>(wave, i)...);
    else if constexpr (effect == Effect::reads)
      return R::eval(read<R, static_cast<int>(n), S>(wave, i)..., bool{wave.scc});
    else if constexpr (effect == Effect::updates)
      return R::eval(read<R, static_cast<int>(n), S>(wave, i)..., bool{wave.scc}, wave.scc);
    else
      return R::eval(read<R, static_cast<int>(n), S>(wave, i)..., wave.scc);
  }
  template <typename R>
  static D run(Wave& wave, const Instruction& i) {
    return run<R>(wave, i, std::index_sequence_for<S...>{});
  }
  /// Whether the first source is signed.
  static constexpr bool kSigned = std::is_signed_v<std::tuple_element_t<0, std::tuple<S...>>>;
  static void describe(Row& row) {
    int n = 0;
    ((row.sources[n++] = sizeof(S) == 8
                             ? (std::is_signed_v<S> ? OperandType::i64 : OperandType::u64)
                             : OperandType::u32),
     ...);
    row.source_count = sizeof...(S);
    if constexpr (!std::is_same_v<D, scalar::nothing>)
      row.result = sizeof(D) == 8 ? OperandType::u64 : OperandType::u32;
  }
};
/// The ScalarOp base of a row, direct or indirect.
template <typename D, typename... S, auto... traits>
scalar::ScalarOp<D(S...), traits...> base_of(const scalar::ScalarOp<D(S...), traits...>*);
template <typename R>
using SignatureOf = Signature<decltype(base_of(static_cast<const R*>(nullptr)))>;

template <typename R>
const Instruction* run_scalar(Wave& wave, const Instruction& i) {
  using Result = typename SignatureOf<R>::Result;
  if constexpr (std::is_same_v<Result, scalar::nothing>) {
    (void)SignatureOf<R>::template run<R>(wave, i);
  } else {
    const Result result = SignatureOf<R>::template run<R>(wave, i);
    if constexpr (sizeof(Result) == 8)
      wave.set_scalar64(i.sdst, static_cast<std::uint64_t>(result));
    else
      wave.s[i.sdst] = static_cast<std::uint32_t>(result);
  }
  return following(i);
}

template <typename... R>
void add_pure_rows(RowTable& table, scalar::List<R...>) {
  const auto add = [&]<typename One>(std::type_identity<One>) {
    Row row;
    row.mnemonic = type_name<One>();
    row.instruction_class = InstructionClass::salu;
    row.plain = run_scalar<One>;
    row.zero_extended_immediate = !One::kSignedImmediate;
    SignatureOf<One>::describe(row);
    row.state.scc = SignatureOf<One>::template scc<One>();
    row.definedness = {.rule = One::kBitRule,
                       .order = One::kOrder,
                       .comparison = One::kComparison,
                       .is_signed = One::kBitRule == BitRule::compare && SignatureOf<One>::kSigned};
    table.add(row);
  };
  (add(std::type_identity<R>{}), ...);
}

// ---- EXEC -----------------------------------------------------------------------------------

/// D = EXEC; EXEC = f(S0, EXEC); SCC = EXEC != 0.
template <auto f>
const Instruction* save_exec(Wave& wave, const Instruction& i) {
  const std::uint64_t source = scalar_source64(wave, i, 0), exec = wave.exec();
  const std::uint64_t result = f(source, exec);
  wave.set_scalar64(i.sdst, exec);
  wave.set_exec(result);
  wave.scc = result != 0;
  return following(i);
}
/// EXEC = f(S0, EXEC); D = EXEC; SCC = EXEC != 0.
template <auto f>
const Instruction* write_exec(Wave& wave, const Instruction& i) {
  const std::uint64_t result = f(scalar_source64(wave, i, 0), wave.exec());
  wave.set_exec(result);
  wave.set_scalar64(i.sdst, result);
  wave.scc = result != 0;
  return following(i);
}
using Mask = std::uint64_t;

// ---- Conditional moves, bits, relative SGPRs --------------------------------------------------

const Instruction* conditional_move(Wave& wave, const Instruction& i) {
  if (wave.scc) wave.s[i.sdst] = scalar_source(wave, i, 0);
  return following(i);
}
const Instruction* conditional_move64(Wave& wave, const Instruction& i) {
  if (wave.scc) wave.set_scalar64(i.sdst, scalar_source64(wave, i, 0));
  return following(i);
}
/// The SGPR that M0 counts from `index` on; a pair starts at an even one. Beyond the SGPRs: SGPR 0
/// as a source, nothing as a destination. Source: MI300 ISA guide, section 3.6 (out of range).
constexpr unsigned kSgprs = 102;
[[nodiscard]] unsigned relative_sgpr(const Wave& wave, unsigned index, unsigned registers) {
  const std::uint64_t at =
      (std::uint64_t{index} + wave.s[kM0Index]) & ~std::uint64_t{registers - 1};
  return at + registers <= kSgprs ? static_cast<unsigned>(at) : kSgprs;
}
template <unsigned registers>
const Instruction* move_from_relative(Wave& wave, const Instruction& i) {
  const unsigned from = relative_sgpr(wave, i.src[0].index(), registers);
  const unsigned at = from == kSgprs ? 0 : from;
  std::memmove(&wave.s[i.sdst], &wave.s[at], 4 * registers);
  return following(i);
}
template <unsigned registers>
const Instruction* move_to_relative(Wave& wave, const Instruction& i) {
  const unsigned to = relative_sgpr(wave, i.sdst, registers);
  const std::uint64_t value =
      registers == 2 ? scalar_source64(wave, i, 0) : scalar_source(wave, i, 0);
  if (to != kSgprs) std::memcpy(&wave.s[to], &value, 4 * registers);
  return following(i);
}

/// M0[7:0] = S0[7:0], M0[15:12] = the immediate in S1's field.
const Instruction* set_register_index_on(Wave& wave, const Instruction& i) {
  wave.s[kM0Index] =
      (wave.s[kM0Index] & 0xffff0f00) | (scalar_source(wave, i, 0) & 0xff) | (i.extra & 15) << 12;
  return following(i);
}
const Instruction* set_register_index(Wave& wave, const Instruction& i) {
  wave.s[kM0Index] = (wave.s[kM0Index] & ~0xffu) | (scalar_source(wave, i, 0) & 0xff);
  return following(i);
}
const Instruction* set_register_index_mode(Wave& wave, const Instruction& i) {
  wave.s[kM0Index] = (wave.s[kM0Index] & 0xffff0fff) | (i.extra & 15) << 12;
  return following(i);
}
template <bool value>
const Instruction* bit_set(Wave& wave, const Instruction& i) {
  const std::uint32_t bit = 1u << (scalar_source(wave, i, 0) & 31);
  wave.s[i.sdst] = value ? wave.s[i.sdst] | bit : wave.s[i.sdst] & ~bit;
  return following(i);
}
template <bool value>
const Instruction* bit_set64(Wave& wave, const Instruction& i) {
  const std::uint64_t bit = 1ull << (scalar_source(wave, i, 0) & 63);
  const std::uint64_t old = wave.scalar64(i.sdst);
  wave.set_scalar64(i.sdst, value ? old | bit : old & ~bit);
  return following(i);
}

// ---- Rows -----------------------------------------------------------------------------------

constexpr auto u32 = OperandType::u32, u64 = OperandType::u64;

[[nodiscard]] Row scalar_row(std::string_view mnemonic, Handler handler, OperandType result,
                             OperandType source) {
  Row row;
  row.mnemonic = mnemonic;
  row.instruction_class = InstructionClass::salu;
  row.plain = handler;
  row.result = result;
  row.sources[0] = source;
  row.source_count = source == OperandType::none ? 0 : 1;
  return row;
}

void add_exec_rows(RowTable& table) {
  struct ExecRow {
    std::string_view mnemonic;
    Handler handler;
    BitRule rule;  ///< Of EXEC, with the source as a and EXEC as b.
  };
  static constexpr ExecRow kRows[] = {
      {"s_and_saveexec_b64", save_exec<[](Mask s, Mask e) { return s & e; }>, BitRule::bit_and},
      {"s_or_saveexec_b64", save_exec<[](Mask s, Mask e) { return s | e; }>, BitRule::bit_or},
      {"s_xor_saveexec_b64", save_exec<[](Mask s, Mask e) { return s ^ e; }>, BitRule::bit_xor},
      {"s_andn2_saveexec_b64", save_exec<[](Mask s, Mask e) { return s & ~e; }>, BitRule::and_not},
      {"s_orn2_saveexec_b64", save_exec<[](Mask s, Mask e) { return s | ~e; }>, BitRule::or_not},
      {"s_nand_saveexec_b64", save_exec<[](Mask s, Mask e) { return ~(s & e); }>, BitRule::bit_and},
      {"s_nor_saveexec_b64", save_exec<[](Mask s, Mask e) { return ~(s | e); }>, BitRule::bit_or},
      {"s_xnor_saveexec_b64", save_exec<[](Mask s, Mask e) { return ~(s ^ e); }>, BitRule::bit_xor},
      {"s_andn1_saveexec_b64", save_exec<[](Mask s, Mask e) { return ~s & e; }>, BitRule::not_and},
      {"s_orn1_saveexec_b64", save_exec<[](Mask s, Mask e) { return ~s | e; }>, BitRule::not_or},
      {"s_andn1_wrexec_b64", write_exec<[](Mask s, Mask e) { return ~s & e; }>, BitRule::not_and},
      {"s_andn2_wrexec_b64", write_exec<[](Mask s, Mask e) { return s & ~e; }>, BitRule::and_not},
  };
  static_assert(all_different(kRows));
  for (const ExecRow& one : kRows) {
    Row row = scalar_row(one.mnemonic, one.handler, u64, u64);
    row.definedness.rule = one.rule;
    row.state = {.scc = Effect::writes, .exec = Effect::updates};
    table.add(row);
  }
}

void add_move_rows(RowTable& table) {
  struct MoveRow {
    std::string_view mnemonic;
    Handler handler;
    OperandType result, source;
    BitRule rule;
    WaveState state = {};
    Effect destination = Effect::writes;
    RelativeScalar relative = RelativeScalar::none;
  };
  static constexpr WaveState kIfScc{.scc = Effect::reads}, kByM0{.m0 = Effect::reads};
  static constexpr auto kUpdates = Effect::updates, kWrites = Effect::writes;
  static constexpr auto kIf = BitRule::conditional, kBit = BitRule::set_bit,
                        kWhole = BitRule::whole;
  using enum RelativeScalar;
  static constexpr MoveRow kRows[] = {
      {"s_cmov_b32", conditional_move, u32, u32, kIf, kIfScc},
      {"s_cmov_b64", conditional_move64, u64, u64, kIf, kIfScc},
      {"s_cmovk_i32", conditional_move, u32, u32, kIf, kIfScc},
      {"s_bitset0_b32", bit_set<false>, u32, u32, kBit, {}, kUpdates},
      {"s_bitset1_b32", bit_set<true>, u32, u32, kBit, {}, kUpdates},
      {"s_bitset0_b64", bit_set64<false>, u64, u32, kBit, {}, kUpdates},
      {"s_bitset1_b64", bit_set64<true>, u64, u32, kBit, {}, kUpdates},
      {"s_movrels_b32", move_from_relative<1>, u32, u32, kWhole, kByM0, kWrites, source},
      {"s_movrels_b64", move_from_relative<2>, u64, u64, kWhole, kByM0, kWrites, source},
      {"s_movreld_b32", move_to_relative<1>, u32, u32, kWhole, kByM0, kWrites, destination},
      {"s_movreld_b64", move_to_relative<2>, u64, u64, kWhole, kByM0, kWrites, destination},
  };
  static_assert(all_different(kRows));
  for (const MoveRow& one : kRows) {
    Row row = scalar_row(one.mnemonic, one.handler, one.result, one.source);
    row.state = one.state;
    row.destination = one.destination;
    row.relative = one.relative;
    row.definedness.rule = one.rule;
    table.add(row);
  }
}

/// The mode that adds M0 to the numbers of VGPRs.
void add_register_index_rows(RowTable& table) {
  struct IndexRow {
    std::string_view mnemonic;
    Handler handler;
    OperandType source = OperandType::none;
    RegisterIndex mode = RegisterIndex::changes;
  };
  static constexpr IndexRow kRows[] = {
      {"s_set_gpr_idx_on", set_register_index_on, u32, RegisterIndex::on},
      {"s_set_gpr_idx_off", no_operation, OperandType::none, RegisterIndex::off},
      {"s_set_gpr_idx_idx", set_register_index, u32},
      {"s_set_gpr_idx_mode", set_register_index_mode},
  };
  static_assert(all_different(kRows));
  for (const IndexRow& one : kRows) {
    Row row = scalar_row(one.mnemonic, one.handler, OperandType::none, one.source);
    row.register_index = one.mode;
    // Each of these replaces some bits.
    if (one.mode != RegisterIndex::off) row.state.m0 = Effect::updates;
    table.add(row);
  }
}

}  // namespace

void add_scalar_rows(RowTable& table) {
  add_pure_rows(table, scalar::Rows{});
  add_exec_rows(table);
  add_move_rows(table);
  add_register_index_rows(table);
}

}  // namespace margay
