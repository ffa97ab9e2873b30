// Launches whose results do not depend on where workgroups run, and prints what they computed.
//
// - products: a matrix product, three times onto the same matrix; MFMA
// - memories: the host's heap, pinned memory, a variable of the device; the host writes between
//   launches; "watched" is ten times longer, "long" takes some seconds
// - attention: LDS, barriers, scratch, exp; three sizes
// - rows: workgroups each of which has more to do than the one before
// - atomics: workgroups that add to the same words
// - combined: integer atomics of all kinds, also on words that one workgroup has for itself
// - mixed: two kinds of atomics on the same word
// - returning: atomics whose result is used
// - flags: workgroups that wait for each other
// - fault: one workgroup writes where it may not
// - race: neighbouring workgroups write the same words, and read each other's
// - outside: reads and writes past the end of an allocation, inside the last page
// - undefined: uses words that nothing has written; a later launch and the host read them
// - large: code of 2 MB; a short launch, and when it may read a line a long one
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
constexpr int kRelaxed = __ATOMIC_RELAXED, kAgent = __HIP_MEMORY_SCOPE_AGENT;
__device__ float busy(int steps);
// Words of all workgroups, one for each operation, of T and of its signed type; and of one
// workgroup.
template <typename T, typename Signed>
__device__ void combine(T* all, Signed* both, T* own, const float* values, int i) {
  const T x = static_cast<T>(values[i] * 1000) * 0x10001u;
  const Signed y = static_cast<Signed>(x) - static_cast<Signed>(values[i + 1] * 2000);
  __hip_atomic_fetch_add(&all[0], x, kRelaxed, kAgent);
  __hip_atomic_fetch_add(&all[1], -x, kRelaxed, kAgent);
  __hip_atomic_fetch_and(&all[2], x | 0xf0f0, kRelaxed, kAgent);
  __hip_atomic_fetch_or(&all[3], x & 0xff00ff, kRelaxed, kAgent);
  __hip_atomic_fetch_xor(&all[4], x, kRelaxed, kAgent);
  __hip_atomic_fetch_min(&all[5], x, kRelaxed, kAgent);
  __hip_atomic_fetch_max(&all[6], x, kRelaxed, kAgent);
  __hip_atomic_fetch_min(&both[0], y, kRelaxed, kAgent);
  __hip_atomic_fetch_max(&both[1], y, kRelaxed, kAgent);
  if (threadIdx.x == 0) own[blockIdx.x] = 0x80;
  __syncthreads();
  __hip_atomic_fetch_or(&own[blockIdx.x], x & 0x7f, kRelaxed, kAgent);
}
__global__ void combine(unsigned* words, unsigned long long* wide, const float* values, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (busy(steps) == 0) return;
  combine(words, reinterpret_cast<int*>(words + 8), words + 16, values, i);
  combine(wide, reinterpret_cast<long long*>(wide + 8), wide + 16, values, i);
}
__global__ void mix_kinds(unsigned* words, const float* values, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (busy(steps) == 0) return;
  const auto x = static_cast<unsigned>(values[i]);
  __hip_atomic_fetch_max(words, x, kRelaxed, kAgent);
  __hip_atomic_fetch_add(words, x >> 20, kRelaxed, kAgent);  // 0
  __hip_atomic_fetch_add(words + 1, 1u, kRelaxed, kAgent);
}
__global__ void take_places(unsigned* next, unsigned* taken, int steps) {
  if (busy(steps) != 0) taken[atomicAdd(next, 1u)] = 1;
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
// Each lane has a query of 16 numbers, the workgroup goes through the keys together.
__global__ void attention(const float* q, const float* k, const float* v, float* out, int keys) {
  __shared__ float tile[2][64][16];
  const int lane = threadIdx.x, row = blockIdx.x * 64 + lane;
  float query[16], sum[16], best = -1e30f, total = 0;
  for (int n = 0; n < 16; ++n) query[n] = q[row * 16 + n], sum[n] = 0;
  for (int begin = 0; begin < keys; begin += 64) {
    __syncthreads();
    for (int n = 0; n < 16; ++n) {
      tile[0][lane][n] = k[(begin + lane) * 16 + n];
      tile[1][lane][n] = v[(begin + lane) * 16 + n];
    }
    __syncthreads();
    for (int key = 0; key < 64; ++key) {
      float score = 0;
      for (int n = 0; n < 16; ++n) score += query[n] * tile[0][key][n];
      const float higher = fmaxf(best, score), shrink = __expf(best - higher);
      const float weight = __expf(score - higher);
      best = higher;
      total = total * shrink + weight;
      for (int n = 0; n < 16; ++n) sum[n] = sum[n] * shrink + weight * tile[1][key][n];
    }
  }
  for (int n = 0; n < 16; ++n) out[row * 16 + n] = sum[n] / total;
}
// Makes a launch last until other ranks have come. Not 0.
__device__ float busy(int steps) {
  float sum = 1;
  for (int k = 0; k < steps; ++k) sum = sum * 0.5f + k;
  return sum;
}
// A word for each lane and one more, which is the next workgroup's.
__global__ void race(float* out, float* read, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (busy(steps) == 0) return;
  if (i < n) out[i] = blockIdx.x;
  if (threadIdx.x == 63 && i + 1 < n) out[i + 1] = blockIdx.x + 0.5f;
  if (threadIdx.x == 0 && i > 0) read[blockIdx.x] = out[i - 1];
}
// Of n words, which the grid has more than.
__global__ void outside(const float* in, float* out, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (busy(steps) == 0) return;
  out[i] = in[i + 1];
}
__global__ void undefined(const float* in, float* out, float* part, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (busy(steps) == 0) return;
  if (i % 3 != 0) part[i] = i;
  out[blockIdx.x * 64 + static_cast<unsigned>(in[i]) % 64] = 1;  // half of it was written
}
__global__ void copy(const float* in, float* out, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (busy(steps) != 0) out[i] = in[i];
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

// Row n has n / 32 + 1 parts. LDS leaves a compute unit room for two of them.
/// More than a socket takes at once.
__device__ unsigned large[1 << 19] = {1};
__global__ void read_large(float* out, int steps) {
  const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int step = 0; step < steps; ++step) sum = sum * 0.5f + static_cast<float>(large[n + step]);
  out[n] = sum;
}

__global__ void rows(const float* in, float* out) {
  __shared__ float parts[8192];
  float sum = 0;
  for (unsigned n = 0; n <= blockIdx.x / 32; ++n) {
    parts[threadIdx.x + n] = in[(blockIdx.x * 37 + n * 64) % 65536 + threadIdx.x];
    __syncthreads();
    sum += parts[63 - threadIdx.x + n];
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

void sum_rows() {
  constexpr int n = 1024 * 64;
  float *in, *out;
  for (float** const p : {&in, &out}) MUST(hipMalloc(p, (n + 64) * 4));
  for (int i = 0; i < n + 64; ++i) in[i] = value(i);
  rows<<<1024, 64>>>(in, out);
  MUST(hipDeviceSynchronize());
  print(out, n);
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

void run_large() {
  constexpr int n = 64 * 256;
  float* out;
  MUST(hipMalloc(&out, n * 4));
  read_large<<<64, 256>>>(out, 1);
  MUST(hipDeviceSynchronize());
  std::puts("ready");
  std::fflush(stdout);
  (void)std::getchar();
  read_large<<<64, 256>>>(out, 60'000);
  MUST(hipDeviceSynchronize());
  print(out, n);
}

void attend() {
  constexpr int n = 64 * 40;
  float *q, *k, *v, *out;
  for (float** const p : {&q, &k, &v, &out}) MUST(hipMalloc(p, n * 16 * 4));
  for (int i = 0; i < n * 16; ++i) q[i] = value(i), k[i] = value(i + 1), v[i] = value(i + 2);
  for (const int blocks : {40, 21, 5}) attention<<<blocks, 64>>>(q, k, v, out, 512);
  MUST(hipDeviceSynchronize());
  print(out, n * 16);
}

void make_race() {
  constexpr int n = 40 * 64;
  float *out, *read;
  MUST(hipMalloc(&out, n * 4));
  MUST(hipMalloc(&read, n * 4));
  MUST(hipMemset(out, 0, n * 4));
  race<<<40, 64>>>(out, read, n, 2000);
  MUST(hipDeviceSynchronize());
}

void go_outside() {
  constexpr int n = 17 * 64;
  float *in, *out;
  MUST(hipMalloc(&in, n * 4));
  MUST(hipMalloc(&out, n * 4));
  MUST(hipMemset(in, 0, n * 4));
  outside<<<40, 64>>>(in, out, 2000);
  (void)hipDeviceSynchronize();
}

void use_undefined() {
  constexpr int n = 40 * 64;
  float* words[4];
  for (float*& p : words) MUST(hipMalloc(&p, n * 4));
  MUST(hipMemset(words[0], 0, n * 2));
  undefined<<<40, 64>>>(words[0], words[1], words[2], 2000);
  copy<<<40, 64>>>(words[2], words[3], 2000);
  std::vector<float> host(n);
  MUST(hipMemcpy(host.data(), words[3], n * 4, hipMemcpyDeviceToHost));
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

void combine_all() {
  constexpr int n = 64 * 256, kWords = 16 + 64;
  unsigned* words;
  unsigned long long* wide;
  float* values;
  MUST(hipMalloc(&words, kWords * 4));
  MUST(hipMalloc(&wide, kWords * 8));
  MUST(hipMalloc(&values, (n + 1) * 4));
  for (int i = 0; i <= n; ++i) values[i] = value(i);
  for (int i = 0; i < kWords; ++i) words[i] = 0x12345678u * i, wide[i] = 0x123456789abcdefull * i;
  // Some of them are over before another rank is ready.
  for (int round = 0; round < 16; ++round) combine<<<64, 256>>>(words, wide, values, 2000);
  MUST(hipDeviceSynchronize());
  print(words, kWords);
  print(reinterpret_cast<unsigned*>(wide), kWords * 2);
}

void mix_all_kinds() {
  constexpr int n = 64 * 256;
  unsigned* words;
  float* values;
  MUST(hipMalloc(&words, 8));
  MUST(hipMalloc(&values, n * 4));
  for (int i = 0; i < n; ++i) values[i] = value(i);
  mix_kinds<<<64, 256>>>(words, values, 5000);
  MUST(hipDeviceSynchronize());
  print(words, 2);
}

void take_all_places() {
  constexpr int n = 64 * 256;
  unsigned* words;
  MUST(hipMalloc(&words, (n + 1) * 4));
  take_places<<<64, 256>>>(words, words + 1, 2000);
  MUST(hipDeviceSynchronize());
  print(words, n + 1);
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
  if (what == "combined") return combine_all(), 0;
  if (what == "mixed") return mix_all_kinds(), 0;
  if (what == "returning") return take_all_places(), 0;
  if (what == "flags") return wait_for_flags(), 0;
  if (what == "attention") return attend(), 0;
  if (what == "rows") return sum_rows(), 0;
  if (what == "race") return make_race(), 0;
  if (what == "outside") return go_outside(), 0;
  if (what == "undefined") return use_undefined(), 0;
  if (what == "large") return run_large(), 0;
  if (what == "fault") return make_fault(), 0;
  if (what == "watched") return memories(2'000), 0;
  if (what == "long") return memories(20'000), 0;
  return 2;
}
