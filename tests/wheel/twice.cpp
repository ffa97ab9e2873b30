// A program that the wheel's `margay hipcc` compiles.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void twice(int* x) { x[threadIdx.x] *= 2; }

int main() {
  int* x = nullptr;
  if (hipMallocManaged(&x, 64 * sizeof(int)) != hipSuccess) return 1;
  for (int i = 0; i < 64; ++i) x[i] = i;
  twice<<<1, 64>>>(x);
  if (hipDeviceSynchronize() != hipSuccess) return 2;
  std::printf("%d\n", x[21]);
  return hipFree(x) == hipSuccess ? 0 : 3;
}
