// How often each s_waitcnt and s_barrier ran, and what would have gone wrong without it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace margay::check {

enum class Counter : std::uint8_t { vm, lgkm };

/// Of one wait or barrier.
struct SiteCounts {
  std::uint64_t executions = 0;
  std::uint64_t ordered = 0;    ///< Times something depended on it.
  std::uint64_t completed = 0;  ///< Memory instructions that a wait proved complete.
  /// The highest vmcnt and lgkmcnt with which the wait would still have done all that something
  /// depended on; kNothing: nothing did.
  static constexpr std::uint8_t kNothing = 0xff;
  std::array<std::uint8_t, 2> loosest = {kNothing, kNothing};

  void merge(const SiteCounts& other) {
    executions += other.executions;
    ordered += other.ordered;
    completed += other.completed;
    for (std::size_t n = 0; n < 2; ++n) loosest[n] = std::min(loosest[n], other.loosest[n]);
  }
};

/// What a wait has done that something may come to depend on.
struct Credit {
  std::uint32_t site = ~std::uint32_t{0};
  Counter counter = Counter::vm;
  std::uint8_t count = 0;  ///< The highest count that would have done.
};

class SiteTable {
 public:
  [[nodiscard]] SiteCounts& of(std::uint32_t site) {
    if (site >= counts_.size()) counts_.resize(site + 1);
    return counts_[site];
  }
  void needed(const Credit& credit) {
    SiteCounts& site = of(credit.site);
    ++site.ordered;
    std::uint8_t& loosest = site.loosest[static_cast<std::size_t>(credit.counter)];
    loosest = std::min(loosest, credit.count);
  }

 private:
  std::vector<SiteCounts> counts_;
};

}  // namespace margay::check
