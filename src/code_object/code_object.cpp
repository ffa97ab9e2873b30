// The public face of the code-object reader; see code_object.h.
#include "code_object/code_object.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "code_object/demangle.h"
#include "code_object/elf/elf_image.h"
#include "code_object/elf/kernels.h"
#include "code_object/elf/relocate.h"
#include "code_object/source_lines.h"

namespace margay {

using namespace code_object;

struct CodeObject::Impl {
  std::vector<std::byte> file;
  ElfImage image;  ///< Views into `file`.
  std::vector<Kernel> kernels;
  std::vector<const Symbol*> functions;  ///< Sorted by address.
  std::unordered_map<std::string_view, const Symbol*> symbol_by_name;
  std::mutex lines_mutex;
  std::optional<SourceLines> lines;  ///< Read on first use: it is most of the work.
  std::unordered_map<const Kernel*, std::vector<ArgumentField>>
      fields;  ///< Those requested so far.

  void index();
  /// With lines_mutex held.
  SourceLines& source_lines() {
    if (!lines) lines.emplace(image);
    return *lines;
  }
};

void CodeObject::Impl::index() {
  for (Symbol& symbol : image.symbols) {
    const Symbol*& named = symbol_by_name[symbol.name];
    // Two local symbols may share a name; one with a type takes precedence.
    if (named == nullptr || named->kind == Symbol::Kind::other) named = &symbol;
    if (symbol.kind == Symbol::Kind::function && symbol.size_bytes != 0) {
      functions.push_back(&symbol);
    }
  }
}

CodeObject::CodeObject(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CodeObject::CodeObject(CodeObject&&) noexcept = default;
CodeObject& CodeObject::operator=(CodeObject&&) noexcept = default;
CodeObject::~CodeObject() = default;

Result<CodeObject> CodeObject::parse(std::vector<std::byte> elf) {
  auto impl = std::make_unique<Impl>();
  impl->file = std::move(elf);
  impl->image = MARGAY_TRY(read_elf(impl->file));
  impl->kernels = MARGAY_TRY(read_kernels(impl->image));
  impl->index();
  return CodeObject(std::move(impl));
}

std::span<const std::byte> CodeObject::elf() const { return impl_->file; }
const std::string& CodeObject::target() const { return impl_->image.target; }
const Architecture& CodeObject::architecture() const { return *impl_->image.architecture; }
int CodeObject::version() const { return impl_->image.version; }

std::span<const Kernel> CodeObject::kernels() const { return impl_->kernels; }

const Kernel* CodeObject::find_kernel(std::string_view name) const {
  const auto found = std::ranges::lower_bound(impl_->kernels, name, {}, &Kernel::name);
  return found != impl_->kernels.end() && found->name == name ? &*found : nullptr;
}

std::span<const Symbol> CodeObject::symbols() const { return impl_->image.symbols; }

const Symbol* CodeObject::find_symbol(std::string_view name) const {
  const auto found = impl_->symbol_by_name.find(name);
  return found == impl_->symbol_by_name.end() ? nullptr : found->second;
}

const Symbol* CodeObject::function_at(std::uint64_t vaddr) const {
  const auto after = std::ranges::upper_bound(impl_->functions, vaddr, {}, &Symbol::vaddr);
  if (after == impl_->functions.begin()) return nullptr;
  const Symbol* function = *std::prev(after);
  return vaddr - function->vaddr < function->size_bytes ? function : nullptr;
}

std::uint64_t CodeObject::image_bytes() const { return impl_->image.image_bytes; }
std::uint64_t CodeObject::image_alignment() const { return impl_->image.alignment; }

bool CodeObject::is_executable(std::uint64_t vaddr) const {
  const auto [first, last] = executable_range(vaddr);
  return first != last;
}

std::pair<std::uint64_t, std::uint64_t> CodeObject::executable_range(std::uint64_t vaddr) const {
  const Segment* segment = impl_->image.segment_at(vaddr);
  if (segment == nullptr || !segment->executable) return {};
  return {segment->vaddr, segment->vaddr + segment->memory_bytes};
}

Status CodeObject::load(std::span<std::byte> image, std::uint64_t load_address) const {
  return place_image(impl_->image, image, load_address);
}

std::vector<SourceFrame> CodeObject::source_at(std::uint64_t vaddr) const {
  std::vector<SourceFrame> frames;
  {
    const std::lock_guard lock(impl_->lines_mutex);
    frames = impl_->source_lines().frames_at(vaddr);
  }
  if (frames.empty()) return frames;
  if (const Symbol* function = function_at(vaddr)) {
    frames.back().function = demangled(function->name);
  }
  return frames;
}

std::vector<ArgumentField> CodeObject::argument_fields(const Kernel& kernel) const {
  const std::lock_guard lock(impl_->lines_mutex);
  const auto [known, added] = impl_->fields.try_emplace(&kernel);
  if (added) known->second = impl_->source_lines().argument_fields(kernel);
  return known->second;
}

}  // namespace margay
