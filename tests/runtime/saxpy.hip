// The smallest useful program: environment_test.sh runs it under different settings.
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void saxpy(float a, const float* x, float* y) {
  const unsigned workgroup = blockIdx.y * gridDim.x + blockIdx.x;
  const unsigned i = workgroup * blockDim.x + threadIdx.x;
  y[i] += a * x[i];
}

int main(int argc, char**) {
  if (argc > 1) return 0;  // start and end only
  constexpr int kCount = 256;
  float* x = nullptr;
  float* y = nullptr;
  hipError_t code = hipMallocManaged(&x, kCount * sizeof(float));
  if (code == hipSuccess) code = hipMallocManaged(&y, kCount * sizeof(float));
  if (code == hipSuccess) {
    for (int i = 0; i < kCount; ++i) x[i] = y[i] = 1.0f;
    saxpy<<<dim3(2, 2), 64>>>(2.0f, x, y);
    code = hipGetLastError();
  }
  std::printf("%s\n", hipGetErrorName(code));
  return code == hipSuccess && y[0] == 3.0f && y[kCount - 1] == 3.0f ? 0 : 1;
}
