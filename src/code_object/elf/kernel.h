// The description of a kernel in a code object: its descriptor, its arguments and its resources.
//
// Format: LLVM, "User Guide for AMDGPU Backend", "Code Object V4/V5 Metadata" and "Kernel
// Descriptor".
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "code_object/elf/source_frame.h"

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
  // Of a pointer, if the program said what it points to; the element's type is `type_name` then.
  std::array<std::uint64_t, 4> shape = {};  ///< In the order of memory, slowest first; 0: not said.
  std::uint32_t element_bytes = 0;
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

/// A kernel: its descriptor, address in the image, and metadata.
struct Kernel {
  std::string name;  ///< Symbol name without the `.kd` suffix.
  /// What reports call it, if the program said: a just-in-time compiler gives one name to many
  /// kernels. Empty otherwise.
  std::string title;
  std::string variant;  ///< Of kernels with one name and title: what distinguishes the code.
  /// If the program said what the kernel computes: operations (`function`) and the lines of the
  /// user's program that ask for them; the main one first.
  std::vector<SourceFrame> computes;
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

}  // namespace margay
