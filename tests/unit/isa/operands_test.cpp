// Decoding and binding compared with LLVM's printer: random operands for every opcode of every
// encoding; what binding makes of the bits must be the registers, constants, offsets and modifiers
// of the text.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "assembly_line.h"
#include "exec/instructions/all_rows.h"
#include "exec/program/bind.h"
#include "exec/state/extra.h"
#include "gpu/gfx942/gfx942.h"
#include "gpu/gpu.h"
#include "isa/decoder.h"
#include "isa/encoding.h"
#include "mfma/mfma.h"

namespace margay::isa_test {
namespace {

using isa::bits;
using isa::Format;
using Kind = PrintedOperand::Kind;

/// AccVGPR 0's row in these tests: beyond every VGPR.
constexpr BindContext kContext{.accum_offset = 300, .vgpr_rows = 2000};

/// Compares one instruction with its text; collects what differs.
class Comparison {
 public:
  Comparison(const Instruction& instruction, const isa::Encoded& encoded, AssemblyLine line)
      : i_(instruction), row_(*instruction.row), encoded_(encoded), line_(std::move(line)) {}

  std::vector<std::string> run() {
    switch (encoded_.format) {
      case Format::sop1:
      case Format::sop2:
      case Format::sopc:
        scalar_alu();
        break;
      case Format::sopk:
        scalar_immediate();
        break;
      case Format::sopp:
        if (is_relative_branch(row_)) branch_target(operand());
        break;
      case Format::smem:
        scalar_memory();
        break;
      case Format::vop1:
      case Format::vop2:
      case Format::vopc:
      case Format::vop3:
        vector_alu();
        break;
      case Format::vop3p:
        packed();
        break;
      case Format::mfma:
        matrix();
        break;
      case Format::ds:
        lds();
        break;
      case Format::flat:
      case Format::global:
      case Format::scratch:
        flat();
        break;
      case Format::mubuf:
        buffer();
        break;
      case Format::mtbuf:
        buffer();
        data_format();
        break;
      default:
        wrong("no comparison for this format");
    }
    return std::move(problems_);
  }

 private:
  void wrong(std::string what) { problems_.push_back(std::move(what)); }
  template <typename A, typename B>
  void same(const char* what, A got, B printed) {
    if (static_cast<std::int64_t>(got) != static_cast<std::int64_t>(printed))
      wrong(fmt::format("{} is {}, printed {}", what, got, printed));
  }
  const PrintedOperand& operand() {
    static const PrintedOperand none;
    if (next_ < line_.operands.size()) return line_.operands[next_++];
    wrong("too few printed operands");
    return none;
  }

  // ---- One operand --------------------------------------------------------------------------

  void row_is(const char* what, unsigned row, const PrintedOperand& o, unsigned count = 0) {
    const bool acc = row >= kContext.accum_offset;
    const unsigned index = acc ? row - kContext.accum_offset : row;
    if (o.kind != (acc ? Kind::agpr : Kind::vgpr) || o.index != index ||
        (count != 0 && o.count != count))
      wrong(fmt::format("{} is {}{} ({} registers), printed {}", what, acc ? "a" : "v", index,
                        count, o.text));
  }
  void scalar_is(const char* what, unsigned index, const PrintedOperand& o, unsigned count = 0) {
    if (o.kind != Kind::scalar || o.index != index || (count != 0 && o.count != count))
      wrong(fmt::format("{} is scalar {} ({} registers), printed {}", what, index, count, o.text));
  }
  void source_is(unsigned n, OperandType type, const PrintedOperand& o, unsigned count = 0) {
    const std::string what = "source " + std::to_string(n);
    const Source source = i_.src[n];
    switch (source.kind()) {
      case Source::kVgpr:
        return row_is(what.c_str(), source.index(), o, count);
      case Source::kScalar:
        return scalar_is(what.c_str(), source.index(), o, count);
      case Source::kConstant:
        break;
      default:
        return wrong(what + " is nothing, printed " + o.text);
    }
    std::uint64_t mask = ~0ull;
    if (!is_64_bit(type)) mask = is_16_bit(type) ? 0xffff : 0xffffffff;
    std::optional<std::uint64_t> printed = o.bits(type);
    // Apertures are where the executor puts them.
    if (o.text == "src_shared_base") printed = std::uint64_t{kSharedHigh} << 32;
    if (o.text == "src_shared_limit") printed = std::uint64_t{kSharedHigh} << 32 | 0xffffffff;
    if (o.text == "src_private_base") printed = std::uint64_t{kPrivateHigh} << 32;
    if (o.text == "src_private_limit") printed = std::uint64_t{kPrivateHigh} << 32 | 0xffffffff;
    // Literals of signed 64-bit operands are sign-extended.
    if (type == OperandType::i64 && o.text.starts_with("0x"))
      printed = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(*printed)});
    if (!printed || (*printed & mask) != (i_.constant[n] & mask))
      wrong(fmt::format("{} is the constant {:#x}, printed {}", what, i_.constant[n], o.text));
  }
  static unsigned width(OperandType type) { return register_count(type); }
  void branch_target(const PrintedOperand& o) {
    const auto displacement = static_cast<std::int16_t>(*o.bits(OperandType::i64));
    same("the displacement", i_.offset, displacement * 4 + 4);
  }

