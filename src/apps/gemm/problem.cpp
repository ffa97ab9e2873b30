#include "apps/gemm/problem.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace margay::gemm {

std::int64_t default_extent(std::string_view host_level) {
  if (host_level == "x86-64-v4") return 6144;
  return host_level == "x86-64-v3" ? 4608 : 2304;
}

void parallel(std::int64_t count, unsigned threads,
              const std::function<void(std::int64_t, std::int64_t)>& work) {
  const std::int64_t workers =
      std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(count, 1));
  std::vector<std::jthread> pool;
  for (std::int64_t w = 0; w < workers; ++w)
    pool.emplace_back([&work, first = count * w / workers, last = count * (w + 1) / workers] {
      if (first < last) work(first, last);
    });
}

namespace {

/// A number that depends only on its position: the splitmix64 finaliser (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}
float random_value(std::uint64_t key, std::int64_t index) {
  const std::uint64_t bits =
      mix(key + 0x9e3779b97f4a7c15ull * (static_cast<std::uint64_t>(index) + 1));
  return static_cast<float>(static_cast<std::int32_t>(bits >> 40) - (1 << 23)) * 0x1p-23f;
}

template <typename T, typename Convert>
void fill(std::span<T> values, std::uint64_t seed, std::uint64_t stream, unsigned threads,
          Convert convert) {
  const std::uint64_t key = mix(seed * 2654435761u + stream);
  parallel(static_cast<std::int64_t>(values.size()), threads,
           [&](std::int64_t first, std::int64_t last) {
             for (std::int64_t i = first; i < last; ++i)
               values[static_cast<std::size_t>(i)] = convert(random_value(key, i));
           });
}

}  // namespace

void fill_random(std::span<std::uint16_t> values, std::uint64_t seed, std::uint64_t stream,
                 unsigned threads) {
  fill(values, seed, stream, threads, [](float x) { return to_bf16(x); });
}
void fill_random(std::span<float> values, std::uint64_t seed, std::uint64_t stream,
                 unsigned threads) {
  fill(values, seed, stream, threads, [](float x) { return x; });
}

void fill_nan(std::span<std::uint16_t> values, unsigned threads) {
  parallel(static_cast<std::int64_t>(values.size()), threads,
           [&](std::int64_t first, std::int64_t last) {
             std::ranges::fill(values.subspan(static_cast<std::size_t>(first),
                                              static_cast<std::size_t>(last - first)),
                               std::uint16_t{0xffff});
           });
}

}  // namespace margay::gemm
