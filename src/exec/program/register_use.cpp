#include "exec/program/register_use.h"

#include <algorithm>

#include "exec/program/program.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"
#include "gpu/matrix_shapes.h"
#include "isa/encoding.h"

namespace margay {
namespace {

using isa::bits;

class UseFinder {
 public:
  explicit UseFinder(const Instruction& instruction) : i_(instruction), row_(*instruction.row) {}

  RegisterUse run() {
    touch_state();
    switch (row_.instruction_class) {
      case InstructionClass::valu:
        vector_alu();
        break;
      case InstructionClass::mfma:
        matrix();
        break;
      case InstructionClass::salu:
      case InstructionClass::branch:
        scalar_alu();
        break;
      case InstructionClass::smem:
        scalar_memory();
        break;
      case InstructionClass::lds:
        lds();
        break;
      case InstructionClass::vmem:
        vector_memory();
        break;
      case InstructionClass::other:
        break;
    }
    return use_;
  }

 private:
  // ---- Noting one operand -------------------------------------------------------------------

  static void set(VgprMask& mask, unsigned first, unsigned count) {
    for (unsigned row = first; row < first + count; ++row)
      if (row < 512) mask[row / 64] |= 1ull << (row % 64);
  }
  static void set(std::array<std::uint64_t, 2>& mask, unsigned first, unsigned count) {
    for (unsigned index = first; index < first + count && index < kScalarRegisters; ++index)
      mask[index / 64] |= 1ull << (index % 64);
  }
  void read_vgprs(unsigned operand, unsigned first, unsigned count) {
    use_.sources[operand] = {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(count)};
    set(use_.reads, first, count);
  }
  void write_vgprs(unsigned first, unsigned count) {
    use_.destination = {static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(count)};
    set(use_.writes, first, count);
  }
  void read_scalars(unsigned first, unsigned count) { set(use_.scalar_reads, first, count); }
  void write_scalars(unsigned first, unsigned count) { set(use_.scalar_writes, first, count); }
  void read_source(unsigned n, unsigned registers) {
    const Source source = i_.src[n];
    if (source.is_vgpr()) read_vgprs(n, source.index(), registers);
    if (source.kind() == Source::kScalar) read_scalars(source.index(), registers);
  }

  // ---- Vector ALU ---------------------------------------------------------------------------

  void vector_alu() {
    for (unsigned n = 0; n < row_.source_count && n < 3; ++n)
      if (!(row_.keeps_rest && n + 1u == row_.source_count) && !read_chosen_half(n))
        read_source(n, register_count(row_.sources[n]));
    if (has_fourth_source(row_)) read_scalars(kVccIndex, 2);
    if (i_.modifiers.form == OperandForm::indexed) read_scalars(kM0Index, 1);
    if (row_.scalar_result) write_scalars(i_.sdst, 1);
    if (row_.mask_result) write_scalars(i_.sdst, 2);
    if (row_.writes_exec) write_scalars(kExecIndex, 2);
    if (i_.dst != kNoRegister) write_vgprs(i_.dst, register_count(row_.result));
    if (row_.lane == LaneOperation::swap) {
      read_vgprs(1, i_.dst, 1);
      set(use_.writes, i_.src[0].index(), 1);
    }
    use_.crosses_lanes = is_lane_move(row_) || i_.modifiers.form == OperandForm::dpp;
    use_.ignores_exec = is_lane_move(row_) && row_.lane != LaneOperation::read_first;
    use_.merges_destination = keeps_part();
  }
  /// Packed pairs of 32-bit numbers: op_sel and op_sel_hi choose a register of the pair for the low
  /// and for the high result; v_pk_mov_b32 takes one register of each source.
  bool read_chosen_half(unsigned n) {
    if (row_.packed != PackedForm::words && row_.packed != PackedForm::moves) return false;
    const Source source = i_.src[n];
    if (source.kind() == Source::kConstant) return true;
    const bool low = i_.extra >> n & 1;
    const bool high = row_.packed == PackedForm::moves ? low : (i_.extra >> (3 + n) & 1) != 0;
    const unsigned first = source.index() + (low && high ? 1 : 0), count = low == high ? 1 : 2;
    if (source.is_vgpr())
      read_vgprs(n, first, count);
    else
      read_scalars(first, count);
    return true;
  }
  [[nodiscard]] bool keeps_part() const {
    if (i_.dst == kNoRegister) return false;
    if (row_.keeps_rest || row_.lane == LaneOperation::write ||
        row_.packed == PackedForm::mix_low || row_.packed == PackedForm::mix_high)
      return true;
    if (i_.modifiers.form == OperandForm::sdwa)
      return bits(i_.extra, 8, 10) != 6 && bits(i_.extra, 11, 12) == 2;
    if (i_.modifiers.form == OperandForm::dpp)
      return !bits(i_.extra, 19, 19) || bits(i_.extra, 24, 31) != 0xff;
    return is_16_bit(row_.result) && (i_.modifiers.op_select & 8) != 0;
  }

