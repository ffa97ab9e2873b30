// register_use compared with LLVM's own description of each instruction (MCInstrDesc: explicit and
// implicit operands, read and written), for random operands of every instruction the executor has.
#include "exec/program/register_use.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>

#include <array>
#include <bitset>
#include <charconv>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "exec/instructions/all_rows.h"
#include "exec/program/bind.h"
#include "exec/state/wave.h"
#include "gpu/gfx942/gfx942.h"
#include "gpu/gpu.h"
#include "isa/decoder.h"
#include "isa/encoding.h"
#include "mfma/mfma.h"

namespace margay {
namespace {

constexpr BindContext kContext{.accum_offset = 256, .vgpr_rows = 512};

/// Registers by number: rows of the VGPR file, then scalars, then SCC.
using Set = std::bitset<512 + 128 + 1>;
constexpr unsigned kScalars = 512, kScc = 640;
Set of(const VgprMask& rows, const std::array<std::uint64_t, 2>& scalars, bool scc) {
  Set out;
  for (unsigned n = 0; n < 512; ++n) out[n] = contains(rows, n);
  for (unsigned n = 0; n < 128; ++n) out[kScalars + n] = contains(scalars, n);
  out[kScc] = scc;
  return out;
}
std::string text_of(const Set& set) {
  std::string out;
  for (unsigned n = 0; n < set.size(); ++n)
    if (set[n])
      out += n < 256        ? fmt::format(" v{}", n)
             : n < kScalars ? fmt::format(" a{}", n - 256)
             : n < kScc     ? fmt::format(" s{}", n - kScalars)
                            : " scc";
  return out.empty() ? " nothing" : out;
}

/// What LLVM says of one instruction. `tied` are the uses that must be the same registers as a
/// result: accumulators, and old values that are kept in part.
struct Described {
  std::string name;  ///< LLVM's opcode name.
  Set reads, writes, tied, implicit_reads;
};

class Llvm {
 public:
  Llvm() {
    std::string why;
    const llvm::Triple triple("amdgcn-amd-amdhsa");
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, why);
    registers_.reset(target->createMCRegInfo(triple));
    assembly_.reset(target->createMCAsmInfo(*registers_, triple, llvm::MCTargetOptions{}));
    instructions_.reset(target->createMCInstrInfo());
    subtarget_.reset(target->createMCSubtargetInfo(triple, "gfx942", ""));
    context_ = std::make_unique<llvm::MCContext>(triple, assembly_.get(), registers_.get(),
                                                 subtarget_.get());
    disassembler_.reset(target->createMCDisassembler(*subtarget_, *context_));
  }

  std::optional<Described> describe(std::span<const std::byte> code) const {
    llvm::MCInst inst;
    std::uint64_t size = 0;
    const llvm::ArrayRef bytes(reinterpret_cast<const std::uint8_t*>(code.data()), code.size());
    if (disassembler_->getInstruction(inst, size, bytes, 0, llvm::nulls()) !=
        llvm::MCDisassembler::Success)
      return std::nullopt;
    const llvm::MCInstrDesc& desc = instructions_->get(inst.getOpcode());
    Described out;
    out.name = instructions_->getName(inst.getOpcode()).str();
    for (unsigned n = 0; n < inst.getNumOperands(); ++n) {
      if (!inst.getOperand(n).isReg()) continue;
      const auto reg = inst.getOperand(n).getReg();
      const bool tied =
          n < desc.getNumOperands() && desc.getOperandConstraint(n, llvm::MCOI::TIED_TO) != -1;
      add(n < desc.getNumDefs() ? out.writes : tied ? out.tied : out.reads, reg);
    }
    for (const auto reg : desc.implicit_defs()) add(out.writes, reg);
    for (const auto reg : desc.implicit_uses()) add(out.implicit_reads, reg);
    return out;
  }

