// Work of streams that the host did not wait for. Work is executed at the call if possible; a
// kernel that waits for the host continues in the background, and later work in the order of
// streams waits for it, each piece on a separate thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/work.h"
#include "runtime/device/devices.h"
#include "runtime/device/host_side.h"
#include "runtime/device/launches.h"
#include "runtime/stream/order.h"
#include "runtime/stream/ordering.h"
#include "runtime/stream/pending.h"
#include "runtime/stream/streams.h"
#include "runtime/stream/timeline.h"

namespace margay::runtime {

/// Safe to use from several threads. Never destroyed: its threads may outlive the program's main().
class WorkInFlight {
 public:
  WorkInFlight(const Devices& devices, const HostSide& host, Launches& launches,
               const Streams& streams, Ordering& ordering, Timeline& timeline)
      : devices_(devices),
        host_(host),
        launches_(launches),
        streams_(streams),
        ordering_(ordering),
        timeline_(timeline) {}

  /// Begins `work` or, if it must wait for work in flight on this stream or others, queues it.
  /// `what` names it in messages to a waiting user.
  [[nodiscard]] Outcome in_order(hipStream_t stream, const std::string& what, const Start& start);
  [[nodiscard]] Outcome in_order(hipStream_t stream, const std::string& what, Work work);
  /// Executes `work` on another thread; returns before its end if that takes longer than
  /// `patience`.
  void in_background(hipStream_t stream, const std::string& what, Work work,
                     std::chrono::milliseconds patience);

  /// Whether the next work of the stream must wait.
  [[nodiscard]] bool is_busy(hipStream_t stream) { return !before_next(stream).empty(); }
  /// A point of the stream after all of that, and after `also`; null if there is nothing to wait
  /// for.
  [[nodiscard]] std::shared_ptr<Pending> mark(hipStream_t stream, const std::string& what,
                                              std::shared_ptr<Pending> also, Work work);

  /// Waits for one piece of work; prints what it waits for if that takes long.
  void wait_for(const Pending& pending) const;
  /// For all work of the stream, of the device, of all devices.
  void wait_for_stream(hipStream_t stream) { wait_for_each(before_next(stream)); }
  void wait_for_device(unsigned device);
  void wait_for_all();

  /// A destroyed handle may be reused for another stream, which has nothing in flight.
  void forget_stream(hipStream_t stream);
  /// In the child of a fork(): the threads and their work belong to the parent.
  void begin_again();

 private:
  struct Entry {
    Order order;
    std::shared_ptr<Pending> pending;
  };

  /// What the next work of the stream must wait for.
  [[nodiscard]] PendingWork before_next(hipStream_t stream);
  template <typename Predicate>
  [[nodiscard]] PendingWork matching(Predicate&& wanted);
  std::shared_ptr<Pending> add(const Order& order, const std::string& what, PendingWork before,
                               Work work);
  /// On a separate thread.
  void do_behind(const PendingWork& before, const Order& order, const Work& work,
                 const std::shared_ptr<Pending>& pending);
  void wait_for_each(const PendingWork& work) const;
  void keep_failure(const std::string& what, Refusal refusal);

  const Devices& devices_;
  const HostSide& host_;
  Launches& launches_;
  const Streams& streams_;
  Ordering& ordering_;
  Timeline& timeline_;
  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::atomic<std::size_t> count_ = 0;  // avoids the mutex if there is nothing
};

}  // namespace margay::runtime
