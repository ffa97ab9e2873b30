// Modelled time of the devices: when the work of each stream would have ended. Events are points of
// it if MARGAY_EVENT_TIME asks for that.
//
// Work of a stream begins when the work before it in the order of streams has ended, not before the
// host has submitted it. Behind work that has not ended it is launched faster: the device has its
// packet already. The host takes no time; it is as late as the work it last waited for.
// A kernel that has a workgroup for each compute unit keeps the kernels of other streams waiting.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/device/devices.h"
#include "runtime/memory/allocations.h"
#include "runtime/stream/device_time.h"
#include "runtime/stream/order.h"
#include "runtime/watch/modelled_times.h"

namespace margay::runtime {

/// Safe to use from several threads.
class Timeline {
 public:
  Timeline(const Devices& devices, const AllocationTable& allocations)
      : devices_(devices), allocations_(allocations) {}

  /// Whether events are modelled. What follows does nothing if they are not.
  [[nodiscard]] bool is_on() const { return devices_.event_time() != EventTime::host; }

  /// What the calling thread does until its end is work of a stream.
  class Scope {
   public:
    explicit Scope(const Order& order);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    const Order* const outer_;
    const Order order_;
  };

  /// Work of the calling thread's stream that was done: a launch, a copy, a fill. `time`: none if
  /// the launch is not modelled.
  void launched(const std::optional<LaunchTime>& time, std::uint64_t workgroups);
  void copied(const void* to, const void* from, std::size_t bytes);
  void filled(std::size_t bytes);

  /// When the work before the next of a stream, or of the calling thread's stream, has ended; none
  /// if events are not modelled.
  [[nodiscard]] std::optional<DeviceTime> now(const Order& order) const;
  [[nodiscard]] std::optional<DeviceTime> now() const;

  void stream_waits(const Order& order, std::optional<DeviceTime> until);
  void host_waits(std::optional<DeviceTime> until);
  void host_waits_for_device(unsigned device);

  /// The handle of a destroyed stream may be used for another one.
  void forget_stream(hipStream_t stream);

  /// True once: the first time that a program is given modelled time.
  [[nodiscard]] bool first_answer() { return !answered_.exchange(true); }

  /// In the child of a fork().
  void begin_again();

 private:
  struct Entry {
    Order order;
    DeviceTime end{0};
  };
  [[nodiscard]] DeviceTime ready(const Order& order) const;
  [[nodiscard]] Entry& entry_of(const Order& order);
  /// What work needs the compute units for.
  enum class Use : std::uint8_t { none, some_units, all_units };
  /// `launches`: it is dispatched like a kernel, and has the time of that in it.
  void add(DeviceTime time, Use use, bool launches);

  const Devices& devices_;
  const AllocationTable& allocations_;
  std::atomic<bool> answered_ = false;
  mutable std::mutex mutex_;
  DeviceTime host_{0};
  std::vector<Entry> streams_;
  std::array<DeviceTime, kMaxDevices> filled_until_ = {};  // by device
};

}  // namespace margay::runtime
