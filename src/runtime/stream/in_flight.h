// Work of streams that the host did not wait for. Work is done at the call as long as it can be; a
// kernel that waits for what the host does next goes on in the background, and what comes behind it
// in the order of streams waits for it, each piece on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/errors.h"

namespace margay::runtime {

/// Which order a piece of work belongs to.
struct Order {
  const void* stream = nullptr;  ///< Of the null stream: null, with its device.
  unsigned device = 0;
  std::thread::id thread;  ///< Of hipStreamPerThread.
  bool waits_for_null = false;
  [[nodiscard]] bool is_null() const { return stream == nullptr; }
  [[nodiscard]] bool same(const Order& other) const {
    return stream == other.stream && thread == other.thread && device == other.device;
  }
  [[nodiscard]] bool comes_behind(const Order& earlier) const {
    if (same(earlier)) return true;
    if (device != earlier.device) return false;
    return (is_null() && earlier.waits_for_null) || (waits_for_null && earlier.is_null());
  }
};
[[nodiscard]] Order order_of(hipStream_t stream);

/// What a stream does at its turn.
using Work = std::function<Outcome()>;
/// Begins work and, where it cannot be ended now, gives what is left of it; else an empty function.
using Start = std::function<Answer<Work>()>;

/// A piece of work in flight.
class Pending {
 public:
  explicit Pending(std::string text) : what(std::move(text)) {}
  [[nodiscard]] bool done() const;
  /// Says what is waited for when that takes long.
  void wait() const;
  /// False when it took longer.
  [[nodiscard]] bool wait_for(std::chrono::milliseconds time) const;
  void end();

  const std::string what;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  bool done_ = false;
};
using PendingWork = std::vector<std::shared_ptr<Pending>>;

/// Begins `work` or, where it has to wait for work in flight on this stream or others, puts it
/// behind that. `what` names it to a person who waits for it.
[[nodiscard]] Outcome in_order(hipStream_t stream, const std::string& what, const Start& start,
                               Work work);
[[nodiscard]] Outcome in_order(hipStream_t stream, const std::string& what, Work work);
/// Does `work` on another thread; comes back before its end when that takes longer than `patience`.
void in_background(hipStream_t stream, const std::string& what, Work work,
                   std::chrono::milliseconds patience);

/// What the next work of the stream has to wait for: its own, and between the null stream and the
/// streams without hipStreamNonBlocking that of each other. Source: HIP documentation, "Stream
/// management", null stream.
[[nodiscard]] PendingWork before_next(hipStream_t stream);
/// A point of the stream behind all of that, and behind `also`; null when there is nothing.
[[nodiscard]] std::shared_ptr<Pending> mark(hipStream_t stream, const std::string& what,
                                            std::shared_ptr<Pending> also, Work work);

/// Waits for all work of the stream, of the device, of all devices.
void wait_for_stream(hipStream_t stream);
void wait_for_device(unsigned device);
void wait_for_all();
/// In the child of a fork(): the threads that do the work are its parent's, and so is the work.
void in_flight_after_fork();
/// A handle that was destroyed may be given to another stream, which has nothing in flight.
void forget_stream(hipStream_t stream);

}  // namespace margay::runtime
