// One instruction of the ISA as a record. All its properties are declared with its row; none is
// derived from the spelling of its mnemonic.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "exec/rows/float_use.h"
#include "exec/state/combine.h"
#include "exec/state/instruction.h"
#include "isa/operand.h"
#include "isa/traits.h"

namespace margay {

struct MatrixKernels;
struct MfmaShape;
struct MemoryForm;
struct LaneAccesses;

/// Computes the accesses of an instruction's lanes (instructions/addresses.h); they are appended.
using AccessFunction = void (*)(const Wave& wave, const Instruction& i, const MemoryForm& form,
                                LaneAccesses& out);

/// The effect of an instruction on the mode that adds M0 to VGPR numbers.
enum class RegisterIndex : std::uint8_t {
  none,
  on,
  off,
  changes,  ///< Changes the number in M0, or the operands it is added to.
};

/// Where a wave continues after an instruction.
enum class Flow : std::uint8_t {
  next,          ///< At the next instruction; all except those below.
  branch_if,     ///< At the next one, or at a displacement.
  branch,        ///< At a displacement.
  jump,          ///< At an address in registers.
  call,          ///< Likewise, or at a displacement; the callee may return.
  fork,          ///< On both sides of a condition, one after the other.
  barrier,       ///< At the next instruction, when the other waves have arrived,
  grid_barrier,  ///< or all workgroups of a cooperative launch.
  end,           ///< Nowhere.
};

/// The access of an instruction to a register that its encoding does not name.
enum class Effect : std::uint8_t { none, reads, writes, updates };
[[nodiscard]] constexpr bool reads(Effect effect) {
  return effect == Effect::reads || effect == Effect::updates;
}
[[nodiscard]] constexpr bool writes(Effect effect) {
  return effect == Effect::writes || effect == Effect::updates;
}

/// The wave state that an instruction accesses implicitly.
struct WaveState {
  Effect scc = Effect::none;
  Effect vcc = Effect::none;
  Effect exec = Effect::none;
  Effect m0 = Effect::none;
};

/// Which register of a scalar move M0 selects.
enum class RelativeScalar : std::uint8_t { none, source, destination };

/// Exchange of registers between lanes through the LDS crossbar.
enum class LaneExchange : std::uint8_t { none, push, pull, swizzle };

/// The part of a register that is loaded or stored, if not all of it.
struct RegisterPart {
  bool is_signed = false;  ///< Extended by the sign.
  bool half = false;       ///< To 16 bits only; the other half is unchanged.
  bool upper = false;      ///< The half is the upper one.
};

struct MemoryTraits {
  MemoryPath path = MemoryPath::none;
  std::uint16_t bytes = 0;            ///< Per lane and access; scalar: all of it.
  std::uint16_t offset_unit = 1;      ///< ds_two: what its offsets count.
  std::uint8_t data_operands = 1;     ///< DS: the number of data operands of a store or an atomic.
  AccessFunction accesses = nullptr;  ///< Set if there is a path.
  RegisterPart part;
  LaneExchange exchange = LaneExchange::none;
  bool to_lds = false;  ///< A load straight to LDS. (For buffer loads, a bit of the encoding.)
  bool swaps = false;   ///< An atomic whose new value does not depend on the old one.
  Combine combine = Combine::none;  ///< Of an atomic.
  bool compares_bits = false;       ///< An atomic that stores only where memory equals an operand.
  bool formatted = false;           ///< Buffer: converts to or from a data format,
  bool typed = false;               ///< which the instruction names, rather than the descriptor.
  bool scalar_buffer = false;       ///< Scalar: the base is a descriptor in four SGPRs.
  bool scalar_scratch = false;      ///< Scalar: the offset in a register is in units of 64 bytes.
};

/// The effect of an instruction on the caches, at the scope that its bits name.
enum class CacheAction : std::uint8_t { none, write_back, invalidate };

/// How an instruction holds its wave back; it has no other effect.
enum class Pause : std::uint8_t {
  none,
  counters,  ///< s_waitcnt: until few enough accesses are in flight.
  turns,     ///< s_nop: some issue turns.
  sleep,     ///< s_sleep: some 64 cycles.
  priority,  ///< s_setprio: that of the wave, from now on.
};

/// The effect of undefined bits of the operands on the result.
struct Definedness {
  BitRule rule = BitRule::whole;
  Order order = Order::as_written;
  Comparison comparison = Comparison::none;
  bool is_signed = false;                   ///< Comparisons.
  std::uint32_t looked_at[2] = {~0u, ~0u};  ///< Bits of the first two operands.
};

/// One instruction of the ISA, as data: everything that the executor, the checker and the profiler
/// know about it independently of its operands.
struct Row {
  std::string_view mnemonic;
  InstructionClass instruction_class = InstructionClass::other;
  /// Issue slots of four cycles that it takes from its wave: for MFMA its passes, for
  /// transcendentals 4.
  std::uint8_t passes = 1;
  Handler plain = nullptr;
  Handler modified = nullptr;  ///< With input or output modifiers; null: it has none.
  bool takes_signs = false;    ///< neg and abs: some source is a float.
  bool takes_halves = false;   ///< op_sel: some operand is 16 bits wide.
  bool takes_output = false;   ///< omod: the result is a float.
  bool takes_clamp = false;    ///< The result is a float, or an integer that can saturate.
  OperandType result = OperandType::none;
  OperandType sources[4] = {};
  std::uint8_t source_count = 0;
  bool mask_result = false;  ///< Writes a lane mask in addition to or instead of the VGPR result.
  bool accumulates = false;  ///< The last source is the destination.
  bool keeps_rest = false;   ///< The same, and only a part of it changes.
  bool reads_vcc = false;    ///< In e32, the last source is VCC.
  bool writes_exec = false;
  Flow flow = Flow::next;
  WaveState state;  ///< Scalar rows only: vector ones have the flags above.
  /// Scalar ALU: the access to the destination field's register, which is as wide as `result`.
  Effect destination = Effect::writes;
  RelativeScalar relative = RelativeScalar::none;
  Pause pause = Pause::none;
  CacheAction cache = CacheAction::none;
  bool is_message = false;         ///< Sends a message; the end of the program does, too.
  Effect hardware = Effect::none;  ///< Hardware registers, some of which are clocks.
  bool scalar_result = false;      ///< The vector destination field names an SGPR (v_readlane).
  LaneOperation lane = LaneOperation::none;  ///< No SDWA or DPP form.
  PackedForm packed = PackedForm::none;
  PackedTwin packed_twin = PackedTwin::none;
  Literal literal = Literal::none;
  bool byte_floats = false;  ///< Source 0 has 8-bit floats; SDWA selects the first.
  Operation operation = Operation::other;
  NumberType number = NumberType::none;
  Definedness definedness;  ///< ALUs.
  RegisterIndex register_index = RegisterIndex::none;
  bool zero_extended_immediate = false;  ///< SOPK: the immediate is unsigned.
  std::uint8_t mfma_registers[4] = {};   ///< Registers of A, B, C and D.
  const MfmaShape* shape = nullptr;
  std::shared_ptr<const MatrixKernels> matrix;  ///< Its kernels (exec/instructions/matrix).
  bool returns_value = false;                   ///< Atomic that writes its destination.
  MemoryTraits memory;
  std::uint8_t registers = 0;  ///< Memory: data registers.
  bool is_store = false, is_load = false, is_atomic = false;
  FloatUse float_use;               ///< The effect of MODE on it.
  Handler in_float_mode = nullptr;  ///< LDS: for other modes of denormals.
  bool changes_mode = false;     ///< s_setreg, s_setvskip: may switch to another copy of the code.
  bool address_from_m0 = false;  ///< DS: no address register; see LdsRows::by_lane and counter.
};

/// The immediate is a displacement in dwords.
[[nodiscard]] inline bool is_relative_branch(const Row& row) {
  return row.flow == Flow::branch || row.flow == Flow::branch_if;
}
/// The immediate is a displacement in dwords: also of calls and forks without a target register.
[[nodiscard]] inline bool has_displacement(const Row& row) {
  return is_relative_branch(row) ||
         ((row.flow == Flow::call || row.flow == Flow::fork) && row.source_count == 0);
}
/// v_div_fmas has three sources of its own and takes VCC as the fourth.
[[nodiscard]] inline bool has_fourth_source(const Row& row) { return row.source_count == 4; }
/// Reads or writes a lane that a number names.
[[nodiscard]] inline bool is_lane_move(const Row& row) {
  return row.lane == LaneOperation::read || row.lane == LaneOperation::read_first ||
         row.lane == LaneOperation::write;
}

}  // namespace margay
