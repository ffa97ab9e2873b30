// Program flow, messages, hardware registers, waits and hints.
#include <bit>
#include <string>
#include <string_view>

#include "exec/instructions/all_rows.h"
#include "exec/program/float_mode.h"
#include "exec/program/program.h"
#include "exec/rows/row_table.h"
#include "exec/state/wave.h"
#include "isa/type_name.h"

namespace margay {

const Instruction* run_problem(Wave& wave, const Instruction& i) {
  return wave.fault(i, wave.group->program->problem_at(i.vaddr));
}

const Instruction* run_off_the_end(Wave& wave, const Instruction& i) {
  return wave.fault(i, {ErrorCode::illegal_instruction,
                        "the wave ran past the end of a function, whose last instruction this is"});
}

const Instruction* no_operation(Wave&, const Instruction& i) { return following(i); }

namespace {

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

// Forks: if a condition divides the wave, the side with more lanes is pushed on a stack of masks
// and addresses in SGPRs, four for each entry; MODE.CSP counts the entries. Source: MI300 ISA
// guide, S_CBRANCH_G_FORK, S_CBRANCH_I_FORK, S_CBRANCH_JOIN.
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
/// S0 is the depth before the fork: when it is reached again, both sides have arrived.
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
                        "the wave sent a message and halted (s_sendmsghalt): nothing "
                        "will read it and let the wave go on"});
}
const Instruction* outside_trap_handler(Wave& wave, const Instruction& i) {
  return wave.fault(i, {ErrorCode::illegal_instruction,
                        std::string(i.row->mnemonic) +
                            " returns from a trap handler; this wave is in none, and the virtual "
                            "device runs none"});
}
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

/// Continues in the copy of the code for the new MODE; Instruction::offset is the distance between
/// the copies.
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
    // The executor does not assign waves to compute units: all waves report SE 0, CU 0, their own
    // slot.
    case kHardwareId:
      value = wave.index_in_group & 15;
      break;
    case kXccId:
      value = wave.group->id[0] % wave.group->program->gpu().xcds;
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

// ---- Rows -----------------------------------------------------------------------------------

constexpr auto none = OperandType::none, u32 = OperandType::u32, u64 = OperandType::u64;

void add_branch_rows(RowTable& table) {
  struct BranchRow {
    std::string_view mnemonic;
    Handler handler;
    Flow flow;
    OperandType source = none, second_source = none;
    OperandType result = none;
    WaveState state = {};
    Effect destination = Effect::writes;
  };
  static constexpr WaveState kScc{.scc = Effect::reads}, kVcc{.vcc = Effect::reads},
      kExec{.exec = Effect::reads}, kFork{.exec = Effect::updates}, kJoin{.exec = Effect::writes};
  static constexpr Handler kAlways = margay::branch<[](const Wave&) { return true; }>;
  static constexpr Handler kNever = margay::branch<[](const Wave&) { return false; }>;
  using enum Flow;
  static constexpr BranchRow kRows[] = {
      {"s_branch", kAlways, Flow::branch},
      {"s_cbranch_scc0", margay::branch<[](const Wave& w) { return !w.scc; }>, branch_if, none,
       none, none, kScc},
      {"s_cbranch_scc1", margay::branch<[](const Wave& w) { return w.scc; }>, branch_if, none, none,
       none, kScc},
      {"s_cbranch_vccz", margay::branch<[](const Wave& w) { return w.scalar64(kVccIndex) == 0; }>,
       branch_if, none, none, none, kVcc},
      {"s_cbranch_vccnz", margay::branch<[](const Wave& w) { return w.scalar64(kVccIndex) != 0; }>,
       branch_if, none, none, none, kVcc},
      {"s_cbranch_execz", margay::branch<[](const Wave& w) { return w.exec() == 0; }>, branch_if,
       none, none, none, kExec},
      {"s_cbranch_execnz", margay::branch<[](const Wave& w) { return w.exec() != 0; }>, branch_if,
       none, none, none, kExec},
      // Conditions that only a debugger sets.
      {"s_cbranch_cdbgsys", kNever, branch_if},
      {"s_cbranch_cdbguser", kNever, branch_if},
      {"s_cbranch_cdbgsys_or_user", kNever, branch_if},
      {"s_cbranch_cdbgsys_and_user", kNever, branch_if},
      {"s_setpc_b64", set_pc, jump, u64},
      {"s_swappc_b64", swap_pc, Flow::call, u64, none, u64},
      {"s_call_b64", margay::call, Flow::call, none, none, u64},
      {"s_cbranch_g_fork", fork_to_address, Flow::fork, u64, u64, none, kFork},
      // Its condition is in the destination's field.
      {"s_cbranch_i_fork", fork_relative, Flow::fork, none, none, u64, kFork, Effect::reads},
      {"s_cbranch_join", margay::join, Flow::fork, u32, none, none, kJoin},
      {"s_rfe_b64", outside_trap_handler, jump, u64},
      {"s_rfe_restore_b64", outside_trap_handler, jump, u64, u32},
  };
  static_assert(all_different(kRows));
  for (const BranchRow& one : kRows) {
    Row row;
    row.mnemonic = one.mnemonic;
    row.instruction_class = InstructionClass::branch;
    row.plain = one.handler;
    row.flow = one.flow;
    row.result = one.result;
    row.sources[0] = one.source;
    row.sources[1] = one.second_source;
    row.source_count = (one.source != none) + (one.second_source != none);
    row.state = one.state;
    row.destination = one.destination;
    table.add(row);
  }
}

