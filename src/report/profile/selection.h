// Selects the launches, or the workgroups of a launch, that are counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace margay::profile {

/// Of 2^64. Its multiples, modulo that, are spread evenly, and so are any of them in a row: numbers
/// chosen by them have no period in common with the work of workgroups.
inline constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;

/// Ranges of numbers; without any, all numbers.
class Selection {
 public:
  using Range = std::pair<std::uint64_t, std::uint64_t>;  ///< Both ends included.

  Selection() = default;
  /// The numbers in `ranges` that are divisible by `step`.
  explicit Selection(std::vector<Range> ranges, std::uint64_t step = 1)
      : ranges_(std::move(ranges)), step_(step) {}
  /// 0, `step`, 2 * `step` ...: `count` of them.
  [[nodiscard]] static Selection every(std::uint64_t step, std::uint64_t count);

  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  [[nodiscard]] std::uint64_t step() const { return step_; }
  [[nodiscard]] bool all() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(std::uint64_t number) const {
    if (ranges_.empty()) return true;
    for (const auto& [first, last] : ranges_)
      if (number >= first && number <= last) return number % step_ == 0;
    return false;
  }
  /// How many of the numbers below `end` it contains.
  [[nodiscard]] std::uint64_t count_below(std::uint64_t end) const;
  /// The smallest one it contains.
  [[nodiscard]] std::uint64_t first() const;

 private:
  std::vector<Range> ranges_;  // in ascending order, disjoint
  std::uint64_t step_ = 1;     // and divisible by it
};

/// "3", "1,4-6". Numbers begin with `first`.
[[nodiscard]] Result<Selection> parse_numbers(std::string_view text, std::uint64_t first);
/// "64", the first 64, or "100-163".
[[nodiscard]] Result<Selection> parse_sample(std::string_view text);

}  // namespace margay::profile
