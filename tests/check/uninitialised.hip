// Reads of what was never written.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 64;

// broken: the upper half of the tile is read, but was never written.
__global__ void from_lds(const unsigned* in, unsigned* out, unsigned written) {
  __shared__ unsigned tile[kThreads];
  if (threadIdx.x < written) tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];  // BUG lds
}

__global__ void from_global(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = in[kThreads - 1 - threadIdx.x] + 1;  // BUG global
}

// broken: v0 goes from the compiler's "undefined" straight into global_store_dword; the empty asm
// keeps the compiler from making anything of that.
template <bool kBroken>
__global__ void from_register(const unsigned* in, unsigned* out) {
  unsigned value;
  if constexpr (!kBroken) value = in[threadIdx.x];
  asm volatile("v_add_u32 %0, 1, %0" : "+v"(value));
  out[threadIdx.x] = value;  // BUG register
}

// broken: the flags of the upper half were never written, and decide who stores. A loop, so that it
// is a branch and no selection.
__global__ void branches(const unsigned* in, unsigned* out, unsigned written) {
  __shared__ unsigned flags[kThreads];
  if (threadIdx.x < written) flags[threadIdx.x] = 7;
  __syncthreads();
  unsigned steps = 0;
  if (flags[kThreads - 1 - threadIdx.x] > 3)  // BUG branch
    for (unsigned i = 0; i < in[threadIdx.x]; ++i) steps += in[i % kThreads] > 0 ? 1 : 1;
  out[threadIdx.x] = steps;
}

unsigned reversed(std::size_t i) { return (kThreads - 1 - static_cast<unsigned>(i)) * 3; }

bool run_lds(bool broken) {
  const DeviceArray<unsigned> in(ramp(kThreads, 3u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  from_lds<<<1, kThreads>>>(in.get(), out.get(), broken ? kThreads / 2 : kThreads);
  finish();
  return matches(out.host(), reversed);
}

bool run_branch(bool broken) {
  const DeviceArray<unsigned> in(ramp(kThreads, 3u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  branches<<<1, kThreads>>>(in.get(), out.get(), broken ? kThreads / 2 : kThreads);
  finish();
  return matches(out.host(), [](std::size_t i) { return i * 3; });
}

bool run_global(bool broken) {
  const DeviceArray<unsigned> in(kThreads);
  const DeviceArray<unsigned> out(kThreads, 0u);
  const std::vector<unsigned> values = ramp(kThreads, 3u);
  // The broken one copies half of it.
  const std::size_t bytes = kThreads * sizeof(unsigned) / (broken ? 2 : 1);
  expect(hipMemcpy(in.get(), values.data(), bytes, hipMemcpyHostToDevice));
  from_global<<<1, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return reversed(i) + 1; });
}

bool run_register(void (*kernel)(const unsigned*, unsigned*)) {
  const DeviceArray<unsigned> in(ramp(kThreads, 3u));
  const DeviceArray<unsigned> out(kThreads, 0u);
  kernel<<<1, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(), [](std::size_t i) { return i * 3 + 1; });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"lds-broken", [] { return run_lds(true); }},
                   {"lds-fixed", [] { return run_lds(false); }},
                   {"branch-broken", [] { return run_branch(true); }},
                   {"branch-fixed", [] { return run_branch(false); }},
                   {"global-broken", [] { return run_global(true); }},
                   {"global-fixed", [] { return run_global(false); }},
                   {"register-broken", [] { return run_register(from_register<true>); }},
                   {"register-fixed", [] { return run_register(from_register<false>); }}});
}
