// See host_side.h.
#include "runtime/device/host_side.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/fork.h"
#include "runtime/base/names.h"

namespace margay::runtime {

HostSide::HostSide() : progress_(stderr) {}

void HostSide::connect(DeviceOptions& options, const Settings& settings) {
  shows_progress_ = settings.progress;
  if (shows_progress_) {
    options.progress = [this](std::uint64_t done, std::uint64_t total) {
      progress_.update(done, total, ProgressLine::Clock::now());
    };
  }
  if (!settings.quiet)
    options.on_long_launch = [this](const LongLaunch& launch) { say_long_launch(launch); };
}

// Users who wait need to know the reason. Printed once for a kernel that is launched repeatedly.
void HostSide::say_long_launch(const LongLaunch& launch) {
  if (!long_launches_.first(launch.kernel)) return;
  const std::string text = fmt::format(
      "margay: {} has been running for {:.0f} s; {} of its {} workgroups are done.\n  at   {}\n",
      launch.kernel, launch.seconds, launch.workgroups_done, launch.workgroups, launch.where);
  std::fputs(text.c_str(), stderr);
}

Status HostSide::serve(Memory& memory, std::uint32_t service, std::span<std::uint64_t, 8> slots) {
  const std::lock_guard lock(services_mutex_);
  return services_.serve(memory, service, slots);
}

void HostSide::launch_begins(const std::string& kernel, bool alone) {
  if (shows_progress_) progress_.begin(readable_name(kernel), ProgressLine::Clock::now());
  // Output of a launch in flight continues.
  if (!alone) return;
  const std::lock_guard lock(services_mutex_);
  services_.begin_launch();
}

void HostSide::foreground_ends() {
  if (shows_progress_) progress_.end();
}

std::string HostSide::launch_ended() {
  const std::lock_guard lock(services_mutex_);
  services_.end_launch();
  return services_.failed_assert();
}

void HostSide::begin_again() {
  begin_again_after_fork(services_mutex_);
  begin_again_after_fork(services_);
}

}  // namespace margay::runtime