  // ---- Scalar formats -------------------------------------------------------------------------

  void scalar_alu() {
    const bool index_mode = row_.register_index != RegisterIndex::none;
    const std::size_t explicit_sources = row_.source_count + (index_mode ? 1u : 0u);
    if (line_.operands.size() > explicit_sources)
      scalar_is("the destination", i_.sdst, operand(),
                row_.result == OperandType::none ? 0 : width(row_.result));
    for (unsigned n = 0; n < row_.source_count; ++n)
      source_is(n, row_.sources[n], operand(), width(row_.sources[n]));
  }
  void scalar_immediate() {
    if (row_.mnemonic == "s_setreg_imm32_b32") {
      (void)operand();
      same("the immediate", i_.constant[2], *operand().bits(OperandType::u32));
      return;
    }
    if (row_.mnemonic == "s_setreg_b32") (void)operand();
    const PrintedOperand& named = operand();
    const bool compares = row_.result == OperandType::none;
    if (!compares) scalar_is("the destination", i_.sdst, named, width(row_.result));
    if (row_.source_count == 2) source_is(0, row_.sources[0], named, 1);
    if (row_.mnemonic == "s_call_b64") return branch_target(operand());
    if (row_.source_count == 0) return;  // hardware registers: exec's own tests
    const unsigned n = row_.source_count - 1u;
    const auto printed = static_cast<std::uint32_t>(*operand().bits(OperandType::u32));
    same("the immediate", static_cast<std::uint32_t>(i_.constant[n]),
         row_.zero_extended_immediate
             ? printed & 0xffff
             : static_cast<std::uint32_t>(static_cast<std::int16_t>(printed)));
  }
  void scalar_memory() {
    if (row_.registers == 0 && row_.source_count == 0) return;      // the whole cache
    if (row_.mnemonic.starts_with("s_atc_probe")) (void)operand();  // the kind of access probed
    if (row_.registers != 0) {
      // An atomic returns to its data, a compare-and-swap to the first half of them.
      const PrintedOperand& data = operand();
      const bool returns = row_.is_load || (row_.is_atomic && line_.has("glc"));
      if (returns)
        scalar_is("the destination", i_.sdst, data, row_.registers);
      else
        same("the destination", i_.sdst, kNoRegister);
      if (!row_.is_load) scalar_is("the data", i_.src[2].index(), data, row_.registers);
    }
    if (row_.mnemonic == "s_memtime" || row_.mnemonic == "s_memrealtime") return;
    const bool buffer = row_.mnemonic.starts_with("s_buffer") || row_.mnemonic.ends_with("_buffer");
    scalar_is("the base", i_.src[0].index(), operand(), buffer ? 4 : 2);
    const PrintedOperand& offset = operand();
    std::int64_t immediate = line_.number("offset");
    if (offset.kind == Kind::number)
      immediate = std::strtoll(offset.text.c_str(), nullptr, 0);
    else
      source_is(1, OperandType::u32, offset, 1);
    same("the offset", i_.offset, immediate);
  }

  // ---- Vector ALU -----------------------------------------------------------------------------

