// Advice on managed memory. There is only one memory, so nothing moves; advice is stored for
// queries.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <vector>

namespace margay::runtime {

struct Advice {
  static constexpr int kNowhere = -2;  // hipInvalidDeviceId

  bool read_mostly = false;
  bool coarse = false;
  int preferred = kNowhere;
  int prefetched = kNowhere;
  std::set<int> accessed_by;
};

/// Advice by address: each entry applies from its address to the next one's.
class AdviceMap {
 public:
  template <typename Change>
  void change(std::uint64_t begin, std::uint64_t end, Change&& change) {
    const std::lock_guard lock(mutex_);
    split(begin);
    split(end);
    for (auto at = advice_.find(begin); at->first != end; ++at) change(at->second);
  }
  /// The advice for every part of the range, in order.
  [[nodiscard]] std::vector<Advice> of(std::uint64_t begin, std::uint64_t end) {
    const std::lock_guard lock(mutex_);
    std::vector<Advice> found;
    auto at = std::prev(advice_.upper_bound(begin));
    for (; at != advice_.end() && at->first < end; ++at) found.push_back(at->second);
    return found;
  }
  /// Freed memory has no advice.
  void forget(std::uint64_t address, std::uint64_t bytes) {
    if (bytes != 0) change(address, address + bytes, [](Advice& a) { a = {}; });
  }

 private:
  void split(std::uint64_t address) {
    advice_.try_emplace(address, std::prev(advice_.upper_bound(address))->second);
  }
  std::mutex mutex_;
  std::map<std::uint64_t, Advice> advice_ = {{0, {}}};
};

}  // namespace margay::runtime