 private:
  /// "VGPR4_VGPR5", "SGPR0", "VCC_LO_vi"...: the registers that the parts name.
  void add(Set& set, unsigned reg) const {
    std::string_view name = registers_->getName(reg);
    struct Named {
      std::string_view name;
      unsigned index, count;
    };
    constexpr Named kNamed[] = {{"VCC_LO", 106, 1},  {"VCC_HI", 107, 1},  {"VCC", 106, 2},
                                {"EXEC_LO", 126, 1}, {"EXEC_HI", 127, 1}, {"EXEC", 126, 2},
                                {"M0", 124, 1},      {"SCC", 128, 1}};
    for (const auto& [start, index, count] : kNamed) {
      if (!name.starts_with(start)) continue;
      for (unsigned n = 0; n < count; ++n) set.set(kScalars + index + n);
      return;
    }
    // Flat scratch's and XNACK's registers are SGPRs to other instructions.
    if (name.starts_with("FLAT_SCR") || name.starts_with("XNACK")) {
      const unsigned first = name.starts_with("FLAT") ? 102 : 104;
      const bool low = name.contains("_LO"), high = name.contains("_HI");
      if (!high) set.set(kScalars + first);
      if (!low) set.set(kScalars + first + 1);
      return;
    }
    while (!name.empty()) {
      const std::string_view part = name.substr(0, name.find('_'));
      name.remove_prefix(std::min(name.size(), part.size() + 1));
      for (const auto& [file, base] : {std::pair{"VGPR", 0u}, {"AGPR", 256u}, {"SGPR", kScalars}}) {
        unsigned index = 0;
        if (part.starts_with(file) &&
            std::from_chars(part.data() + 4, part.data() + part.size(), index).ec == std::errc{})
          set.set(base + index);
      }
    }
  }

  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembly_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
};

// ---- Deliberate differences -------------------------------------------------------------------

bool is_vector(const Row& row) {
  return row.instruction_class != InstructionClass::salu &&
         row.instruction_class != InstructionClass::branch &&
         row.instruction_class != InstructionClass::smem;
}

/// Turns LLVM's description into ours where they differ on purpose.
void apply_differences(Described& llvm, const RegisterUse& ours, const Row& row) {
  const std::string_view name = row.mnemonic;
  const auto forget = [&](unsigned index, unsigned count) {
    for (unsigned n = 0; n < count; ++n) llvm.implicit_reads.reset(kScalars + index + n);
  };
  // EXEC as a vector instruction's mask is not listed; as an operand it is.
  if (is_vector(row)) forget(kExecIndex, 2);
  // Flat and scratch addressing use a hardware register on gfx942, not SGPRs 102 and 103.
  if (row.instruction_class == InstructionClass::vmem || name.starts_with("s_scratch_"))
    forget(102, 2);
  // M0 bounded LDS addresses before gfx9; LLVM's encodings of gfx8 serve gfx9 too.
  if (row.instruction_class == InstructionClass::lds || name == "ds_nop") forget(kM0Index, 1);
  llvm.reads |= llvm.implicit_reads;
  // These encodings do not show that M0 is the address.
  if (row.address_from_m0) llvm.reads.set(kScalars + kM0Index);
  if (name.starts_with("ds_gws")) llvm.reads.reset();  // stops before it reads
  // Forks and joins divide EXEC; LLVM never makes them and describes their operands only.
  if (name.ends_with("_fork") || name == "s_cbranch_join")
    for (unsigned n = 0; n < 2; ++n) {
      if (name != "s_cbranch_join") llvm.reads.set(kScalars + kExecIndex + n);
      llvm.writes.set(kScalars + kExecIndex + n);
    }
  // The destination, which M0 moves, is an input to LLVM.
  if (name.starts_with("s_movreld")) {
    const Set destination = of({}, ours.scalar_writes, false);
    llvm.writes |= destination;
    llvm.reads &= ~(destination & ~of({}, ours.scalar_reads, false));
  }
  // SCC by the guide: S_QUADMASK sets it, S_SETVSKIP does not.
  if (name.starts_with("s_quadmask")) llvm.writes.set(kScc);
  if (name == "s_setvskip") llvm.writes.reset(kScc);
  // LLVM never makes it, and does not say that it accumulates.
  if (name == "v_pk_fmac_f16") llvm.tied |= llvm.writes;
  // Pairs of 32-bit numbers read the registers that op_sel chooses (never more than LLVM says).
  if (name.starts_with("v_pk_") && row.sources[0] == OperandType::u64) {
    const Set reads = of(ours.reads, ours.scalar_reads, false);
    if ((reads & ~llvm.reads).none()) llvm.reads = reads;
  }
  // d16 loads would keep half of their destination without ECC, with which the device is.
  if (row.is_load && name.contains("_d16") && !name.contains("_format_")) {
    const Set destination = of(ours.writes, {}, false);
    llvm.tied &= ~destination;
    llvm.reads &= ~(destination & ~of(ours.reads, {}, false));  // it may be the address, too
  }
  // These replace some bits of a register and read the others; LLVM does not list this.
  const Set scalars = of({}, ours.scalar_writes, false);
  if (name.starts_with("s_bitset") || name == "s_set_gpr_idx_mode") llvm.reads |= scalars;
  // Of a buffer's or a scalar compare-and-swap the first half of the data tuple is written; LLVM's
  // result is the tuple, for it is the same registers.
  if (name.starts_with("buffer_atomic_cmpswap") && ours.destination.count != 0)
    for (unsigned n = 0; n < ours.destination.count; ++n)
      llvm.writes.reset(ours.destination.first + ours.destination.count + n);
  if (name.starts_with("s_") && name.contains("atomic_cmpswap")) {
    const Set returned = of({}, ours.scalar_writes, false);
    if ((returned & ~llvm.writes).none()) llvm.writes = returned;
  }
}

// ---- The comparison -----------------------------------------------------------------------------

struct Findings {
  std::set<std::string_view> judged;
  std::map<std::string, std::string> wrong;  ///< By mnemonic and kind.
  std::size_t count = 0, merging = 0, crossing = 0;
};

void compare(const std::string& text, const Instruction& i, Described llvm, Findings& out) {
  const Row& row = *i.row;
  const RegisterUse ours = register_use(i);
  apply_differences(llvm, ours, row);
  const auto wrong = [&](std::string_view what, const std::string& detail) {
    out.wrong.emplace(fmt::format("{} {}", row.mnemonic, what),
                      fmt::format("{} ({}): {}", text, llvm.name, detail));
  };
  const Set reads = of(ours.reads, ours.scalar_reads, ours.reads_scc);
  const Set writes = of(ours.writes, ours.scalar_writes, ours.writes_scc);
  if (writes != llvm.writes)
    wrong("writes", "writes" + text_of(writes) + ", LLVM:" + text_of(llvm.writes));
  // A tied use is either read (accumulated onto) or kept in part.
  const Set untied = llvm.tied & ~reads & ~llvm.reads;
  if ((reads & ~llvm.tied) != (llvm.reads & ~llvm.tied) || (llvm.reads & ~reads).any())
    wrong("reads", "reads" + text_of(reads) + ", LLVM:" + text_of(llvm.reads | llvm.tied));
  if (untied.any() && !ours.merges_destination) wrong("merges", "does not keep" + text_of(untied));
  Set listed;
  for (const RegisterRange& range : ours.sources)
    for (unsigned n = 0; n < range.count; ++n) listed.set(range.first + n);
  if (listed != of(ours.reads, {}, false)) wrong("sources", "are" + text_of(listed));
  out.merging += ours.merges_destination;
  out.crossing += ours.crosses_lanes;
  out.judged.insert(row.mnemonic);
  ++out.count;
}

/// Operand bits that decode often; see tests/unit/isa/operands_test.cpp.
std::uint64_t operand_bits(const isa::Encoding& encoding, std::mt19937_64& random) {
  std::uint64_t word = random();
  if (random() % 4 != 0) word &= random();
  if (random() % 4 == 0) word &= random();
  if (random() % 2) word &= ~0x0001'0101'0000'0001ull;  // tuples are aligned to two
  if (encoding.prefix == 0b110100) {
    if (random() % 4 != 0) word |= random() & 0x0402'0100'0000'0000;
    if (random() % 2) word &= ~0xf800'0000'0000'ff00ull;  // no modifiers
    if (random() % 3 == 0) word &= ~0x07fc'0000'0000'0000ull;
  }
  if (encoding.prefix == 0b110111 && random() % 2) word |= 0x007f'0000'0000'0000;
  if (encoding.prefix_low >= 25 && encoding.prefix >> 3 == 0b0001) return word;
  const bool dpp_or_sdwa = encoding.prefix == 0 || encoding.prefix >> 1 == 0b011111;
  if (dpp_or_sdwa) {
    constexpr unsigned kSpecial[] = {255, 249, 250, 240, 193};
    if (random() % 2) word = (word & ~0x1ffull) | kSpecial[random() % 5];
    const auto second = static_cast<std::uint32_t>(random() & random());
    const std::uint32_t kept = random() % 2 ? 0x36363600u : 0xff0150ffu;
    word = (word & 0xffffffff) | std::uint64_t{second & (kept | 0x00ff00ffu)} << 32;
  }
  return word;
}

Findings judge_all(const RowTable& rows) {
  Findings out;
  const auto decoder = isa::Decoder::create(kGfx942);
  EXPECT_TRUE(decoder);
  const Llvm llvm;
  std::mt19937_64 random(325);
  const auto judge = [&](std::uint64_t word) {
    std::array<std::byte, 20> code{};
    const auto literal = static_cast<std::uint32_t>(random());
    std::memcpy(code.data(), &word, 8);
    std::memcpy(code.data() + 8, &literal, 4);
    const auto encoded = (*decoder)->decode(code, 0);
    if (!encoded) return;
    const Row* const row = rows.find(encoded->mnemonic);
    if (row == nullptr) return;
    const auto bound = bind(*encoded, *row, kContext, 0);
    if (!bound) return;
    const std::string text = (*decoder)->disassemble(code, 0);
    if (text.contains("/*Invalid")) return;
    if (const auto described = llvm.describe(code)) compare(text, *bound, *described, out);
  };
  judge(0x1800'0101'd3d8'4002);  // v_accvgpr_read_b32 v2, a1
  judge(0x1800'0101'd3d9'4002);  // v_accvgpr_write_b32 a2, v1
  judge(0x0000'0000'd828'0000);  // ds_nop
  judge(0x0700'0000'd97a'0004);  // ds_consume v7 offset:4
  judge(0x0700'0000'd97c'0004);  // ds_append v7 offset:4
  judge(0x0700'0000'd96c'0004);  // ds_read_addtid_b32 v7 offset:4
  judge(0x0000'0000'd933'0000);  // ds_gws_init v0 gds
  judge(0x0000'0000'd93b'0004);  // ds_gws_barrier v0 offset:4 gds
  judge(0x0000'0000'd935'0000);  // ds_gws_sema_v gds
  judge(0x0000'0000'd937'0000);  // ds_gws_sema_br v0 gds
  judge(0x0000'0000'd939'0000);  // ds_gws_sema_p gds
  judge(0x0000'0000'd931'0000);  // ds_gws_sema_release_all gds
  for (const isa::Encoding& encoding : isa::kEncodings) {
    for (std::uint64_t opcode = 0; opcode >> encoding.opcode_bits == 0; ++opcode) {
      const std::uint64_t fixed = encoding.fixed(opcode);
      for (int n = 0; n < 200; ++n)
        judge(fixed | (operand_bits(encoding, random) & encoding.free_bits()));
    }
  }
  return out;
}

// One test: ctest runs each in a process of its own, and each would decode all again.
TEST(RegisterUse, IsWhatLlvmDescribesInEveryRow) {
  const RowTable& rows = *row_table({}, default_gpu().arch());
  const Findings found = judge_all(rows);
  int shown = 0;
  for (const auto& [kind, wrong] : found.wrong)
    if (shown++ < 60) ADD_FAILURE() << kind << ": " << wrong;
  EXPECT_TRUE(found.wrong.empty()) << found.wrong.size() << " kinds";
  EXPECT_GT(found.count, 50000u);
  EXPECT_GT(found.merging, 1000u);
  EXPECT_GT(found.crossing, 1000u);

  std::vector<std::string_view> missing;
  rows.for_each([&](const Row& row) {
    if (row.shape != nullptr && row.mnemonic != row.shape->mnemonic) return;
    // Rows of families whose members exist on other processors only.
    if (row.mnemonic == "s_code_end" || row.mnemonic == "buffer_atomic_pk_add_bf16") return;
    if (!found.judged.contains(row.mnemonic)) missing.push_back(row.mnemonic);
  });
  EXPECT_THAT(missing, testing::IsEmpty()) << "not judged";
}

// ---- What LLVM's description does not have
// --------------------------------------------------------

RegisterUse use_of(std::uint64_t word) {
  const auto decoder = isa::Decoder::create(kGfx942);
  std::array<std::byte, 20> code{};
  std::memcpy(code.data(), &word, sizeof word);
  const auto encoded = (*decoder)->decode(code, 0);
  return register_use(
      *bind(*encoded, *row_table({}, default_gpu().arch())->find(encoded->mnemonic), kContext, 0));
}

TEST(RegisterUse, ReadsTheHalvesThatOpSelChooses) {
  // v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] op_sel_hi:[0,1,0]
  const RegisterUse fma = use_of(0x141a'0902'd3b0'0000);
  EXPECT_EQ(text_of(of(fma.reads, {}, false)), " v2 v4 v5 v6");
  EXPECT_EQ(text_of(of(fma.writes, {}, false)), " v0 v1");
  // v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[1,0]
  EXPECT_EQ(text_of(of(use_of(0x1802'0902'd3b3'4800).reads, {}, false)), " v3 v4");
}

TEST(RegisterUse, TellsWhichLanesTakePart) {
  struct Case {
    std::uint64_t word;
    const char* text;
    bool merges, crosses, ignores;
  };
  constexpr Case kCases[] = {
      {0x041a'0b04'd205'4009, "v_mad_i16 v9, v4, v5, v6 op_sel:[0,0,0,1]", true, false, false},
      {0x041a'0b04'd205'0009, "v_mad_i16 v9, v4, v5, v6", false, false, false},
      {0x041a'0b04'd3a1'0009, "v_fma_mixlo_f16 v9, v4, v5, v6", true, false, false},
      {0x0100'0002'd8b4'0000, "ds_read_u16_d16 v1, v2", false, false, false},
      {0x0606'1504'4c12'0af9, "v_add_u16_sdwa UNUSED_PRESERVE", true, false, false},
      {0x0606'0504'4c12'0af9, "v_add_u16_sdwa UNUSED_PAD", false, false, false},
      {0xff01'1109'7e02'02fa, "v_mov_b32_dpp row_shr:1", true, true, false},
      {0xff09'1109'7e02'02fa, "v_mov_b32_dpp row_shr:1 bound_ctrl:0", false, true, false},
      {0x7f09'1109'7e02'02fa, "v_mov_b32_dpp row_mask:0x7 bound_ctrl:0", true, true, false},
      {0x0001'0803'd28a'0001, "v_writelane_b32 v1, s3, 4", true, true, true},
      {0x0001'0903'd289'0001, "v_readlane_b32 s1, v3, 4", false, true, true},
      {0x7e02'0503, "v_readfirstlane_b32 s1, v3", false, true, false},
      {0x0100'0302'd87e'0000, "ds_bpermute_b32 v1, v2, v3", false, true, false},
      {0x0100'0002'd87a'0000, "ds_swizzle_b32 v1, v2", false, true, false},
      {0x0202'0d04'd3cd'0008, "v_mfma_f32_16x16x16_f16", false, true, true},
      {0x0202'0702, "v_add_f32 v1, v2, v3", false, false, false},
  };
  for (const Case& one : kCases) {
    const RegisterUse use = use_of(one.word);
    EXPECT_EQ(use.merges_destination, one.merges) << one.text;
    EXPECT_EQ(use.crosses_lanes, one.crosses) << one.text;
    EXPECT_EQ(use.ignores_exec, one.ignores) << one.text;
  }
}

TEST(RegisterUse, OfWhatCouldNotBeDecodedIsNothing) {
  const RegisterUse use = register_use(Instruction{});
  EXPECT_EQ(text_of(of(use.reads, use.scalar_reads, use.reads_scc)), " nothing");
  EXPECT_EQ(text_of(of(use.writes, use.scalar_writes, use.writes_scc)), " nothing");
}

}  // namespace
}  // namespace margay
