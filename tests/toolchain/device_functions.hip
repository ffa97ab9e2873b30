// What ordinary HIP programs use from the headers: it has to compile for the host and for gfx942.
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
#include <hip_bf16.h>
#include <hip_fp16.h>
#include <hip_fp8.h>

#include <cstdio>

namespace cg = cooperative_groups;

__constant__ float table[64];
__device__ int counter;
extern __shared__ float dynamic_lds[];

__global__ void mathematics(float* f, double* d, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float x = f[i];
  f[i] = sinf(x) + cosf(x) + tanhf(x) + expf(x) + exp2f(x) + logf(x) + log2f(x) + powf(x, 3.0f) +
         sqrtf(x) + rsqrtf(x) + cbrtf(x) + fmaf(x, x, x) + fmodf(x, 2.0f) + atan2f(x, 2.0f) +
         hypotf(x, x) + erff(x) + lgammaf(x) + floorf(x) + truncf(x) + roundf(x) + rintf(x) +
         ldexpf(x, 3) + copysignf(x, -1.0f) + fabsf(x) + fmaxf(x, 1.0f) + fminf(x, 2.0f);
  f[i] += __expf(x) + __logf(x) + __sinf(x) + __cosf(x) + __powf(x, 3.0f) + __fdividef(x, 3.0f) +
          __frcp_rn(x) + __fsqrt_rn(x) + __fadd_rn(x, 1.0f) + __fmaf_rn(x, 1.0f, 2.0f);
  f[i] += std::exp(x) + std::max(x, 2.0f) + std::abs(x) + (isnan(x) || isinf(x) ? INFINITY : 0.0f);
  const double y = d[i];
  d[i] = sin(y) + exp(y) + log(y) + pow(y, 3.0) + sqrt(y) + fma(y, y, y) + erf(y) + std::tanh(y);
}

