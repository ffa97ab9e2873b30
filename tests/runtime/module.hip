// A code object for module_test.cpp: compiled on its own, not into a program.
#include <hip/hip_runtime.h>

extern "C" {

__device__ int counter = 5;
__managed__ int managed = 10;

__global__ void add(const int* a, const int* b, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + counter;
}

__global__ void count_managed() { managed += counter; }

__global__ void fill(char tag, double value, double* out) { *out = value + tag; }

// As a compiler of block programs makes it of a block of 64 elements in 128 work-items: both waves
// read all of them, one stores.
__global__ void increment_copies(int* out) {
  const int i = threadIdx.x % 64;
  const int value = *static_cast<volatile int*>(&out[i]);
  if (threadIdx.x < 64) out[i] = value + 1;
}

// Wave 1 reads what only wave 0 writes, with an instruction that wave 0 does not run.
__global__ void increment_neighbours(int* out) {
  const int i = threadIdx.x % 64;
  if (threadIdx.x < 64)
    out[i] = 1;
  else
    out[i + 64] = out[i];
}

// Lanes 0 and 1 write numbers that are `distance` ulps of 2^-23 apart to one place in LDS.
__global__ void sum_copies(int* out, unsigned distance) {
  __shared__ unsigned sums[32];
  sums[threadIdx.x / 2] = 0x3f800000u + threadIdx.x % 2 * distance;
  __syncthreads();
  out[threadIdx.x] = sums[threadIdx.x / 2];
}

}  // extern "C"
