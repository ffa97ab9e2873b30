// What earlier launches of a kernel say about sharing it.
#pragma once

#include <mutex>
#include <string>

namespace margay::ranks {

/// Safe to use from several threads.
class Experience {
 public:
  /// A launch had its other ranks' work returned.
  void helped() {
    const std::lock_guard lock(mutex_);
    in_a_row_ = 0;
  }
  /// A rank gave its workgroups back because of what the kernel does, or they were taken back
  /// since it was `slower`.
  void was_given_back(const std::string& why) {
    const std::lock_guard lock(mutex_);
    in_a_row_ = why == why_ ? in_a_row_ + 1 : 1;
    why_ = why;
  }
  /// Why further launches stay on rank 0; empty if they do not. A first launch has all pages to
  /// fetch, and its code to load.
  [[nodiscard]] std::string why_alone() const {
    constexpr unsigned kEnough = 3;
    const std::lock_guard lock(mutex_);
    return in_a_row_ < kEnough ? std::string{} : why_;
  }

 private:
  mutable std::mutex mutex_;
  unsigned in_a_row_ = 0;
  std::string why_;
};

}  // namespace margay::ranks
