// From the arguments of a HIP launch call to a checked LaunchRequest, and its run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exec/device/device.h"
#include "runtime/base/said_once.h"
#include "runtime/base/work.h"
#include "runtime/device/devices.h"
#include "runtime/device/launches.h"
#include "runtime/graph/capture.h"
#include "runtime/launch/limits.h"
#include "runtime/module/module.h"
#include "runtime/stream/streams.h"
#include "runtime/stream/timeline.h"
#include "runtime/watch/watch.h"

namespace margay::runtime {

/// A launch as the program asked for it.
struct LaunchCall {
  std::shared_ptr<Function> function;
  CallSize size;
  hipStream_t stream = nullptr;
  void** parameters = nullptr;  ///< One pointer per explicit argument ...
  void** buffer = nullptr;      ///< ... or HIP_LAUNCH_PARAM_BUFFER_POINTER and so on.
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  std::uint64_t data = data_of_thread();  ///< See ModelledTimes::OfData.

  /// What launches that the calling thread asks for depend on.
  [[nodiscard]] static std::uint64_t& data_of_thread();
};

/// Launches kernels for the program. Safe to use from several threads.
class Launcher {
 public:
  Launcher(Devices& devices, const Watchers& watchers, Launches& launches, const Streams& streams,
           Captures& captures, Timeline& timeline)
      : devices_(devices),
        watchers_(watchers),
        launches_(launches),
        streams_(streams),
        captures_(captures),
        timeline_(timeline) {}

  /// Checks a launch and copies its arguments, so that it can be run once or more.
  [[nodiscard]] Answer<Work> prepare(const LaunchCall& call);
  /// Checks and runs a launch to its end, or makes it a node of a graph.
  [[nodiscard]] Outcome launch(const LaunchCall& call);
  /// Programs often ignore the result of a launch: for the checker, a failed one is a finding.
  /// Launches that the device itself refuses are findings already.
  void tell_checker(const std::string& kernel, const Refusal& refusal);

 private:
  using Arguments = std::vector<std::byte>;
  /// For a launch that was checked.
  [[nodiscard]] Answer<Arguments> checked_arguments(const LaunchCall& call);
  [[nodiscard]] Outcome check_device(const LaunchCall& call) const;
  [[nodiscard]] LaunchRequest request_of(const LaunchCall& call,
                                         std::span<const std::byte> arguments);
  /// Of a launch that has run; none if events are not modelled.
  [[nodiscard]] std::optional<LaunchTime> modelled(const LaunchRequest& request) const;
  [[nodiscard]] Outcome run(const LaunchCall& call, std::span<const std::byte> arguments);
  /// As run(), but returns the continuation if the kernel waits for the host.
  [[nodiscard]] Answer<Work> start(const LaunchCall& call, std::span<const std::byte> arguments);

  Devices& devices_;
  const Watchers& watchers_;
  Launches& launches_;
  const Streams& streams_;
  Captures& captures_;
  Timeline& timeline_;
  SaidOnce short_buffers_;
};

}  // namespace margay::runtime
