// What the parts of advice.cpp share.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/profile/advice.h"
#include "observe/profile/limits.h"

namespace margay::profile {

/// Advice as it is found; keeps what is worth a sentence.
class AdviceList {
 public:
  explicit AdviceList(const KernelProfile& kernel) : kernel_(kernel), limits_(kernel) {}

  [[nodiscard]] const KernelProfile& kernel() const { return kernel_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }

  /// `always`: even where it saves nothing that is counted.
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

void advise_on_memory(AdviceList& list);
void advise_on_reuse(AdviceList& list);

}  // namespace margay::profile