  void vector_alu() {
    const bool only_mask = row_.result == OperandType::mask;
    if (row_.scalar_result || only_mask)
      scalar_is("the destination", i_.sdst, operand(), only_mask ? 2 : 1);
    else if (row_.result != OperandType::none)
      row_is("the destination", i_.dst, operand(), width(row_.result));
    if (row_.mask_result && !only_mask) scalar_is("the mask result", i_.sdst, operand(), 2);
    const bool sdwa = line_.has("src0_sel");
    for (unsigned n = 0; n < row_.source_count && n < 3; ++n) {
      if (row_.accumulates && n + 1u == row_.source_count) {
        same("the accumulator", i_.src[n].bits, i_.dst);
        continue;
      }
      const PrintedOperand& o = operand();
      source_is(n, row_.sources[n], o, width(row_.sources[n]));
      const OperandType type = row_.sources[n];
      const bool is_float =
          type == OperandType::f16 || type == OperandType::f32 || type == OperandType::f64;
      if (!is_float) continue;  // DPP's neg bit means nothing to an integer
      if (sdwa && row_.mnemonic == "v_pk_fmac_f16") continue;  // LLVM 22 does not print them
      same("neg", i_.modifiers.negate >> n & 1, o.negative);
      same("abs", i_.modifiers.absolute >> n & 1, o.absolute);
    }
    same("clamp", i_.modifiers.clamp, line_.has("clamp"));
    const unsigned output = line_.has("div") ? 3 : static_cast<unsigned>(line_.number("mul") / 2);
    same("omod", i_.modifiers.output, output);
    if (!sdwa && line_.has("op_sel")) {
      unsigned wanted = line_.list("op_sel", 0);
      const auto entries = static_cast<unsigned>(line_.list_size("op_sel"));
      // The last entry is the destination's, for any number of sources.
      const unsigned last = entries - 1;
      wanted = (wanted & ((1u << last) - 1)) | (wanted >> last & 1) << 3;
      same("op_sel", i_.modifiers.op_select, wanted);
    }  // Unprinted: LLVM leaves these bits of compares and others open.
  }
  void packed() {
    row_is("the destination", i_.dst, operand(), width(row_.result));
    if (row_.mnemonic.starts_with("v_accvgpr")) return source_is(0, OperandType::u32, operand(), 1);
    const unsigned all = (1u << row_.source_count) - 1;
    const bool mixed = row_.mnemonic.starts_with("v_fma_mix");
    for (unsigned n = 0; n < row_.source_count; ++n) {
      if (row_.accumulates && n + 1u == row_.source_count) break;
      const OperandType type = row_.sources[n];
      // Constants of pairs are one of 32 bits, and of 16-bit integers too: 1.0 is then that of f32.
      const bool wide =
          type == OperandType::u64 || type == OperandType::u16 || type == OperandType::i16;
      const bool constant = i_.src[n].kind() == Source::kConstant;
      const bool half = mixed && (i_.extra >> (3 + n) & 1) != 0;
      const OperandType of_constant = half ? OperandType::f16 : wide ? OperandType::f32 : type;
      source_is(n, constant ? of_constant : type, operand(), width(type));
    }
    // LLVM 22 has no halves to choose in products of bytes and nibbles; the hardware ignores them.
    if (row_.mnemonic.starts_with("v_dot4") || row_.mnemonic.starts_with("v_dot8"))
      return same("clamp", i_.extra >> 12 & 1, line_.has("clamp"));
    same("op_sel", i_.extra & all, line_.list("op_sel", 0));
    same("op_sel_hi", i_.extra >> 3 & all, line_.list("op_sel_hi", mixed ? 0 : all));
    same("clamp", i_.extra >> 12 & 1, line_.has("clamp"));
    if (mixed) {
      for (unsigned n = 0; n < row_.source_count; ++n) {
        same("neg", i_.extra >> (6 + n) & 1, line_.operands[1 + n].negative);
        same("abs", i_.extra >> (9 + n) & 1, line_.operands[1 + n].absolute);
      }
      return;
    }
    same("neg_lo", i_.extra >> 6 & all, line_.list("neg_lo", 0));
    same("neg_hi", i_.extra >> 9 & all, line_.list("neg_hi", 0));
  }
  void matrix() {
    row_is("D", i_.dst, operand(), row_.mfma_registers[3]);
    for (unsigned n = 0; n < 3; ++n)
      source_is(n, row_.sources[n], operand(), row_.mfma_registers[n]);
    same("cbsz", extra::cbsz(i_.extra), line_.number("cbsz"));
    same("abid", extra::abid(i_.extra), line_.number("abid"));
    same("blgp", extra::blgp(i_.extra),
         line_.has("neg") ? line_.list("neg", 0) : line_.number("blgp"));
  }

  // ---- Memory -----------------------------------------------------------------------------------

