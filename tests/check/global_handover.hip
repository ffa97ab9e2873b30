// Workgroups that hand global memory over to each other: last-block reduction, split-K with a
// semaphore, stream-K, decoupled look-back. The forms without "broken" in their names are free of
// races. Workgroups wait only for workgroups with lower numbers, which are dispatched first.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 128;  // two waves

enum class Bug { none, first, second };

__device__ unsigned load_acquire(unsigned* word) {
  return __hip_atomic_load(word, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
__device__ void store_release(unsigned* word, unsigned value) {
  __hip_atomic_store(word, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

// The sum of the workgroup, for all its threads.
__device__ unsigned block_sum(unsigned value) {
  __shared__ unsigned sums[kThreads];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (unsigned step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  const unsigned sum = sums[0];
  __syncthreads();
  return sum;
}

// ---- Last-block reduction -------------------------------------------------------------------

constexpr unsigned kSumBlocks = 24;

// Each workgroup leaves its sum and takes a ticket; the one with the last ticket adds the sums up.
// first: no release: the ticket may be taken before the sum is in memory.
// second: no acquire: what the last workgroup reads may be older than the tickets.
template <Bug kBug>
__global__ void last_block(const unsigned* in, unsigned* sums, unsigned* ticket, unsigned* out) {
  __shared__ bool is_last;
  const unsigned sum = block_sum(in[blockIdx.x * kThreads + threadIdx.x]);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;  // BUG last write
    if constexpr (kBug != Bug::first) __threadfence();
    is_last = __hip_atomic_fetch_add(ticket, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) ==
              gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  if constexpr (kBug != Bug::second) __threadfence();
  const unsigned total =
      block_sum(threadIdx.x < gridDim.x ? sums[threadIdx.x] : 0);  // BUG last read
  if (threadIdx.x == 0) *out = total;
}

// The same by one atomic that releases and acquires, in wave 0, before the barrier that lets the
// others go on.
template <Bug kBug>
__global__ void last_block_by_order(const unsigned* in, unsigned* sums, unsigned* ticket,
                                    unsigned* out) {
  constexpr int kOrder = kBug == Bug::none ? __ATOMIC_ACQ_REL : __ATOMIC_RELAXED;
  __shared__ bool is_last;
  const unsigned sum = block_sum(in[blockIdx.x * kThreads + threadIdx.x]);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;  // BUG order write
    is_last = __hip_atomic_fetch_add(ticket, 1u, kOrder, __HIP_MEMORY_SCOPE_AGENT) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  const unsigned total =
      block_sum(threadIdx.x < gridDim.x ? sums[threadIdx.x] : 0);  // BUG order read
  if (threadIdx.x == 0) *out = total;
}

// ---- Split-K ----------------------------------------------------------------------------------

constexpr unsigned kTiles = 3;
constexpr unsigned kSplits = 4;
constexpr unsigned kDepth = 5;  // rows of `in` per part

// C of a tile is the sum of its parts. Workgroups add theirs in turn, which the tile's semaphore
// counts. first: one thread lets the next workgroup in before the other wave has stored. second:
// no workgroup waits for its turn.
template <Bug kBug>
__global__ void split_k(const unsigned* in, unsigned* c, unsigned* semaphore) {
  const unsigned tile = blockIdx.x, part = blockIdx.y;
  unsigned sum = 0;
  for (unsigned k = 0; k < kDepth; ++k)
    sum += in[((part * kDepth + k) * kTiles + tile) * kThreads + threadIdx.x];
  unsigned* const mine = c + tile * kThreads + threadIdx.x;
  if (part != 0) {
    if constexpr (kBug != Bug::second) {
      if (threadIdx.x == 0) {
        while (load_acquire(semaphore + tile) != part) {
        }
      }
      __syncthreads();
    }
    sum += *mine;  // BUG split read
  }
  *mine = sum;  // BUG split write
  if constexpr (kBug != Bug::first) __syncthreads();
  if (threadIdx.x == 0) store_release(semaphore + tile, part + 1);
}

// The same with a semaphore that scalar instructions read and write, as assembled kernels do. GLC
// makes them reach L2: first: the store is without it, second: the loads are.
template <Bug kBug>
__global__ void split_k_by_scalars(const unsigned* in, unsigned* c, unsigned* semaphore) {
  const unsigned tile = blockIdx.x, part = blockIdx.y;
  unsigned sum = 0;
  for (unsigned k = 0; k < kDepth; ++k)
    sum += in[((part * kDepth + k) * kTiles + tile) * kThreads + threadIdx.x];
  unsigned* const mine = c + tile * kThreads + threadIdx.x;
  unsigned* const turn = semaphore + tile;
  if (part != 0) {
    if constexpr (kBug == Bug::second)
      asm volatile(
          "0: s_load_dword s20, %0, 0x0\n s_waitcnt lgkmcnt(0)\n"
          "s_cmp_lg_u32 s20, %1\n s_cbranch_scc1 0b" ::"s"(turn),
          "s"(part)
          : "s20", "scc", "memory");
    else
      asm volatile(
          "0: s_load_dword s20, %0, 0x0 glc\n s_waitcnt lgkmcnt(0)\n"
          "s_cmp_lg_u32 s20, %1\n s_cbranch_scc1 0b" ::"s"(turn),
          "s"(part)
          : "s20", "scc", "memory");
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    sum += *mine;  // BUG scalar read
  }
  *mine = sum;  // BUG scalar write
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __syncthreads();
  if (__builtin_amdgcn_readfirstlane(threadIdx.x) != 0) return;
  if constexpr (kBug == Bug::first)
    asm volatile("s_store_dword %1, %0, 0x0" ::"s"(turn), "s"(part + 1) : "memory");
  else
    asm volatile("s_store_dword %1, %0, 0x0 glc" ::"s"(turn), "s"(part + 1) : "memory");
}

// ---- Stream-K ---------------------------------------------------------------------------------

constexpr unsigned kStreamTiles = 4;
constexpr unsigned kStreamDepth = 10;  // steps of K per tile
constexpr unsigned kStreamBlocks = 10;
constexpr unsigned kSteps = kStreamTiles * kStreamDepth / kStreamBlocks;  // per workgroup

// Workgroups share the steps of all tiles evenly. One that does not reach the end of a tile leaves
// what it has in the workspace; the one that does collects the others' parts. first: it waits for
// the workgroup before it and takes what is further back for ready too. second: the flag is set
// without a release, so that parts may still be on their way.
template <Bug kBug>
__global__ void stream_k(const unsigned* in, unsigned* c, unsigned* workspace, unsigned* ready) {
  unsigned step = blockIdx.x * kSteps;
  const unsigned end = step + kSteps;
  while (step < end) {
    const unsigned tile = step / kStreamDepth;
    const unsigned first = tile * kStreamDepth, last = first + kStreamDepth;
    const unsigned begin = step, stop = min(end, last);
    unsigned sum = 0;
    for (; step < stop; ++step) sum += in[step * kThreads + threadIdx.x];
    if (stop != last) {
      workspace[blockIdx.x * kThreads + threadIdx.x] = sum;  // BUG stream write
      __syncthreads();
      if (threadIdx.x == 0) {
        if constexpr (kBug == Bug::second) {
          __hip_atomic_store(&ready[blockIdx.x], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        } else {
          store_release(&ready[blockIdx.x], 1u);
        }
      }
      continue;
    }
    for (unsigned other = blockIdx.x, from = begin; from > first;) {
      from = --other * kSteps;
      if (kBug != Bug::first || other + 1 == blockIdx.x) {
        if (threadIdx.x == 0) {
          while (load_acquire(&ready[other]) == 0) {
          }
        }
        __syncthreads();
      }
      sum += workspace[other * kThreads + threadIdx.x];  // BUG stream read
    }
    c[tile * kThreads + threadIdx.x] = sum;
  }
}

// ---- Decoupled look-back ----------------------------------------------------------------------

constexpr unsigned kScanBlocks = 20;
constexpr unsigned kNothing = 0, kAggregate = 1, kInclusive = 2;  // status of a tile

struct ScanState {
  unsigned aggregate[kScanBlocks], inclusive[kScanBlocks], status[kScanBlocks];
  unsigned next;
};

// Inclusive sums before and at each element of the workgroup, from 0.
__device__ unsigned block_scan(unsigned value, unsigned& total) {
  __shared__ unsigned sums[2][kThreads];
  sums[0][threadIdx.x] = value;
  unsigned from = 0;
  for (unsigned step = 1; step < kThreads; step *= 2, from ^= 1) {
    __syncthreads();
    unsigned sum = sums[from][threadIdx.x];
    if (threadIdx.x >= step) sum += sums[from][threadIdx.x - step];
    sums[from ^ 1][threadIdx.x] = sum;
  }
  __syncthreads();
  total = sums[from][kThreads - 1];
  return sums[from][threadIdx.x];
}

// A prefix sum of everything in one launch: a workgroup takes the next tile, publishes its sum, and
// goes back over the tiles before it until one knows the sum of all before.
// first: the status is set without a release. second: it is read without an acquire.
template <Bug kBug>
__global__ void look_back(const unsigned* in, unsigned* out, ScanState* state) {
  const auto publish = [&](unsigned tile, unsigned what) {
    if constexpr (kBug == Bug::first) {
      __hip_atomic_store(&state->status[tile], what, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    } else {
      store_release(&state->status[tile], what);
    }
  };
  const auto status_of = [&](unsigned tile) {
    if constexpr (kBug != Bug::second) return load_acquire(&state->status[tile]);
    return __hip_atomic_load(&state->status[tile], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  };
  __shared__ unsigned shared_tile, before;
  if (threadIdx.x == 0) shared_tile = atomicAdd(&state->next, 1u);
  __syncthreads();
  const unsigned tile = shared_tile;
  unsigned total = 0;
  const unsigned here = block_scan(in[tile * kThreads + threadIdx.x], total);
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    if (tile != 0) {
      state->aggregate[tile] = total;  // BUG scan write
      publish(tile, kAggregate);
      for (unsigned back = tile - 1;; --back) {
        unsigned status = kNothing;
        do status = status_of(back);
        while (status == kNothing);
        if (status == kInclusive) {
          sum += state->inclusive[back];
          break;
        }
        sum += state->aggregate[back];
      }
    }
    state->inclusive[tile] = sum + total;  // BUG scan write
    publish(tile, kInclusive);
    before = sum;
  }
  __syncthreads();
  out[tile * kThreads + threadIdx.x] = before + here;
}

// The same with status and value in one word of 64 bits: nothing else is handed over, so that
// relaxed atomics do.
__global__ void look_back_packed(const unsigned* in, unsigned* out, unsigned long long* state) {
  __shared__ unsigned before;
  const unsigned tile = blockIdx.x;
  const auto publish = [&](unsigned status, unsigned value) {
    __hip_atomic_store(&state[tile], static_cast<unsigned long long>(status) << 32 | value,
                       __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  };
  unsigned total = 0;
  const unsigned here = block_scan(in[tile * kThreads + threadIdx.x], total);
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    if (tile != 0) {
      publish(kAggregate, total);
      for (unsigned back = tile - 1;; --back) {
        unsigned long long word = 0;
        do word = __hip_atomic_load(&state[back], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        while (word >> 32 == kNothing);
        sum += static_cast<unsigned>(word);
        if (word >> 32 == kInclusive) break;
      }
    }
    publish(kInclusive, sum + total);
    before = sum;
  }
  __syncthreads();
  out[tile * kThreads + threadIdx.x] = before + here;
}

// ---- On the host ------------------------------------------------------------------------------

unsigned value_at(std::size_t i) { return static_cast<unsigned>(i * 7 % 1013); }

std::vector<unsigned> values(std::size_t count) {
  std::vector<unsigned> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i] = value_at(i);
  return list;
}

bool run_last_block(void (*kernel)(const unsigned*, unsigned*, unsigned*, unsigned*)) {
  const DeviceArray<unsigned> in(values(kSumBlocks * kThreads));
  const DeviceArray<unsigned> sums(kSumBlocks), ticket(1, 0u), out(1, 0u);
  kernel<<<kSumBlocks, kThreads>>>(in.get(), sums.get(), ticket.get(), out.get());
  finish();
  unsigned wanted = 0;
  for (std::size_t i = 0; i < kSumBlocks * kThreads; ++i) wanted += value_at(i);
  return out.host()[0] == wanted;
}

bool run_split_k(void (*kernel)(const unsigned*, unsigned*, unsigned*)) {
  const DeviceArray<unsigned> in(values(kSplits * kDepth * kTiles * kThreads));
  const DeviceArray<unsigned> c(kTiles * kThreads), semaphore(kTiles, 0u);
  kernel<<<dim3(kTiles, kSplits), kThreads>>>(in.get(), c.get(), semaphore.get());
  finish();
  return matches(c.host(), [](std::size_t i) {
    unsigned sum = 0;
    for (std::size_t k = 0; k < kSplits * kDepth; ++k) sum += value_at(k * kTiles * kThreads + i);
    return sum;
  });
}

bool run_stream_k(void (*kernel)(const unsigned*, unsigned*, unsigned*, unsigned*)) {
  const DeviceArray<unsigned> in(values(kStreamTiles * kStreamDepth * kThreads));
  const DeviceArray<unsigned> c(kStreamTiles * kThreads), workspace(kStreamBlocks * kThreads);
  const DeviceArray<unsigned> ready(kStreamBlocks, 0u);
  kernel<<<kStreamBlocks, kThreads>>>(in.get(), c.get(), workspace.get(), ready.get());
  finish();
  return matches(c.host(), [](std::size_t i) {
    unsigned sum = 0;
    for (std::size_t k = 0; k < kStreamDepth; ++k)
      sum += value_at((i / kThreads * kStreamDepth + k) * kThreads + i % kThreads);
    return sum;
  });
}

bool is_prefix_sum(const std::vector<unsigned>& got) {
  unsigned sum = 0;
  return matches(got, [&](std::size_t i) { return sum += value_at(i); });
}

bool run_look_back(void (*kernel)(const unsigned*, unsigned*, ScanState*)) {
  const DeviceArray<unsigned> in(values(kScanBlocks * kThreads));
  const DeviceArray<unsigned> out(kScanBlocks * kThreads);
  const DeviceArray<ScanState> state(1, ScanState{});
  kernel<<<kScanBlocks, kThreads>>>(in.get(), out.get(), state.get());
  finish();
  return is_prefix_sum(out.host());
}

bool run_look_back_packed() {
  const DeviceArray<unsigned> in(values(kScanBlocks * kThreads));
  const DeviceArray<unsigned> out(kScanBlocks * kThreads);
  const DeviceArray<unsigned long long> state(kScanBlocks, 0ull);
  look_back_packed<<<kScanBlocks, kThreads>>>(in.get(), out.get(), state.get());
  finish();
  return is_prefix_sum(out.host());
}

}  // namespace

int main(int argc, char** argv) {
  using enum Bug;
  return run_case(
      argc, argv,
      {{"last-block", [] { return run_last_block(last_block<none>); }},
       {"last-block-release-broken", [] { return run_last_block(last_block<first>); }},
       {"last-block-acquire-broken", [] { return run_last_block(last_block<second>); }},
       {"last-block-order", [] { return run_last_block(last_block_by_order<none>); }},
       {"last-block-order-broken", [] { return run_last_block(last_block_by_order<first>); }},
       {"split-k", [] { return run_split_k(split_k<none>); }},
       {"split-k-barrier-broken", [] { return run_split_k(split_k<first>); }},
       {"split-k-turn-broken", [] { return run_split_k(split_k<second>); }},
       {"split-k-scalars", [] { return run_split_k(split_k_by_scalars<none>); }},
       {"split-k-scalar-store-broken", [] { return run_split_k(split_k_by_scalars<first>); }},
       {"split-k-scalar-load-broken", [] { return run_split_k(split_k_by_scalars<second>); }},
       {"stream-k", [] { return run_stream_k(stream_k<none>); }},
       {"stream-k-wait-broken", [] { return run_stream_k(stream_k<first>); }},
       {"stream-k-release-broken", [] { return run_stream_k(stream_k<second>); }},
       {"look-back", [] { return run_look_back(look_back<none>); }},
       {"look-back-packed", run_look_back_packed},
       {"look-back-release-broken", [] { return run_look_back(look_back<first>); }},
       {"look-back-acquire-broken", [] { return run_look_back(look_back<second>); }}});
}
