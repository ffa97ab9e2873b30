#include "apps/gemm/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

namespace margay::gemm {
namespace {

constexpr std::int64_t kTile = 256;
constexpr double kUnit = 0x1p-24;  // of f32
constexpr std::int64_t kSampleEdge = 8;
constexpr std::int64_t kSampleTiles = 64;

/// Lengths and largest magnitudes of the rows of A and the columns of op(B).
struct Norms {
  std::vector<double> length, largest;
  explicit Norms(std::int64_t count) : length(static_cast<std::size_t>(count)), largest(length) {}
};

Norms norms(std::span<const std::uint16_t> values, std::int64_t vectors, std::int64_t k,
            bool vectors_are_rows, unsigned threads) {
  Norms out(vectors);
  parallel(vectors, threads, [&](std::int64_t first, std::int64_t last) {
    const auto add = [&](std::int64_t v, std::int64_t at) {
      const double x = to_float(values[static_cast<std::size_t>(at)]);
      out.length[static_cast<std::size_t>(v)] += x * x;
      out.largest[static_cast<std::size_t>(v)] =
          std::max(out.largest[static_cast<std::size_t>(v)], std::abs(x));
    };
    // Along memory in both cases.
    if (vectors_are_rows) {
      for (std::int64_t v = first; v < last; ++v)
        for (std::int64_t q = 0; q < k; ++q) add(v, v * k + q);
    } else {
      for (std::int64_t q = 0; q < k; ++q)
        for (std::int64_t v = first; v < last; ++v) add(v, q * vectors + v);
    }
    for (std::int64_t v = first; v < last; ++v)
      out.length[static_cast<std::size_t>(v)] = std::sqrt(out.length[static_cast<std::size_t>(v)]);
  });
  return out;
}

class Checker {
 public:
  Checker(const Options& o, const Inputs& in, const ResultView& c, std::span<const float> product,
          unsigned threads)
      : o_(o),
        in_(in),
        c_(c),
        product_(product),
        threads_(threads),
        a_(norms(in.a, o.m, o.k, true, threads)),
        b_(norms(in.b, o.n, o.k, o.transpose_b, threads)) {}

  Verdict run() {
    Verdict v;
    v.tiles.rows = (o_.m + kTile - 1) / kTile;
    v.tiles.columns = (o_.n + kTile - 1) / kTile;
    v.tiles.wrong.assign(static_cast<std::size_t>(v.tiles.rows * v.tiles.columns), 0);
    compare_all(v);
    compare_sample(v);
    v.verified = v.large_errors == 0 && v.sample_failures == 0 && v.checked == o_.m * o_.n;
    return v;
  }

 private:
  [[nodiscard]] double scale(std::int64_t i, std::int64_t j) const {
    return a_.length[static_cast<std::size_t>(i)] * b_.length[static_cast<std::size_t>(j)];
  }
  [[nodiscard]] double before(std::int64_t at) const {
    return o_.beta == 0 ? 0
                        : static_cast<double>(o_.beta) * in_.c_before[static_cast<std::size_t>(at)];
  }
  /// Of one computed dot product against the exact one, before alpha.
  [[nodiscard]] double dot_bound(std::int64_t i, std::int64_t j) const {
    const auto k = static_cast<double>(o_.k);
    return kLambda * std::sqrt(k) * kUnit * scale(i, j) +
           k * 0x1p-23 * a_.largest[static_cast<std::size_t>(i)] *
               b_.largest[static_cast<std::size_t>(j)];
  }
  /// What alpha, beta and the type of C add to the error of an element of value `expected`.
  [[nodiscard]] double epilogue_bound(double expected, double added) const {
    const double rounding = o_.output == OutputType::bf16 ? 0x1p-8 : 0;
    return 4 * kUnit * (std::abs(expected) + std::abs(added)) + rounding * std::abs(expected) +
           0x1p-126;
  }

  void compare_all(Verdict& v) {
    std::mutex mutex;
    double total = 0;
    parallel(o_.m, threads_, [&](std::int64_t first, std::int64_t last) {
      Verdict mine;
      mine.tiles.wrong.assign(v.tiles.wrong.size(), 0);
      double sum = 0;
      for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t j = 0; j < o_.n; ++j) {
          const std::int64_t at = i * o_.n + j;
          const double added = before(at);
          const double expected =
              static_cast<double>(o_.alpha) * product_[static_cast<std::size_t>(at)] + added;
          const double error = std::abs(c_[at] - expected);
          const double bound =
              2 * std::abs(o_.alpha) * dot_bound(i, j) + epilogue_bound(expected, added);
          ++mine.checked;
          if (!(error <= bound)) {  // NaN included
            ++mine.large_errors;
            ++mine.tiles.wrong[static_cast<std::size_t>(i / kTile * v.tiles.columns + j / kTile)];
          }
          if (!std::isfinite(error)) continue;
          sum += error;
          mine.max_abs_error = std::max(mine.max_abs_error, error);
          mine.largest_share_of_bound = std::max(mine.largest_share_of_bound, error / bound);
          const double size = std::abs(o_.alpha) * scale(i, j) + std::abs(added);
          if (size > 0) mine.max_rel_error = std::max(mine.max_rel_error, error / size);
        }
      const std::lock_guard lock(mutex);
      v.checked += mine.checked;
      v.large_errors += mine.large_errors;
      v.max_abs_error = std::max(v.max_abs_error, mine.max_abs_error);
      v.max_rel_error = std::max(v.max_rel_error, mine.max_rel_error);
      v.largest_share_of_bound = std::max(v.largest_share_of_bound, mine.largest_share_of_bound);
      total += sum;
      for (std::size_t t = 0; t < v.tiles.wrong.size(); ++t)
        v.tiles.wrong[t] += mine.tiles.wrong[t];
    });
    v.mean_abs_error = v.checked == 0 ? 0 : total / static_cast<double>(v.checked);
  }