  void lds() {
    if (row_.instruction_class != InstructionClass::lds) return;  // nothing, or global wave sync
    const bool exchange2 = row_.mnemonic.starts_with("ds_wrxchg2");
    const bool pair = exchange2 || row_.mnemonic.contains("2_b") || row_.mnemonic.contains("2st64");
    if (i_.dst != kNoRegister) row_is("the destination", i_.dst, operand(), row_.registers);
    if (!row_.address_from_m0) row_is("the address", i_.src[0].index(), operand(), 1);
    for (unsigned n = 1; next_ < line_.operands.size(); ++n)
      row_is("the data", i_.src[n].index(), operand(), row_.registers / (exchange2 ? 2u : 1u));
    if (pair) {
      same("offset0", extra::ds_offset0(i_.extra), line_.number("offset0"));
      same("offset1", extra::ds_offset1(i_.extra), line_.number("offset1"));
    } else if (row_.mnemonic != "ds_swizzle_b32") {
      same("the offset", i_.offset, line_.number("offset"));
    }
  }
  void cache_bits() {
    same("sc0", (i_.extra & extra::kSc0) != 0, line_.has("sc0"));
    same("sc1", (i_.extra & extra::kSc1) != 0, line_.has("sc1"));
    same("nt", (i_.extra & extra::kNt) != 0, line_.has("nt"));
  }
  /// Registers of the value an atomic returns: half of the data of a compare-and-swap.
  unsigned returned() const {
    return row_.mnemonic.contains("cmpswap") ? row_.registers / 2u : row_.registers;
  }
  void flat() {
    const bool to_lds = row_.mnemonic.contains("_load_lds_");
    if (!to_lds && (row_.is_load || (row_.is_atomic && (i_.extra & extra::kSc0))))
      row_is("the destination", i_.dst, operand(), row_.is_atomic ? returned() : row_.registers);
    const bool has_saddr = i_.src[2].kind() == Source::kScalar;
    const PrintedOperand& address = operand();
    if (encoded_.format != Format::scratch)
      row_is("the address", i_.src[0].index(), address, has_saddr ? 1 : 2);
    else if (i_.extra & extra::kScratchVaddr)
      row_is("the address", i_.src[0].index(), address, 1);
    else if (address.text != "off")
      wrong("no address register, printed " + address.text);
    if (row_.is_store || row_.is_atomic)
      row_is("the data", i_.src[1].index(), operand(), row_.registers);
    if (encoded_.format != Format::flat) {
      const PrintedOperand& base = operand();
      if (has_saddr)
        scalar_is("the base", i_.src[2].index(), base, encoded_.format == Format::scratch ? 1 : 2);
      else if (base.text != "off")
        wrong("no base register, printed " + base.text);
    }
    same("the offset", i_.offset, line_.number("offset"));
    cache_bits();
  }
  void buffer() {
    if (row_.instruction_class == InstructionClass::other) return;  // cache control
    const bool to_lds = i_.extra & extra::kToLds;
    same("lds", to_lds, line_.has("lds"));
    if (!to_lds) row_is("the data", i_.dst, operand(), row_.registers);
    const bool offen = i_.extra & extra::kOffen, idxen = i_.extra & extra::kIdxen;
    same("offen", offen, line_.has("offen"));
    same("idxen", idxen, line_.has("idxen"));
    const PrintedOperand& address = operand();
    if (offen || idxen)
      row_is("the address", i_.src[0].index(), address, offen && idxen ? 2 : 1);
    else if (address.text != "off")
      wrong("no address register, printed " + address.text);
    scalar_is("the resource", i_.src[1].index(), operand(), 4);
    source_is(2, OperandType::u32, operand(), 1);
    same("the offset", i_.offset, line_.number("offset"));
    cache_bits();
  }

  /// "[BUF_DATA_FORMAT_8_8,BUF_NUM_FORMAT_SNORM]", or only the one of them that is not the first.
  void data_format() {
    static constexpr std::string_view kData[] = {
        "INVALID",     "8",        "16",          "8_8",        "32",      "16_16",
        "10_11_11",    "11_11_10", "10_10_10_2",  "2_10_10_10", "8_8_8_8", "32_32",
        "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15"};
    static constexpr std::string_view kNumber[] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                                   "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
    const std::string data = "BUF_DATA_FORMAT_" + std::string(kData[extra::data_format(i_.extra)]);
    const std::string number =
        "BUF_NUM_FORMAT_" + std::string(kNumber[extra::number_format(i_.extra)]);
    const std::string wanted = data == "BUF_DATA_FORMAT_8" && number == "BUF_NUM_FORMAT_UNORM" ? ""
                               : number == "BUF_NUM_FORMAT_UNORM" ? "[" + data + "]"
                               : data == "BUF_DATA_FORMAT_8"      ? "[" + number + "]"
                                                                  : "[" + data + "," + number + "]";
    const std::string printed = line_.has("format") ? line_.modifiers.at("format") : "";
    if (printed != wanted) wrong("the format is " + wanted + ", printed " + printed);
  }

