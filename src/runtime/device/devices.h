// The virtual devices of the process: made at first use with the environment's settings. Safe to
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

namespace margay::runtime {

class Devices {
 public:
  /// What devices need to have done for them.
  struct Hooks {
    /// Of memory, for a checker that the environment asks for.
    IsRegistered is_registered;
    /// The process is watched from here on: its reports have to be written when it ends.
    std::function<void()> on_watched;
  };
  Devices(Watchers& watchers, HostSide& host, Hooks hooks);

  /// True when MARGAY_QUIET=1; settings that cannot be read do not silence their own error.
  [[nodiscard]] bool quiet() const { return settings_ && settings_->quiet; }
  /// MARGAY_STATS=1.
  [[nodiscard]] bool prints_stats() const { return settings_ && settings_->stats; }
  /// What is wrong with the environment's settings, if anything is.
  [[nodiscard]] const Error* settings_error() const {
    return settings_ ? nullptr : &settings_.error();
  }
  /// What each of them is, known without creating them.
  [[nodiscard]] const Gpu& gpu() const { return settings_ ? *settings_->gpu : default_gpu(); }
  /// How many there are.
  [[nodiscard]] unsigned count() const { return settings_ ? settings_->devices : 1; }
  /// Refuses a number that is not one of a device (hipErrorInvalidDevice).
  [[nodiscard]] Outcome check(int device) const;

  /// All of them, as one object; the first call creates it.
  [[nodiscard]] Answer<Device*> get() {
    // Every launch and copy asks.
    if (Device* const made = made_.load(std::memory_order_acquire)) return made;
    return make();
  }
  /// Their memory, or null where no device was made.
  [[nodiscard]] Memory* memory_if_made() const;
  /// Places a code object on a device, changed as MARGAY_MUTATE asks.
  [[nodiscard]] Answer<std::shared_ptr<LoadedModule>> load(CodeObject object, unsigned device);

  /// The device that the calling thread has chosen.
  [[nodiscard]] static unsigned current();
  static void set_current(unsigned device);
  /// A mask: the devices whose memory kernels on `device` may access besides its own.
  [[nodiscard]] std::atomic<std::uint64_t>& peers(unsigned device) { return peers_[device]; }
  /// Accepted and given back, without effect: gfx942 has one cache and one LDS bank configuration.
  [[nodiscard]] std::atomic<unsigned>& flags() { return flags_; }

 private:
  [[nodiscard]] Answer<Device*> make();

  Watchers& watchers_;
  HostSide& host_;
  const Hooks hooks_;
  const Result<Settings> settings_;
  std::mutex mutex_;  // while the device is made
  std::unique_ptr<Device> device_;
  std::atomic<Device*> made_ = nullptr;
  std::array<std::atomic<std::uint64_t>, kMaxDevices> peers_ = {};
  std::atomic<unsigned> flags_ = hipDeviceScheduleAuto;
};

}  // namespace margay::runtime
