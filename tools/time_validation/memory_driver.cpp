// Reads an array of doubles, one each work-item, with a number of workgroups on each compute unit
// that LDS limits: as RRZE's gpu-stream (each its own element) and gpu-l2-stream (out of the first
// `length` elements) do. Writes nothing: no element is what it looks for.
//   memory_driver WORK_ITEMS WORKGROUPS_PER_CU ELEMENTS [LENGTH]
#include <cstdint>

#include "driver.h"

namespace {

constexpr unsigned kLds = 65536;

__global__ void read_own(double* out, const double* __restrict__ in, std::uint64_t count) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  if (in[i] == 123.0) out[i] = 1;
}

__global__ void read_first(double* out, const double* __restrict__ in, unsigned length) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) % length;
  if (in[i] == 123.0) out[i] = 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4)
    driver::fail("usage: memory_driver WORK_ITEMS WORKGROUPS_PER_CU ELEMENTS [LENGTH]");
  const auto number = [&](int n) { return static_cast<unsigned>(std::atoll(arguments[n])); };
  const unsigned work_items = number(1), elements = number(3);
  const unsigned length = count > 4 ? number(4) : 0;
  const unsigned grid = (elements + work_items - 1) / work_items, lds = kLds / number(2);
  auto in = driver::array<double>(length != 0 ? length : elements), out = in;
  for (double& x : in) x = 0.23;
  if (length != 0)
    read_first<<<grid, work_items, lds>>>(out.data(), in.data(), length);
  else
    read_own<<<grid, work_items, lds>>>(out.data(), in.data(), std::uint64_t{elements});
  driver::check(hipGetLastError(), "launch");
  driver::check(hipDeviceSynchronize(), "hipDeviceSynchronize");
}
