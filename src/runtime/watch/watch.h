// The checker and the profiler, if the environment asks for them.
#pragma once

#include <memory>

#include "runtime/base/settings.h"
#include "runtime/watch/checking.h"
#include "runtime/watch/profiling.h"

namespace margay::runtime {

struct Watch {
  std::shared_ptr<Checking> checking;
  std::shared_ptr<Profiling> profiling;

  [[nodiscard]] static Answer<Watch> create(const Settings& settings);
  [[nodiscard]] Result<LaunchReport> launch(Device& device, const LaunchRequest& request) const;
  /// The end of the process: reports are written. `memory` is looked through for leaks, where
  /// given.
  void finish(Memory* memory) const;
};

}  // namespace margay::runtime
