// Messages that are printed once per kernel: a kernel may be launched many times.
#pragma once

#include <mutex>
#include <set>
#include <string>

namespace margay::runtime {

class SaidOnce {
 public:
  /// True the first time.
  [[nodiscard]] bool first(const std::string& kernel) {
    const std::lock_guard lock(mutex_);
    return kernels_.insert(kernel).second;
  }
  [[nodiscard]] bool contains(const std::string& kernel) const {
    const std::lock_guard lock(mutex_);
    return kernels_.contains(kernel);
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> kernels_;
};

}  // namespace margay::runtime
