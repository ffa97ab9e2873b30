// The kernels that asm_test.sh disassembles: one, or with -DTWO three.
#include <hip/hip_runtime.h>
#ifdef SCALE
constexpr float kScale = SCALE;
#else
constexpr float kScale = 1;
#endif
__device__ __attribute__((always_inline)) float scaled(float x) { return x * kScale; }
__global__ void saxpy(float a, const float* x, float* y) {
  y[threadIdx.x] += scaled(a) * x[threadIdx.x];
}
#ifdef TWO
template <int n>
__global__ void __launch_bounds__(256) fill(int* out) {
  out[threadIdx.x] = n;
}
template __global__ void fill<3>(int*);
template __global__ void fill<4>(int*);
#endif
int main() {}
