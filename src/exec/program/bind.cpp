#include "exec/program/bind.h"
#include "exec/state/extra.h"

#include <optional>
#include <string>

#include "exec/state/wave.h"
#include "isa/encoding.h"
#include "mfma/mfma.h"

namespace margay {
namespace {

using isa::bits;
using isa::Encoded;
using isa::Format;
namespace source = isa::source;

/// The bits of 0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi) in each format.
constexpr std::uint64_t kInlineF64[] = {0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000,
                                        0xbff0000000000000, 0x4000000000000000, 0xc000000000000000,
                                        0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882};
constexpr std::uint32_t kInlineF32[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                        0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
constexpr std::uint16_t kInlineF16[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                        0xc000, 0x4400, 0xc400, 0x3118};

std::uint64_t inline_float(unsigned code, OperandType type) {
  const unsigned index = code - source::kFloatHalf;
  if (is_64_bit(type)) return kInlineF64[index];
  if (is_16_bit(type)) return kInlineF16[index];
  return kInlineF32[index];
}

std::uint64_t literal_value(std::uint32_t literal, OperandType type) {
  if (type == OperandType::f64) return std::uint64_t{literal} << 32;
  if (type == OperandType::i64)
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(literal)});
  return literal;
}

class Binder {
 public:
  Binder(const Encoded& encoded, const Row& row, const BindContext& context, std::uint64_t vaddr)
      : encoded_(encoded), word_(encoded.word), row_(row), context_(context) {
    out_.row = &row;
    out_.execute = row.plain;
    out_.vaddr = static_cast<std::uint32_t>(vaddr);
  }

  Result<Instruction> run() {
    switch (encoded_.format) {
      case Format::sop1:
        bind_sop1();
        break;
      case Format::sop2:
        bind_sop2();
        break;
      case Format::sopc:
        bind_sopc();
        break;
      case Format::sopk:
        bind_sopk();
        break;
      case Format::sopp:
        bind_sopp();
        break;
      case Format::smem:
        bind_smem();
        break;
      case Format::vop1:
        bind_vop1();
        break;
      case Format::vop2:
        bind_vop2();
        break;
      case Format::vopc:
        bind_vopc();
        break;
      case Format::vop3:
        bind_vop3();
        break;
      case Format::vop3p:
        bind_vop3p();
        break;
      case Format::mfma:
        bind_mfma();
        break;
      case Format::ds:
        bind_ds();
        break;
      case Format::flat:
      case Format::global:
      case Format::scratch:
        bind_flat();
        break;
      case Format::mubuf:
        bind_mubuf();
        break;
      case Format::mtbuf:
        bind_mtbuf();
        break;
      case Format::unknown:
        refuse("this encoding");
        break;
    }
    if (problem_) return std::unexpected(std::move(*problem_));
    if (out_.execute == nullptr)
      return fail(ErrorCode::not_implemented,
                  std::string(row_.mnemonic) + " has no handler for this form");
    return out_;
  }

 private:
  void refuse(std::string what) {
    if (!problem_)
      problem_ = Error{ErrorCode::not_implemented,
                       std::string(row_.mnemonic) + ": " + std::move(what) + " is not implemented"};
  }

  Source vgpr(unsigned index, bool acc, unsigned registers = 1) {
    const unsigned row = acc ? context_.accum_offset + index : index;
    if (row + registers > context_.vgpr_rows && !problem_)
      problem_ = Error{ErrorCode::illegal_instruction,
                       std::string(row_.mnemonic) + " names " + (acc ? "a" : "v") +
                           std::to_string(index) + " but the kernel's descriptor allocates only " +
                           std::to_string(context_.vgpr_rows) + " registers"};
    return Source::vgpr(row);
  }
  /// Checks that a kernel may use `registers` scalars from `index` on, and that they are aligned as
  /// the hardware requires: tuples of two to two, larger ones to four. Source: MI300 ISA guide,
  /// section 3.6.1 (SGPR alignment) and the table of scalar operand codes.
  std::uint16_t scalar(unsigned index, unsigned registers = 1) {
    if (index + registers > kScalarRegisters) refuse("a tuple past the last scalar register");
    if ((index > kVccIndex + 1 && index < kM0Index) || index == kM0Index + 1)
      refuse("scalar register " + std::to_string(index) + " (the trap handler's, or none)");
    if (index % (registers >= 4 ? 4 : registers) != 0)
      refuse("a tuple of " + std::to_string(registers) + " scalar registers that starts at " +
             std::to_string(index));
    return static_cast<std::uint16_t>(index);
  }

