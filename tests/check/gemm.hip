// The shipped GEMM kernels as a program of their own, for the checker, for `margay mutate` and for
// what checking costs:
//
//   gemm FORM [M N K [REPEATS]]
//
// FORM is nt or nn (B stored N x K or K x N), or one of them with -bf16 for a bf16 C. The inputs
// are small integers, so every sum is exact; C is compared with the host's. Prints the time of the
// launches.
#include <chrono>
#include <cstdlib>

#include "check_program.h"
#include "gemm.h"

namespace {

std::uint16_t bf16_of(int value) {
  const float wide = static_cast<float>(value);
  std::uint32_t bits;
  std::memcpy(&bits, &wide, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

int a_value(std::size_t m, std::size_t k) { return static_cast<int>((m * 7 + k * 5) % 5) - 2; }
int b_value(std::size_t k, std::size_t n) { return static_cast<int>((k * 3 + n * 11) % 3) - 1; }

/// One row of C, on the host.
std::vector<int> row_of_c(std::size_t m, std::size_t n, std::size_t k) {
  std::vector<int> row(n, 0);
  for (std::size_t l = 0; l < k; ++l) {
    const int a = a_value(m, l);
    for (std::size_t j = 0; j < n; ++j) row[j] += a * b_value(l, j);
  }
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  using check_program::DeviceArray;
  using check_program::expect;
  const std::string_view form = argc > 1 ? argv[1] : "";
  const bool transpose_b = form.starts_with("nt"), bf16_c = form.ends_with("-bf16");
  if (!transpose_b && !form.starts_with("nn")) {
    std::fprintf(stderr, "usage: %s nt|nn|nt-bf16|nn-bf16 [M N K [REPEATS]]\n", argv[0]);
    return 2;
  }
  const auto number = [&](int n, std::size_t otherwise) {
    return argc > n ? static_cast<std::size_t>(std::atoll(argv[n])) : otherwise;
  };
  const std::size_t m = number(2, 256), n = number(3, 256), k = number(4, 256);
  const std::size_t repeats = number(5, 1);

  std::vector<std::uint16_t> a(m * k), b(k * n);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t l = 0; l < k; ++l) a[i * k + l] = bf16_of(a_value(i, l));
  for (std::size_t l = 0; l < k; ++l)
    for (std::size_t j = 0; j < n; ++j)
      b[transpose_b ? j * k + l : l * n + j] = bf16_of(b_value(l, j));
  const DeviceArray<std::uint16_t> device_a(a), device_b(b);
  const DeviceArray<std::uint16_t> device_c(m * n * (bf16_c ? 1 : 2));

  margay_gemm::Problem problem;
  problem.a = device_a.get();
  problem.b = device_b.get();
  problem.c = device_c.get();
  problem.m = static_cast<std::int64_t>(m);
  problem.n = static_cast<std::int64_t>(n);
  problem.k = static_cast<std::int64_t>(k);
  problem.lda = problem.k;
  problem.ldb = transpose_b ? problem.k : problem.n;
  problem.ldc = problem.n;
  problem.transpose_b = transpose_b;
  problem.output = bf16_c ? margay_gemm::Output::kBf16 : margay_gemm::Output::kFloat;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) expect(margay_gemm::gemm_bf16(problem));
  expect(hipDeviceSynchronize());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

  bool right = !check_program::failed;
  const std::vector<std::uint16_t> c = device_c.host();
  // Every row of a small C, some of a large one.
  for (std::size_t i = 0; i < m && right; i += 1 + m / 600) {
    const std::vector<int> row = row_of_c(i, n, k);
    for (std::size_t j = 0; j < n; ++j) {
      if (bf16_c) {
        // Exact in bf16 only below 256: the inputs keep sums of a few hundred terms there.
        right &= c[i * n + j] == bf16_of(row[j]) || row[j] <= -256 || row[j] >= 256;
      } else {
        float value;
        std::memcpy(&value, &c[2 * (i * n + j)], sizeof value);
        right &= value == static_cast<float>(row[j]);
      }
    }
  }
  std::printf("launches: %.4f s\n", seconds.count() / static_cast<double>(repeats));
  std::printf("result: %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
