// An AMD GPU code object: the ELF file that holds compiled kernels, their descriptors and their
// argument metadata. What it holds is described in elf/kernel.h, elf/symbol.h and
// dwarf/argument_field.h; nothing above this part knows the file format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "code_object/dwarf/argument_field.h"
#include "code_object/elf/kernel.h"
#include "code_object/elf/source_frame.h"
#include "code_object/elf/symbol.h"
#include "gpu/architecture.h"

namespace margay {

/// A parsed, validated code object. Immutable and safe to share between threads, except that
/// source_at() and argument_fields() lock internally (debug information is read on first use).
class CodeObject {
 public:
  /// Parses an ELF image for an architecture that Margay runs, code object v4, v5 or v6. Truncated,
  /// inconsistent or foreign images give invalid_image or wrong_architecture, never a crash. Every
  /// address and size in the result has been checked to be inside the image.
  [[nodiscard]] static Result<CodeObject> parse(std::vector<std::byte> elf);

  CodeObject(CodeObject&&) noexcept;
  CodeObject& operator=(CodeObject&&) noexcept;
  ~CodeObject();

  /// The bytes that parse() took.
  [[nodiscard]] std::span<const std::byte> elf() const;

  /// E.g. "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-".
  [[nodiscard]] const std::string& target() const;
  /// Of the devices that run it.
  [[nodiscard]] const Architecture& architecture() const;
  /// 4, 5 or 6.
  [[nodiscard]] int version() const;

  [[nodiscard]] std::span<const Kernel> kernels() const;
  [[nodiscard]] const Kernel* find_kernel(std::string_view name) const;

  /// Functions and objects, sorted by address.
  [[nodiscard]] std::span<const Symbol> symbols() const;
  [[nodiscard]] const Symbol* find_symbol(std::string_view name) const;
  /// The function whose range holds `vaddr`, or null.
  [[nodiscard]] const Symbol* function_at(std::uint64_t vaddr) const;

  /// Bytes of memory the loaded image needs (all loadable segments, from virtual address 0).
  [[nodiscard]] std::uint64_t image_bytes() const;
  /// True when `vaddr` is in an executable segment.
  [[nodiscard]] bool is_executable(std::uint64_t vaddr) const;
  /// The executable range [first, last) that holds `vaddr`, or an empty pair.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> executable_range(std::uint64_t vaddr) const;

  /// The load address must be a multiple of this, a power of two (4096 from today's linkers).
  [[nodiscard]] std::uint64_t image_alignment() const;

  /// Copies the segments into `image` (image_bytes() long), zero-fills the rest and applies the
  /// relocations for an image that the device sees at `load_address`. A symbol that the image does
  /// not define gives not_found with its name.
  [[nodiscard]] Status load(std::span<std::byte> image, std::uint64_t load_address) const;

  /// The source position of the instruction at `vaddr`: innermost inlined frame first. Empty when
  /// there is no line table.
  [[nodiscard]] std::vector<SourceFrame> source_at(std::uint64_t vaddr) const;

  /// The pointers and integers in the explicit arguments of `kernel`, which is one of kernels(), in
  /// declaration order. Empty without debug information about types (-g).
  [[nodiscard]] std::vector<ArgumentField> argument_fields(const Kernel& kernel) const;

 private:
  struct Impl;
  explicit CodeObject(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay
