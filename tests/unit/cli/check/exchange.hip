// Waves exchange values through LDS: with the barrier that this needs, or without ("broken").
#include <hip/hip_runtime.h>

#include <cstdio>
#include <string_view>

namespace {

constexpr unsigned kThreads = 256;

__global__ void exchange(const unsigned* in, unsigned* out, bool waits) {
  __shared__ unsigned values[kThreads];
  values[threadIdx.x] = in[threadIdx.x];
  if (waits) __syncthreads();
  out[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

}  // namespace

int main(int argc, char** argv) {
  const bool waits = argc < 2 || std::string_view(argv[1]) != "broken";
  unsigned *in = nullptr, *out = nullptr;
  if (hipMallocManaged(&in, kThreads * sizeof(unsigned)) != hipSuccess) return 2;
  if (hipMallocManaged(&out, kThreads * sizeof(unsigned)) != hipSuccess) return 2;
  for (unsigned i = 0; i < kThreads; ++i) in[i] = i + 1;
  exchange<<<1, kThreads>>>(in, out, waits);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  unsigned wrong = 0;
  for (unsigned i = 0; i < kThreads; ++i) wrong += out[i] != kThreads - i ? 1 : 0;
  std::printf("%u wrong\n", wrong);
  if (hipFree(in) != hipSuccess || hipFree(out) != hipSuccess) return 2;
  return wrong == 0 ? 0 : 3;
}
