// Launches AITER's prebuilt GEMM of int8 with a scale for each row of A and column of B, into bf16.
//   i8gemm_driver OBJECT SYMBOL TILE_M TILE_N M N K
// The arguments of the kernel, in slots of 16 bytes: C, A, B, scales of A and B, bias, m, n, k,
// strides of A and B in elements and of C in bytes, parts of k (aiter, csrc/py_itfs_cu/
// asm_gemm_a8w8.cu). Some elements of C are compared with the host's result.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "driver.h"

namespace {

struct Arguments {
  struct Slot {
    std::uint64_t value, pad = 0;
  };
  Slot c, a, b, a_scale, b_scale, bias, m, n, k, a_stride, b_stride, c_stride, parts;
};

std::uint64_t address(const void* pointer) { return std::bit_cast<std::uint64_t>(pointer); }

/// Where B[row][column] is: in blocks of 16 rows by 16 columns.
std::size_t shuffled(std::size_t row, std::size_t column, std::size_t k) {
  const std::size_t block = row / 16 * (k / 16) + column / 16;
  return (block * 16 + row % 16) * 16 + column % 16;
}

std::uint32_t next(std::uint32_t& state) {  // xorshift
  state ^= state << 13;
  state ^= state >> 17;
  return state ^= state << 5;
}

}  // namespace

int main(int count, char** words) {
  if (count != 8) driver::fail("usage: i8gemm_driver OBJECT SYMBOL TILE_M TILE_N M N K");
  const auto number = [&](int n) { return static_cast<std::size_t>(std::atoll(words[n])); };
  const std::size_t tile_m = number(3), tile_n = number(4), m = number(5), n = number(6),
                    k = number(7);
  const std::size_t rows = (m + tile_m - 1) / tile_m * tile_m;
  auto a = driver::array<std::int8_t>(rows * k), b = driver::array<std::int8_t>(n * k);
  auto c = driver::array<std::uint16_t>(rows * n);
  auto a_scale = driver::array<float>(rows), b_scale = driver::array<float>(n);
  auto bias = driver::array<float>(n);
  std::uint32_t state = 2463534242u;
  for (std::int8_t& x : a) x = static_cast<std::int8_t>(next(state) >> 24);
  for (std::int8_t& x : b) x = static_cast<std::int8_t>(next(state) >> 24);
  for (float& x : a_scale) x = 0.001f * static_cast<float>(1 + next(state) % 15);
  for (float& x : b_scale) x = 0.001f * static_cast<float>(1 + next(state) % 15);
  for (float& x : bias) x = 0;

  Arguments arguments{{address(c.data())},
                      {address(a.data())},
                      {address(b.data())},
                      {address(a_scale.data())},
                      {address(b_scale.data())},
                      {address(bias.data())},
                      {m},
                      {n},
                      {k},
                      {k},
                      {k},
                      {n * sizeof(std::uint16_t)},
                      {1}};
  std::size_t size = sizeof arguments;
  void* config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE,
                    &size, HIP_LAUNCH_PARAM_END};
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  driver::check(hipModuleLoad(&module, words[1]), words[1]);
  driver::check(hipModuleGetFunction(&function, module, words[2]), words[2]);
  driver::check(hipModuleLaunchKernel(function, static_cast<unsigned>(n / tile_n),
                                      static_cast<unsigned>(rows / tile_m), 1, 256, 1, 1, 0,
                                      nullptr, nullptr, config),
                "hipModuleLaunchKernel");
  driver::check(hipDeviceSynchronize(), "hipDeviceSynchronize");

  for (unsigned sample = 0; sample < 4000; ++sample) {
    const std::size_t row = next(state) % m, column = next(state) % n;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < k; ++i) sum += a[row * k + i] * b[shuffled(column, i, k)];
    const float expected = static_cast<float>(sum) * a_scale[row] * b_scale[column];
    const float got = std::bit_cast<float>(std::uint32_t{c[row * n + column]} << 16);
    if (std::abs(got - expected) > 0.008f * std::abs(expected)) {
      std::fprintf(stderr, "C[%zu][%zu] is %g, not %g\n", row, column, got, expected);
      return 1;
    }
  }
}
