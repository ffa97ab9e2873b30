// Verifies C: every element against a whole reference matrix, a sample of tiles against f64.
//
// The bound. A dot product of K exact products summed in f32, in any order, differs from the exact
// sum by at most lambda sqrt(K) u S with S = sum |a_ik b_kj| and u = 2^-24, except with a
// probability of 2 exp(-lambda^2 / 2) (N. J. Higham and T. Mary, "A New Approach to Probabilistic
// Rounding Error Analysis", SIAM J. Sci. Comput. 41(5), 2019). lambda = 10 makes that 4e-22 per
// element, 3e-14 over the 67 million elements of an 8192 x 8192 C. S is at most |a_i| |b_j|
// (Cauchy-Schwarz), which for uniform numbers is 4/3 of it. MFMA truncates products at 24 bits
// below the largest of its group: at most K 2^-23 max|a_i| max|b_j| more. Both C and the reference
// may have this error. The worst-case bound, K u S, would be 9 times larger at K = 8192 and let a
// missing K step pass.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/gemm/problem.h"

namespace margay::gemm {

inline constexpr double kLambda = 10;

/// The inputs, as the kernel read them. `c_before` is empty when beta is 0.
struct Inputs {
  std::span<const std::uint16_t> a, b;
  std::span<const float> c_before;
};

/// Elements of C as f32, whatever its type.
class ResultView {
 public:
  ResultView(const void* c, OutputType type) : c_(c), type_(type) {}
  [[nodiscard]] float operator[](std::int64_t index) const {
    return type_ == OutputType::f32 ? static_cast<const float*>(c_)[index]
                                    : to_float(static_cast<const std::uint16_t*>(c_)[index]);
  }

 private:
  const void* c_;
  OutputType type_;
};

/// Wrong elements by 256 x 256 tile of C.
struct TileMap {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> wrong;
};

struct Verdict {
  bool verified = false;
  std::int64_t checked = 0;       ///< Elements compared with the reference: all.
  std::int64_t large_errors = 0;  ///< Elements beyond the bound, or not finite.
  double max_abs_error = 0, mean_abs_error = 0;
  double max_rel_error = 0;  ///< Error over |a_i| |b_j| |alpha| + |beta c|: cancellation-free.
  double largest_share_of_bound = 0;
  std::int64_t sampled = 0;          ///< Elements compared with f64 dot products.
  double max_sample_error = 0;       ///< Of C.
  double max_reference_error = 0;    ///< Of the reference, on the same elements.
  std::int64_t sample_failures = 0;  ///< Of either.
  TileMap tiles;
};

/// `product` is A op(B) in f32, without alpha and beta.
[[nodiscard]] Verdict verify(const Options& options, const Inputs& inputs, const ResultView& c,
                             std::span<const float> product, unsigned threads);

/// A map of C with one character per tile (at most 64 x 32), worst tiles darkest, and its legend.
[[nodiscard]] std::string draw(const TileMap& tiles);

}  // namespace margay::gemm
