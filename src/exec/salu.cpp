// The scalar ALU, program flow and the instructions that touch wave state.
#include <bit>
#include <cstring>
#include <type_traits>

#include "exec/float_mode.h"
#include "exec/program.h"
#include "exec/row_table.h"
#include "exec/rows.h"
#include "exec/wave.h"
#include "isa/gfx942/scalar.h"
#include "isa/type_name.h"

namespace margay {

const Instruction* run_problem(Wave& wave, const Instruction& i) {
  return wave.fault(i, wave.group->program->problem_at(i.vaddr));
}

const Instruction* run_off_the_end(Wave& wave, const Instruction& i) {
  return wave.fault(i, {ErrorCode::illegal_instruction,
                        "the wave ran past the end of a function, whose last instruction this is"});
}

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
template <typename D, typename... S>
struct Signature<scalar::ScalarOp<D(S...)>> {
  using Result = D;
  template <typename R, std::size_t... n>
  static D run(Wave& wave, const Instruction& i, std::index_sequence<n...>) {
    return R::eval(read<R, static_cast<int>(n), S>(wave, i)..., wave.scc);
  }
  template <typename R>
  static D run(Wave& wave, const Instruction& i) {
    return run<R>(wave, i, std::index_sequence_for<S...>{});
  }
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
/// The ScalarOp base of a row, however deep.
template <typename D, typename... S>
scalar::ScalarOp<D(S...)> base_of(const scalar::ScalarOp<D(S...)>*);
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
void add_scalar_rows(RowTable& table) {
  const auto add = [&]<typename One>(std::type_identity<One>) {
    Row row;
    row.mnemonic = type_name<One>();
    row.instruction_class = InstructionClass::salu;
    row.plain = run_scalar<One>;
    row.zero_extended_immediate = !One::kSignedImmediate;
    SignatureOf<One>::describe(row);
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

// ---- Program flow ---------------------------------------------------------------------------

const Instruction* jump_to(Wave& wave, const Instruction& i, std::uint64_t address) {
  if (const Instruction* target = wave.group->program->at_address(address, code_copy(wave.mode)))
    return target;
  return wave.fault(i, {ErrorCode::illegal_address,
                        "a jump to an address that holds no instruction of this code object",
                        {},
                        "a function pointer was overwritten, or comes from another module"});
}
std::uint64_t next_address(const Wave& wave, const Instruction& i) {
  return wave.group->program->base_address() + i.vaddr + 4;
}

const Instruction* get_pc(Wave& wave, const Instruction& i) {
  wave.set_scalar64(i.sdst, next_address(wave, i));
  return following(i);
}
const Instruction* set_pc(Wave& wave, const Instruction& i) {
  return jump_to(wave, i, scalar_source64(wave, i, 0));
}
const Instruction* swap_pc(Wave& wave, const Instruction& i) {
  const std::uint64_t target = scalar_source64(wave, i, 0);
  wave.set_scalar64(i.sdst, next_address(wave, i));
  return jump_to(wave, i, target);
}
const Instruction* call(Wave& wave, const Instruction& i) {
  wave.set_scalar64(i.sdst, next_address(wave, i));
  return jump_to(wave, i, next_address(wave, i) - 4 + static_cast<std::int64_t>(i.offset));
}

template <auto condition>
const Instruction* branch(Wave& wave, const Instruction& i) {
  return condition(wave) ? &i + i.offset : following(i);
}

// Forks: where a condition divides the wave, the side with more lanes waits on a stack of mask and
// address in SGPRs, four for each entry; MODE.CSP counts the entries.
// Source: MI300 ISA guide, S_CBRANCH_G_FORK, S_CBRANCH_I_FORK, S_CBRANCH_JOIN.
constexpr unsigned kForkDepthBit = 29;
[[nodiscard]] unsigned fork_depth(const Wave& wave) { return wave.mode >> kForkDepthBit; }
void set_fork_depth(Wave& wave, unsigned depth) {
  wave.mode = (wave.mode & ((1u << kForkDepthBit) - 1)) | depth << kForkDepthBit;
}
const Instruction* fork(Wave& wave, const Instruction& i, std::uint64_t condition,
                        std::uint64_t target) {
  const std::uint64_t exec = wave.exec(), pass = condition & exec, fails = ~condition & exec;
  if (pass == exec) return jump_to(wave, i, target);
  if (fails == exec) return following(i);
  const bool falls_through = std::popcount(fails) < std::popcount(pass);
  const unsigned at = fork_depth(wave) * 4;
  wave.set_exec(falls_through ? fails : pass);
  wave.set_scalar64(at, falls_through ? pass : fails);
  wave.set_scalar64(at + 2, falls_through ? target : next_address(wave, i));
  set_fork_depth(wave, fork_depth(wave) + 1);
  return falls_through ? following(i) : jump_to(wave, i, target);
}
const Instruction* fork_to_address(Wave& wave, const Instruction& i) {
  return fork(wave, i, scalar_source64(wave, i, 0), scalar_source64(wave, i, 1));
}
const Instruction* fork_relative(Wave& wave, const Instruction& i) {
  return fork(wave, i, wave.scalar64(i.sdst),
              next_address(wave, i) - 4 + static_cast<std::int64_t>(i.offset));
}
/// S0 is the depth before the fork: reached again, both sides have come here.
const Instruction* join(Wave& wave, const Instruction& i) {
  if (fork_depth(wave) == scalar_source(wave, i, 0)) return following(i);
  set_fork_depth(wave, (fork_depth(wave) - 1) & 7);
  const unsigned at = fork_depth(wave) * 4;
  wave.set_exec(wave.scalar64(at));
  return jump_to(wave, i, wave.scalar64(at + 2));
}

const Instruction* end_program(Wave& wave, const Instruction& i) {
  wave.stop = WaveStop::ended;
  wave.next = &i;
  return nullptr;
}
const Instruction* barrier(Wave& wave, const Instruction& i) {
  wave.stop = WaveStop::barrier;
  wave.next = following(i);
  return nullptr;
}
const Instruction* trap(Wave& wave, const Instruction& i) {
  const bool debug = (i.extra & 0xff) == 3;
  if (debug) return following(i);  // a debugger's trap: none is attached
  return wave.fault(
      i, {ErrorCode::device_trap,
          "the kernel stopped itself: s_trap (abort, __builtin_trap or a failed assert)"});
}
const Instruction* kill(Wave& wave, const Instruction& i) {
  return i.extra & 1 ? end_program(wave, i) : following(i);
}
const Instruction* halt(Wave& wave, const Instruction& i) {
  if (!(i.extra & 1)) return following(i);
  return wave.fault(i, {ErrorCode::device_trap,
                        "the wave halted itself (s_sethalt): only a debugger could let it go on, "
                        "and none is attached"});
}
const Instruction* send_message_and_halt(Wave& wave, const Instruction& i) {
  return wave.fault(i, {ErrorCode::device_trap,
                        "the wave sent a message and halted (s_sendmsghalt): nobody is there to "
                        "read it and to let the wave go on"});
}
const Instruction* outside_trap_handler(Wave& wave, const Instruction& i) {
  return wave.fault(i, {ErrorCode::illegal_instruction,
                        std::string(i.row->mnemonic) +
                            " returns from a trap handler; this wave is in none, and the virtual "
                            "device runs none"});
}
/// Waits and hints order nothing here: every instruction completes before the next one starts.
const Instruction* no_operation(Wave&, const Instruction& i) { return following(i); }
const Instruction* send_message(Wave& wave, const Instruction& i) {
  const std::uint32_t message = i.extra & 0xf;
  if (message == 1)  // INTERRUPT: what a device-side assert or hostcall ends with
    return following(i);
  return wave.fault(i,
                    {ErrorCode::not_implemented,
                     "s_sendmsg with message " + std::to_string(message) + " is not implemented"});
}

// ---- Hardware registers ---------------------------------------------------------------------

enum HardwareRegister : std::uint32_t {
  kMode = 1,
  kStatus = 2,
  kTrapStatus = 3,
  kHardwareId = 4,
  kXccId = 20
};

/// Goes on in the copy of the code that the new MODE asks for; Instruction::offset is how far the
/// copies are apart.
const Instruction* change_mode(Wave& wave, const Instruction& i, std::uint32_t mode) {
  const int from = static_cast<int>(code_copy(wave.mode)), to = static_cast<int>(code_copy(mode));
  wave.mode = mode;
  return following(i) + (to - from) * i.offset;
}

const Instruction* set_skip(Wave& wave, const Instruction& i) {
  const bool skips = scalar_source(wave, i, 0) >> (scalar_source(wave, i, 1) & 31) & 1;
  return change_mode(wave, i, (wave.mode & ~mode::kSkip) | (skips ? mode::kSkip : 0));
}

const Instruction* get_register(Wave& wave, const Instruction& i) {
  const std::uint32_t id = i.extra & 63, offset = i.extra >> 6 & 31,
                      size = (i.extra >> 11 & 31) + 1;
  std::uint32_t value = 0;
  switch (id) {
    case kMode:
      value = wave.mode;
      break;
    case kStatus:
      value = wave.scc | (wave.exec() == 0 ? 1u << 9 : 0) |
              (wave.scalar64(kVccIndex) == 0 ? 1u << 10 : 0);
      break;
    case kTrapStatus:
      value = 0;
      break;
    // Where a wave runs is not decided by the executor: all waves say SE 0, CU 0, their own slot.
    case kHardwareId:
      value = wave.index_in_group & 15;
      break;
    case kXccId:
      value = wave.group->id[0] % 8;
      break;
    default:
      return wave.fault(
          i, {ErrorCode::not_implemented,
              "reading hardware register " + std::to_string(id) + " is not implemented"});
  }
  value >>= offset;
  if (size < 32) value &= (1u << size) - 1;
  wave.s[i.sdst] = value;
  return following(i);
}

const Instruction* write_register(Wave& wave, const Instruction& i, std::uint32_t value) {
  const std::uint32_t id = i.extra & 63, offset = i.extra >> 6 & 31,
                      size = (i.extra >> 11 & 31) + 1;
  if (id != kMode)
    return wave.fault(i,
                      {ErrorCode::not_implemented,
                       "writing hardware register " + std::to_string(id) + " is not implemented"});
  const std::uint32_t field = (size < 32 ? (1u << size) - 1 : ~0u) << offset;
  const std::uint32_t mode = (wave.mode & ~field) | (value << offset & field);
  if ((mode & ~wave.mode & (mode::kExceptions | mode::kDebug)) != 0)
    return wave.fault(i, {ErrorCode::not_implemented,
                          "enabling exceptions in MODE is not implemented: they would go to a trap "
                          "handler, and the virtual device runs none"});
  if ((mode & ~wave.mode & mode::kRegisterIndex) != 0)
    return wave.fault(i, {ErrorCode::not_implemented,
                          "indexed registers by writing MODE are not implemented",
                          {},
                          "s_set_gpr_idx_on is"});
  return change_mode(wave, i, mode);
}
const Instruction* set_register(Wave& wave, const Instruction& i) {
  return write_register(wave, i, wave.s[i.sdst]);
}
const Instruction* set_register_immediate(Wave& wave, const Instruction& i) {
  return write_register(wave, i, static_cast<std::uint32_t>(i.constant[2]));
}

struct Special {
  std::string_view mnemonic;
  Handler handler;
  InstructionClass instruction_class = InstructionClass::salu;
  OperandType source = OperandType::none;
  bool relative_branch = false;
  RegisterIndex register_index = RegisterIndex::none;
  OperandType second_source = OperandType::none;
};

}  // namespace

void add_scalar_rows(RowTable& table) {
  using namespace scalar;
  add_scalar_rows<
      s_add_u32, s_sub_u32, s_add_i32, s_sub_i32, s_addc_u32, s_subb_u32, s_mul_i32, s_mul_hi_u32,
      s_mul_hi_i32, s_absdiff_i32, s_lshl1_add_u32, s_lshl2_add_u32, s_lshl3_add_u32,
      s_lshl4_add_u32, s_min_i32, s_min_u32, s_max_i32, s_max_u32, s_abs_i32, s_and_b32, s_and_b64,
      s_or_b32, s_or_b64, s_xor_b32, s_xor_b64, s_andn2_b32, s_andn2_b64, s_orn2_b32, s_orn2_b64,
      s_nand_b32, s_nand_b64, s_nor_b32, s_nor_b64, s_xnor_b32, s_xnor_b64, s_not_b32, s_not_b64,
      s_lshl_b32, s_lshl_b64, s_lshr_b32, s_lshr_b64, s_ashr_i32, s_ashr_i64, s_bfm_b32, s_bfm_b64,
      s_bfe_u32, s_bfe_i32, s_bfe_u64, s_bfe_i64, s_pack_ll_b32_b16, s_pack_lh_b32_b16,
      s_pack_hh_b32_b16, s_mov_b32, s_mov_b64, s_movk_i32, s_cselect_b32, s_cselect_b64, s_brev_b32,
      s_brev_b64, s_bcnt0_i32_b32, s_bcnt0_i32_b64, s_bcnt1_i32_b32, s_bcnt1_i32_b64, s_ff0_i32_b32,
      s_ff0_i32_b64, s_ff1_i32_b32, s_ff1_i32_b64, s_flbit_i32_b32, s_flbit_i32_b64, s_flbit_i32,
      s_flbit_i32_i64, s_sext_i32_i8, s_sext_i32_i16, s_bitreplicate_b64_b32, s_wqm_b32, s_wqm_b64,
      s_quadmask_b32, s_quadmask_b64, s_cmp_eq_i32, s_cmp_lg_i32, s_cmp_gt_i32, s_cmp_ge_i32,
      s_cmp_lt_i32, s_cmp_le_i32, s_cmp_eq_u32, s_cmp_lg_u32, s_cmp_gt_u32, s_cmp_ge_u32,
      s_cmp_lt_u32, s_cmp_le_u32, s_cmp_eq_u64, s_cmp_lg_u64, s_bitcmp0_b32, s_bitcmp1_b32,
      s_bitcmp0_b64, s_bitcmp1_b64, s_cmpk_eq_i32, s_cmpk_lg_i32, s_cmpk_gt_i32, s_cmpk_ge_i32,
      s_cmpk_lt_i32, s_cmpk_le_i32, s_cmpk_eq_u32, s_cmpk_lg_u32, s_cmpk_gt_u32, s_cmpk_ge_u32,
      s_cmpk_lt_u32, s_cmpk_le_u32, s_addk_i32, s_mulk_i32>(table);

  using enum InstructionClass;
  constexpr auto u32 = OperandType::u32, u64 = OperandType::u64;
  constexpr Handler never = margay::branch<[](const Wave&) { return false; }>;
  const Special specials[] = {
      {"s_and_saveexec_b64", save_exec<[](Mask s, Mask e) { return s & e; }>, salu, u64},
      {"s_or_saveexec_b64", save_exec<[](Mask s, Mask e) { return s | e; }>, salu, u64},
      {"s_xor_saveexec_b64", save_exec<[](Mask s, Mask e) { return s ^ e; }>, salu, u64},
      {"s_andn2_saveexec_b64", save_exec<[](Mask s, Mask e) { return s & ~e; }>, salu, u64},
      {"s_orn2_saveexec_b64", save_exec<[](Mask s, Mask e) { return s | ~e; }>, salu, u64},
      {"s_nand_saveexec_b64", save_exec<[](Mask s, Mask e) { return ~(s & e); }>, salu, u64},
      {"s_nor_saveexec_b64", save_exec<[](Mask s, Mask e) { return ~(s | e); }>, salu, u64},
      {"s_xnor_saveexec_b64", save_exec<[](Mask s, Mask e) { return ~(s ^ e); }>, salu, u64},
      {"s_andn1_saveexec_b64", save_exec<[](Mask s, Mask e) { return ~s & e; }>, salu, u64},
      {"s_orn1_saveexec_b64", save_exec<[](Mask s, Mask e) { return ~s | e; }>, salu, u64},
      {"s_andn1_wrexec_b64", write_exec<[](Mask s, Mask e) { return ~s & e; }>, salu, u64},
      {"s_andn2_wrexec_b64", write_exec<[](Mask s, Mask e) { return s & ~e; }>, salu, u64},
      {"s_cmov_b32", conditional_move, salu, u32},
      {"s_cmov_b64", conditional_move64, salu, u64},
      {"s_cmovk_i32", conditional_move, salu, u32},
      {"s_bitset0_b32", bit_set<false>, salu, u32},
      {"s_bitset1_b32", bit_set<true>, salu, u32},
      {"s_bitset0_b64", bit_set64<false>, salu, u32},
      {"s_bitset1_b64", bit_set64<true>, salu, u32},
      {"s_movrels_b32", move_from_relative<1>, salu, u32},
      {"s_movrels_b64", move_from_relative<2>, salu, u64},
      {"s_movreld_b32", move_to_relative<1>, salu, u32},
      {"s_movreld_b64", move_to_relative<2>, salu, u64},
      {"s_getpc_b64", get_pc},
      {"s_setpc_b64", set_pc, InstructionClass::branch, u64},
      {"s_swappc_b64", swap_pc, InstructionClass::branch, u64},
      {"s_call_b64", call, InstructionClass::branch},
      {"s_getreg_b32", get_register},
      {"s_setreg_b32", set_register},
      {"s_setreg_imm32_b32", set_register_immediate},
      {"s_branch",
       margay::branch<[](const Wave&) { return true; }>,
       InstructionClass::branch,
       {},
       true},
      {"s_cbranch_scc0",
       margay::branch<[](const Wave& w) { return !w.scc; }>,
       InstructionClass::branch,
       {},
       true},
      {"s_cbranch_scc1",
       margay::branch<[](const Wave& w) { return w.scc; }>,
       InstructionClass::branch,
       {},
       true},
      {"s_cbranch_vccz",
       margay::branch<[](const Wave& w) { return w.scalar64(kVccIndex) == 0; }>,
       InstructionClass::branch,
       {},
       true},
      {"s_cbranch_vccnz",
       margay::branch<[](const Wave& w) { return w.scalar64(kVccIndex) != 0; }>,
       InstructionClass::branch,
       {},
       true},
      {"s_cbranch_execz",
       margay::branch<[](const Wave& w) { return w.exec() == 0; }>,
       InstructionClass::branch,
       {},
       true},
      {"s_cbranch_execnz",
       margay::branch<[](const Wave& w) { return w.exec() != 0; }>,
       InstructionClass::branch,
       {},
       true},
      // Conditions that only a debugger sets.
      {"s_cbranch_cdbgsys", never, InstructionClass::branch, {}, true},
      {"s_cbranch_cdbguser", never, InstructionClass::branch, {}, true},
      {"s_cbranch_cdbgsys_or_user", never, InstructionClass::branch, {}, true},
      {"s_cbranch_cdbgsys_and_user", never, InstructionClass::branch, {}, true},
      {"s_cbranch_g_fork", fork_to_address, InstructionClass::branch, u64, false, {}, u64},
      {"s_cbranch_i_fork", fork_relative, InstructionClass::branch},
      {"s_cbranch_join", margay::join, InstructionClass::branch, u32},
      {"s_rfe_b64", outside_trap_handler, InstructionClass::branch, u64},
      {"s_rfe_restore_b64", outside_trap_handler, InstructionClass::branch, u64, false, {}, u32},
      {"s_setvskip", set_skip, salu, u32, false, {}, u32},
      {"s_set_gpr_idx_on", set_register_index_on, salu, u32, false, RegisterIndex::on},
      {"s_set_gpr_idx_off", no_operation, salu, {}, false, RegisterIndex::off},
      {"s_set_gpr_idx_idx", set_register_index, salu, u32},
      {"s_set_gpr_idx_mode", set_register_index_mode},
      {"s_endpgm", end_program, other},
      {"s_endpgm_saved", end_program, other},
      {"s_endpgm_ordered_ps_done", end_program, other},
      {"s_setkill", kill, other},
      {"s_sethalt", halt, other},
      {"s_sendmsghalt", send_message_and_halt, other},
      {"s_barrier", barrier, other},
      {"s_trap", trap, other},
      {"s_sendmsg", send_message, other},
  };
  for (const Special& special : specials) {
    Row row;
    row.mnemonic = special.mnemonic;
    row.instruction_class = special.instruction_class;
    row.plain = special.handler;
    row.sources[0] = special.source;
    row.sources[1] = special.second_source;
    row.source_count = (special.source == OperandType::none ? 0 : 1) +
                       (special.second_source == OperandType::none ? 0 : 1);
    row.relative_branch = special.relative_branch;
    row.register_index = special.register_index;
    row.changes_mode = row.mnemonic.starts_with("s_setreg_") || row.mnemonic == "s_setvskip";
    table.add(row);
  }
  static constexpr std::string_view kIdle[] = {"s_nop",
                                               "s_waitcnt",
                                               "s_sleep",
                                               "s_setprio",
                                               "s_wakeup",
                                               "s_icache_inv",
                                               "s_incperflevel",
                                               "s_decperflevel",
                                               "s_ttracedata",
                                               "s_code_end",
                                               "s_dcache_inv",
                                               "s_dcache_wb",
                                               "s_dcache_inv_vol",
                                               "s_dcache_wb_vol",
                                               "buffer_wbl2",
                                               "buffer_inv",
                                               "buffer_wbinvl1",
                                               "buffer_wbinvl1_vol",
                                               "v_nop",
                                               "v_clrexcp",
                                               "ds_nop"};
  for (const std::string_view mnemonic : kIdle) {
    Row row;
    row.mnemonic = mnemonic;
    row.instruction_class = other;
    row.plain = no_operation;
    table.add(row);
  }
}

}  // namespace margay
