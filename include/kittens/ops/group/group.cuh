// group<N>: operations of N warps together.
#pragma once

#include "memory/tile.cuh"

namespace kittens {

/// The group of a thread is thread / (64 N). All warps of a group must call its operations; none of
/// them contains a barrier.
template <int _GROUP_WARPS>
struct group : group_ops::memory_tile<_GROUP_WARPS> {
  static_assert(_GROUP_WARPS >= 1 && _GROUP_WARPS <= 16,
                "kittens: a group has 1 to 16 warps (a workgroup has at most 1024 threads)");
  static constexpr int GROUP_WARPS = _GROUP_WARPS;
  static constexpr int GROUP_THREADS = GROUP_WARPS * WARP_THREADS;

  /// Thread within the group.
  static KITTENS_MEMBER int laneid() { return threadIdx.x % GROUP_THREADS; }
  /// Warp within the group.
  static KITTENS_MEMBER int warpid() { return kittens::warpid() % GROUP_WARPS; }
  static KITTENS_MEMBER int groupid() { return kittens::warpid() / GROUP_WARPS; }
};

using warpgroup = group<WARPGROUP_WARPS>;

}  // namespace kittens
