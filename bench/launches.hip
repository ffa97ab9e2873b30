// What a launch costs besides the kernel's work: the first one, with loading and decoding the code
// object, and a later one of one workgroup. Prints "first_ms=... later_us=...", the latter the
// median of blocks of launches.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

__global__ void one(int* x) { x[threadIdx.x] += 1; }

static double seconds(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int main(int argc, char**) {
  const int blocks = argc > 1 ? 3 : 50;  // any argument: a short run
  constexpr int kLaunches = 200;
  int* x = nullptr;
  auto begin = std::chrono::steady_clock::now();
  if (hipMalloc(&x, 256) != hipSuccess) return 1;
  one<<<1, 64>>>(x);
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  const double first = seconds(begin);
  std::vector<double> later;
  for (int block = 0; block < blocks; ++block) {
    begin = std::chrono::steady_clock::now();
    for (int n = 0; n < kLaunches; ++n) one<<<1, 64>>>(x);
    if (hipDeviceSynchronize() != hipSuccess) return 1;
    later.push_back(seconds(begin) / kLaunches);
  }
  int count = 0;
  if (hipMemcpy(&count, x, sizeof count, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  std::ranges::nth_element(later, later.begin() + blocks / 2);
  std::printf("first_ms=%.3f later_us=%.3f\n", first * 1e3, later[blocks / 2] * 1e6);
  return count >= 1 + blocks * kLaunches ? 0 : 1;
}