void add_hardware_rows(RowTable& table) {
  struct HardwareRow {
    std::string_view mnemonic;
    Handler handler;
    OperandType result = none;
    std::uint8_t sources = 0;
    Effect hardware = Effect::none, destination = Effect::writes;
    bool changes_mode = false;
  };
  static constexpr HardwareRow kRows[] = {
      {"s_getpc_b64", get_pc, u64},
      {"s_getreg_b32", get_register, u32, 0, Effect::reads},
      {"s_setreg_b32", set_register, u32, 0, Effect::writes, Effect::reads, true},
      {"s_setreg_imm32_b32", set_register_immediate, none, 0, Effect::writes, Effect::writes, true},
      {"s_setvskip", set_skip, none, 2, Effect::none, Effect::writes, true},
  };
  static_assert(all_different(kRows));
  for (const HardwareRow& one : kRows) {
    Row row;
    row.mnemonic = one.mnemonic;
    row.instruction_class = InstructionClass::salu;
    row.plain = one.handler;
    row.result = one.result;
    for (unsigned n = 0; n < one.sources; ++n) row.sources[n] = u32;
    row.source_count = one.sources;
    row.hardware = one.hardware;
    row.destination = one.destination;
    row.changes_mode = one.changes_mode;
    table.add(row);
  }
}

/// Neither ALU nor memory.
void add_other_rows(RowTable& table) {
  struct OtherRow {
    std::string_view mnemonic;
    Handler handler = no_operation;
    Flow flow = Flow::next;
    bool reads_m0 = false, is_message = false;
    Pause pause = Pause::none;
    CacheAction cache = CacheAction::none;
  };
  static constexpr OtherRow kRows[] = {
      {"s_endpgm", end_program, Flow::end},
      {"s_endpgm_saved", end_program, Flow::end},
      {"s_endpgm_ordered_ps_done", end_program, Flow::end},
      {"s_setkill", kill},
      {"s_sethalt", halt},
      {"s_barrier", barrier, Flow::barrier},
      {"s_trap", trap},
      {.mnemonic = "s_sendmsg", .handler = send_message, .reads_m0 = true, .is_message = true},
      {.mnemonic = "s_sendmsghalt",
       .handler = send_message_and_halt,
       .reads_m0 = true,
       .is_message = true},
      {.mnemonic = "s_ttracedata", .reads_m0 = true},
      // Waits and hints have no effect: every instruction completes before the next one starts.
      {.mnemonic = "s_waitcnt", .pause = Pause::counters},
      {.mnemonic = "s_nop", .pause = Pause::turns},
      {.mnemonic = "s_sleep", .pause = Pause::sleep},
      {.mnemonic = "s_setprio", .pause = Pause::priority},
      {"s_wakeup"},
      {"s_icache_inv"},
      {"s_incperflevel"},
      {"s_decperflevel"},
      {"s_code_end"},
      {"s_dcache_inv"},
      {"s_dcache_wb"},
      {"s_dcache_inv_vol"},
      {"s_dcache_wb_vol"},
      {.mnemonic = "buffer_wbl2", .cache = CacheAction::write_back},
      {.mnemonic = "buffer_inv", .cache = CacheAction::invalidate},
      {"v_nop"},
      {"v_clrexcp"},
      {"ds_nop"},
  };
  static_assert(all_different(kRows));
  for (const OtherRow& one : kRows) {
    Row row;
    row.mnemonic = one.mnemonic;
    row.plain = one.handler;
    row.flow = one.flow;
    row.pause = one.pause;
    row.is_message = one.is_message;
    row.cache = one.cache;
    if (one.reads_m0) row.state.m0 = Effect::reads;
    table.add(row);
  }
}

}  // namespace

void add_flow_rows(RowTable& table) {
  add_branch_rows(table);
  add_hardware_rows(table);
  add_other_rows(table);
}

}  // namespace margay
