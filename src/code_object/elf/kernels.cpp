// Kernel descriptors and their check against the metadata note; see kernels.h.
//
// Format: LLVM, "User Guide for AMDGPU Backend", "Kernel Descriptor" (64 bytes, 64-byte aligned,
// entry 256-byte aligned).
#include "code_object/elf/kernels.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "code_object/elf/metadata.h"
#include "code_object/elf/target_id.h"

namespace margay::code_object {
namespace {

constexpr std::uint64_t kDescriptorBytes = 64;
constexpr std::uint64_t kDescriptorAlignment = 64;
constexpr std::uint64_t kEntryAlignment = 256;
constexpr std::string_view kDescriptorSuffix = ".kd";
constexpr std::uint16_t kEnableWavefrontSize32 = 1u << 10;  // GFX10+; reserved on gfx9.

std::unexpected<Error> invalid(std::string what) {
  return fail(ErrorCode::invalid_image, std::move(what), {}, "Rebuild the code object.");
}

KernelDescriptor decode(Bytes bytes) {
  ByteReader reader(bytes);
  KernelDescriptor descriptor;
  descriptor.group_segment_fixed_size = reader.read<std::uint32_t>();
  descriptor.private_segment_fixed_size = reader.read<std::uint32_t>();
  descriptor.kernarg_size = reader.read<std::uint32_t>();
  reader.skip(4);
  descriptor.kernel_code_entry_byte_offset = reader.read<std::int64_t>();
  reader.skip(20);
  descriptor.compute_pgm_rsrc3 = reader.read<std::uint32_t>();
  descriptor.compute_pgm_rsrc1 = reader.read<std::uint32_t>();
  descriptor.compute_pgm_rsrc2 = reader.read<std::uint32_t>();
  descriptor.kernel_code_properties = reader.read<std::uint16_t>();
  descriptor.kernarg_preload = reader.read<std::uint16_t>();
  return descriptor;
}

/// Hand-written kernels may omit a size from one of the two, where it is then zero; two different
/// sizes are an error.
Result<std::uint32_t> agree(const Kernel& kernel, std::string_view what, std::uint32_t descriptor,
                            std::uint32_t metadata) {
  if (descriptor != 0 && metadata != 0 && descriptor != metadata) {
    return invalid(
        fmt::format("Kernel {} has {} bytes of {} by its descriptor, but {} by the "
                    "metadata note.",
                    kernel.name, descriptor, what, metadata));
  }
  return std::max(descriptor, metadata);
}

Status place(Kernel& kernel, const ElfImage& image, const Symbol& symbol) {
  const Bytes bytes = image.file_bytes_at(symbol.vaddr, kDescriptorBytes);
  if (bytes.empty() || symbol.vaddr % kDescriptorAlignment != 0) {
    return invalid(
        fmt::format("The descriptor of kernel {} (address 0x{:x}) is not 64 aligned bytes "
                    "of the file.",
                    kernel.name, symbol.vaddr));
  }
  kernel.descriptor_vaddr = symbol.vaddr;
  kernel.descriptor = decode(bytes);
  // Unsigned arithmetic wraps, so an invalid offset ends outside every segment.
  kernel.entry_vaddr =
      symbol.vaddr + static_cast<std::uint64_t>(kernel.descriptor.kernel_code_entry_byte_offset);
  const Segment* code = image.segment_at(kernel.entry_vaddr);
  if (code == nullptr || !code->executable || kernel.entry_vaddr % kEntryAlignment != 0) {
    return invalid(
        fmt::format("The entry of kernel {} (address 0x{:x}) is not a multiple of 256 in "
                    "an executable segment.",
                    kernel.name, kernel.entry_vaddr));
  }
  if ((kernel.descriptor.kernel_code_properties & kEnableWavefrontSize32) != 0) {
    return invalid(fmt::format("Kernel {} asks for wave32, which {} does not have.", kernel.name,
                               image.architecture->processor));
  }
  if (kernel.descriptor.accum_offset() > kernel.descriptor.unified_vgpr_count()) {
    return invalid(fmt::format("Kernel {} has {} VGPRs, but its accumulation VGPRs begin at {}.",
                               kernel.name, kernel.descriptor.unified_vgpr_count(),
                               kernel.descriptor.accum_offset()));
  }
  kernel.kernarg_bytes =
      MARGAY_TRY(agree(kernel, "arguments", kernel.descriptor.kernarg_size, kernel.kernarg_bytes));
  kernel.lds_bytes = MARGAY_TRY(
      agree(kernel, "LDS", kernel.descriptor.group_segment_fixed_size, kernel.lds_bytes));
  kernel.scratch_bytes = MARGAY_TRY(
      agree(kernel, "scratch", kernel.descriptor.private_segment_fixed_size, kernel.scratch_bytes));
  return {};
}

/// The ELF header gives the target of a code object. The note repeats it as text, whose spelling
/// depends on the compiler; it is invalid if it names another processor or the opposite of a
/// feature.
Status check_target(std::string_view noted, std::string_view target) {
  const std::string_view in_note = target_in_triple(noted);
  // Some notes have no target.
  if (in_note.empty()) return {};
  const auto found = target_from_text(in_note);
  const TargetId wanted = MARGAY_TRY(target_from_text(target_in_triple(target)));
  if (found && found->agrees_with(wanted)) return {};
  return invalid(fmt::format("The metadata note is for {}, but the ELF header for {}.",
                             noted.substr(0, 200), target));
}

}  // namespace

Result<std::vector<Kernel>> read_kernels(const ElfImage& image) {
  std::map<std::string_view, const Symbol*> descriptors;
  for (const Symbol& symbol : image.symbols) {
    const std::string_view name = symbol.name;
    if (!name.ends_with(kDescriptorSuffix) || name.size() == kDescriptorSuffix.size()) continue;
    const auto [known, added] =
        descriptors.emplace(name.substr(0, name.size() - kDescriptorSuffix.size()), &symbol);
    if (!added && known->second->vaddr != symbol.vaddr) {
      return invalid(fmt::format("There are two kernel descriptors named {}.", name));
    }
  }
  if (image.metadata_note.empty()) {
    // A library of device functions or data has neither.
    if (descriptors.empty()) return std::vector<Kernel>{};
    return invalid(
        fmt::format("The code object has kernel {}, but no metadata note (it is truncated "
                    "or was stripped).",
                    descriptors.begin()->first));
  }

  Metadata metadata = MARGAY_TRY(read_metadata(image.metadata_note, *image.architecture));
  // Version 1.1 is code object v4, 1.2 is v5 and v6; hand-written notes do not always follow this,
  // and everything that differs is in the kernels.
  if (metadata.version_major != 1) {
    return invalid(fmt::format("The metadata note has version {}.{}; Margay reads 1.x.",
                               metadata.version_major, metadata.version_minor));
  }
  if (!metadata.target.empty()) MARGAY_CHECK(check_target(metadata.target, image.target));

  std::ranges::sort(metadata.kernels, {}, &Kernel::name);
  const Kernel* previous = nullptr;
  for (Kernel& kernel : metadata.kernels) {
    const auto descriptor = descriptors.find(kernel.name);
    if (descriptor == descriptors.end()) {
      return invalid(
          fmt::format("The metadata note lists kernel {}, but there is no descriptor {}.kd.",
                      kernel.name, kernel.name));
    }
    if (previous != nullptr && previous->name == kernel.name) {
      return invalid(fmt::format("The metadata note lists kernel {} twice.", kernel.name));
    }
    MARGAY_CHECK(place(kernel, image, *descriptor->second));
    previous = &kernel;
  }
  for (const auto& [name, symbol] : descriptors) {
    if (!std::ranges::binary_search(metadata.kernels, name, {}, &Kernel::name)) {
      return invalid(
          fmt::format("Kernel {} has a descriptor, but the metadata note does not list it.", name));
    }
  }
  return std::move(metadata.kernels);
}

}  // namespace margay::code_object
