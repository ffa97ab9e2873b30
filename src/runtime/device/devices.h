// The virtual devices of the process: created at first use with the environment's settings. Safe to
// use from several threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "exec/device/device.h"
#include "runtime/base/errors.h"
#include "runtime/base/settings.h"
#include "runtime/device/host_side.h"
#include "runtime/watch/watch.h"

namespace margay::ranks {
class Leader;
}

namespace margay::runtime {

class Devices {
 public:
  /// Callbacks that devices need.
  struct Hooks {
    /// On memory, for a checker that the environment requests.
    IsRegistered is_registered;
    /// The process is watched from here on: its reports must be written when it ends.
    std::function<void()> on_watched;
  };
  Devices(Watchers& watchers, HostSide& host, Hooks hooks);
  ~Devices();

  /// True when MARGAY_QUIET=1; settings that cannot be read do not silence their own error.
  [[nodiscard]] bool quiet() const { return settings_ && settings_->quiet; }
  /// MARGAY_STATS=1.
  [[nodiscard]] bool prints_stats() const { return settings_ && settings_->stats; }
  /// The error in the environment's settings, if any.
  [[nodiscard]] const Error* settings_error() const {
    return settings_ ? nullptr : &settings_.error();
  }
  /// The machine of each of them, known without creating them.
  [[nodiscard]] const Gpu& gpu() const { return settings_ ? *settings_->gpu : default_gpu(); }
  /// How many there are.
  [[nodiscard]] unsigned count() const { return settings_ ? settings_->devices : 1; }
  /// An error for a number that is not a device's (hipErrorInvalidDevice).
  [[nodiscard]] Outcome check(int device) const;

  /// All of them, as one object; the first call creates it.
  [[nodiscard]] Answer<Device*> get() {
    // Called by every launch and copy.
    if (Device* const made = made_.load(std::memory_order_acquire)) return made;
    return make();
  }
  /// Their memory, or null if no device was created.
  [[nodiscard]] Memory* memory_if_made() const;
  /// Places a code object on a device, with the changes of MARGAY_MUTATE.
  [[nodiscard]] Answer<std::shared_ptr<LoadedModule>> load(CodeObject object, unsigned device);

  /// The device that the calling thread has chosen.
  [[nodiscard]] static unsigned current();
  static void set_current(unsigned device);
  /// The devices whose memory kernels on `device` may access in addition to its own, as a mask.
  [[nodiscard]] std::atomic<std::uint64_t>& peers(unsigned device) { return peers_[device]; }
  /// What hipDeviceSetLimit sets. Bytes; defaults as ROCm's.
  struct Limits {
    /// Of a lane, where the compiler does not know.
    std::atomic<std::size_t> stack_bytes = std::size_t{1} << 10;
    /// Returned, but no limit: malloc() has the memory of the device.
    std::atomic<std::size_t> heap_bytes = std::size_t{4} << 20;
  };
  [[nodiscard]] Limits& limits(unsigned device) { return limits_[device]; }
  /// What events measure. A program may change it.
  [[nodiscard]] EventTime event_time() const { return event_time_.load(); }
  void set_event_time(EventTime time) { event_time_ = time; }
  /// Stored and returned, without effect: gfx942 has one cache and one LDS bank configuration.
  [[nodiscard]] std::atomic<unsigned>& flags() { return flags_; }

 private:
  [[nodiscard]] Answer<Device*> make();

  Watchers& watchers_;
  HostSide& host_;
  const Hooks hooks_;
  const Result<Settings> settings_;
  std::mutex mutex_;  // while the device is made
  std::unique_ptr<Device> device_;
  std::unique_ptr<ranks::Leader> leader_;  // after the device, whose memory its threads read
  std::atomic<Device*> made_ = nullptr;
  std::array<std::atomic<std::uint64_t>, kMaxDevices> peers_ = {};
  std::array<Limits, kMaxDevices> limits_ = {};
  std::atomic<EventTime> event_time_;
  std::atomic<unsigned> flags_ = hipDeviceScheduleAuto;
};

}  // namespace margay::runtime
