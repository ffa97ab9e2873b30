// The profiler's interface for HIP calls: launches run under it, and a profile is written at the
// end of the process, or of a section that the program chooses.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "observe/profile/session.h"
#include "runtime/base/errors.h"
#include "runtime/base/settings.h"
#include "runtime/watch/kept_report.h"

namespace margay::runtime {

/// "kernel=gemm;trace=2": the options of a program that begins a profile itself.
[[nodiscard]] Result<ProfileSettings> parse_profile_options(std::string_view text);

class Profiling {
 public:
  [[nodiscard]] static Answer<std::shared_ptr<Profiling>> create(const ProfileSettings& settings);

  /// `beside`: another watcher of the launch.
  [[nodiscard]] Result<LaunchReport> launch(Device& device, const LaunchRequest& request,
                                            LaunchObserver* beside = nullptr);
  [[nodiscard]] DescribedTensors& tensors() { return session_.tensors(); }

  [[nodiscard]] profile::Profile finish() { return session_.profile(); }
  /// Writes the JSON file that the settings name, at the end of the process.
  void write(const profile::Profile& profile);
  /// In the child after fork(): previous launches are in the parent's profile.
  [[nodiscard]] Status begin_again();

 private:
  explicit Profiling(const ProfileSettings& settings);
  const ProfileSettings settings_;
  profile::Session session_;
  std::unique_ptr<KeptReport> kept_;  // if the process is watched from outside
};

}  // namespace margay::runtime