  void matrix() {
    const bool sparse = row_.shape->sparse;
    for (unsigned n = 0; n < (sparse ? 2u : 3u); ++n) read_source(n, row_.mfma_registers[n]);
    if (sparse) {  // C is the destination; the third operand is the indices
      read_vgprs(2, i_.dst, row_.mfma_registers[3]);
      read_vgprs(3, i_.src[2].index(), 1);
    }
    write_vgprs(i_.dst, row_.mfma_registers[3]);
    use_.crosses_lanes = use_.ignores_exec = true;
  }

  // ---- Scalar formats -----------------------------------------------------------------------

  void touch_state() {
    use_.reads_scc = reads(row_.state.scc);
    use_.writes_scc = writes(row_.state.scc);
    touch(row_.state.vcc, kVccIndex, 2);
    touch(row_.state.exec, kExecIndex, 2);
    touch(row_.state.m0, kM0Index, 1);
  }
  void touch(Effect how, unsigned first, unsigned count) {
    if (reads(how)) read_scalars(first, count);
    if (writes(how)) write_scalars(first, count);
  }
  void scalar_alu() {
    for (unsigned n = 0; n < row_.source_count; ++n)
      read_source(n, register_count(row_.sources[n]));
    if (row_.result != OperandType::none)
      touch(row_.destination, i_.sdst, register_count(row_.result));
  }
  void scalar_memory() {
    if (row_.is_load) write_scalars(i_.sdst, row_.registers);
    if (reads(row_.hardware)) return;
    read_source(0, row_.memory.scalar_buffer ? 4 : 2);
    read_source(1, 1);
    read_source(2, row_.registers);
    if (row_.is_atomic && (i_.extra & extra::kSc0)) write_scalars(i_.sdst, returned_registers());
  }

  // ---- Memory -------------------------------------------------------------------------------

  void data(unsigned operand, unsigned first) { read_vgprs(operand, first, row_.registers); }
  /// The number of registers that an atomic returns: for a compare-and-swap, half of its data.
  [[nodiscard]] unsigned returned_registers() const {
    return std::min<unsigned>(row_.registers, row_.memory.bytes / 4u);
  }

  void lds() {
    const MemoryTraits& memory = row_.memory;
    if (row_.address_from_m0)
      read_scalars(kM0Index, 1);
    else
      read_source(0, 1);
    // Its data is in the address field.
    const bool swizzle = memory.exchange == LaneExchange::swizzle;
    const bool counter = row_.is_atomic && row_.address_from_m0;
    const bool two_values = row_.is_atomic && memory.path == MemoryPath::ds_two;
    const unsigned registers = row_.registers / (two_values ? 2u : 1u);
    if ((row_.is_store || row_.is_atomic) && !swizzle && !counter)
      read_vgprs(1, i_.src[1].index(), registers);
    if (memory.data_operands == 2) read_vgprs(2, i_.src[2].index(), registers);
    if (row_.is_load || row_.returns_value) write_vgprs(i_.dst, row_.registers);
    use_.crosses_lanes = counter || memory.exchange != LaneExchange::none;
  }

  void vector_memory() {
    if (row_.memory.path == MemoryPath::buffer) return buffer();
    const bool has_base = i_.src[2].kind() == Source::kScalar;
    if (row_.memory.path == MemoryPath::scratch) {
      if (i_.extra & extra::kScratchVaddr) read_source(0, 1);
      read_source(2, 1);
    } else {
      read_source(0, has_base ? 1 : 2);
      read_source(2, 2);
    }
    if (row_.memory.to_lds) return read_scalars(kM0Index, 1);
    if (row_.is_store || row_.is_atomic) data(1, i_.src[1].index());
    memory_result();
  }
  void buffer() {
    const unsigned offset = (i_.extra & extra::kOffen) != 0,
                   index = (i_.extra & extra::kIdxen) != 0;
    if (offset + index != 0) read_source(0, offset + index);
    read_source(1, 4);
    read_source(2, 1);
    if (i_.extra & extra::kToLds) return read_scalars(kM0Index, 1);
    if (row_.is_store || row_.is_atomic) data(1, i_.dst);
    memory_result();
  }
  void memory_result() {
    if (row_.is_load) write_vgprs(i_.dst, row_.registers);
    if (row_.is_atomic && (i_.extra & extra::kSc0)) write_vgprs(i_.dst, returned_registers());
  }

  const Instruction& i_;
  const Row& row_;
  RegisterUse use_;
};

}  // namespace

RegisterUse register_use(const Instruction& instruction) {
  // Bytes that could not be decoded have no row.
  return instruction.row == nullptr ? RegisterUse{} : UseFinder(instruction).run();
}

}  // namespace margay
