// Reads an array of doubles, one each work-item, with a number of workgroups on each compute unit
// that LDS limits: as RRZE's gpu-stream (each its own element) and gpu-l2-stream (out of the first
// elements, which L2 holds) do. Writes nothing: no element is what it looks for.
//   memory_driver own|first WORK_ITEMS WORKGROUPS_PER_CU ELEMENTS
#include <cstdint>

#include "driver.h"

namespace {

constexpr unsigned kLds = 65536;

/// Elements of the smallest array of gpu-l2-stream: "383 kB" with its copy.
constexpr int kFirst = 24545;

template <bool kEach>
__global__ void read(double* out, const double* __restrict__ in, std::uint64_t count, bool never) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  const int at = kEach ? i : i % kFirst;
  if (static_cast<std::uint64_t>(at) >= count) return;
  const double x = in[at];
  if (never || x == 123.0) out[at] = x;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count == 5 ? arguments[1] : "";
  if (what != "own" && what != "first")
    driver::fail("usage: memory_driver own|first WORK_ITEMS WORKGROUPS_PER_CU ELEMENTS");
  const auto number = [&](int n) { return static_cast<unsigned>(std::atoll(arguments[n])); };
  const unsigned work_items = number(2), elements = number(4);
  const unsigned grid = (elements + work_items - 1) / work_items, lds = kLds / number(3);
  auto in = driver::array<double>(what == "own" ? elements : kFirst), out = in;
  for (double& x : in) x = 0.23;
  (what == "own" ? read<true> : read<false>)<<<grid, work_items, lds>>>(out.data(), in.data(),
                                                                        elements, false);
  driver::check(hipGetLastError(), "launch");
  driver::check(hipDeviceSynchronize(), "hipDeviceSynchronize");
}