  /// A source field of 8 or 9 bits, for operand `n` of type `type`.
  Source read_source(unsigned code, int n, OperandType type, bool acc = false) {
    if (code >= source::kVgpr) return vgpr(code - source::kVgpr, acc, register_count(type));
    if (code < kScalarRegisters) return Source::scalar(scalar(code, register_count(type)));
    std::uint64_t& constant = out_.constant[n];
    if (code <= source::kIntegerMinusOne + 15) {
      const std::int64_t value =
          code < source::kIntegerMinusOne
              ? static_cast<std::int64_t>(code) - source::kIntegerZero
              : static_cast<std::int64_t>(source::kIntegerMinusOne) - 1 - code;
      constant = static_cast<std::uint64_t>(value);
      if (!is_64_bit(type)) constant &= 0xffffffff;
      return Source::constant();
    }
    switch (code) {
      case source::kSharedBase:
        constant = std::uint64_t{kSharedApertureHigh} << 32;
        break;
      case source::kPrivateBase:
        constant = std::uint64_t{kPrivateApertureHigh} << 32;
        break;
      case source::kSharedLimit:
        constant = (std::uint64_t{kSharedApertureHigh} << 32) | 0xffffffff;
        break;
      case source::kPrivateLimit:
        constant = (std::uint64_t{kPrivateApertureHigh} << 32) | 0xffffffff;
        break;
      case source::kLiteral:
        constant = literal_value(encoded_.literal, type);
        return Source::constant();
      default:
        if (code >= source::kFloatHalf && code <= source::kInverseTwoPi) {
          constant = inline_float(code, type);
          return Source::constant();
        }
        refuse("source operand code " + std::to_string(code) + " (VCCZ, EXECZ, SCC or LDS_DIRECT)");
        return Source{};
    }
    if (!is_64_bit(type)) refuse("half of an aperture register");
    return Source::constant();
  }

  [[nodiscard]] OperandType type(int n) const {
    return row_.sources[n] == OperandType::none ? OperandType::u32 : row_.sources[n];
  }
  void set_source(int n, unsigned code) { out_.src[n] = read_source(code, n, type(n)); }

  // ---- Scalar formats -----------------------------------------------------------------------

  void set_scalar_destination() {
    if (row_.result != OperandType::none)
      out_.sdst = scalar(bits(word_, 16, 22), register_count(row_.result));
  }
  void bind_sop1() {
    set_scalar_destination();
    if (row_.source_count > 0) set_source(0, bits(word_, 0, 7));
    if (row_.relative == RelativeScalar::source && out_.src[0].kind() != Source::kScalar)
      refuse("a source that is no register");
    // s_getpc, s_call etc. need the address of the next instruction.
    out_.offset = encoded_.size_bytes;
  }
  void bind_sop2() {
    set_scalar_destination();
    set_source(0, bits(word_, 0, 7));
    set_source(1, bits(word_, 8, 15));
  }
  void bind_sopc() {
    set_source(0, bits(word_, 0, 7));
    if (row_.register_index == RegisterIndex::none)
      set_source(1, bits(word_, 8, 15));
    else
      out_.extra = bits(word_, 8, 15);  // s_set_gpr_idx_on: an immediate
  }
  void bind_sopk() {
    const std::uint32_t immediate = bits(word_, 0, 15);
    set_scalar_destination();
    out_.extra = immediate;
    const auto value = row_.zero_extended_immediate
                           ? immediate
                           : static_cast<std::uint32_t>(isa::sign_extend(immediate, 16));
    // The destination's field holds the register that comparisons read and arithmetic updates.
    const int n = row_.source_count == 2 ? 1 : 0;
    if (n == 1) out_.src[0] = Source::scalar(scalar(bits(word_, 16, 22)));
    out_.src[n] = Source::constant();
    out_.constant[n] = value;
    out_.constant[2] = encoded_.literal;
    out_.offset = isa::sign_extend(immediate, 16) * 4 + 4;
  }
  void bind_sopp() {
    const std::uint32_t immediate = bits(word_, 0, 15);
    out_.extra = immediate;
    out_.offset = isa::sign_extend(immediate, 16) * 4 + 4;
  }
  void bind_smem() {
    if (row_.registers == 0 && row_.source_count == 0) return;  // the whole cache
    if (row_.registers != 0) bind_scalar_data(bits(word_, 6, 12));
    out_.src[0] = Source::scalar(scalar(bits(word_, 0, 5) * 2, row_.memory.scalar_buffer ? 4 : 2));
    const bool immediate = bits(word_, 17, 17), soffset_enable = bits(word_, 14, 14);
    if (immediate) out_.offset = isa::sign_extend(bits(word_, 32, 52), 21);
    if (soffset_enable)
      out_.src[1] = read_source(bits(word_, 57, 63), 1, OperandType::u32);
    else if (!immediate)
      out_.src[1] = read_source(bits(word_, 32, 38), 1, OperandType::u32);
  }
  /// The destination of a load or the source of a store; an atomic with GLC returns to the first of
  /// its data.
  void bind_scalar_data(unsigned field) {
    const std::uint16_t data = scalar(field, row_.registers);
    if (row_.is_store || row_.is_atomic) out_.src[2] = Source::scalar(data);
    const bool glc = bits(word_, 16, 16);
    if (glc) out_.extra |= extra::kSc0;
    if (row_.is_load || (row_.is_atomic && glc)) out_.sdst = data;
  }