  [[nodiscard]] double exact_dot(std::int64_t i, std::int64_t j) const {
    double sum = 0;  // products of bf16 are exact; f64 sums of 8192 of them are good to 2^-40
    for (std::int64_t q = 0; q < o_.k; ++q)
      sum += static_cast<double>(to_float(in_.a[static_cast<std::size_t>(i * o_.k + q)])) *
             static_cast<double>(to_float(
                 in_.b[static_cast<std::size_t>(o_.transpose_b ? j * o_.k + q : q * o_.n + j)]));
    return sum;
  }

  void compare_sample(Verdict& v) {
    // Tiles spread over C, the corners first: errors of kernels are most likely at edges.
    const std::int64_t last_i = std::max<std::int64_t>(o_.m - kSampleEdge, 0),
                       last_j = std::max<std::int64_t>(o_.n - kSampleEdge, 0);
    std::vector<std::pair<std::int64_t, std::int64_t>> corners = {
        {0, 0}, {0, last_j}, {last_i, 0}, {last_i, last_j}};
    for (std::uint64_t t = 4; t < kSampleTiles; ++t) {
      const std::uint64_t h = (t + o_.seed) * 0x9e3779b97f4a7c15ull;
      corners.emplace_back(
          static_cast<std::int64_t>((h >> 33) % static_cast<std::uint64_t>(last_i + 1)),
          static_cast<std::int64_t>((h & 0x7fffffff) % static_cast<std::uint64_t>(last_j + 1)));
    }
    std::mutex mutex;
    parallel(static_cast<std::int64_t>(corners.size()), threads_,
             [&](std::int64_t first, std::int64_t last) {
               Verdict mine;
               for (std::int64_t t = first; t < last; ++t) {
                 const auto [i0, j0] = corners[static_cast<std::size_t>(t)];
                 for (std::int64_t i = i0; i < std::min(i0 + kSampleEdge, o_.m); ++i)
                   for (std::int64_t j = j0; j < std::min(j0 + kSampleEdge, o_.n); ++j) {
                     const std::int64_t at = i * o_.n + j;
                     const double dot = exact_dot(i, j), added = before(at);
                     const double expected = static_cast<double>(o_.alpha) * dot + added;
                     const double error = std::abs(c_[at] - expected);
                     const double reference_error =
                         std::abs(product_[static_cast<std::size_t>(at)] - dot);
                     ++mine.sampled;
                     if (!(error <= std::abs(o_.alpha) * dot_bound(i, j) +
                                        epilogue_bound(expected, added)) ||
                         !(reference_error <= dot_bound(i, j)))
                       ++mine.sample_failures;
                     mine.max_sample_error = std::max(mine.max_sample_error, error);
                     mine.max_reference_error = std::max(mine.max_reference_error, reference_error);
                   }
               }
               const std::lock_guard lock(mutex);
               v.sampled += mine.sampled;
               v.sample_failures += mine.sample_failures;
               v.max_sample_error = std::max(v.max_sample_error, mine.max_sample_error);
               v.max_reference_error = std::max(v.max_reference_error, mine.max_reference_error);
             });
  }

  const Options& o_;
  const Inputs& in_;
  const ResultView& c_;
  std::span<const float> product_;
  unsigned threads_;
  Norms a_, b_;
};

}  // namespace

Verdict verify(const Options& options, const Inputs& inputs, const ResultView& c,
               std::span<const float> product, unsigned threads) {
  return Checker(options, inputs, c, product, threads).run();
}

std::string draw(const TileMap& tiles) {
  constexpr std::int64_t kMaxRows = 32, kMaxColumns = 64;
  const std::int64_t down = std::max<std::int64_t>(1, (tiles.rows + kMaxRows - 1) / kMaxRows);
  const std::int64_t across =
      std::max<std::int64_t>(1, (tiles.columns + kMaxColumns - 1) / kMaxColumns);
  std::int64_t worst = 0;
  for (const std::int64_t wrong : tiles.wrong) worst = std::max(worst, wrong);
  constexpr std::string_view kShades = ".:-=+*#%@";
  std::string out;
  for (std::int64_t r = 0; r < tiles.rows; r += down) {
    out += "    ";
    for (std::int64_t c = 0; c < tiles.columns; c += across) {
      std::int64_t wrong = 0;
      for (std::int64_t y = r; y < std::min(r + down, tiles.rows); ++y)
        for (std::int64_t x = c; x < std::min(c + across, tiles.columns); ++x)
          wrong = std::max(wrong, tiles.wrong[static_cast<std::size_t>(y * tiles.columns + x)]);
      // '.' is only for tiles without any wrong element.
      const std::size_t shade =
          wrong == 0 ? 0 : static_cast<std::size_t>((wrong * 8 + worst - 1) / worst);
      out += kShades[std::min(shade, kShades.size() - 1)];
    }
    out += '\n';
  }
  out += fmt::format("    one mark = {} x {} elements of C; '.' all right, '@' up to {} wrong\n",
                     down * kTile, across * kTile, worst);
  return out;
}

}  // namespace margay::gemm
