// Collects advice and filters negligible items.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/profile/analysis/limits.h"

namespace margay::profile {

struct Advice {
  std::string what;    ///< "every ds_read_b64 at gemm.cpp:84 conflicts 4 ways: lanes 0, 4, 8 ..."
  std::string why;     ///< What it costs, in the kernel's own numbers.
  std::string fix;     ///< What would change it; may be empty.
  std::string effect;  ///< "saves up to 43 % of the least time; then LDS is the limit"
  /// Share of the least time of all (that of the limiting part) that it saves at most; the list is
  /// sorted by it.
  double gain = 0;
  double relief = 0;  ///< The share that it saves of the part it relieves; breaks ties.
};

/// Gains below this are omitted.
inline constexpr double kWorthSaying = 0.02;

/// Collects advice; keeps items that are not negligible.
class AdviceList {
 public:
  explicit AdviceList(const KernelProfile& kernel) : kernel_(kernel), limits_(kernel) {}

  [[nodiscard]] const KernelProfile& kernel() const { return kernel_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }

  /// `always`: even if it saves nothing that is counted.
  void add(std::string what, std::string why, std::string fix,
           const std::vector<Limits::Saving>& savings, bool always = false);
  /// The one that saves most first.
  [[nodiscard]] std::vector<Advice> take();

 private:
  const KernelProfile& kernel_;
  Limits limits_;
  std::vector<Advice> list_;
};

[[nodiscard]] std::string mnemonic_of(const Site& site);
/// "at gemm.cpp:84".
[[nodiscard]] std::string place_of_site(const Site& site);

/// "LDS is", "matrix units are".
[[nodiscard]] std::string with_verb(DevicePart part);

}  // namespace margay::profile