  // ---- Vector ALU ---------------------------------------------------------------------------

  void set_destination(unsigned field) {
    if (row_.scalar_result) {
      out_.sdst = scalar(field);
    } else {
      out_.dst =
          static_cast<std::uint16_t>(vgpr(field, false, register_count(row_.result)).index());
    }
  }
  /// The implicit sources of e32: VCC, or the destination.
  void set_implicit_sources() {
    const int last = row_.source_count - 1;
    if (last < 0) return;
    if (row_.reads_vcc) out_.src[last] = Source::scalar(kVccIndex);
    if (row_.accumulates) out_.src[last] = Source::vgpr(out_.dst);
  }
  void set_first_source(unsigned code) {
    if (code != source::kSdwa && code != source::kDpp) {
      set_source(0, code);
      return;
    }
    const auto second = static_cast<std::uint32_t>(word_ >> 32);
    out_.extra = row_.byte_floats ? with_byte_selection(second) : second;
    // Both need a VGPR (SDWA: or an SGPR) and a row whose plain handler they can call.
    if (code == source::kSdwa) {
      out_.src[0] = bits(second, 23, 23) ? read_source(bits(second, 0, 7), 0, type(0))
                                         : vgpr(bits(second, 0, 7), false);
      out_.modifiers.negate = bits(second, 20, 20) | bits(second, 28, 28) << 1;
      out_.modifiers.absolute = bits(second, 21, 21) | bits(second, 29, 29) << 1;
      if (encoded_.format != Format::vopc) {
        out_.modifiers.clamp = bits(second, 13, 13);
        out_.modifiers.output = bits(second, 14, 15);
      }
      out_.modifiers.form = OperandForm::sdwa;
      out_.execute = run_sdwa;
    } else {
      out_.src[0] = vgpr(bits(second, 0, 7), false, register_count(type(0)));
      out_.modifiers.negate = bits(second, 20, 20) | bits(second, 22, 22) << 1;
      out_.modifiers.absolute = bits(second, 21, 21) | bits(second, 23, 23) << 1;
      out_.modifiers.form = OperandForm::dpp;
      out_.execute = run_dpp;
    }
    if (row_.lane != LaneOperation::none) refuse("SDWA or DPP");
    check_modifiers();
  }
  /// Conversions from 8-bit floats take byte 0 unless SRC0_SEL is another byte, and pairs word 0
  /// unless its lower bits are WORD_1's. Source: MI300 ISA guide, V_CVT_F32_FP8, V_CVT_PK_F32_FP8.
  [[nodiscard]] std::uint32_t with_byte_selection(std::uint32_t second) const {
    constexpr unsigned kByte0 = 0, kByte3 = 3, kWord0 = 4, kWord1 = 5;
    const unsigned asked = bits(second, 16, 18);
    const unsigned selection = row_.result == OperandType::u64
                                   ? ((asked & 3) == (kWord1 & 3) ? kWord1 : kWord0)
                                   : (asked <= kByte3 ? asked : kByte0);
    return (second & ~(7u << 16)) | selection << 16;
  }
  void check_modifiers() {
    const Modifiers m = out_.modifiers;
    if ((m.negate || m.absolute) && !row_.takes_signs) refuse("neg or abs");
    if (m.op_select && !row_.takes_halves) refuse("op_sel");
    if (m.output && !row_.takes_output) refuse("omod");
    if (m.clamp && !row_.takes_clamp) refuse("clamp");
  }
  [[nodiscard]] bool is_sdwa() const { return bits(word_, 0, 8) == source::kSdwa; }

