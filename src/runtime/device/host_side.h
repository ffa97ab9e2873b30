// What running launches have to do with the host: what their kernels ask of it, and what is printed
// meanwhile for the person who waits. Safe to use from several threads.
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

  /// Has the device call back here, as the settings ask.
  void connect(DeviceOptions& options, const Settings& settings);
  /// Answers one call of one work-item; see margay::HostService.
  [[nodiscard]] Status serve(Memory& memory, std::uint32_t service,
                             std::span<std::uint64_t, 8> slots);

  /// `kernel`: its symbol. `alone`: no launch in flight is in the middle of printing.
  void launch_begins(const std::string& kernel, bool alone);
  /// The launch runs no more in the foreground.
  void foreground_ends();
  /// Everything that the launch printed has arrived. Gives its first failed assert, or nothing.
  [[nodiscard]] std::string launch_ended();

  /// Whether it has been said where the waves of a launch of this kernel are that takes long.
  [[nodiscard]] bool long_launch_was_named(const std::string& kernel) const {
    return long_launches_.contains(kernel);
  }

  /// In the child of a fork().
  void begin_again();

 private:
  void say_long_launch(const LongLaunch& launch);

  bool shows_progress_ = false;  // as the settings say; written before the first launch
  ProgressLine progress_;        // belongs to the launch in the foreground
  SaidOnce long_launches_;
  std::mutex services_mutex_;
  HostServices services_;  // of the launches that run
};

}  // namespace margay::runtime
