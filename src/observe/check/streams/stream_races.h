// Races between operations of streams: unordered operations that access the same memory, and host
// code that changes memory that an asynchronous copy still reads or writes. HIP calls report their
// effects here. All functions may be called from several threads.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "observe/check/streams/footprint.h"
#include "observe/check/streams/host_writes.h"
#include "observe/check/streams/stream_order.h"
#include "report/check/finding.h"

namespace margay::check {

class StreamRaces {
 public:
  /// The owner of the memory at an address.
  struct Places {
    std::function<bool(std::uint64_t address)> is_internal;      ///< Margay's own memory.
    std::function<bool(std::uint64_t address)> is_host_visible;  ///< Pinned, managed, pageable.
  };

  // ---- Operations ----
  [[nodiscard]] std::shared_ptr<Operation> begin(const Stream& stream, std::string what);
  [[nodiscard]] std::shared_ptr<Operation> begin_part(const Operation& whole,
                                                      const StreamOrder::Parts& after);
  void end_parts(Operation& whole, const StreamOrder::Parts& parts);
  /// The operation's accesses; call before anything else happens in its stream. Returns the races.
  [[nodiscard]] std::vector<Finding> touched(const std::shared_ptr<Operation>& operation,
                                             const Footprint& footprint, const Places& places);
  /// An asynchronous copy reads or writes pinned memory that the host must not access until it
  /// ends.
  void watch(const std::shared_ptr<const Operation>& operation, std::uint64_t begin,
             std::uint64_t end, bool is_source);

  // ---- Order; the host's waits give what it has changed before ----
  void record(const void* event, const Stream& stream);
  void record(const void* event, const Operation& operation);
  void forget_event(const void* event);
  void stream_waits(const Stream& stream, const void* event);
  void stream_waits_for_all(const Stream& stream);
  [[nodiscard]] std::vector<Finding> host_waits(const Stream& stream);
  [[nodiscard]] std::vector<Finding> host_waits(const Operation& operation);
  [[nodiscard]] std::vector<Finding> host_waits_for_event(const void* event);
  [[nodiscard]] std::vector<Finding> host_waits_for_device(unsigned device);
  [[nodiscard]] std::vector<Finding> host_waits_for_all();
  [[nodiscard]] std::vector<Finding> destroyed(const Stream& stream);

  /// The range has been allocated: previous accesses are dropped.
  void allocated(std::uint64_t address, std::uint64_t bytes);
  /// The contents can no longer be accessed.
  void freed(std::uint64_t address, std::uint64_t bytes);

 private:
  template <typename Visit>
  void each_unordered(const Operation& operation, const TouchedRange& range, Visit&& visit) const;
  void learn(Operation& operation, std::span<const TouchedRange> ranges);
  [[nodiscard]] std::vector<Finding> host_knows_more();
  void make_room();

  std::mutex mutex_;
  StreamOrder order_;
  std::vector<LastTouches> touches_;         // by line
  std::vector<std::uint64_t> forgot_until_;  // by line
  HostWrites host_writes_;
};

}  // namespace margay::check
