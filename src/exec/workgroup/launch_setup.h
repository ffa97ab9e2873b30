// The initial state of a kernel: the argument segment, the dispatch packet, and the initial
// contents of a wave's registers. Source: LLVM, "User Guide for AMDGPU Backend": Kernel Descriptor,
// Initial Kernel Execution State, Code Object V5 Metadata; HSA runtime specification 2.10 (dispatch
// packet).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/error.h"
#include "exec/state/wave.h"
#include "exec/workgroup/launch_request.h"
#include "gpu/gpu.h"

namespace margay {

/// Whether the kernel has a hidden argument of this kind.
[[nodiscard]] bool has_hidden_argument(const Kernel& kernel, ArgumentKind kind);

/// Device addresses of the objects that a kernel reaches through hidden arguments; 0 if absent.
struct HiddenAddresses {
  std::uint64_t hostcall_buffer = 0;
  std::uint64_t grid_sync = 0;
  std::uint64_t heap = 0;
};

/// The kernel-argument segment: explicit arguments, then hidden ones by the metadata.
[[nodiscard]] Result<std::vector<std::byte>> build_arguments(const LaunchRequest& request,
                                                             const HiddenAddresses& hidden = {});

/// The structure behind hidden_multigrid_sync_arg of a cooperative launch: the device library's
/// grid-wide barrier in memory, and the index of the grid among those launched together. Source:
/// ROCm device libraries, ockl/src/cg.cl (mg_info).
struct GridSync {
  std::uint64_t all_grids = 0;  ///< The barrier of several grids: there is only one here.
  std::uint32_t grid = 0, grids = 1;
  std::uint64_t items_before = 0, items = 0;
  std::uint32_t barrier[2] = {};
  std::uint32_t workgroups = 0, reserved = 0;
};
static_assert(sizeof(GridSync) == 48);
[[nodiscard]] GridSync build_grid_sync(const LaunchRequest& request);

/// A 64-byte HSA kernel dispatch packet.
struct DispatchPacket {
  std::uint16_t header = 0, setup = 0;
  std::uint16_t workgroup_size[3] = {};
  std::uint16_t reserved0 = 0;
  std::uint32_t grid_size[3] = {};  ///< Work-items.
  std::uint32_t private_segment_size = 0, group_segment_size = 0;
  std::uint64_t kernel_object = 0, kernarg_address = 0, reserved1 = 0, completion_signal = 0;
};
static_assert(sizeof(DispatchPacket) == 64);
[[nodiscard]] DispatchPacket build_packet(const LaunchRequest& request, std::uint64_t kernel_object,
                                          std::uint64_t kernarg_address);

/// Device addresses a wave may get in its user SGPRs, and the launch's number.
struct LaunchAddresses {
  std::uint64_t arguments = 0;
  std::uint64_t packet = 0;
  /// Of the launches of the device, as if it had one queue: kernels mark with it what they have
  /// done in this launch.
  std::uint64_t dispatch_id = 0;
};

/// Fills a wave's scalar registers and v0 for workgroup `group.id`, and sets EXEC.
void initialise_wave(Wave& wave, const LaunchRequest& request, const WorkgroupState& group,
                     const LaunchAddresses& addresses, std::uint32_t index_in_group);

}  // namespace margay
