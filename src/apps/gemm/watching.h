// What watches the launch: `margay check`, `margay prof` and `margay mutate`, as they do with a HIP
// program, and the model of time (--time).
//
// Two programs have the job. margay-gemm, which a new user builds first, has no watchers
// (unwatched.cpp); where one is wanted it becomes margay-gemm-watched (watched.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "exec/device/device.h"
#include "runtime/base/settings.h"

namespace margay::gemm {

/// What the model says of the launch: see timing::KernelTime.
struct Modelled {
  double cycles = 0, us_boost = 0, us_sustained = 0, boost_ghz = 0, sustained_ghz = 0;
  double error_percent = 0;
  std::string bound;
};

class Watching {
 public:
  virtual ~Watching() = default;
  /// Device memory that nothing has written yet.
  virtual void allocated(std::uint64_t address, std::uint64_t bytes) = 0;
  /// Changes a loaded code object as `margay mutate` asks.
  [[nodiscard]] virtual Status change(const LoadedModule& module) = 0;
  [[nodiscard]] virtual Result<LaunchReport> launch(Device& device,
                                                    const LaunchRequest& request) = 0;
  /// The end of the launch: writes the reports.
  virtual void finish() = 0;
  /// After a launch, if the model was asked for.
  [[nodiscard]] virtual std::optional<Modelled> modelled() = 0;
};

/// Null if nothing is to watch. `arguments`: those of main(), for the other program.
[[nodiscard]] Result<std::unique_ptr<Watching>> watching(const runtime::Settings& settings,
                                                         bool model, char** arguments);

/// Whether anything is to watch.
[[nodiscard]] inline bool wants_watching(const runtime::Settings& settings, bool model) {
  return model || settings.check.tools.any() || settings.check.mutation.has_value() ||
         settings.profile.enabled;
}

}  // namespace margay::gemm
