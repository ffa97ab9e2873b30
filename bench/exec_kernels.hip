// Loops of one kind of instruction each, for exec_bench. Every kernel does `rounds` rounds of 64
// instructions of its kind per wave; volatile asm keeps them as written. The launch provides 16 KiB
// of LDS.
#include <hip/hip_runtime.h>

using Float2 = float __attribute__((ext_vector_type(2)));
using Float4 = float __attribute__((ext_vector_type(4)));

#define REPEAT4(x) x x x x
#define REPEAT64(x) REPEAT4(REPEAT4(REPEAT4(x)))

extern "C" __global__ __launch_bounds__(256) void valu_fma_f32(float* out, int rounds) {
  float a = threadIdx.x, b = 0.5f, c = 1.0f;
  for (int i = 0; i < rounds; ++i) {
    REPEAT64(asm volatile("v_fma_f32 %0, %1, %2, %0" : "+v"(a) : "v"(b), "v"(c));)
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
extern "C" __global__ __launch_bounds__(256) void valu_add_u32(float* out, int rounds) {
  unsigned a = threadIdx.x, b = 3;
  for (int i = 0; i < rounds; ++i) {
    REPEAT64(asm volatile("v_add_u32 %0, %1, %0" : "+v"(a) : "v"(b));)
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
extern "C" __global__ __launch_bounds__(256) void valu_pk_fma_f16(float* out, int rounds) {
  unsigned a = threadIdx.x, b = 0x38003800, c = 0x3c003c00;
  for (int i = 0; i < rounds; ++i) {
    REPEAT64(asm volatile("v_pk_fma_f16 %0, %1, %2, %0" : "+v"(a) : "v"(b), "v"(c));)
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
extern "C" __global__ __launch_bounds__(256) void valu_pk_fma_f32(float* out, int rounds) {
  Float2 a = {1.0f * threadIdx.x, 1.0f}, b = {0.5f, 0.5f}, c = {1.0f, 1.0f};
  for (int i = 0; i < rounds; ++i) {
    REPEAT64(asm volatile("v_pk_fma_f32 %0, %1, %2, %0" : "+v"(a) : "v"(b), "v"(c));)
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a.x + a.y;
}
extern "C" __global__ __launch_bounds__(256) void salu_add_u32(float* out, int rounds) {
  unsigned a = 1, b = 3;
  for (int i = 0; i < rounds; ++i) {
    REPEAT64(asm volatile("s_add_u32 %0, %1, %0" : "+s"(a) : "s"(b) : "scc");)
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a;
}
extern "C" __global__ __launch_bounds__(256) void lds_read_b64(float* out, int rounds) {
  Float2 value = {};
  const unsigned address = threadIdx.x * 8;
  for (int i = 0; i < rounds; ++i) {
    REPEAT64(asm volatile("ds_read_b64 %0, %1" : "=v"(value) : "v"(address));)
  }
  asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(value));
  out[blockIdx.x * blockDim.x + threadIdx.x] = value.x;
}
extern "C" __global__ __launch_bounds__(256) void lds_read_b128(float* out, int rounds) {
  Float4 value = {};
  const unsigned address = threadIdx.x * 16;
  for (int i = 0; i < rounds; ++i) {
    REPEAT64(asm volatile("ds_read_b128 %0, %1" : "=v"(value) : "v"(address));)
  }
  asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(value));
  out[blockIdx.x * blockDim.x + threadIdx.x] = value.x;
}
// 264 bytes from lane to lane: not side by side, as tiles with padded rows are read.
extern "C" __global__ __launch_bounds__(256) void lds_read_b64_spread(float* out, int rounds) {
  Float2 value = {};
  const unsigned address = threadIdx.x % 61 * 264;
  for (int i = 0; i < rounds; ++i) {
    REPEAT64(asm volatile("ds_read_b64 %0, %1" : "=v"(value) : "v"(address));)
  }
  asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(value));
  out[blockIdx.x * blockDim.x + threadIdx.x] = value.x;
}
// An operand of a matrix instruction of 16 rows, in rows of 128 bytes whose pieces of 8 are
// swizzled.
extern "C" __global__ __launch_bounds__(256) void lds_read_b64_rows(float* out, int rounds) {
  Float2 value = {};
  const unsigned row = threadIdx.x % 16;
  const unsigned address = row * 128 + ((threadIdx.x / 16 % 4 ^ row % 4) * 8);
  for (int i = 0; i < rounds; ++i) {
    REPEAT64(asm volatile("ds_read_b64 %0, %1" : "=v"(value) : "v"(address));)
  }
  asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(value));
  out[blockIdx.x * blockDim.x + threadIdx.x] = value.x;
}
extern "C" __global__ __launch_bounds__(256) void global_load_x4(float* out, int rounds) {
  Float4 value = {};
  const float* from = out + threadIdx.x * 4;
  for (int i = 0; i < rounds; ++i) {
    REPEAT64(asm volatile("global_load_dwordx4 %0, %1, off" : "=v"(value) : "v"(from));)
  }
  asm volatile("s_waitcnt vmcnt(0)" : "+v"(value));
  out[blockIdx.x * blockDim.x + threadIdx.x] = value.x;
}
