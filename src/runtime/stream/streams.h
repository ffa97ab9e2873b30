// Streams and events: what the handles mean. Work is done in order, at the call, unless it has to
// wait for what the host does next (in_flight.h); an event is a point in the host's time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/base/errors.h"
#include "runtime/base/handle_table.h"
#include "runtime/stream/order.h"
#include "runtime/stream/pending.h"

namespace margay::runtime {
struct Capture;  // graph/capture.h; here it is only held
}  // namespace margay::runtime

/// What a hipStream_t points to, unless it is one of the implicit streams (see is_implicit_stream).
struct ihipStream_t {
  unsigned number = 0;  ///< In the order of their creation, from 1: the name it has in reports.
  unsigned flags = 0;
  int priority = 0;
  unsigned device = 0;
  std::shared_ptr<margay::runtime::Capture> capture;  ///< While the stream is captured ...
  std::vector<hipGraphNode*> captured_last;           ///< ... what its next node depends on.
};

/// What a hipEvent_t points to.
struct ihipEvent_t {
  using Clock = std::chrono::steady_clock;

  explicit ihipEvent_t(unsigned event_flags) : flags(event_flags) {}

  const unsigned flags;
  std::vector<hipGraphNode*> captured_nodes;  ///< What it marks in captured_in().
  /// Null unless it was recorded behind work that was in flight.
  std::atomic<std::shared_ptr<margay::runtime::Pending>> pending;

  /// The capture in one of whose streams it was recorded last (graph/capture.h), while that goes
  /// on.
  [[nodiscard]] std::shared_ptr<margay::runtime::Capture> captured_in() const {
    const std::lock_guard lock(mutex_);
    return capture_.lock();
  }
  void record_in(const std::shared_ptr<margay::runtime::Capture>& capture) {
    const std::lock_guard lock(mutex_);
    capture_ = capture;
  }
  void record() {
    const std::lock_guard lock(mutex_);
    capture_.reset();
    time_ = Clock::now();
  }
  [[nodiscard]] std::optional<Clock::time_point> time() const {
    const std::lock_guard lock(mutex_);
    return time_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Clock::time_point> time_;
  std::weak_ptr<margay::runtime::Capture> capture_;
};

namespace margay::runtime {

/// The implicit streams: null, hipStreamLegacy and hipStreamPerThread. Source: HIP documentation,
/// "Stream management".
[[nodiscard]] inline bool is_implicit_stream(const void* stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= 2;
}

/// The streams and events of the process. Safe to use from several threads.
class Streams {
 public:
  /// On the current device.
  [[nodiscard]] hipStream_t create(unsigned flags, int priority);
  /// Null for an implicit stream and for one that is gone.
  [[nodiscard]] std::shared_ptr<ihipStream_t> find(hipStream_t stream) const;
  void remove(hipStream_t stream) { streams_.remove(stream); }
  void remove_all(unsigned device);
  /// Refuses a stream that was destroyed or never created, as the ROCm runtime does
  /// (hipErrorContextIsDestroyed).
  [[nodiscard]] Outcome check(hipStream_t stream) const;
  /// The device of a stream; of an implicit one, and of one that is gone, the current device.
  [[nodiscard]] unsigned device_of(hipStream_t stream) const;
  [[nodiscard]] Order order_of(hipStream_t stream) const;

  [[nodiscard]] hipEvent_t create_event(unsigned flags);
  /// The event behind a handle, or a refusal (hipErrorInvalidHandle).
  [[nodiscard]] Answer<std::shared_ptr<ihipEvent_t>> find_event(hipEvent_t event) const;
  void remove_event(hipEvent_t event) { events_.remove(event); }
  void remove_all_events() { events_.clear(); }

 private:
  std::atomic<unsigned> last_number_ = 0;
  HandleTable<ihipStream_t> streams_;
  HandleTable<ihipEvent_t> events_;
};

}  // namespace margay::runtime
