// Kernels of launch_test.cpp: launched through exec's Device, without the HIP runtime.
#include <hip/hip_runtime.h>

extern "C" __global__ void count_up(unsigned* counter, unsigned* seen) {
  const unsigned ticket = atomicAdd(counter, 1u);
  seen[ticket] = blockIdx.x * blockDim.x + threadIdx.x + 1;
}
// Each block sums its inputs through LDS, with a barrier per step.
extern "C" __global__ void block_sum(const float* in, float* out) {
  __shared__ float partial[256];
  partial[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = partial[0];
}
// Arithmetic of many kinds: the same bits on every host level.
extern "C" __global__ void mixture(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  double d = x;
  int k = static_cast<int>(x * 1000) % 37;
  unsigned u = __float_as_uint(x);
  for (int turn = 0; turn < 1 + (i & 7); ++turn) {
    x = x / 3.0f + sqrtf(fabsf(x)) - fminf(x, 0.25f);
    d = d * 0.75 + fma(d, d, 1.0 / (1 + k * k));
    k = (k * 7919 + turn) % 1009 ^ (k >> 3);
    u = __brev(u) + __popc(u) * __clz(u | 1) + (u << (k & 31));
  }
  const _Float16 h = static_cast<_Float16>(x) * static_cast<_Float16>(0.5f);
  const int neighbour = __shfl_xor(k, 5);
  out[i] = x + static_cast<float>(d) + static_cast<float>(k - neighbour) + static_cast<float>(h) +
           static_cast<float>(u >> 8);
}
// Waves of one workgroup talk through LDS without a barrier: the reader must not starve the writer.
extern "C" __global__ void spin(unsigned* out) {
  __shared__ volatile unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    while (flag == 0) {
    }
    out[0] = flag;
  }
  if (threadIdx.x == 64) flag = 42;
}
extern "C" __global__ void store_one(unsigned* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void store_far(unsigned* out, unsigned long offset) { out[offset] = 1; }
extern "C" __global__ void trap() { __builtin_trap(); }
extern "C" __global__ void halt() { asm volatile("s_sethalt 1"); }
extern "C" __global__ void wave_sync() { asm volatile("ds_gws_barrier v0 gds"); }
extern "C" __global__ void message_and_halt() { asm volatile("s_sendmsghalt 0"); }
extern "C" __global__ void return_from_trap() { asm volatile("s_rfe_b64 s[2:3]"); }
extern "C" __global__ void restore_from_trap() { asm volatile("s_rfe_restore_b64 s[2:3], s4"); }
extern "C" __global__ void indexed_swap() {
  asm volatile("s_set_gpr_idx_on s0, gpr_idx(SRC0)\n v_swap_b32 v1, v2\n s_set_gpr_idx_off" ::
                   : "v1", "v2");
}
extern "C" __global__ void uninitialised(float* out) {
  float x;
  asm volatile("v_mov_b32 %0, v33" : "=v"(x) : : "v33");
  out[threadIdx.x] = x;
}
// clang has no builtin for it.
extern "C" __device__ unsigned long dispatch_number() __asm("llvm.amdgcn.dispatch.id");
extern "C" __global__ void dispatch_id(unsigned long* out) { *out = dispatch_number(); }
