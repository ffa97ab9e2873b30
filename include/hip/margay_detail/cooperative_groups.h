// Cooperative groups as HIP 6 and 7 have them: HIP 5.2's tiles have no ballot, any, all, match_any,
// match_all, no meta_group_rank and meta_group_size, no tiles of tiles and no binary_partition.
// Part of hip/hip_cooperative_groups.h; do not include it alone.
//
// Source: the HIP API reference, "Cooperative Groups", ROCm 6.4 and 7.0 (class members, construct
// functions). As there, a group is a value; a thread_group holds any kind of group.
#pragma once

#include <hip/hip_runtime.h>

namespace cooperative_groups {

namespace internal {
enum group_type {
  cg_invalid,
  cg_multi_grid,
  cg_grid,
  cg_workgroup,
  cg_tiled_group,
  cg_coalesced_group
};
}  // namespace internal

namespace margay_groups {

__device__ inline unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
__device__ inline unsigned block_rank() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__device__ inline unsigned grid_threads() {
  return block_threads() * gridDim.x * gridDim.y * gridDim.z;
}
__device__ inline unsigned grid_rank() {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  return block * block_threads() + block_rank();
}

/// Lanes of a wave run in lockstep, so that only memory has to be ordered.
__device__ inline void wave_sync() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent");
  __builtin_amdgcn_wave_barrier();
}

__device__ inline unsigned long long lanes_below(unsigned lane) { return (1ull << lane) - 1; }
__device__ inline unsigned count(unsigned long long lanes) {
  return static_cast<unsigned>(__popcll(lanes));
}

/// The lane that is number `rank` of a mask: a binary search over the counts below each lane.
__device__ inline unsigned lane_of_rank(unsigned long long lanes, unsigned rank) {
  unsigned lane = 0;
  for (unsigned step = 32; step != 0; step /= 2) {
    const unsigned low = count(lanes >> lane & lanes_below(step));
    if (rank >= low) {
      rank -= low;
      lane += step;
    }
  }
  return lane;
}

/// The bits of `lanes` that belong to the group, compacted: bit i is the thread of rank i.
__device__ inline unsigned long long by_rank(unsigned long long group, unsigned long long lanes) {
  unsigned long long result = 0;
  for (unsigned rank = 0; group != 0; ++rank, group &= group - 1) {
    if ((lanes & group & -group) != 0) result |= 1ull << rank;
  }
  return result;
}

}  // namespace margay_groups

/// Any group. Members of the derived classes with the same names know more and cost less.
class thread_group {
 public:
  __device__ unsigned num_threads() const { return num_threads_; }
  __device__ unsigned size() const { return num_threads_; }
  __device__ unsigned cg_type() const { return type_; }
  __device__ unsigned thread_rank() const;
  __device__ bool is_valid() const;
  __device__ void sync() const;

 protected:
  __device__ thread_group(internal::group_type type, unsigned num_threads,
                          unsigned long long lanes = 0, unsigned meta_rank = 0,
                          unsigned meta_size = 1)
      : type_(type),
        num_threads_(num_threads),
        lanes_(lanes),
        meta_rank_(meta_rank),
        meta_size_(meta_size) {}

  internal::group_type type_;
  unsigned num_threads_;
  unsigned long long lanes_;  // of the wave; tiles and coalesced groups only
  unsigned meta_rank_;
  unsigned meta_size_;
};

class multi_grid_group : public thread_group {
 public:
  __device__ unsigned num_grids() const { return __ockl_multi_grid_num_grids(); }
  __device__ unsigned grid_rank() const { return __ockl_multi_grid_grid_rank(); }
  __device__ unsigned thread_rank() const { return __ockl_multi_grid_thread_rank(); }
  __device__ bool is_valid() const { return __ockl_multi_grid_is_valid() != 0; }
  __device__ void sync() const { __ockl_multi_grid_sync(); }

 private:
  friend __device__ multi_grid_group this_multi_grid();
  using thread_group::thread_group;
};
__device__ inline multi_grid_group this_multi_grid() {
  return {internal::cg_multi_grid, static_cast<unsigned>(__ockl_multi_grid_size())};
}

class grid_group : public thread_group {
 public:
  __device__ unsigned thread_rank() const { return margay_groups::grid_rank(); }
  __device__ bool is_valid() const { return __ockl_grid_is_valid() != 0; }
  __device__ void sync() const { __ockl_grid_sync(); }
  __device__ dim3 group_dim() const { return dim3(gridDim.x, gridDim.y, gridDim.z); }

 private:
  friend __device__ grid_group this_grid();
  using thread_group::thread_group;
};
__device__ inline grid_group this_grid() {
  return {internal::cg_grid, margay_groups::grid_threads()};
}

class thread_block : public thread_group {
 public:
  __device__ static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  __device__ static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  __device__ static unsigned thread_rank() { return margay_groups::block_rank(); }
  __device__ static unsigned num_threads() { return margay_groups::block_threads(); }
  __device__ static unsigned size() { return num_threads(); }
  __device__ static bool is_valid() { return true; }
  __device__ static void sync() { __syncthreads(); }

