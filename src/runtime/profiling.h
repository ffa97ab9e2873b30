// The profiler as the HIP calls see it: launches run under it, and at the end of the process, or of
// a stretch that a program asks for, there is a profile.
#pragma once

#include <memory>
#include <string>

#include "observe/profile/session.h"
#include "runtime/settings.h"

namespace margay::runtime {

class Profiling {
 public:
  explicit Profiling(const ProfileSettings& settings);

  [[nodiscard]] Result<LaunchReport> launch(Device& device, const LaunchRequest& request) {
    return session_.launch(device, request);
  }
  [[nodiscard]] DescribedTensors& tensors() { return session_.tensors(); }

  [[nodiscard]] profile::Profile finish() { return session_.profile(); }
  /// Writes the JSON file that the settings name, at the end of the process.
  void write(const profile::Profile& profile) const;

 private:
  const ProfileSettings settings_;
  profile::Session session_;
};

}  // namespace margay::runtime
