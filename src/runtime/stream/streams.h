// Streams and events: the objects behind the handles. Work is executed in order, at the call,
// unless it must wait for the host (in_flight.h); an event is a point in the host's time, and in
// the device's modelled time if that is asked for (timeline.h).
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
#include "runtime/stream/device_time.h"
#include "runtime/stream/order.h"
#include "runtime/stream/pending.h"

namespace margay::runtime {
struct Capture;  // see graph/capture.h; only a pointer here
}  // namespace margay::runtime

/// What a hipStream_t points to, unless it is one of the implicit streams (see is_implicit_stream).
struct ihipStream_t {
  unsigned number = 0;  ///< In the order of their creation, from 1: its name in reports.
  unsigned flags = 0;
  int priority = 0;
  unsigned device = 0;
  std::shared_ptr<margay::runtime::Capture> capture;  ///< While the stream is captured ...
  std::vector<hipGraphNode*> captured_last;           ///< ... the dependencies of its next node.
};

/// What a hipEvent_t points to.
struct ihipEvent_t {
  using Clock = std::chrono::steady_clock;

  explicit ihipEvent_t(unsigned event_flags) : flags(event_flags) {}

  const unsigned flags;
  std::vector<hipGraphNode*> captured_nodes;  ///< The nodes it marks in captured_in().
  /// Null unless it was recorded after work in flight.
  std::atomic<std::shared_ptr<margay::runtime::Pending>> pending;

  /// The capture in whose streams it was last recorded (graph/capture.h), while that is in
  /// progress.
  [[nodiscard]] std::shared_ptr<margay::runtime::Capture> captured_in() const {
    const std::lock_guard lock(mutex_);
    return capture_.lock();
  }
  void record_in(const std::shared_ptr<margay::runtime::Capture>& capture) {
    const std::lock_guard lock(mutex_);
    capture_ = capture;
  }
  /// `modelled`: see timeline.h.
  void record(std::optional<margay::runtime::DeviceTime> modelled) {
    const std::lock_guard lock(mutex_);
    capture_.reset();
    time_ = Clock::now();
    modelled_ = modelled;
  }
  [[nodiscard]] std::optional<Clock::time_point> time() const {
    const std::lock_guard lock(mutex_);
    return time_;
  }
  /// None if events were not modelled when it was recorded.
  [[nodiscard]] std::optional<margay::runtime::DeviceTime> modelled_time() const {
    const std::lock_guard lock(mutex_);
    return modelled_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Clock::time_point> time_;
  std::optional<margay::runtime::DeviceTime> modelled_;
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
  /// Null for an implicit stream and for a destroyed one.
  [[nodiscard]] std::shared_ptr<ihipStream_t> find(hipStream_t stream) const;
  void remove(hipStream_t stream) { streams_.remove(stream); }
  void remove_all(unsigned device);
  /// An error for a stream that was destroyed or never created, as in the ROCm runtime
  /// (hipErrorContextIsDestroyed).
  [[nodiscard]] Outcome check(hipStream_t stream) const;
  /// The device of a stream; for an implicit or destroyed one, the current device.
  [[nodiscard]] unsigned device_of(hipStream_t stream) const;
  [[nodiscard]] Order order_of(hipStream_t stream) const;

  [[nodiscard]] hipEvent_t create_event(unsigned flags);
  /// The event behind a handle, or an error (hipErrorInvalidHandle).
  [[nodiscard]] Answer<std::shared_ptr<ihipEvent_t>> find_event(hipEvent_t event) const;
  void remove_event(hipEvent_t event) { events_.remove(event); }
  void remove_all_events() { events_.clear(); }

 private:
  std::atomic<unsigned> last_number_ = 0;
  HandleTable<ihipStream_t> streams_;
  HandleTable<ihipEvent_t> events_;
};

}  // namespace margay::runtime
