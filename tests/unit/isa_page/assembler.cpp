// See assembler.h.
#include "assembler.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>

#include <mutex>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

namespace margay::isa_page {
namespace {

const llvm::Triple kTriple("amdgcn-amd-amdhsa");

}  // namespace

struct Assembler::Impl {
  const llvm::Target* target = nullptr;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> assembly;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
};

Assembler::Assembler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Assembler::Assembler(Assembler&&) noexcept = default;
Assembler& Assembler::operator=(Assembler&&) noexcept = default;
Assembler::~Assembler() = default;

Result<Assembler> Assembler::create() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
  });
  auto impl = std::make_unique<Impl>();
  std::string why;
  impl->target = llvm::TargetRegistry::lookupTarget(kTriple, why);
  if (impl->target == nullptr)
    return fail(ErrorCode::system, "LLVM has no AMDGPU target: " + why, "starting the assembler");
  impl->registers.reset(impl->target->createMCRegInfo(kTriple));
  impl->assembly.reset(impl->target->createMCAsmInfo(*impl->registers, kTriple, impl->options));
  impl->instructions.reset(impl->target->createMCInstrInfo());
  impl->subtarget.reset(impl->target->createMCSubtargetInfo(kTriple, "gfx942", ""));
  return Assembler(std::move(impl));
}

bool Assembler::accepts(const std::string& line) const {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(line + "\n"), llvm::SMLoc());
  sources.setDiagHandler([](const llvm::SMDiagnostic&, void*) {});
  llvm::MCContext context(kTriple, impl_->assembly.get(), impl_->registers.get(),
                          impl_->subtarget.get(), &sources, &impl_->options);
  const std::unique_ptr<llvm::MCObjectFileInfo> sections(
      impl_->target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());
  const std::unique_ptr<llvm::MCStreamer> nowhere(impl_->target->createNullStreamer(context));
  const std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(sources, context, *nowhere, *impl_->assembly));
  const std::unique_ptr<llvm::MCTargetAsmParser> target(impl_->target->createMCAsmParser(
      *impl_->subtarget, *parser, *impl_->instructions, impl_->options));
  parser->setTargetParser(*target);
  return !parser->Run(/*NoInitialTextSection=*/false);
}

}  // namespace margay::isa_page
