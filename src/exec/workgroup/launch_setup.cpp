#include "exec/workgroup/launch_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/program/program.h"

namespace margay {
namespace {

unsigned dimensions(const LaunchRequest& r) {
  if (r.grid.z * r.block.z > 1) return 3;
  return r.grid.y * r.block.y > 1 ? 2 : 1;
}

}  // namespace

bool has_hidden_argument(const Kernel& kernel, ArgumentKind kind) {
  return std::ranges::find(kernel.arguments, kind, &KernelArgument::kind) != kernel.arguments.end();
}

Result<std::vector<std::byte>> build_arguments(const LaunchRequest& r,
                                               const HiddenAddresses& hidden) {
  std::size_t size =
      std::max<std::size_t>(r.kernel->kernarg_bytes, r.kernel->descriptor.kernarg_size);
  for (const KernelArgument& argument : r.kernel->arguments)
    size = std::max<std::size_t>(size, std::size_t{argument.offset_bytes} + argument.size_bytes);
  size = std::max(size, r.arguments.size());
  // Preloaded dwords are read past the end of a short segment.
  std::vector<std::byte> segment(size + 64);
  if (!r.arguments.empty()) std::memcpy(segment.data(), r.arguments.data(), r.arguments.size());

  for (const KernelArgument& argument : r.kernel->arguments) {
    std::uint64_t value = 0;
    switch (argument.kind) {
      case ArgumentKind::by_value:
      case ArgumentKind::global_buffer:
      case ArgumentKind::dynamic_shared_pointer:
        continue;
      case ArgumentKind::hidden_block_count_x:
        value = r.grid.x;
        break;
      case ArgumentKind::hidden_block_count_y:
        value = r.grid.y;
        break;
      case ArgumentKind::hidden_block_count_z:
        value = r.grid.z;
        break;
      case ArgumentKind::hidden_group_size_x:
        value = r.block.x;
        break;
      case ArgumentKind::hidden_group_size_y:
        value = r.block.y;
        break;
      case ArgumentKind::hidden_group_size_z:
        value = r.block.z;
        break;
      // HIP grids are whole blocks, and start at 0.
      case ArgumentKind::hidden_remainder_x:
      case ArgumentKind::hidden_remainder_y:
      case ArgumentKind::hidden_remainder_z:
      case ArgumentKind::hidden_global_offset_x:
      case ArgumentKind::hidden_global_offset_y:
      case ArgumentKind::hidden_global_offset_z:
        value = 0;
        break;
      case ArgumentKind::hidden_grid_dims:
        value = dimensions(r);
        break;
      case ArgumentKind::hidden_dynamic_lds_size:
        value = r.dynamic_lds_bytes;
        break;
      case ArgumentKind::hidden_private_base:
        value = kPrivateApertureHigh;
        break;
      case ArgumentKind::hidden_shared_base:
        value = kSharedApertureHigh;
        break;
      case ArgumentKind::hidden_hostcall_buffer:
        value = hidden.hostcall_buffer;
        break;
      case ArgumentKind::hidden_multigrid_sync_arg:
        value = hidden.grid_sync;
        break;
      case ArgumentKind::hidden_heap_v1:
        value = hidden.heap;
        break;
      case ArgumentKind::hidden_printf_buffer:
        return fail(ErrorCode::not_implemented,
                    "the kernel's printf writes to a buffer of its own (-mprintf-kind=buffered, or "
                    "OpenCL), which is not implemented",
                    "launch of " + r.kernel->name, "compile it with -mprintf-kind=hostcall");
      // Services that are not implemented: a kernel that uses one faults on the null pointer.
      case ArgumentKind::hidden_default_queue:
      case ArgumentKind::hidden_completion_action:
      case ArgumentKind::hidden_queue_ptr:
      case ArgumentKind::hidden_none:
        value = 0;
        break;
      case ArgumentKind::other:
        return fail(ErrorCode::not_implemented,
                    fmt::format("kernel argument kind '{}' is not implemented", argument.kind_text),
                    "launch of " + r.kernel->name);
    }
    std::memcpy(segment.data() + argument.offset_bytes, &value,
                std::min<std::size_t>(argument.size_bytes, 8));
  }
  return segment;
}

GridSync build_grid_sync(const LaunchRequest& r) {
  GridSync sync;
  sync.items = r.grid.count() * r.block.count();
  sync.workgroups = static_cast<std::uint32_t>(r.grid.count());
  return sync;
}

DispatchPacket build_packet(const LaunchRequest& r, std::uint64_t kernel_object,
                            std::uint64_t kernarg_address) {
  DispatchPacket packet;
  packet.header = 2;  // kernel dispatch
  packet.setup = static_cast<std::uint16_t>(dimensions(r));
  const std::uint32_t grid[3] = {r.grid.x, r.grid.y, r.grid.z},
                      block[3] = {r.block.x, r.block.y, r.block.z};
  for (int d = 0; d < 3; ++d) {
    packet.workgroup_size[d] = static_cast<std::uint16_t>(block[d]);
    packet.grid_size[d] = grid[d] * block[d];
  }
  packet.private_segment_size = r.kernel->descriptor.private_segment_fixed_size;
  packet.group_segment_size = r.kernel->descriptor.group_segment_fixed_size + r.dynamic_lds_bytes;
  packet.kernel_object = kernel_object;
  packet.kernarg_address = kernarg_address;
  return packet;
}

void initialise_wave(Wave& wave, const LaunchRequest& r, const WorkgroupState& group,
                     const LaunchAddresses& addresses, std::uint32_t index_in_group) {
  const KernelDescriptor& d = r.kernel->descriptor;
  wave.stop = WaveStop::running;
  wave.scc = false;
  wave.index_in_group = index_in_group;
  wave.instructions = wave.mfma_instructions = 0;
  wave.error.reset();
  wave.gave_way_at = nullptr;
  wave.mode = (d.compute_pgm_rsrc1 >> 12 & 0xff)        // float round and denorm
              | (d.compute_pgm_rsrc1 >> 21 & 1) << 8    // DX10_CLAMP
              | (d.compute_pgm_rsrc1 >> 23 & 1) << 9    // IEEE
              | (d.compute_pgm_rsrc1 >> 26 & 1) << 23;  // FP16_OVFL
  std::fill(std::begin(wave.s), std::end(wave.s), kUninitialised);
  wave.set_scalar64(kVccIndex, 0);

  const Abi& abi = group.program->gpu().arch().abi;
  // User SGPRs, in the order of their enable bits.
  unsigned at = 0;
  const auto enabled = [&](unsigned bit) { return d.kernel_code_properties >> bit & 1; };
  const auto put64 = [&](std::uint64_t value) {
    wave.set_scalar64(at, value);
    at += 2;
  };
  if (enabled(0)) {
    put64(0);
    put64(0);
  }  // private segment buffer: unused with architected flat scratch
  if (enabled(1)) put64(addresses.packet);     // dispatch packet
  if (enabled(2)) put64(addresses.packet);     // queue: only its presence is needed
  if (enabled(3)) put64(addresses.arguments);  // kernel arguments
  if (enabled(4)) put64(addresses.dispatch_id);
  if (enabled(5)) put64(0);  // flat scratch: architected
  if (enabled(6)) wave.s[at++] = d.private_segment_fixed_size;
  const unsigned preload = d.kernarg_preload & 0x7f, preload_offset = d.kernarg_preload >> 7;
  for (unsigned n = 0; n < preload && at < abi.most_user_sgprs; ++n)
    std::memcpy(&wave.s[at++],
                reinterpret_cast<const void*>(addresses.arguments + 4 * (preload_offset + n)), 4);

  // System SGPRs follow the declared number of user SGPRs.
  at = d.compute_pgm_rsrc2 >> 1 & 31;
  for (unsigned axis = 0; axis < 3; ++axis)
    if (d.compute_pgm_rsrc2 >> (7 + axis) & 1) wave.s[at++] = group.id[axis];
  if (d.compute_pgm_rsrc2 >> 10 & 1) wave.s[at++] = 0;

  // v0 packs the work-item ids, ten bits each; x runs fastest.
  const std::uint32_t first = index_in_group * kWaveLanes;
  const auto size = static_cast<std::uint32_t>(r.block.count());
  std::uint64_t exec = 0;
  for (std::uint32_t lane = 0; lane < kWaveLanes; ++lane) {
    const std::uint32_t id = first + lane;
    if (id < size) exec |= 1ull << lane;
    const std::uint32_t x = id % r.block.x, y = id / r.block.x % r.block.y,
                        z = id / r.block.x / r.block.y;
    wave.row(0)[lane] = x | y << 10 | (z & 1023) << 20;
  }
  wave.set_exec(exec);
}

}  // namespace margay
