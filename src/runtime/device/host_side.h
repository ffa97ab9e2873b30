// The host's side of running launches: services for their kernels, and progress messages for users.
// Safe to use from several threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "exec/device/device.h"
#include "runtime/base/said_once.h"
#include "runtime/base/settings.h"
#include "runtime/device/host_services.h"
#include "runtime/device/progress.h"

namespace margay::runtime {

class HostSide {
 public:
  HostSide();

  /// Sets the device's callbacks to this object, according to the settings.
  void connect(DeviceOptions& options, const Settings& settings);
  /// Answers one call of one work-item; see margay::HostService.
  [[nodiscard]] Status serve(Memory& memory, std::uint32_t service,
                             std::span<std::uint64_t, 8> slots);

  /// `kernel`: its symbol. `alone`: no launch in flight is printing.
  void launch_begins(const std::string& kernel, bool alone);
  /// The launch no longer runs in the foreground.
  void foreground_ends();
  /// Flushes everything that the launch printed. Returns its first failed assert, or nothing.
  [[nodiscard]] std::string launch_ended();

  /// Whether the positions of the waves of a long launch of this kernel have been printed.
  [[nodiscard]] bool long_launch_was_named(const std::string& kernel) const {
    return long_launches_.contains(kernel);
  }

  /// In the child of a fork().
  void begin_again();

 private:
  void say_long_launch(const LongLaunch& launch);

  bool shows_progress_ = false;  // according to the settings; written before the first launch
  ProgressLine progress_;        // belongs to the launch in the foreground
  SaidOnce long_launches_;
  std::mutex services_mutex_;
  HostServices services_;  // of the launches that run
};

}  // namespace margay::runtime
