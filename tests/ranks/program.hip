// Launches whose results do not depend on where workgroups run, and prints what they computed.
//
//   program products     a matrix product, three times onto the same matrix; MFMA
//   program memories     the host's heap, pinned memory, a variable of the device; the host writes
//   between launches program atomics      workgroups that add to the same words program flags
//   workgroups that wait for each other program fault        one workgroup writes where it may not
//   program long         some seconds
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

#define MUST(call)                                        \
  if (const hipError_t code = (call); code != hipSuccess) \
  std::printf("%s\n", hipGetErrorName(code)), std::exit(3)

using Floats = float __attribute__((ext_vector_type(4)));

__device__ float table[256];

// 16 x 16 of c for each workgroup.
__global__ void product(const float* a, const float* b, float* c, int n) {
  const int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 16;
  Floats sum = {0, 0, 0, 0};
  for (int k = 0; k < n; k += 4)
    sum = __builtin_amdgcn_mfma_f32_16x16x4f32(a[(row + lane % 16) * n + k + lane / 16],
                                               b[(k + lane / 16) * n + column + lane % 16], sum, 0,
                                               0, 0);
  for (int i = 0; i < 4; ++i) c[(row + lane / 16 * 4 + i) * n + column + lane % 16] += sum[i];
}
__global__ void mix(const float* in, float* out, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = table[i % 256];
  for (int k = 0; k < steps; ++k) sum = sum * 0.5f + in[(i * 7 + k) % n];
  out[i] += sum;
}
__global__ void count(unsigned* totals, const float* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 50; ++k)
    if (values[i] > k) atomicAdd(&totals[k % 4], 1u);
}
// Workgroup 0 waits for the last one.
__global__ void flags(unsigned* flag, unsigned* out) {
  if (blockIdx.x == gridDim.x - 1)
    __hip_atomic_store(flag, 7u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  if (blockIdx.x == 0)
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {
    }
  out[blockIdx.x] = blockIdx.x == 0 ? *flag : blockIdx.x;
}
__global__ void fault(float* out) { out[blockIdx.x == 40 ? 1ull << 40 : blockIdx.x] = 1; }

float value(int i) {
  return static_cast<float>(static_cast<std::uint32_t>(i) * 2654435761u >> 8) / 1e6f;
}

template <typename T>
void print(const T* values, int n) {
  std::uint64_t sum = 0;
  for (int i = 0; i < n; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, &values[i], 4);
    sum = sum * 31 + bits;
  }
  std::printf("%016llx\n", static_cast<unsigned long long>(sum));
}

void products() {
  constexpr int n = 512;
  float *a, *b, *c;
  MUST(hipMalloc(&a, n * n * 4));
  MUST(hipMalloc(&b, n * n * 4));
  MUST(hipMalloc(&c, n * n * 4));
  for (int i = 0; i < n * n; ++i) a[i] = value(i), b[i] = value(i + 1);
  for (int round = 0; round < 3; ++round) product<<<dim3(n / 16, n / 16), 64>>>(a, b, c, n);
  MUST(hipDeviceSynchronize());
  print(c, n * n);
}

void memories(int steps) {
  constexpr int n = 64 * 256;
  std::vector<float> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = value(i);
  float* pinned;
  MUST(hipHostMalloc(&pinned, n * 4));
  std::memset(pinned, 0, n * 4);
  for (int round = 0; round < 3; ++round) {
    MUST(hipMemcpyToSymbol(HIP_SYMBOL(table), &in[1000 * round], sizeof table));
    mix<<<64, 256>>>(in.data(), out.data(), n, steps);
    mix<<<64, 256>>>(out.data(), pinned, n, steps);
    MUST(hipDeviceSynchronize());
    in[round] += 3;
  }
  print(out.data(), n);
  print(pinned, n);
}

void atomics() {
  constexpr int n = 64 * 256;
  unsigned* totals;
  float* values;
  MUST(hipMalloc(&totals, 16));
  MUST(hipMalloc(&values, n * 4));
  for (int i = 0; i < n; ++i) values[i] = value(i);
  count<<<64, 256>>>(totals, values);
  MUST(hipDeviceSynchronize());
  print(totals, 4);
}

void wait_for_flags() {
  unsigned* words;
  MUST(hipMalloc(&words, 65 * 4));
  flags<<<64, 64>>>(words + 64, words);
  MUST(hipDeviceSynchronize());
  print(words, 65);
}

void make_fault() {
  float* out;
  MUST(hipMalloc(&out, 64 * 4));
  fault<<<64, 64>>>(out);
  std::printf("%s\n", hipGetErrorName(hipDeviceSynchronize()));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "products") return products(), 0;
  if (what == "memories") return memories(200), 0;
  if (what == "atomics") return atomics(), 0;
  if (what == "flags") return wait_for_flags(), 0;
  if (what == "fault") return make_fault(), 0;
  if (what == "long") return memories(20'000), 0;
  return 2;
}
