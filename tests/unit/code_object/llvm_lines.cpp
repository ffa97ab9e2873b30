// See llvm_lines.h. Compiled as C++20.
#include "llvm_lines.h"

#include <utility>

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

namespace margay::test {

struct LlvmLines::Impl {
  std::vector<std::byte> file;
  std::unique_ptr<llvm::object::ObjectFile> elf;
  std::unique_ptr<llvm::DWARFContext> context;
};

LlvmLines::LlvmLines(std::vector<std::byte> elf) : impl_(std::make_unique<Impl>()) {
  impl_->file = std::move(elf);
  const llvm::StringRef text(reinterpret_cast<const char*>(impl_->file.data()), impl_->file.size());
  impl_->elf = llvm::cantFail(
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(text, "input")));
  impl_->context = llvm::DWARFContext::create(*impl_->elf);
}

LlvmLines::~LlvmLines() = default;

std::vector<LlvmFrame> LlvmLines::frames_at(std::uint64_t vaddr) const {
  const llvm::DILineInfoSpecifier wanted(
      llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath, llvm::DINameKind::ShortName);
  const llvm::DIInliningInfo found = impl_->context->getInliningInfoForAddress(
      {vaddr, llvm::object::SectionedAddress::UndefSection}, wanted);
  std::vector<LlvmFrame> frames;
  for (unsigned i = 0; i < found.getNumberOfFrames(); ++i) {
    const llvm::DILineInfo& frame = found.getFrame(i);
    const bool named = frame.FunctionName != llvm::DILineInfo::BadString;
    frames.push_back({.function = named ? frame.FunctionName : "",
                      .file = frame.FileName,
                      .line = frame.Line,
                      .column = frame.Column});
  }
  return frames;
}

}  // namespace margay::test
