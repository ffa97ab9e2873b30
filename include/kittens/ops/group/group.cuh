// group<N>: operations of N warps together.
#pragma once

#include "memory/tile.cuh"
#include "memory/vec.cuh"
#include "shared/apply.cuh"
#include "shared/tile_maps.cuh"
#include "shared/tile_reductions.cuh"
#include "shared/vec.cuh"

namespace kittens {

/// A program that defines KITTENS_BLOCK_WARPS, the warps of its workgroups, before it includes the
/// library is refused groups larger than that; -DKITTENS_DEBUG finds them when the kernel runs.
///
/// The group of a thread is thread / (64 N). All warps of a group must call its operations; none of
/// them contains a barrier.
template <int _GROUP_WARPS>
struct group : group_ops::memory_tile<_GROUP_WARPS>,
               group_ops::memory_vec<_GROUP_WARPS>,
               group_ops::shared_apply<_GROUP_WARPS>,
               group_ops::shared_tile_maps<_GROUP_WARPS>,
               group_ops::shared_tile_reductions<_GROUP_WARPS>,
               group_ops::shared_vec<_GROUP_WARPS> {
  static_assert(_GROUP_WARPS >= 1 && _GROUP_WARPS <= 16,
                "kittens: a group has 1 to 16 warps (a workgroup has at most 1024 threads)");
#if defined(KITTENS_BLOCK_WARPS)
  static_assert(_GROUP_WARPS <= KITTENS_BLOCK_WARPS,
                "kittens: this group has more warps than the workgroup (KITTENS_BLOCK_WARPS)");
#endif
  static constexpr int GROUP_WARPS = _GROUP_WARPS;
  static constexpr int GROUP_THREADS = GROUP_WARPS * WARP_THREADS;

  /// Thread within the group.
  static KITTENS_MEMBER int laneid() { return threadIdx.x % GROUP_THREADS; }
  /// Warp within the group.
  static KITTENS_MEMBER int warpid() { return kittens::warpid() % GROUP_WARPS; }
  static KITTENS_MEMBER int groupid() { return kittens::warpid() / GROUP_WARPS; }

  // Overloads of one name from several bases.
  using tile_memory = group_ops::memory_tile<GROUP_WARPS>;
  using vec_memory = group_ops::memory_vec<GROUP_WARPS>;
  using tile_maps = group_ops::shared_tile_maps<GROUP_WARPS>;
  using vec_maps = group_ops::shared_vec<GROUP_WARPS>;
  using tile_memory::load;
  using tile_memory::store;
  using vec_memory::load;
  using vec_memory::store;
#define KITTENS_BOTH(name, ...) \
  using tile_maps::name;        \
  using vec_maps::name;
  KITTENS_BOTH(copy)
  KITTENS_NULLARY_NAMES(KITTENS_BOTH)
  KITTENS_UNARY_NAMES(KITTENS_BOTH)
  KITTENS_BINARY_NAMES(KITTENS_BOTH)
#undef KITTENS_BOTH
};

using warpgroup = group<WARPGROUP_WARPS>;

}  // namespace kittens
