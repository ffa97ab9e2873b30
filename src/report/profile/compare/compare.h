// Two kernels side by side: what changed, ranked by what it costs.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "report/profile/profile.h"
#include "report/words.h"

namespace margay::profile {

/// One row of a comparison.
struct Difference {
  std::string what;  ///< "LDS needs at least", "Bank Conflicts/Access" ...
  std::string unit;
  double a = 0, b = 0;
  /// Seconds that the change is worth at least, for bounds; 0 for what explains them.
  double seconds = 0;
};

struct Comparison {
  std::string verdict;  ///< One or two sentences: what limits each, and by how much it changed.
  /// Modelled, if both have a time: the kernel's, what its SIMDs do, then how many of its cycles
  /// waves wait for what, what changed most first.
  std::vector<Difference> time;
  std::vector<Difference> bounds;     ///< By |seconds|, the largest first.
  std::vector<Difference> metrics;    ///< By how much they changed; unchanged ones are left out.
  std::vector<Difference> resources;  ///< VGPRs, LDS, occupancy: those that differ.
  /// Source lines that gained or lost most, as text: modelled cycles, or issue cycles without a
  /// time.
  std::vector<std::string> lines;
};
/// Source lines are equal if they have the same text and belong to the same function, at any line
/// number; without their texts, if file and line are equal.
[[nodiscard]] Comparison compare(const KernelProfile& a, const KernelProfile& b,
                                 const SourceText& text_a = {}, const SourceText& text_b = {});

/// The kernels to compare: the only ones, those of the same name, or those that `kernel_a` and
/// `kernel_b` (parts of names; may be empty) choose; otherwise those that take longest, by modelled
/// time or else by their longest bound.
struct Pair {
  const KernelProfile* a = nullptr;
  const KernelProfile* b = nullptr;
};
[[nodiscard]] Result<Pair> choose_kernels(const Profile& a, const Profile& b,
                                          const std::string& kernel_a, const std::string& kernel_b);

/// "1.25 ms", "33.0 %": a value of a row, and how the row changed.
[[nodiscard]] std::string value_text(const Difference& difference, double value);
[[nodiscard]] std::string change_text(const Difference& difference);

[[nodiscard]] std::string text_of(const Comparison& comparison, const Pair& kernels,
                                  const report::TextOptions& options);
/// A self-contained page.
[[nodiscard]] std::string html_of(const Comparison& comparison, const Pair& kernels);
[[nodiscard]] std::string json_of(const Comparison& comparison, const Pair& kernels);

}  // namespace margay::profile
