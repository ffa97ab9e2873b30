// Waits and barriers that order nothing. Advice is about those that the source spells out: what the
// compiler or a library has inserted, users cannot remove.
#include "check_program.h"

using namespace check_program;

namespace {

constexpr unsigned kThreads = 256;

enum class Form { compilers, own_wait, own_barrier };

// The exchange needs its barrier. The compiler waits for a volatile load at once, although its
// result is unused.
template <Form form>
__global__ __launch_bounds__(kThreads) void exchange(const unsigned* in, unsigned* out) {
  __shared__ unsigned values[kThreads];
  values[threadIdx.x] = in[threadIdx.x];
  out[kThreads + threadIdx.x] = threadIdx.x;
  __syncthreads();
  const unsigned other = values[kThreads - 1 - threadIdx.x];
  if constexpr (form == Form::own_wait) asm volatile("s_waitcnt expcnt(0)" ::: "memory");
  if constexpr (form == Form::own_barrier) __syncthreads();
  out[threadIdx.x] = other;
  (void)*static_cast<const volatile unsigned*>(in);
}

// Barriers that only global memory needs: between reads and writes of the same bytes, and between
// writes.
__global__ void shifted(unsigned* values) {
  const unsigned next = values[(threadIdx.x + 64) % kThreads];
  __syncthreads();
  values[threadIdx.x] = next;
}
__global__ void cleared(const unsigned* in, unsigned* values) {
  values[threadIdx.x] = 0;
  __syncthreads();
  if (in[threadIdx.x] % 2 == 0) values[kThreads - 1 - in[threadIdx.x]] = 1;
}

bool run_shifted() {
  const DeviceArray<unsigned> values(ramp(kThreads));
  shifted<<<1, kThreads>>>(values.get());
  finish();
  return matches(values.host(), [](std::size_t i) { return (i + 64) % kThreads; });
}
bool run_cleared() {
  const DeviceArray<unsigned> in(ramp(kThreads)), values(kThreads);
  cleared<<<1, kThreads>>>(in.get(), values.get());
  finish();
  return matches(values.host(), [](std::size_t i) { return i % 2; });
}

bool run(void (*kernel)(const unsigned*, unsigned*)) {
  const DeviceArray<unsigned> in(ramp(kThreads));
  const DeviceArray<unsigned> out(2 * kThreads, 0u);
  kernel<<<1, kThreads>>>(in.get(), out.get());
  finish();
  return matches(out.host(),
                 [](std::size_t i) { return i < kThreads ? kThreads - 1 - i : i - kThreads; });
}

}  // namespace

int main(int argc, char** argv) {
  return run_case(argc, argv,
                  {{"compilers", [] { return run(exchange<Form::compilers>); }},
                   {"shifted", run_shifted},
                   {"cleared", run_cleared},
                   {"own-wait", [] { return run(exchange<Form::own_wait>); }},
                   {"own-barrier", [] { return run(exchange<Form::own_barrier>); }}});
}
