// What comes before what among the operations of streams: kernels, copies, fills. The order is
// that of the streams, of the null stream with the streams that wait for it, of events, and of what
// the host has waited for. Source: HIP documentation, "Stream management" and "Event management".
//
// All host threads count as one: what one of them has waited for is known to all, because what
// orders host threads is not seen. So is whatever else is not followed: it may order, and counts as
// ordering. An operation that comes before everything that is yet to come can be forgotten.
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

/// Which operations are known to have ended: of each line (a stream, as a rule) all up to one.
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
  std::string name;  ///< For people.
};

/// A kernel, copy or fill at its turn.
struct Operation {
  std::uint32_t line = 0;
  const void* owner = nullptr;  ///< Who keeps the order that it is part of.
  std::uint64_t number = 0;     ///< Of all operations of the process.
  OrderClock before;            ///< What it comes behind.
  std::string stream;           ///< Its stream's name.
  bool non_blocking = false, null_stream = false;
  std::uint64_t graph = 0;  ///< Of a part of a graph: the operation that launched it.
  std::string what;         ///< The call, and the kernel's name where it is one.
  bool host_waits = false;  ///< The call comes back when it is done.
  // Of a kernel:
  std::uint64_t launch = 0;
  std::string kernel;
  std::shared_ptr<LoadedModule> module;  ///< Keeps the program.
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
  /// A part of a graph that is launched: behind the operation's beginning and these parts.
  using Parts = std::vector<std::shared_ptr<Operation>>;
  [[nodiscard]] std::shared_ptr<Operation> begin_part(const Operation& whole, const Parts& after);
  /// The operation comes to its end behind all its parts.
  void end_parts(Operation& whole, const Parts& parts);
  /// The operation has learnt that `earlier` has ended, by memory that both look at.
  void learn(Operation& operation, const Operation& earlier);

  void record(const void* event, const Stream& stream);
  /// An event that the operation itself records.
  void record(const void* event, const Operation& operation);
  void forget_event(const void* event) { events_.erase(event); }

  void stream_waits(const Stream& stream, const void* event);
  /// For something that is not followed.
  void stream_waits_for_all(const Stream& stream);
  void host_waits(const Stream& stream);
  void host_waits(const Operation& operation);
  void host_waits_for_event(const void* event);
  void host_waits_for_device(unsigned device);
  void host_waits_for_all();
  /// The handle may be given to another stream.
  void destroyed(const StreamId& id);

  /// False for an operation that began when somebody else checked.
  [[nodiscard]] bool has(const Operation& operation) const {
    return operation.owner == this && operation.line < lines_.size();
  }
  /// What all later operations come behind.
  [[nodiscard]] const OrderClock& host() const { return host_; }
  [[nodiscard]] std::uint32_t lines() const { return static_cast<std::uint32_t>(lines_.size()); }
  /// The number of the line's last operation.
  [[nodiscard]] std::uint64_t last_of(std::uint32_t line) const { return lines_[line].last; }

 private:
  struct Line {
    StreamId id;
    bool waits_for_null = false, has_stream = false;
    OrderClock clock;        // what its next operation comes behind by its own order
    std::uint64_t last = 0;  // operation
  };
  [[nodiscard]] std::uint32_t line_of(const Stream& stream);
  /// Whether another stream may have the line: nothing in it can matter any more.
  [[nodiscard]] bool is_over(std::uint32_t line) const;
  /// The clock of the stream's line, at its next operation.
  OrderClock& advance(const Stream& stream);
  /// A line that ends with something known to `clock`, for what follows that.
  [[nodiscard]] std::uint32_t line_behind(const Operation& whole, const Parts& after,
                                          const OrderClock& clock);
  /// What the next operation of a line comes behind.
  [[nodiscard]] OrderClock point(std::uint32_t line) const;

  std::uint64_t number_ = 0;
  std::vector<Line> lines_;
  std::map<StreamId, std::uint32_t> of_stream_;
  std::map<const void*, OrderClock> events_;
  OrderClock host_;
};

}  // namespace margay::check