  /// The two halves of a barrier, of HIP 7. gfx942 has no instruction for the first one alone: it
  /// orders what the thread wrote, and barrier_wait waits for all.
  class arrival_token {};
  __device__ static arrival_token barrier_arrive() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    return {};
  }
  __device__ static void barrier_wait(arrival_token&&) { __syncthreads(); }
  __device__ dim3 group_dim() const { return dim3(blockDim.x, blockDim.y, blockDim.z); }

 private:
  friend __device__ thread_block this_thread_block();
  using thread_group::thread_group;
};
__device__ inline thread_block this_thread_block() {
  return {internal::cg_workgroup, margay_groups::block_threads()};
}

/// A power of two of neighbouring threads of one wave.
class tiled_group : public thread_group {
 public:
  __device__ unsigned thread_rank() const {
    return margay_groups::block_rank() & (num_threads_ - 1);
  }
  __device__ void sync() const { margay_groups::wave_sync(); }

 protected:
  friend __device__ tiled_group margay_tile(unsigned, unsigned, unsigned);
  using thread_group::thread_group;
};

/// The tile of `size` threads that holds the calling one, in a parent of `parent_threads` threads.
__device__ inline tiled_group margay_tile(unsigned size, unsigned parent_rank,
                                          unsigned parent_threads) {
  const unsigned long long all = size == 64 ? ~0ull : (1ull << size) - 1;
  const unsigned first = __lane_id() & ~(size - 1);
  return {internal::cg_tiled_group, size, all << first, parent_rank / size,
          (parent_threads + size - 1) / size};
}

/// Any set of lanes of one wave.
class coalesced_group : public thread_group {
 public:
  __device__ unsigned thread_rank() const {
    return margay_groups::count(lanes_ & margay_groups::lanes_below(__lane_id()));
  }
  __device__ void sync() const { margay_groups::wave_sync(); }
  __device__ unsigned meta_group_rank() const { return meta_rank_; }
  __device__ unsigned meta_group_size() const { return meta_size_; }

  template <typename T>
  __device__ T shfl(T value, int rank) const {
    return from_rank(value, static_cast<unsigned>(rank) % num_threads_);
  }
  template <typename T>
  __device__ T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return from_rank(value, rank + delta < num_threads_ ? rank + delta : rank);
  }
  template <typename T>
  __device__ T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return from_rank(value, rank >= delta ? rank - delta : rank);
  }
  __device__ unsigned long long ballot(int predicate) const {
    return margay_groups::by_rank(lanes_, __ballot(predicate));
  }
  __device__ int any(int predicate) const { return (__ballot(predicate) & lanes_) != 0; }
  __device__ int all(int predicate) const { return (__ballot(predicate) & lanes_) == lanes_; }
  template <typename T>
  __device__ unsigned long long match_any(T value) const {
    return margay_groups::by_rank(lanes_, __match_any_sync(lanes_, value));
  }
  template <typename T>
  __device__ unsigned long long match_all(T value, int& predicate) const {
    return margay_groups::by_rank(lanes_, __match_all_sync(lanes_, value, &predicate));
  }

 private:
  friend __device__ coalesced_group margay_coalesced(unsigned long long, unsigned, unsigned);
  friend __device__ coalesced_group tiled_partition(const coalesced_group&, unsigned);
  friend __device__ coalesced_group binary_partition(const coalesced_group&, bool);
  using thread_group::thread_group;

  template <typename T>
  __device__ T from_rank(T value, unsigned rank) const {
    return __shfl(value, static_cast<int>(margay_groups::lane_of_rank(lanes_, rank)));
  }
};
__device__ inline coalesced_group margay_coalesced(unsigned long long lanes, unsigned meta_rank = 0,
                                                   unsigned meta_size = 1) {
  return {internal::cg_coalesced_group, margay_groups::count(lanes), lanes, meta_rank, meta_size};
}
__device__ inline coalesced_group coalesced_threads() { return margay_coalesced(__ballot(1)); }

__device__ inline unsigned thread_group::thread_rank() const {
  switch (type_) {
    case internal::cg_multi_grid:
      return __ockl_multi_grid_thread_rank();
    case internal::cg_grid:
      return margay_groups::grid_rank();
    case internal::cg_workgroup:
      return margay_groups::block_rank();
    default:
      return margay_groups::count(lanes_ & margay_groups::lanes_below(__lane_id()));
  }
}
__device__ inline bool thread_group::is_valid() const {
  switch (type_) {
    case internal::cg_multi_grid:
      return __ockl_multi_grid_is_valid() != 0;
    case internal::cg_grid:
      return __ockl_grid_is_valid() != 0;
    default:
      return type_ != internal::cg_invalid;
  }
}
__device__ inline void thread_group::sync() const {
  switch (type_) {
    case internal::cg_multi_grid:
      return __ockl_multi_grid_sync();
    case internal::cg_grid:
      return __ockl_grid_sync();
    case internal::cg_workgroup:
      return __syncthreads();
    default:
      return margay_groups::wave_sync();
  }
}

