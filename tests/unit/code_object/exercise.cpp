// See exercise.h.
#include "exercise.h"

#include <cstdio>
#include <cstdlib>

#include "code_object/bundle/find_image.h"
#include "code_object/code_object.h"
#include "code_object/elf/elf_image.h"
#include "gpu/gfx942/gfx942.h"

namespace margay::test {
namespace {

// A damaged size may validly request up to 4 GiB; loading those would only test the host.
constexpr std::uint64_t kMaxLoadBytes = std::uint64_t{1} << 24;
constexpr unsigned kMaxPositions = 96;

void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "An accepted code object breaks a promise: %s\n", what);
  std::abort();
}

void exercise_object(const CodeObject& object) {
  promise(object.version() >= 4 && object.version() <= 6, "version");
  for (const Kernel& kernel : object.kernels()) {
    promise(object.is_executable(kernel.entry_vaddr), "the entry is executable");
    promise(kernel.entry_vaddr % 256 == 0, "the entry is aligned");
    promise(kernel.descriptor_vaddr + 64 <= object.image_bytes(), "the descriptor is inside");
    promise(object.find_kernel(kernel.name) == &kernel, "kernels are found by name");
    for (const KernelArgument& argument : kernel.arguments) {
      promise(std::uint64_t{argument.offset_bytes} + argument.size_bytes <= kernel.kernarg_bytes,
              "arguments are inside");
    }
    for (const ArgumentField& field : object.argument_fields(kernel)) {
      promise(std::uint64_t{field.offset_bytes} + field.size_bytes <= kernel.kernarg_bytes,
              "argument fields are inside");
    }
  }
  for (const Symbol& symbol : object.symbols()) {
    promise(symbol.vaddr <= object.image_bytes() &&
                symbol.size_bytes <= object.image_bytes() - symbol.vaddr,
            "symbols are inside");
    if (symbol.kind != Symbol::Kind::function) continue;
    for (unsigned i = 0; i < kMaxPositions && i * 4 < symbol.size_bytes; ++i) {
      static_cast<void>(object.source_at(symbol.vaddr + 4 * i));
    }
    static_cast<void>(object.function_at(symbol.vaddr));
  }
  if (object.image_bytes() > kMaxLoadBytes) return;
  std::vector<std::byte> memory(object.image_bytes());
  static_cast<void>(object.load(memory, std::uint64_t{1} << 40));
}

}  // namespace

void exercise(const std::vector<std::byte>& bytes) {
  if (const auto object = CodeObject::parse(bytes)) exercise_object(*object);
  const auto images = find_images(bytes, kGfx942);
  if (!images) return promise(!images.error().what.empty(), "errors have words");
  promise(!images->empty(), "success finds an image");
  for (const auto& image : *images) {
    if (image == bytes) continue;
    if (const auto object = CodeObject::parse(image)) exercise_object(*object);
  }
}

std::pair<std::size_t, std::size_t> section_range(const std::vector<std::byte>& image,
                                                  std::string_view name) {
  const auto section = code_object::find_elf_section(image, name);
  if (!section || section->empty()) return {};
  return {static_cast<std::size_t>(section->data() - image.data()), section->size()};
}

}  // namespace margay::test
