// A shared library with kernels, as Python programs load them: one is right, one reads past the end
// of its array; one goes through LDS in strides that share banks, or do not.
#include <hip/hip_runtime.h>

namespace {

constexpr int kElements = 256;

__global__ void copy(const float* from, float* to, int ahead) {
  to[threadIdx.x] = from[threadIdx.x + ahead];  // line 10: the tests look for it
}

__global__ void exchange(float* to, int stride) {
  __shared__ float values[64 * 32];
  values[threadIdx.x * stride] = static_cast<float>(threadIdx.x);
  __syncthreads();
  to[threadIdx.x] = values[(63 - threadIdx.x) * stride];
}

int launch(int ahead) {
  float* from = nullptr;
  float* to = nullptr;
  if (hipMalloc(&from, kElements * sizeof(float)) != hipSuccess) return 1;
  if (hipMalloc(&to, kElements * sizeof(float)) != hipSuccess) return 1;
  if (hipMemset(from, 0, kElements * sizeof(float)) != hipSuccess) return 1;
  copy<<<1, kElements>>>(from, to, ahead);
  const bool ran = hipDeviceSynchronize() == hipSuccess;
  return hipFree(from) == hipSuccess && hipFree(to) == hipSuccess && ran ? 0 : 1;
}

int launch_exchange(int stride, int workgroups) {
  float* to = nullptr;
  if (hipMalloc(&to, 64 * sizeof(float)) != hipSuccess) return 1;
  exchange<<<workgroups, 64>>>(to, stride);
  const bool ran = hipDeviceSynchronize() == hipSuccess;
  return hipFree(to) == hipSuccess && ran ? 0 : 1;
}

}  // namespace

extern "C" int copy_right() { return launch(0); }
extern "C" int copy_past_the_end() { return launch(4); }
extern "C" int exchange_in_strides(int stride, int workgroups) {
  return launch_exchange(stride, workgroups);
}
