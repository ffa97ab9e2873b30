#include "isa/decoder.h"

#include <fmt/format.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <set>

#include "base/fork.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace margay::isa {
namespace {

/// Mnemonics live as long as the program, so that Encoded can hold views of them.
std::string_view intern(std::string_view text) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> names;
  [[maybe_unused]] static const bool held = (HeldOverFork::add(mutex), true);
  const std::lock_guard lock(mutex);
  auto found = names.find(text);
  if (found == names.end()) found = names.emplace(text).first;
  return *found;
}

std::string_view without_suffix(std::string_view mnemonic) {
  mnemonic = mnemonic.substr(0, mnemonic.find_first_of(" \t"));
  for (const std::string_view suffix : {"_e32", "_e64", "_sdwa", "_dpp"})
    if (mnemonic.ends_with(suffix)) return mnemonic.substr(0, mnemonic.size() - suffix.size());
  return mnemonic;
}

/// Invalid SDWA selections. LLVM 19 and 22 decode them, and crash when they print them. Source:
/// MI300 ISA guide, section 13.3.6 (SDWA): selections 0 to 6, unused bits 0 to 2.
bool has_reserved_selection(std::span<const std::byte> code) {
  std::uint64_t word = 0;
  if (code.size() < sizeof word) return false;
  std::memcpy(&word, code.data(), sizeof word);
  const Format format = format_of(static_cast<std::uint32_t>(word));
  if (format != Format::vop1 && format != Format::vop2 && format != Format::vopc) return false;
  if (bits(word, 0, 8) != source::kSdwa) return false;
  const bool bad_destination = bits(word, 40, 42) == 7 || bits(word, 43, 44) == 3;
  const bool bad_second = format != Format::vop1 && bits(word, 56, 58) == 7;
  return bits(word, 48, 50) == 7 || bad_second || (format != Format::vopc && bad_destination);
}

/// A literal as the scalar register that a vector instruction writes, which LLVM 22 takes for one
/// to read. Source: MI300 ISA guide, sections 13.3.4 and 13.3.5 (VOPC and VOP3A), 12.8 and 12.11
/// (v_readfirstlane, v_readlane).
bool writes_literal(std::uint64_t word, Format format) {
  if (format == Format::vop1)
    return bits(word, 9, 16) == 2 && bits(word, 17, 24) == source::kLiteral;
  if (format != Format::vop3 || bits(word, 0, 7) != source::kLiteral) return false;
  const std::uint32_t opcode = bits(word, 16, 25);
  return opcode < 0x100 || opcode == 0x142 || opcode == 0x289;
}

/// Operands that no instruction of 8 or 16 bytes has on gfx942 and gfx950, and on which LLVM 22
/// crashes: literals, and scalars as A or B of an MFMA that chooses its formats.
/// Source: MI300 ISA guide, chapter 13 (VOP3, VOP3P, MUBUF, MTBUF); CDNA4 ISA guide, section 7.1.
bool has_impossible_operand(std::span<const std::byte> code) {
  std::uint64_t word = 0;
  if (code.size() < sizeof word) return false;
  std::memcpy(&word, code.data(), sizeof word);
  const Format format = format_of(static_cast<std::uint32_t>(word));
  if (writes_literal(word, format)) return true;
  switch (format) {
    case Format::vop3:
    case Format::vop3p:
    case Format::mfma: {
      const std::uint32_t a = bits(word, 32, 40);
      const std::uint32_t b = bits(word, 41, 49);
      if (a == source::kLiteral || b == source::kLiteral || bits(word, 50, 58) == source::kLiteral)
        return true;
      const std::uint32_t opcode = bits(word, 16, 31);
      const bool chooses_formats = opcode == 0xd3ad || opcode == 0xd3ae;
      if (chooses_formats && (a < source::kVgpr || b < source::kVgpr)) return true;
      // v_mfma_ld_scale_b32, of which the MFMA is the second half.
      return opcode == 0xd3ac && has_impossible_operand(code.subspan(8));
    }
    case Format::mubuf:
    case Format::mtbuf:
      return bits(word, 56, 63) == source::kLiteral;
    default:
      return false;
  }
}

}  // namespace

struct Decoder::Impl {
  std::string_view processor;
  const llvm::Target* target = nullptr;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
  std::vector<std::string_view> mnemonics;  // by LLVM opcode; empty until first met

