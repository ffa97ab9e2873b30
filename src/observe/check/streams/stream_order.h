// The order of the operations of streams: kernels, copies, fills. It follows from the streams, the
// null stream with the streams that wait for it, events, and the waits of the host. Source: HIP
// documentation, "Stream management" and "Event management".
//
// All host threads count as one: what one of them has waited for is known to all, because
// synchronisation of host threads is not observed. Everything else that is not tracked also counts
// as ordering. An operation that precedes all future ones can be dropped.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/device/device.h"

namespace margay {
class Program;
}

namespace margay::check {

/// The operations known to have ended: for each line (usually a stream) all up to one.
class OrderClock {
 public:
  [[nodiscard]] std::uint64_t of(std::uint32_t line) const {
    return line < known_.size() ? known_[line] : 0;
  }
  void learn(std::uint32_t line, std::uint64_t number);
  void join(const OrderClock& other);
  [[nodiscard]] bool is_within(const OrderClock& other) const;

 private:
  std::vector<std::uint64_t> known_;
};

/// A stream as its program knows it.
struct StreamId {
  const void* handle = nullptr;  ///< Null for the null stream.
  unsigned device = 0;
  std::uint64_t thread = 0;  ///< Of hipStreamPerThread.
  [[nodiscard]] bool is_null() const { return handle == nullptr; }
  friend auto operator<=>(const StreamId&, const StreamId&) = default;
};
struct Stream {
  StreamId id;
  bool waits_for_null = false;
  std::string name;  ///< For display.
};

/// A kernel, copy or fill when it starts.
struct Operation {
  std::uint32_t line = 0;
  const void* owner = nullptr;  ///< The order it belongs to.
  std::uint64_t number = 0;     ///< Of all operations of the process.
  OrderClock before;            ///< What precedes it.
  std::string stream;           ///< Its stream's name.
  bool non_blocking = false, null_stream = false;
  std::uint64_t graph = 0;  ///< For a part of a graph: the operation that launched it.
  std::string what;         ///< The call, and the kernel's name if it is one.
  bool host_waits = false;  ///< The call returns when it is done.
  // For a kernel:
  std::uint64_t launch = 0;
  std::string kernel;
  std::shared_ptr<LoadedModule> module;  ///< Keeps the program alive.
  const Program* program = nullptr;
  bool releases = false, acquires = false;  ///< Has fences of agent scope or wider.

  [[nodiscard]] bool is_kernel() const { return program != nullptr; }
  [[nodiscard]] bool comes_behind(const Operation& earlier) const {
    return before.of(earlier.line) >= earlier.number;
  }
};

/// One thread at a time.
class StreamOrder {
 public:
  [[nodiscard]] std::shared_ptr<Operation> begin(const Stream& stream, std::string what);
  /// A part of a launched graph: follows the start of the operation and these parts.
  using Parts = std::vector<std::shared_ptr<Operation>>;
  [[nodiscard]] std::shared_ptr<Operation> begin_part(const Operation& whole, const Parts& after);
  /// The operation ends after all its parts.
  void end_parts(Operation& whole, const Parts& parts);
  /// The operation has learnt that `earlier` has ended, through memory that both access.
  void learn(Operation& operation, const Operation& earlier);

  void record(const void* event, const Stream& stream);
  /// An event that the operation itself records.
  void record(const void* event, const Operation& operation);
  void forget_event(const void* event) { events_.erase(event); }

  void stream_waits(const Stream& stream, const void* event);
  /// For something that is not tracked.
  void stream_waits_for_all(const Stream& stream);
  void host_waits(const Stream& stream);
  void host_waits(const Operation& operation);
  void host_waits_for_event(const void* event);
  void host_waits_for_device(unsigned device);
  void host_waits_for_all();
  /// The handle may be reused for another stream.
  void destroyed(const StreamId& id);

  /// False for an operation that began in another check session.
  [[nodiscard]] bool has(const Operation& operation) const {
    return operation.owner == this && operation.line < lines_.size();
  }
  /// What precedes all later operations.
  [[nodiscard]] const OrderClock& host() const { return host_; }
  [[nodiscard]] std::uint32_t lines() const { return static_cast<std::uint32_t>(lines_.size()); }
  /// The number of the line's last operation.
  [[nodiscard]] std::uint64_t last_of(std::uint32_t line) const { return lines_[line].last; }

 private:
  struct Line {
    StreamId id;
    bool waits_for_null = false, has_stream = false;
    OrderClock clock;        // what precedes its next operation in its own order
    std::uint64_t last = 0;  // operation
  };
  [[nodiscard]] std::uint32_t line_of(const Stream& stream);
  /// Whether another stream may reuse the line: nothing in it is relevant any more.
  [[nodiscard]] bool is_over(std::uint32_t line) const;
  /// The clock of the stream's line, at its next operation.
  OrderClock& advance(const Stream& stream);
  /// A line that ends with something known to `clock`, for operations that follow it.
  [[nodiscard]] std::uint32_t line_behind(const Operation& whole, const Parts& after,
                                          const OrderClock& clock);
  /// What precedes the next operation of a line.
  [[nodiscard]] OrderClock point(std::uint32_t line) const;

  std::uint64_t number_ = 0;
  std::vector<Line> lines_;
  std::map<StreamId, std::uint32_t> of_stream_;
  std::map<const void*, OrderClock> events_;
  OrderClock host_;
};

}  // namespace margay::check
