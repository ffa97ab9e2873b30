// The kernel of rocprofiler-compute's test workload: a copy of 1 M doubles in workgroups of 256,
// with the arguments of that workload, launched as often as the command line says. mi300x_vcopy.csv
// has the counters of a real MI300X for three launches; vcopy_judge.py compares.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void vecCopy(double* a, double* b, double* c, int n, int stride) {
  const int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) c[id] = a[id];
}

int main(int count, char** words) {
  constexpr int kItems = 1 << 20, kWorkgroup = 256;
  const int launches = count > 1 ? std::atoi(words[1]) : 1;
  std::vector<double> in(kItems), out(kItems);
  for (int i = 0; i < kItems; ++i) in[i] = i;
  double *a = nullptr, *b = nullptr, *c = nullptr;
  constexpr std::size_t kBytes = kItems * sizeof(double);
  if (hipMalloc(&a, kBytes) != hipSuccess || hipMalloc(&b, kBytes) != hipSuccess ||
      hipMalloc(&c, kBytes) != hipSuccess ||
      hipMemcpy(a, in.data(), kBytes, hipMemcpyHostToDevice) != hipSuccess)
    return 1;
  for (int launch = 0; launch < launches; ++launch)
    vecCopy<<<kItems / kWorkgroup, kWorkgroup>>>(a, b, c, kItems, 1);
  if (hipMemcpy(out.data(), c, kBytes, hipMemcpyDeviceToHost) != hipSuccess || out != in) return 1;
  if (hipFree(a) != hipSuccess || hipFree(b) != hipSuccess || hipFree(c) != hipSuccess) return 1;
  std::printf("copied\n");
  return 0;
}