  [[nodiscard]] llvm::MCDisassembler::DecodeStatus read(std::span<const std::byte> code,
                                                        std::uint64_t address, llvm::MCInst& inst,
                                                        std::uint64_t& size) const {
    // LLVM 22 crashes where a literal is cut off.
    std::array<std::byte, 8> padded{};
    const std::size_t available = code.size();
    if (available < padded.size()) {
      std::ranges::copy(code, padded.begin());
      code = padded;
    }
    if (has_reserved_selection(code) || has_impossible_operand(code))
      return llvm::MCDisassembler::Fail;
    const llvm::ArrayRef bytes(reinterpret_cast<const std::uint8_t*>(code.data()), code.size());
    const auto status = disassembler->getInstruction(inst, size, bytes, address, llvm::nulls());
    return size <= available ? status : llvm::MCDisassembler::Fail;
  }
};

Decoder::Decoder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Decoder::~Decoder() = default;

Result<std::unique_ptr<Decoder>> Decoder::create(const Architecture& architecture) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  auto impl = std::make_unique<Impl>();
  impl->processor = architecture.processor;
  std::string why;
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  impl->target = llvm::TargetRegistry::lookupTarget(triple, why);
  if (impl->target == nullptr)
    return fail(ErrorCode::system, "LLVM has no AMDGPU target: " + why, "starting the decoder");
  const llvm::Target& target = *impl->target;
  impl->registers.reset(target.createMCRegInfo(triple));
  impl->assembly.reset(target.createMCAsmInfo(*impl->registers, triple, llvm::MCTargetOptions{}));
  impl->instructions.reset(target.createMCInstrInfo());
  impl->subtarget.reset(target.createMCSubtargetInfo(triple, architecture.processor, ""));
  if (!impl->subtarget->isCPUStringValid(architecture.processor))
    return fail(ErrorCode::invalid_argument,
                fmt::format("LLVM has no AMD processor {}", architecture.processor),
                "starting the decoder");
  impl->context = std::make_unique<llvm::MCContext>(triple, impl->assembly.get(),
                                                    impl->registers.get(), impl->subtarget.get());
  impl->disassembler.reset(target.createMCDisassembler(*impl->subtarget, *impl->context));
  impl->printer.reset(target.createMCInstPrinter(triple, 0, *impl->assembly, *impl->instructions,
                                                 *impl->registers));
  if (!impl->disassembler || !impl->printer)
    return fail(ErrorCode::system, "LLVM's AMDGPU disassembler could not be created",
                "starting the decoder");
  impl->printer->setPrintImmHex(true);
  impl->mnemonics.resize(impl->instructions->getNumOpcodes());
  return std::unique_ptr<Decoder>(new Decoder(std::move(impl)));
}

Result<Encoded> Decoder::decode(std::span<const std::byte> code, std::uint64_t address) {
  llvm::MCInst inst;
  std::uint64_t size = 0;
  if (code.size() < 4 || impl_->read(code, address, inst, size) != llvm::MCDisassembler::Success)
    return fail(ErrorCode::illegal_instruction,
                fmt::format("these bytes are not a {} instruction", impl_->processor));

  std::string_view& mnemonic = impl_->mnemonics[inst.getOpcode()];
  if (mnemonic.empty()) mnemonic = intern(without_suffix(impl_->printer->getMnemonic(inst).first));

  Encoded encoded;
  encoded.mnemonic = mnemonic;
  encoded.size_bytes = static_cast<std::uint8_t>(size);
  std::memcpy(&encoded.word, code.data(), std::min<std::size_t>(size, 8));
  std::uint32_t first = 0;
  std::memcpy(&first, code.data(), 4);
  encoded.format = format_of(first);
  const bool wide = encoded.format >= Format::vop3 && encoded.format != Format::unknown;
  const std::size_t base = wide || encoded.format == Format::smem ? 8 : 4;
  if (size == 16)
    std::memcpy(&encoded.second, code.data() + 8, 8);
  else if (size > base)
    std::memcpy(&encoded.literal, code.data() + base, 4);
  return encoded;
}

std::string Decoder::disassemble(std::span<const std::byte> code, std::uint64_t address) {
  llvm::MCInst inst;
  std::uint64_t size = 0;
  if (code.size() < 4 || impl_->read(code, address, inst, size) != llvm::MCDisassembler::Success)
    return "<not an instruction>";
  // LLVM 22 takes a literal that an encoding always has for an inline constant, where its number is
  // the code of one.
  const std::string_view name = impl_->printer->getMnemonic(inst).first;
  const unsigned literal = name.starts_with("v_fmaak") || name.starts_with("v_madak")   ? 3
                           : name.starts_with("v_fmamk") || name.starts_with("v_madmk") ? 2
                                                                                        : 0;
  if (std::uint32_t bits = 0; literal != 0) {
    std::memcpy(&bits, code.data() + 4, sizeof bits);
    inst.getOperand(literal).setImm(bits);
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  impl_->printer->printInst(&inst, address, "", *impl_->subtarget, stream);
  stream.flush();
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? text : text.substr(first);
}

}  // namespace margay::isa
