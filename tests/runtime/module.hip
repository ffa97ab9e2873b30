// A code object for module_test.cpp: compiled on its own, not into a program.
#include <hip/hip_runtime.h>

extern "C" {

__device__ int counter = 5;

__global__ void add(const int* a, const int* b, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + counter;
}

__global__ void fill(char tag, double value, double* out) { *out = value + tag; }

}  // extern "C"
