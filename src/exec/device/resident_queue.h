// Chooses the workgroup of a launch that a host thread runs next: a new one, or one that was
// suspended because it waited for others.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <variant>

#include "exec/workgroup/residents.h"
#include "exec/workgroup/workgroup.h"

namespace margay {

class ResidentQueue {
 public:
  explicit ResidentQueue(Residents& residents) : residents_(residents) {}

  /// The next task of a host thread: begin the workgroup with that number, continue a suspended
  /// one, or (std::monostate) nothing, because no work is left.
  using Next = std::variant<std::monostate, std::uint64_t, std::unique_ptr<Workgroup>>;
  [[nodiscard]] Next next();
  /// Suspends a workgroup that waits or yields.
  void put_aside(std::unique_ptr<Workgroup> group);

 private:
  Residents& residents_;
  std::atomic<std::uint64_t> size_{0};  // of queue_, to be read without the mutex
  std::mutex mutex_;                    // guards the members below
  std::deque<std::unique_ptr<Workgroup>> queue_;
  bool begin_one_ = true;  // alternates between new and suspended workgroups
};

}  // namespace margay