  void bind_vop1() {
    if (row_.lane == LaneOperation::acc_move) {
      if (bits(word_, 0, 8) < source::kVgpr) return refuse("a source that is no register");
      out_.dst = static_cast<std::uint16_t>(vgpr(bits(word_, 17, 24), true).index());
      out_.src[0] = read_source(bits(word_, 0, 8), 0, OperandType::u32, true);
      return;
    }
    if (row_.lane == LaneOperation::swap && bits(word_, 0, 8) < source::kVgpr)
      return refuse("a source that is no register");
    if (row_.result != OperandType::none || row_.scalar_result)
      set_destination(bits(word_, 17, 24));
    if (row_.source_count > 0) set_first_source(bits(word_, 0, 8));
    set_implicit_sources();
  }
  void bind_vop2() {
    set_destination(bits(word_, 17, 24));
    set_first_source(bits(word_, 0, 8));
    const unsigned second = bits(word_, 9, 16);
    if (row_.literal == Literal::source1) {
      set_source(1, source::kLiteral);
      out_.src[2] = vgpr(second, false);
    } else {
      if (is_sdwa() && bits(word_ >> 32, 31, 31))
        out_.src[1] = read_source(second, 1, type(1));
      else
        out_.src[1] = vgpr(second, false, register_count(type(1)));
      if (row_.literal == Literal::source2) set_source(2, source::kLiteral);
    }
    if (row_.mask_result) out_.sdst = kVccIndex;
    set_implicit_sources();
    if (row_.packed == PackedForm::halves) out_.extra = 7u << 3;  // VOP3P's op_sel_hi:[1,1,1]
  }
  void bind_vopc() {
    set_first_source(bits(word_, 0, 8));
    const auto second = static_cast<std::uint32_t>(word_ >> 32);
    if (is_sdwa() && bits(second, 31, 31))
      out_.src[1] = read_source(bits(word_, 9, 16), 1, type(1));
    else
      out_.src[1] = vgpr(bits(word_, 9, 16), false, register_count(type(1)));
    out_.sdst = kVccIndex;
    if (is_sdwa() && bits(second, 15, 15)) out_.sdst = scalar(bits(second, 8, 14), 2);
  }
  void bind_vop3() {
    const bool only_mask = row_.result == OperandType::mask;
    const bool has_sdst = row_.mask_result && !only_mask;  // VOP3B
    if (only_mask)
      out_.sdst = scalar(bits(word_, 0, 7), 2);
    else
      set_destination(bits(word_, 0, 7));
    constexpr unsigned kFields[3] = {32, 41, 50};
    for (int n = 0; n < 3 && n < row_.source_count; ++n) {
      if (row_.accumulates && n == row_.source_count - 1) break;
      set_source(n, bits(word_, kFields[n], kFields[n] + 8));
    }
    if (row_.accumulates) out_.src[row_.source_count - 1] = Source::vgpr(out_.dst);
    Modifiers& modifiers = out_.modifiers;
    modifiers.negate = bits(word_, 61, 63);
    modifiers.output = bits(word_, 59, 60);
    modifiers.clamp = bits(word_, 15, 15);
    if (has_sdst) {
      out_.sdst = scalar(bits(word_, 8, 14), 2);
    } else {
      modifiers.absolute = bits(word_, 8, 10);
      modifiers.op_select = bits(word_, 11, 14);
    }
    if (modifiers.any()) {
      check_modifiers();
      out_.execute = row_.modified;
    }
  }
  void bind_vop3p() {
    if (row_.lane == LaneOperation::acc_read || row_.lane == LaneOperation::acc_write) {
      const bool write = row_.lane == LaneOperation::acc_write;
      out_.dst = static_cast<std::uint16_t>(vgpr(bits(word_, 0, 7), write).index());
      out_.src[0] = read_source(bits(word_, 32, 40), 0, OperandType::u32, !write);
      return;
    }
    set_destination(bits(word_, 0, 7));
    const std::uint32_t op_sel = bits(word_, 11, 13);
    const std::uint32_t op_sel_hi = bits(word_, 59, 60) | bits(word_, 14, 14) << 2;
    constexpr unsigned kFields[3] = {32, 41, 50};
    for (int n = 0; n < 3 && n < row_.source_count; ++n) {
      // Pairs of 32-bit numbers: a constant has 32 bits and is the low half. Pairs of 16-bit
      // integers: a constant has 32 bits, and op_sel selects halves of it; float constants are then
      // f32. (Source of both: LLVM's getInlineEncodingV216.)
      const bool halves = type(n) == OperandType::i16 || type(n) == OperandType::u16;
      // v_fma_mix: op_sel_hi says that a source is f16, and a constant then is f16 in the low half
      // (llvm-project pull request 183487), which is what op_sel selects from.
      const bool mix = is_mix(row_.packed);
      const OperandType element = type(n) == OperandType::u64        ? OperandType::f32
                                  : halves                           ? OperandType::u32
                                  : mix && (op_sel_hi >> n & 1) != 0 ? OperandType::f16
                                                                     : type(n);
      const unsigned code = bits(word_, kFields[n], kFields[n] + 8);
      out_.src[n] = read_source(
          code, n, code < kScalarRegisters || code >= source::kVgpr ? type(n) : element);
      const bool constant = out_.src[n].kind() == Source::kConstant;
      const bool upper =
          op_sel >> n & 1 || (op_sel_hi >> n & 1 && row_.packed != PackedForm::moves && !mix);
      // No document says whether the upper half repeats the lower one or is 0; for 0 both are the
      // same.
      if (constant && upper && (element == OperandType::f32 || mix) && out_.constant[n] != 0)
        refuse("the upper half of a constant");
    }
    if (row_.accumulates) out_.src[row_.source_count - 1] = Source::vgpr(out_.dst);
    const std::uint32_t neg = bits(word_, 61, 63), neg_hi = bits(word_, 8, 10);
    if ((neg || neg_hi) && !row_.takes_signs) refuse("neg_lo or neg_hi");
    if (bits(word_, 15, 15) && !row_.takes_clamp) refuse("clamp");
    out_.extra = op_sel | op_sel_hi << 3 | neg << 6 | neg_hi << 9 | bits(word_, 15, 15) << 12;
  }
  void bind_mfma() {
    if (row_.shape == nullptr) return refuse("this encoding");
    const bool acc_cd = bits(word_, 15, 15);
    out_.dst =
        static_cast<std::uint16_t>(vgpr(bits(word_, 0, 7), acc_cd, row_.mfma_registers[3]).index());
    constexpr unsigned kFields[3] = {32, 41, 50};
    // The indices of a sparse instruction are in a VGPR, wherever C is.
    const bool sparse = row_.shape->sparse;
    const bool acc[3] = {bits(word_, 59, 59) != 0, bits(word_, 60, 60) != 0, acc_cd && !sparse};
    for (int n = 0; n < 3; ++n) {
      const unsigned code = bits(word_, kFields[n], kFields[n] + 8);
      if (sparse && code < source::kVgpr) return refuse("a source that is no register");
      out_.src[n] = code >= source::kVgpr
                        ? vgpr(code - source::kVgpr, acc[n], row_.mfma_registers[n])
                        : read_source(code, n, row_.sources[n]);
    }
    out_.extra = bits(word_, 8, 10) | bits(word_, 11, 14) << 3 | bits(word_, 61, 63) << 7;
    if (!mfma_modifiers_valid(*row_.shape, extra::cbsz(out_.extra), extra::abid(out_.extra),
                              extra::blgp(out_.extra)))
      refuse("this combination of CBSZ, ABID and BLGP");
  }