  static constexpr std::uint32_t kSharedHigh = 0x0001'0000, kPrivateHigh = 0x0002'0000;
  const Instruction& i_;
  const Row& row_;
  const isa::Encoded& encoded_;
  AssemblyLine line_;
  std::size_t next_ = 0;
  std::vector<std::string> problems_;
};

/// Operands that decode often: few flags, and for vector encodings sources that are VGPRs, SGPRs or
/// constants in turn.
class Operands {
 public:
  std::uint64_t next(const isa::Encoding& encoding) {
    std::uint64_t word = random_();
    switch (random_() % 4) {
      case 0:
        break;
      case 1:
        word &= random_() & random_();
        break;
      default:
        word &= random_();
    }
    // Register tuples are aligned to two.
    if (random_() % 2) word &= ~0x0001'0101'0000'0001ull;
    if (encoding.prefix == 0b110100 && random_() % 4 != 0)
      word |= random_() & 0x0402'0100'0000'0000;
    // Instructions without modifiers decode only when the modifiers' bits are clear.
    if (encoding.prefix == 0b110100 && random_() % 2) word &= ~0xf800'0000'0000'ff00ull;
    if (encoding.prefix == 0b110100 && random_() % 3 == 0) word &= ~0x07fc'0000'0000'0000ull;
    if (encoding.prefix == 0b110111 && random_() % 2) word |= 0x007f'0000'0000'0000;
    if (encoding.second_source_word) {
      constexpr std::array<unsigned, 6> kSpecial = {255, 249, 250, 240, 247, 193};
      if (random_() % 2) word = (word & ~0x1ffull) | kSpecial[random_() % kSpecial.size()];
      if (random_() % 3 == 0) word |= 0x100;
      const auto second = static_cast<std::uint32_t>(random_() & random_());
      // SDWA: selections below 7; DPP: the common controls and full masks.
      const std::uint32_t kept = random_() % 2 ? 0x36360600u : 0xff0100ffu | 0x5000u;
      word = (word & 0xffffffff) | std::uint64_t{second & (kept | 0x00ff00ffu)} << 32;
    }
    return word;
  }
  std::uint32_t literal() { return static_cast<std::uint32_t>(random_()); }

 private:
  std::mt19937_64 random_{942};
};

struct Findings {
  std::map<std::string, std::set<Format>> judged;  ///< By mnemonic.
  std::map<std::string, std::string> refused;      ///< Mnemonic and reason, with an example.
  std::vector<std::string> wrong;
  std::size_t count = 0, forms_sdwa = 0, forms_dpp = 0, literals = 0;
};

void judge(isa::Decoder& decoder, const RowTable& rows, std::span<const std::byte> code,
           Findings& findings) {
  const auto encoded = decoder.decode(code, 0);
  if (!encoded) return;
  const Row* const row = rows.find(encoded->mnemonic);
  if (row == nullptr) return;
  const std::string text = decoder.disassemble(code, 0);
  const auto bound = bind(*encoded, *row, kContext, 0);
  if (!bound) {
    findings.refused.emplace(bound.error().what, text);
    return;
  }
  // Bits that decode to an operand the instruction cannot have; no assembler makes them.
  if (text.contains("/*Invalid")) return;
  AssemblyLine line = parse_line(text);
  ++findings.count;
  findings.judged[line.mnemonic].insert(encoded->format);
  findings.forms_sdwa += line.has("src0_sel");
  findings.forms_dpp += line.has("row_mask");
  findings.literals += encoded->size_bytes > 4 && encoded->format <= Format::vopc;
  if (line.mnemonic != encoded->mnemonic)
    findings.wrong.push_back(fmt::format("{}: the mnemonic is {}", text, encoded->mnemonic));
  for (const std::string& problem : Comparison(*bound, *encoded, std::move(line)).run())
    findings.wrong.push_back(fmt::format("{} ({:#x}): {}", text, encoded->word, problem));
}

