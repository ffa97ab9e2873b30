// The GEMM job of `margay gemm`: its options, its matrices, and how they are filled.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace margay::gemm {

enum class OutputType : std::uint8_t { f32, bf16 };

/// Of each side by default, so that a first run in mode exact takes less than 20 s on two cores of
/// a host of this level (base/host_level.h). Measured: 6144 in 9 to 17 s with AVX-512, and in 31 s
/// with AVX2, where 4608 is 0.42 of the work. Not measured: the generic level.
[[nodiscard]] std::int64_t default_extent(std::string_view host_level);

struct Options {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_b = true;  ///< B is stored n x k; otherwise k x n.
  OutputType output = OutputType::f32;
  float alpha = 1, beta = 0;
  int level = 0;         ///< Of the ladder (kernels/gemm/ladder.h); 0: the fast kernel.
  std::string mfma;      ///< "exact", "fma", "fast"; empty: kDefaultMfma.
  std::string device;    ///< As --device has it; empty: the runtime's default.
  unsigned threads = 0;  ///< Of the virtual device and of the reference; 0: one per core.
  std::uint64_t seed = 1;
  bool time = false;  ///< Model how long the kernel takes on the device.
  std::string json_file;
};

/// Runs `work(first, last)` on pieces of [0, count) on `threads` host threads.
void parallel(std::int64_t count, unsigned threads,
              const std::function<void(std::int64_t first, std::int64_t last)>& work);

/// bf16 to f32, exactly; f32 to bf16, round to nearest even.
[[nodiscard]] inline float to_float(std::uint16_t bf16) {
  return std::bit_cast<float>(std::uint32_t{bf16} << 16);
}
[[nodiscard]] inline std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Fills with pseudo-random numbers, uniform in [-1, 1) and rounded to bf16. The same seed and
/// stream give the same values for any number of threads.
void fill_random(std::span<std::uint16_t> values, std::uint64_t seed, std::uint64_t stream,
                 unsigned threads);
void fill_random(std::span<float> values, std::uint64_t seed, std::uint64_t stream,
                 unsigned threads);

/// Fills with NaN, of bf16 and of f32, which cannot pass for a result.
void fill_nan(std::span<std::uint16_t> values, unsigned threads);

}  // namespace margay::gemm