  // ---- Memory -------------------------------------------------------------------------------

  void bind_ds() {
    if (bits(word_, 16, 16) && row_.instruction_class == InstructionClass::lds) refuse("GDS");
    const bool acc = bits(word_, 25, 25);
    const unsigned registers = row_.registers == 0 ? 1 : row_.registers;
    if (!row_.address_from_m0) out_.src[0] = vgpr(bits(word_, 32, 39), false);
    if (row_.is_load || row_.returns_value)
      out_.dst = static_cast<std::uint16_t>(vgpr(bits(word_, 56, 63), acc, registers).index());
    if (row_.is_store || (row_.is_atomic && !row_.address_from_m0)) {
      out_.src[1] = vgpr(bits(word_, 40, 47), acc);
      out_.src[2] = vgpr(bits(word_, 48, 55), acc);
    }
    out_.extra = bits(word_, 0, 15);
    out_.offset = static_cast<std::int32_t>(bits(word_, 0, 15));
  }
  void bind_flat() {
    const bool acc = bits(word_, 55, 55);
    const unsigned registers = row_.registers == 0 ? 1 : row_.registers;
    out_.offset = isa::sign_extend(bits(word_, 0, 12), 13);
    // FLAT offsets have 12 bits and no sign; the effect of the 13th is not documented.
    if (encoded_.format == Format::flat && out_.offset < 0) refuse("a FLAT offset of 13 bits");
    out_.src[0] = vgpr(bits(word_, 32, 39), false);
    const unsigned saddr = bits(word_, 48, 54);
    if (encoded_.format != Format::flat && saddr != 0x7f)
      out_.src[2] = Source::scalar(scalar(saddr, encoded_.format == Format::global ? 2 : 1));
    if (row_.is_store || row_.is_atomic) out_.src[1] = vgpr(bits(word_, 40, 47), acc, registers);
    if (row_.is_load || row_.is_atomic)
      out_.dst = static_cast<std::uint16_t>(vgpr(bits(word_, 56, 63), acc).index());
    if (bits(word_, 16, 16)) out_.extra |= extra::kSc0;
    if (bits(word_, 25, 25)) out_.extra |= extra::kSc1;
    if (bits(word_, 17, 17)) out_.extra |= extra::kNt;
    if (encoded_.format == Format::scratch && bits(word_, 13, 13))
      out_.extra |= extra::kScratchVaddr;
  }
  void bind_mubuf() {
    if (bits(word_, 15, 15)) out_.extra |= extra::kSc1;
    if (bits(word_, 16, 16)) out_.extra |= extra::kToLds;
    if (bits(word_, 17, 17)) out_.extra |= extra::kNt;
    if (row_.memory.formatted) out_.extra |= extra::kFormatted;
    bind_buffer();
  }
  void bind_mtbuf() {
    out_.extra = extra::kFormatted | bits(word_, 19, 22) << 8 | bits(word_, 23, 25) << 12;
    if (bits(word_, 53, 53)) out_.extra |= extra::kSc1;
    if (bits(word_, 54, 54)) out_.extra |= extra::kNt;
    bind_buffer();
  }
  void bind_buffer() {
    const bool acc = bits(word_, 55, 55);
    const unsigned registers = row_.registers == 0 ? 1 : row_.registers;
    out_.offset = static_cast<std::int32_t>(bits(word_, 0, 11));
    if (bits(word_, 12, 12)) out_.extra |= extra::kOffen;
    if (bits(word_, 13, 13)) out_.extra |= extra::kIdxen;
    if (bits(word_, 14, 14)) out_.extra |= extra::kSc0;
    const bool both = (out_.extra & extra::kOffen) && (out_.extra & extra::kIdxen);
    out_.src[0] = vgpr(bits(word_, 32, 39), false, both ? 2 : 1);
    if (!(out_.extra & extra::kToLds) && (row_.is_load || row_.is_store || row_.is_atomic))
      out_.dst = static_cast<std::uint16_t>(vgpr(bits(word_, 40, 47), acc, registers).index());
    out_.src[1] = Source::scalar(scalar(bits(word_, 48, 52) * 4, 4));
    out_.src[2] = read_source(bits(word_, 56, 63), 2, OperandType::u32);
  }

  const Encoded& encoded_;
  const std::uint64_t word_;
  const Row& row_;
  const BindContext& context_;
  Instruction out_;
  std::optional<Error> problem_;
};

}  // namespace

Result<Instruction> bind(const isa::Encoded& encoded, const Row& row, const BindContext& context,
                         std::uint64_t vaddr) {
  return Binder(encoded, row, context, vaddr).run();
}

}  // namespace margay
