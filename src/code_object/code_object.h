// An AMD GPU code object: the ELF file that holds compiled gfx942 kernels, their descriptors and
// their argument metadata. This is the only place that knows the file format; everything above
// works with the structures below.
//
// Format: LLVM, "User Guide for AMDGPU Backend", sections "Code Object", "ELF Code Object",
// "Code Object V4/V5 Metadata" and "Kernel Descriptor".
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
#include "gpu/architecture.h"

namespace margay {

/// What the runtime must put into one slot of the kernel-argument segment.
enum class ArgumentKind : std::uint8_t {
  by_value,
  global_buffer,
  dynamic_shared_pointer,
  hidden_block_count_x,
  hidden_block_count_y,
  hidden_block_count_z,
  hidden_group_size_x,
  hidden_group_size_y,
  hidden_group_size_z,
  hidden_remainder_x,
  hidden_remainder_y,
  hidden_remainder_z,
  hidden_global_offset_x,
  hidden_global_offset_y,
  hidden_global_offset_z,
  hidden_grid_dims,
  hidden_printf_buffer,
  hidden_hostcall_buffer,
  hidden_multigrid_sync_arg,
  hidden_heap_v1,
  hidden_default_queue,
  hidden_completion_action,
  hidden_dynamic_lds_size,
  hidden_private_base,
  hidden_shared_base,
  hidden_queue_ptr,
  hidden_none,
  other,  ///< A kind this version does not know; its text is kept in KernelArgument::kind_text.
};

[[nodiscard]] constexpr bool is_hidden(ArgumentKind kind) {
  return kind >= ArgumentKind::hidden_block_count_x && kind <= ArgumentKind::hidden_none;
}

/// One slot of the kernel-argument segment, from the metadata note.
struct KernelArgument {
  std::string name;       ///< The source name; empty when the compiler did not record it.
  std::string type_name;  ///< The source type; empty when the compiler did not record it.
  std::string kind_text;  ///< `.value_kind` as written in the note.
  ArgumentKind kind = ArgumentKind::other;
  std::uint32_t offset_bytes = 0;
  std::uint32_t size_bytes = 0;
};

/// The 64-byte kernel descriptor, field by field (raw register words; see exec/ for their use).
struct KernelDescriptor {
  std::uint32_t group_segment_fixed_size = 0;    ///< Static LDS, bytes.
  std::uint32_t private_segment_fixed_size = 0;  ///< Scratch, bytes per lane.
  std::uint32_t kernarg_size = 0;                ///< Bytes of the kernel-argument segment.
  std::int64_t kernel_code_entry_byte_offset = 0;
  std::uint32_t compute_pgm_rsrc3 = 0;
  std::uint32_t compute_pgm_rsrc1 = 0;
  std::uint32_t compute_pgm_rsrc2 = 0;
  std::uint16_t kernel_code_properties = 0;
  std::uint16_t kernarg_preload = 0;

  /// VGPRs a wave gets, architected and accumulation together (granule 8).
  [[nodiscard]] std::uint32_t unified_vgpr_count() const {
    return ((compute_pgm_rsrc1 & 0x3f) + 1) * 8;
  }
  /// Index of the first accumulation VGPR in the unified file (granule 4).
  [[nodiscard]] std::uint32_t accum_offset() const { return ((compute_pgm_rsrc3 & 0x3f) + 1) * 4; }
};

/// A kernel: descriptor, place in the image, and what the metadata says of it.
struct Kernel {
  std::string name;  ///< Symbol name without the `.kd` suffix.
  std::uint64_t descriptor_vaddr = 0;
  std::uint64_t entry_vaddr = 0;
  KernelDescriptor descriptor;
  std::vector<KernelArgument> arguments;  ///< In segment order, hidden ones included.
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t vgpr_count = 0;  ///< Unified count as the compiler reports it.
  std::uint32_t agpr_count = 0;
  std::uint32_t sgpr_count = 0;
  std::uint32_t vgpr_spill_count = 0;
  std::uint32_t sgpr_spill_count = 0;
  std::uint32_t lds_bytes = 0;      ///< Static LDS.
  std::uint32_t scratch_bytes = 0;  ///< Per lane.
  std::uint32_t max_workgroup_size = 1024;
  bool uses_dynamic_stack = false;
};

/// A pointer or an integer somewhere inside a kernel's explicit arguments, from debug information.
struct ArgumentField {
  enum class Kind : std::uint8_t { pointer, integer };
  Kind kind = Kind::pointer;
  bool is_signed = false;          ///< Of an integer.
  std::uint32_t offset_bytes = 0;  ///< From the start of the kernel-argument segment.
  std::uint32_t size_bytes = 0;
  /// Parameter and member names: "x", "g.a.raw_ptr", "g.in[2].raw_ptr". Base classes add nothing.
  std::string path;
  /// The types that enclose it, outermost first, with their namespaces; base classes count:
  /// "micro_globals", "kittens::gl<float, -1, -1, -1, -1>", "kittens::detail::gl_dim<0, -1>".
  std::vector<std::string> enclosing;
  // Of a pointer: what it points at, without const and typedefs; empty and 0 when not known.
  std::string pointee;
  std::uint32_t pointee_bytes = 0;
};

/// A named range of the image.
struct Symbol {
  enum class Kind : std::uint8_t { function, object, other };
  std::string name;
  std::uint64_t vaddr = 0;
  std::uint64_t size_bytes = 0;
  Kind kind = Kind::other;
};

/// One line of a source-level call chain.
struct SourceFrame {
  std::string function;  ///< Demangled; without arguments where only line tables exist.
  std::string file;      ///< With the directory it was compiled in, where the compiler recorded it.
  std::uint32_t line = 0;  ///< 0: the compiler attributes the instruction to no line.
  std::uint32_t column = 0;
};

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

/// Finds the code object for `architecture` in `bytes`, which is a plain ELF code object (.hsaco),
/// a clang offload bundle (`__CLANG_OFFLOAD_BUNDLE__`, or compressed, "CCOB"), or a host program or
/// shared library that embeds such bundles, and returns a copy of the ELF image inside.
/// wrong_architecture names the targets it has when that one is not among them.
[[nodiscard]] Result<std::vector<std::byte>> find_image(std::span<const std::byte> bytes,
                                                        const Architecture& architecture);

/// The same, for all of them: a program embeds one per translation unit with device code. Never
/// empty.
[[nodiscard]] Result<std::vector<std::vector<std::byte>>> find_images(
    std::span<const std::byte> bytes, const Architecture& architecture);

/// How many bytes a bundle or plain code object occupies that starts `readable` and whose end is
/// not known (clang registers fat binaries, and programs load modules, by pointer only). It is in
/// `readable`; one that claims to be longer is refused.
[[nodiscard]] Result<std::size_t> bundle_size(std::span<const std::byte> readable);

}  // namespace margay
