// Workgroups that wait for each other, also for those that begin later: they take turns, and what
// they hand over is followed.
#include <hip/hip_cooperative_groups.h>

#include "check_program.h"

using namespace check_program;
namespace cg = cooperative_groups;

namespace {

constexpr unsigned kThreads = 128;  // two waves
constexpr unsigned kBlocks = 12;
constexpr unsigned kRounds = 3;

// broken: nothing orders a workgroup's write and its neighbour's read, but the workgroup's own
// barrier. fixed: the grid's.
template <bool kBroken>
__global__ void neighbour(unsigned* data, unsigned* out) {
  const unsigned here = blockIdx.x * kThreads + threadIdx.x;
  data[here] = here + 1;  // BUG grid write
  if constexpr (kBroken)
    __syncthreads();
  else
    cg::this_grid().sync();
  out[here] = data[(here + kThreads) % (gridDim.x * kThreads)];  // BUG grid read
}

// broken: the next round's data are written while the neighbour may still read this round's.
// fixed: a second grid.sync().
template <bool kBroken>
__global__ void rounds(unsigned* data, unsigned* out) {
  const unsigned here = blockIdx.x * kThreads + threadIdx.x;
  unsigned sum = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    data[here] = here + round;  // BUG again write
    cg::this_grid().sync();
    sum += data[(here + kThreads) % (gridDim.x * kThreads)];  // BUG again read
    if constexpr (!kBroken) cg::this_grid().sync();
  }
  out[here] = sum;
}

// Each workgroup waits for the one after it, which begins later, and adds to what that has left.
// broken: the flag is set without a release.
template <bool kBroken>
__global__ void from_the_last(unsigned* flags, unsigned* data, unsigned* out) {
  if (threadIdx.x != 0) return;
  const unsigned next = blockIdx.x + 1;
  unsigned after = 0;
  if (next < gridDim.x) {
    while (__hip_atomic_load(&flags[next], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0)
      __builtin_amdgcn_s_sleep(1);
    __threadfence();
    after = data[next];  // BUG last read
  }
  data[blockIdx.x] = after + blockIdx.x;  // BUG last write
  if constexpr (!kBroken) __threadfence();
  __hip_atomic_store(&flags[blockIdx.x], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if (blockIdx.x == 0) *out = data[0];
}

// broken: every workgroup writes the same address, and one of them does not reach the barrier, so
// that the others wait forever; their earlier accesses are reported nevertheless.
template <bool kBroken>
__global__ void left_waiting(unsigned* data, unsigned* out) {
  if (threadIdx.x == 0) data[kBroken ? 0 : blockIdx.x] = blockIdx.x;  // BUG left write
  if (!kBroken || blockIdx.x != 0) cg::this_grid().sync();            // BUG left barrier
  const unsigned here = blockIdx.x * kThreads + threadIdx.x;
  out[here] = here;
}

void launch_cooperatively(void (*kernel)(unsigned*, unsigned*), unsigned* data, unsigned* out) {
  void* arguments[] = {&data, &out};
  expect(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(kBlocks),
                                    dim3(kThreads), arguments, 0, nullptr));
  finish();
}

bool run_grid(void (*kernel)(unsigned*, unsigned*), unsigned rounds_run) {
  const DeviceArray<unsigned> data(kBlocks * kThreads, 0u);
  const DeviceArray<unsigned> out(kBlocks * kThreads, 0u);
  launch_cooperatively(kernel, data.get(), out.get());
  return matches(out.host(), [&](std::size_t i) {
    const auto from = static_cast<unsigned>((i + kThreads) % (kBlocks * kThreads));
    return rounds_run == 0 ? from + 1 : kRounds * from + kRounds * (kRounds - 1) / 2;
  });
}

bool run_left(void (*kernel)(unsigned*, unsigned*)) {
  const DeviceArray<unsigned> data(kBlocks, 0u);
  const DeviceArray<unsigned> out(kBlocks * kThreads, 0u);
  launch_cooperatively(kernel, data.get(), out.get());
  return matches(out.host(), [](std::size_t i) { return i; });
}

bool run_chain(void (*kernel)(unsigned*, unsigned*, unsigned*)) {
  const DeviceArray<unsigned> flags(kBlocks, 0u), data(kBlocks, 0u), out(1, 0u);
  kernel<<<kBlocks, 64>>>(flags.get(), data.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t) { return kBlocks * (kBlocks - 1) / 2; });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"grid-broken", [] { return run_grid(neighbour<true>, 0); }},
                   {"grid-fixed", [] { return run_grid(neighbour<false>, 0); }},
                   {"again-broken", [] { return run_grid(rounds<true>, kRounds); }},
                   {"again-fixed", [] { return run_grid(rounds<false>, kRounds); }},
                   {"left-broken", [] { return run_left(left_waiting<true>); }},
                   {"left-fixed", [] { return run_left(left_waiting<false>); }},
                   {"last-broken", [] { return run_chain(from_the_last<true>); }},
                   {"last-fixed", [] { return run_chain(from_the_last<false>); }}});
}
