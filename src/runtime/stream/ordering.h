// Reports the order of stream operations to the checker (observe/check/streams/stream_order.h):
// each HIP call that begins work, records or waits is reported here. Does nothing if racecheck is
// off. A call whose ordering is not tracked orders everything.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "observe/check/streams/footprint.h"
#include "runtime/base/errors.h"
#include "runtime/device/devices.h"
#include "runtime/memory/allocations.h"
#include "runtime/stream/streams.h"
#include "runtime/watch/watch.h"

namespace margay::runtime {

class Ordering {
 public:
  Ordering(const Watchers& watchers, Devices& devices, const AllocationTable& allocations,
           const Streams& streams)
      : watchers_(watchers), devices_(devices), allocations_(allocations), streams_(streams) {}

  void recorded(hipEvent_t event, hipStream_t stream);
  /// By the calling thread's operation, if any.
  void recorded(hipEvent_t event);
  void event_gone(hipEvent_t event);
  void stream_waits(hipStream_t stream, hipEvent_t event);
  void stream_waits_for_all(hipStream_t stream);
  void host_waits(hipStream_t stream);
  /// For the calling thread's operation.
  void host_waits();
  void host_waits_for_event(hipEvent_t event);
  void host_waits_for_device(unsigned device);
  void host_waits_for_all();
  void stream_gone(hipStream_t stream);

 private:
  friend class OperationScope;
  friend class GraphParts;
  friend class Touching;
  /// The checker, if it tracks streams.
  [[nodiscard]] std::shared_ptr<Checking> follower() const { return watchers_.follower(); }
  [[nodiscard]] check::Stream stream_of(hipStream_t stream) const;
  void touched(Checking& checking, const check::Footprint& footprint);

  const Watchers& watchers_;
  Devices& devices_;
  const AllocationTable& allocations_;
  const Streams& streams_;
};

/// The calling thread executes an operation of the stream until the end of the scope; its accesses
/// belong to the operation. Work deferred to another thread has no operation: it is not tracked.
class OperationScope {
 public:
  OperationScope(Ordering& ordering, hipStream_t stream);
  ~OperationScope();
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;

 private:
  std::shared_ptr<check::Operation> outer_;
};
/// Null if there is none.
[[nodiscard]] const std::shared_ptr<check::Operation>& current_operation();

/// The calling thread's operation launches a graph: each of its parts is a separate operation,
/// after those that it depends on.
class GraphParts {
 public:
  explicit GraphParts(Ordering& ordering);
  ~GraphParts();
  GraphParts(const GraphParts&) = delete;
  GraphParts& operator=(const GraphParts&) = delete;
  /// The next part begins and the previous one ends. `after`: the indices of the parts it depends
  /// on.
  void next(std::span<const std::size_t> after);

 private:
  Ordering& ordering_;
  const std::shared_ptr<check::Operation> whole_;
  check::StreamOrder::Parts parts_;
};

/// Within the scope the calling thread's operations are complete when their calls return.
class SynchronousScope {
 public:
  SynchronousScope();
  ~SynchronousScope();
  SynchronousScope(const SynchronousScope&) = delete;
  SynchronousScope& operator=(const SynchronousScope&) = delete;
};

/// The memory that a copy or fill reads and writes; reported at the end of its scope.
class Touching {
 public:
  explicit Touching(Ordering& ordering);
  ~Touching();
  Touching(const Touching&) = delete;
  Touching& operator=(const Touching&) = delete;
  void read(const void* at, std::size_t bytes) { add(at, bytes, check::Touch::read); }
  void write(const void* at, std::size_t bytes) { add(at, bytes, check::Touch::write); }

 private:
  void add(const void* at, std::size_t bytes, check::Touch touch);

  Ordering& ordering_;
  const std::shared_ptr<Checking> checking_;
  check::Footprint footprint_;
};

}  // namespace margay::runtime