template <class Group>
__device__ unsigned group_size(const Group& group) {
  return group.num_threads();
}
template <class Group>
__device__ unsigned thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
__device__ bool is_valid(const Group& group) {
  return group.is_valid();
}
template <class Group>
__device__ void sync(const Group& group) {
  group.sync();
}

/// A tile whose size the compiler knows. Without a parent it is the parameter type of functions
/// that accept a tile of any parent.
template <unsigned int tile_size, class Parent = void>
class thread_block_tile;

template <unsigned int tile_size>
class thread_block_tile<tile_size, void> : public tiled_group {
  static_assert(tile_size != 0 && (tile_size & (tile_size - 1)) == 0 && tile_size <= 64,
                "the size of a tile is a power of two, at most the 64 lanes of a wave");

 public:
  __device__ static constexpr unsigned num_threads() { return tile_size; }
  __device__ static constexpr unsigned size() { return tile_size; }
  __device__ static unsigned thread_rank() { return margay_groups::block_rank() & (tile_size - 1); }
  __device__ unsigned meta_group_rank() const { return meta_rank_; }
  __device__ unsigned meta_group_size() const { return meta_size_; }

  template <typename T>
  __device__ T shfl(T value, int rank) const {
    return __shfl(value, rank, tile_size);
  }
  template <typename T>
  __device__ T shfl_down(T value, unsigned delta) const {
    return __shfl_down(value, delta, tile_size);
  }
  template <typename T>
  __device__ T shfl_up(T value, unsigned delta) const {
    return __shfl_up(value, delta, tile_size);
  }
  template <typename T>
  __device__ T shfl_xor(T value, unsigned mask) const {
    return __shfl_xor(value, static_cast<int>(mask), tile_size);
  }
  __device__ unsigned long long ballot(int predicate) const { return by_rank(__ballot(predicate)); }
  __device__ int any(int predicate) const { return (__ballot(predicate) & lanes_) != 0; }
  __device__ int all(int predicate) const { return (__ballot(predicate) & lanes_) == lanes_; }
  template <typename T>
  __device__ unsigned long long match_any(T value) const {
    return by_rank(__match_any_sync(lanes_, value));
  }
  template <typename T>
  __device__ unsigned long long match_all(T value, int& predicate) const {
    return by_rank(__match_all_sync(lanes_, value, &predicate));
  }

 protected:
  __device__ explicit thread_block_tile(const tiled_group& tile) : tiled_group(tile) {}
  __device__ unsigned long long by_rank(unsigned long long lanes) const {
    return (lanes & lanes_) >> (__lane_id() & ~(tile_size - 1));
  }
};

template <unsigned int tile_size, class Parent>
class thread_block_tile : public thread_block_tile<tile_size, void> {
 public:
  __device__ explicit thread_block_tile(const Parent& parent)
      : thread_block_tile<tile_size, void>(
            margay_tile(tile_size, parent.thread_rank(), parent.num_threads())) {}
};

template <unsigned int tile_size, class Parent>
__device__ thread_block_tile<tile_size, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<tile_size, Parent>(parent);
}

__device__ inline tiled_group tiled_partition(const thread_block& parent, unsigned tile_size) {
  return margay_tile(tile_size, parent.thread_rank(), parent.num_threads());
}
__device__ inline tiled_group tiled_partition(const tiled_group& parent, unsigned tile_size) {
  return margay_tile(tile_size, parent.thread_rank(), parent.num_threads());
}
/// Threads of neighbouring ranks; the last group may be smaller.
__device__ inline coalesced_group tiled_partition(const coalesced_group& parent,
                                                  unsigned tile_size) {
  const unsigned tile = parent.thread_rank() / tile_size;
  unsigned long long lanes = parent.lanes_;
  for (unsigned rank = 0; rank < tile * tile_size; ++rank) lanes &= lanes - 1;
  unsigned long long rest = lanes;
  for (unsigned rank = 0; rank < tile_size; ++rank) rest &= rest - 1;
  return margay_coalesced(lanes & ~rest, tile, (parent.size() + tile_size - 1) / tile_size);
}
/// Of a group whose kind is not known: a thread_block or a tile.
__device__ inline thread_group tiled_partition(const thread_group& parent, unsigned tile_size) {
  return margay_tile(tile_size, parent.thread_rank(), parent.num_threads());
}

/// The threads of the group that pass the same value.
__device__ inline coalesced_group binary_partition(const coalesced_group& group, bool predicate) {
  const unsigned long long yes = __ballot(predicate) & group.lanes_;
  return margay_coalesced(predicate ? yes : group.lanes_ & ~yes);
}
template <unsigned int tile_size, class Parent>
__device__ coalesced_group binary_partition(const thread_block_tile<tile_size, Parent>& tile,
                                            bool predicate) {
  const unsigned first = __lane_id() - tile.thread_rank();
  const unsigned long long all = (tile_size == 64 ? 0 : 1ull << (tile_size & 63)) - 1;
  const unsigned long long yes =
      tile.ballot(predicate);  // every thread of the tile has to get here
  return margay_coalesced((predicate ? yes : all & ~yes) << first);
}

}  // namespace cooperative_groups