/// What random operands do not meet: these have one valid form among many bits.
constexpr auto kDirected = std::to_array<std::uint64_t>({
    0x1800'0101'd3d8'4002,  // v_accvgpr_read_b32 v2, a1
    0x1800'01ff'd3d8'40ff,  // v_accvgpr_read_b32 v255, a255
    0x0000'0000'd828'0000,  // ds_nop
    0x0700'0000'd97a'0004,  // ds_consume v7 offset:4
    0x0700'0000'd97c'0004,  // ds_append v7 offset:4
    0x0700'0000'd96c'0004,  // ds_read_addtid_b32 v7 offset:4
    0x0000'0000'd933'0000,  // ds_gws_init v0 gds
    0x0000'0000'd93b'0004,  // ds_gws_barrier v0 offset:4 gds
    0x0000'0000'd935'0000,  // ds_gws_sema_v gds
    0x0000'0000'd937'0000,  // ds_gws_sema_br v0 gds
    0x0000'0000'd939'0000,  // ds_gws_sema_p gds
    0x0000'0000'd931'0000,  // ds_gws_sema_release_all gds
});

Findings judge_all(const RowTable& rows) {
  Findings out;
  auto decoder = isa::Decoder::create(kGfx942);
  EXPECT_TRUE(decoder);
  for (const std::uint64_t word : kDirected) {
    std::array<std::byte, 20> code{};
    std::memcpy(code.data(), &word, sizeof word);
    judge(**decoder, rows, code, out);
  }
  Operands operands;
  for (const isa::Encoding& encoding : isa::kEncodings) {
    for (std::uint64_t opcode = 0; opcode >> encoding.opcode_bits == 0; ++opcode) {
      const std::uint64_t fixed = encoding.fixed(opcode);
      for (int n = 0; n < 300; ++n) {
        const std::uint64_t word = fixed | (operands.next(encoding) & encoding.free_bits());
        std::array<std::byte, 20> code{};
        const std::uint32_t literal = operands.literal();
        std::memcpy(code.data(), &word, 8);
        std::memcpy(code.data() + 8, &literal, 4);
        judge(**decoder, rows, code, out);
      }
    }
  }
  return out;
}

/// What binding refuses, it refuses with a sentence; the kinds of refusal are these and no others.
bool is_known_refusal(const std::string& what) {
  for (const std::string_view reason :
       {"neg or abs", "op_sel", "omod", "clamp", "SDWA or DPP", "source operand code",
        "half of an aperture", "GDS", "CBSZ, ABID and BLGP", "a tuple past the last",
        "scalar register", "a tuple of", "a FLAT offset", "a source that is no register",
        "neg_lo or neg_hi", "the upper half of a constant", "an operand that is no VGPR"})
    if (what.contains(reason)) return true;
  // Its VOP3 form, which LLVM 19 did not decode and no compiler makes.
  return what == "v_pk_fmac_f16 has no handler for this form";
}

// One test: ctest runs each in a process of its own, and each would decode all again.
TEST(Operands, AreWhatLlvmPrintsInEveryRow) {
  const RowTable& rows = *row_table({}, default_gpu().arch());
  const Findings found = judge_all(rows);
  std::map<std::string, int> shown;
  for (const std::string& wrong : found.wrong) {
    int& times = shown[wrong.substr(0, wrong.find_first_of(" \t", 1))];
    if (times++ < 2) ADD_FAILURE() << wrong;
  }
  EXPECT_TRUE(found.wrong.empty()) << found.wrong.size() << " of " << found.count;
  EXPECT_GT(found.count, 100000u);
  EXPECT_GT(found.forms_sdwa, 1000u);
  EXPECT_GT(found.forms_dpp, 1000u);
  EXPECT_GT(found.literals, 1000u);

  std::vector<std::string_view> missing;
  rows.for_each([&](const Row& row) {
    if (row.shape != nullptr && row.mnemonic != row.shape->mnemonic) return;
    // Rows of families whose members exist on other processors only.
    if (row.mnemonic == "s_code_end" || row.mnemonic == "buffer_atomic_pk_add_bf16") return;
    if (!found.judged.contains(std::string(row.mnemonic))) missing.push_back(row.mnemonic);
  });
  EXPECT_THAT(missing, testing::IsEmpty()) << "not judged";

  for (const auto& [what, text] : found.refused)
    EXPECT_TRUE(is_known_refusal(what)) << what << ": " << text;
}

}  // namespace
}  // namespace margay::isa_test