__global__ void atomics(int* p, unsigned* u, float* f, double* d, unsigned long long* l) {
  atomicAdd(p, 1), atomicSub(p, 1), atomicMax(p, 3), atomicMin(p, 3), atomicExch(p, 3);
  atomicCAS(p, 1, 2), atomicAnd(p, 3), atomicOr(p, 3), atomicXor(p, 3);
  atomicInc(u, 3u), atomicDec(u, 3u), atomicAdd(u, 1u), atomicAdd(l, 1ull), atomicMax(l, 1ull);
  atomicCAS(l, 1ull, 2ull), atomicAdd(f, 1.0f), atomicAdd(d, 1.0), atomicMax(f, 1.0f);
  unsafeAtomicAdd(f, 1.0f), unsafeAtomicAdd(d, 1.0), safeAtomicAdd(f, 1.0f);
  atomicAdd(&counter, 1), atomicAdd_system(p, 1);
  __hip_atomic_fetch_add(p, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  __threadfence(), __threadfence_block(), __threadfence_system();
}

__global__ __launch_bounds__(256, 2) void waves(int* p, float* f, double* d,
                                                unsigned long long* m) {
  const int i = static_cast<int>(threadIdx.x);
  const unsigned long long all = ~0ull;
  p[i] = __shfl(p[i], 3) + __shfl_up(p[i], 1) + __shfl_down(p[i], 1) + __shfl_xor(p[i], 1, 32);
  f[i] = __shfl_xor(f[i], 1), d[i] = __shfl_down(d[i], 2);
  m[i] = __ballot(p[i] > 0) + __any(p[i]) + __all(p[i]) + __popcll(m[i]) + __popc(p[i]) +
         __clz(p[i]) + __ffs(p[i]) + __brev(p[i]) + __ffsll(m[i]) + __clzll(m[i]) + __activemask() +
         __lane_id() + warpSize;
  m[i] += __ballot_sync(all, p[i] > 0) + __any_sync(all, p[i]) + __all_sync(all, p[i]) +
          __match_any_sync(all, p[i]) + __match_any_sync(all, d[i]);
  int same = 0;
  m[i] += __match_all_sync(all, f[i], &same);
  p[i] += same + __shfl_sync(all, p[i], 3) + __shfl_up_sync(all, p[i], 1) +
          __shfl_xor_sync(all, p[i], 1, 32);
  f[i] += __shfl_down_sync(all, f[i], 1);
  p[i] += __syncthreads_count(p[i]) + __syncthreads_and(p[i]) + __syncthreads_or(p[i]);
  p[i] += __mul24(p[i], 3) + static_cast<int>(__umulhi(3u, 4u)) + __float_as_int(f[i]) +
          __float2int_rn(f[i]) + static_cast<int>(clock64() + wall_clock64());
  f[i] += __int_as_float(p[i]) + __int2float_rn(p[i]) + __ldg(f + i);
  dynamic_lds[i] = f[i] + table[i & 63];
  __syncthreads();
  f[i] = dynamic_lds[255 - i];
  if (i == 0) printf("lane %d: %f\n", i, f[i]);
  assert(i < 256);
  p[i] += __builtin_amdgcn_readfirstlane(p[i]);
  __builtin_amdgcn_s_barrier();
}

__global__ void half_precision(__half* h, __half2* g, float* f) {
  const int i = static_cast<int>(threadIdx.x);
  __half a = h[i];
  a = a + a * a - a / a;
  a += __float2half(1.0f);
  h[i] = a < h[i] ? -a : __hfma(a, a, hexp(hsqrt(a)));
  h[i] = __hmax(__hmin(a, h[i]), __hmax_nan(a, __hmin_nan(a, h[i])));
  h[i] = __shfl_xor(__shfl_down(h[i], 1), 2);
  __half2 b = g[i];
  b = b * b + __float2half2_rn(2.0f);
  g[i] = __hadd2(b, __hmul2(b, h2exp(__hfma2(b, b, __shfl_xor(b, 1)))));
  unsafeAtomicAdd(g, b);
  f[i] = __half2float(a) + __low2float(b) + __half22float2(b).x + static_cast<float>(h[i]);
}

__global__ void brain_float(__hip_bfloat16* p, __hip_bfloat162* q, float* f) {
  __shared__ __hip_bfloat16 lds[64];
  const int i = static_cast<int>(threadIdx.x);
  lds[i] = p[i];
  __syncthreads();
  const float x = lds[63 - i];
  p[i] = x;
  p[i] += __hip_bfloat16(1.0f);
  q[i] = hexp(q[i].x) > q[i].y ? q[i] * q[i] : __hfma2(q[i], q[i], h2sqrt(q[i]));
  q[i] = __shfl_xor_sync(~0ull, q[i], 3);
  p[i] = __shfl_xor(p[i], 3);
  unsafeAtomicAdd(q, q[i]);
  f[i] = static_cast<int>(p[i]) + __bfloat1622float2(q[i]).x;
}

__global__ void groups(int* p) {
  const cg::thread_block block = cg::this_thread_block();
  p[block.thread_rank()] = static_cast<int>(block.size());
  block.sync();
  const auto tile = cg::tiled_partition<32>(block);
  p[tile.thread_rank()] = tile.shfl_down(p[0], 1) + tile.shfl_xor(p[1], 2);
  tile.sync();
}

template <typename T>
__global__ void vectors(float4* a, int4* b, float2* c, T x) {
  const int i = static_cast<int>(threadIdx.x);
  a[i] = make_float4(1, 2, 3, 4) + a[i] * 2.0f;
  b[i].x += make_char4(1, 2, 3, 4).y;
  c[i] += make_float2(1.0f, x);
}

#if !__HIP_DEVICE_COMPILE__
// gfx942 has no textures: the device's half of a compilation refuses their use.
__device__ float4 texture_functions(hipTextureObject_t texture, uchar4* bytes) {
  bytes[0] = tex2D<uchar4>(texture, 0.5f, 0.5f);
  return tex2D<float4>(texture, 0.5f, 0.5f);
}
#endif

int main() {
  int* p = nullptr;
  if (hipMalloc(&p, 4096) != hipSuccess) return 1;
  groups<<<1, 64>>>(p);
  vectors<float><<<dim3(1, 2), 64, 0, nullptr>>>(nullptr, nullptr, nullptr, 1.0f);
  hipLaunchKernelGGL(groups, dim3(1), dim3(64), 0, nullptr, p);
  hipDeviceProp_t properties;
  if (hipGetDeviceProperties(&properties, 0) != hipSuccess) return 1;
  if (hipMemcpyToSymbol(HIP_SYMBOL(table), p, 4) != hipSuccess) return 1;
  printf("%s %s\n", properties.name, properties.gcnArchName);
  const __hip_bfloat16 y = __half2float(__float2half(1.0f));
  return hipDeviceSynchronize() == hipSuccess ? static_cast<int>(static_cast<float>(y)) - 1 : 1;
}
