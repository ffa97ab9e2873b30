// Small kernels with known limits and known remedies: corpus [WORD...]. test_advice.py says for
// each what margay prof has to say.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <string>

namespace {

constexpr unsigned kSize = 1 << 20;
using Float4 = __attribute__((ext_vector_type(4))) float;
using Float16 = __attribute__((ext_vector_type(16))) float;
using Half4 = __attribute__((ext_vector_type(4))) _Float16;
using Float2 = __attribute__((ext_vector_type(2))) float;

}  // namespace

// ---- Memory -----------------------------------------------------------------------------------

__global__ void saxpy(float a, const float* x, float* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += a * x[i];
}

__global__ void strided(const float* in, float* out) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[32 * i];  // LINE strided
}

__global__ void transposed(const float* in, float* out) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  out[i % 1024 * 1024 + i / 1024] = in[i];  // LINE transposed
}

// Rows of 1001 floats: they begin anywhere in a sector, but every byte is used.
__global__ void ragged(const float* in, float* out) {
  const float* row = in + blockIdx.x * 1001;
  for (unsigned n = threadIdx.x; n < 1001; n += 256) out[blockIdx.x * 1001 + n] = row[n] + 1;
}

// A table that all workgroups read, so that each XCD has to fetch it.
__global__ void table(const float* in, const float* factors, float* out) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  out[i] = in[i] * factors[threadIdx.x];
}

// Eight workgroups read the same rows: neighbours, which are on eight XCDs, or those of one XCD.
template <bool kSameXcd>
__global__ void shared_rows(const Float4* in, Float4* out) {
  const unsigned group = kSameXcd ? blockIdx.x / 64 * 8 + blockIdx.x % 8 : blockIdx.x / 8;
  Float4 sum{};
  for (unsigned n = 0; n < 8; ++n) sum += in[(group * 8 + n) * 256 + threadIdx.x];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// ---- Occupancy --------------------------------------------------------------------------------

// One load in flight for each wave, and registers for two waves only.
__global__ void __launch_bounds__(64) many_registers(const float* in, float* out) {
  float sum = 0;
  for (unsigned n = 0; n < 16; ++n) {
    sum += __builtin_nontemporal_load(&in[(blockIdx.x * 16 + n) * 64 + threadIdx.x]);
    asm volatile("" : "+v"(sum)::"v200");
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

__global__ void __launch_bounds__(64) much_lds(const float* in, float* out) {
  __shared__ float tile[10240];
  float sum = 0;
  for (unsigned n = 0; n < 16; ++n) {
    sum += __builtin_nontemporal_load(&in[(blockIdx.x * 16 + n) * 64 + threadIdx.x]);
    asm volatile("" : "+v"(sum));
  }
  tile[threadIdx.x] = sum;
  out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

// Everything is held at once, in few registers.
__global__ void __attribute__((amdgpu_num_vgpr(32))) spilling(const float* in, float* out) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  float held[64];
#pragma unroll
  for (unsigned n = 0; n < 64; ++n) held[n] = in[n * kSize / 64 + i % (kSize / 64)];
  asm volatile("" ::: "memory");
#pragma unroll
  for (unsigned n = 0; n < 64; ++n) out[n * 131072 + i] = held[63 - n] + held[n];
}

// ---- Compute ----------------------------------------------------------------------------------

template <typename T>
__global__ void arithmetic(T* out, float a) {
  T x = static_cast<T>(threadIdx.x);
  for (unsigned n = 0; n < 256; ++n) x = x * a + 1;
  out[blockIdx.x * 256 + threadIdx.x] = x;
}

__global__ void half_the_lanes(float* out, float a) {
  float x = static_cast<float>(threadIdx.x);
  if (threadIdx.x % 2 == 0)
    for (unsigned n = 0; n < 256; ++n) x = __builtin_amdgcn_rcpf(x) + a;
  out[blockIdx.x * 256 + threadIdx.x] = x;
}

__global__ void matrix(Float16* out, Half4 a, Half4 b) {
  Float16 c{}, d{};
  for (unsigned n = 0; n < 128; ++n) {
    c = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
    d = __builtin_amdgcn_mfma_f32_32x32x8f16(b, a, d, 0, 0, 0);
  }
  if (threadIdx.x == 0) out[blockIdx.x] = c + d;
}

// Each lane reads its own row of 33 floats (no bank conflicts) or of 32 (32 ways) in LDS.
template <unsigned kRow>
__global__ void __launch_bounds__(64) lds_rows(float* out) {
  __shared__ float tile[64 * kRow];
  for (unsigned n = threadIdx.x; n < 64 * kRow; n += 64) tile[n] = static_cast<float>(n);
  __syncthreads();
  float sum = 0;
  for (unsigned n = 0; n < 256; ++n) sum += tile[threadIdx.x * kRow + n % 32];  // LINE lds_rows
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

int main(int count, char** words) {
  float *in = nullptr, *out = nullptr;
  if (hipMalloc(&in, 32 * kSize * sizeof(float)) != hipSuccess ||
      hipMalloc(&out, 32 * kSize * sizeof(float)) != hipSuccess)
    return 1;
  const auto in4 = reinterpret_cast<Float4*>(in);
  const auto out4 = reinterpret_cast<Float4*>(out);
  for (int n = 1; n < count; ++n) {
    const std::string word = words[n];
    if (word == "saxpy") saxpy<<<kSize / 256, 256>>>(2, in, out);
    if (word == "small_saxpy") saxpy<<<4, 256>>>(2, in, out);
    if (word == "strided") strided<<<1024, 256>>>(in, out);
    if (word == "transposed") transposed<<<4096, 256>>>(in, out);
    if (word == "ragged") ragged<<<1024, 256>>>(in, out);
    if (word == "table") table<<<4096, 256>>>(in, in, out);
    if (word == "other_xcds") shared_rows<false><<<4096, 256>>>(in4, out4);
    if (word == "same_xcd") shared_rows<true><<<4096, 256>>>(in4, out4);
    if (word == "many_registers") many_registers<<<16384, 64>>>(in, out);
    if (word == "much_lds") much_lds<<<16384, 64>>>(in, out);
    if (word == "spilling") spilling<<<512, 256>>>(in, out);
    if (word == "arithmetic") arithmetic<float><<<608, 256>>>(out, 0.5f);
    if (word == "packed") arithmetic<Float2><<<608, 256>>>(reinterpret_cast<Float2*>(out), 0.5f);
    if (word == "half_the_lanes") half_the_lanes<<<608, 256>>>(out, 0.5f);
    if (word == "matrix") matrix<<<304, 256>>>(reinterpret_cast<Float16*>(out), Half4{}, Half4{});
    if (word == "conflicting") lds_rows<32><<<1024, 64>>>(out);
    if (word == "padded") lds_rows<33><<<1024, 64>>>(out);
    if (hipDeviceSynchronize() != hipSuccess) {
      std::puts("a launch failed");
      return 1;
    }
  }
  return 0;
}
