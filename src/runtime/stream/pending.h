// A piece of work in flight that others may wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace margay::runtime {

class Pending {
 public:
  explicit Pending(std::string text) : what(std::move(text)) {}
  [[nodiscard]] bool done() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  void wait() const {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return done_; });
  }
  /// False on timeout.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds time) const {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, time, [&] { return done_; });
  }
  void end() {
    const std::lock_guard lock(mutex_);
    done_ = true;
    ended_.notify_all();
  }

  const std::string what;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  bool done_ = false;
};
using PendingWork = std::vector<std::shared_ptr<Pending>>;

}  // namespace margay::runtime
