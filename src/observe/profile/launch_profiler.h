// Profiles one launch: makes its workers, collects their results and replays its caches. Several
// processes do so for a part of its workgroups each in parts.h.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/device/device.h"
#include "observe/profile/memory/device_addresses.h"
#include "observe/profile/memory/replay.h"
#include "observe/profile/memory/tensor_lines.h"
#include "observe/profile/worker.h"
#include "observe/tensor_arguments.h"
#include "report/profile/selection.h"

namespace margay::profile {

/// What is profiled of a launch.
struct LaunchPlan {
  std::uint32_t number = 0;
  bool first = false;  ///< Of its kernel and size.
  std::uint64_t traced_workgroups = 0;
  Selection sample = {};  ///< Of its workgroups.
  bool timed = false, warm = false;
  std::vector<std::uint64_t> probes = {};  ///< See probes_of().
};

/// A launch's tensors, as the kernel and as the caches see them.
struct TensorRanges {
  std::vector<AddressRange> host;  ///< With a known end.
  std::vector<AddressRange> seen;
};
[[nodiscard]] TensorRanges tensor_ranges(const std::vector<TensorArgument>& tensors,
                                         DeviceAddresses& addresses);

/// The caches of a launch with this plan. `sites`: dwords of code.
[[nodiscard]] ReplayPlan replay_plan(const Gpu& gpu, const LaunchRequest& request,
                                     std::size_t sites, const LaunchPlan& plan);

/// The device requests workers once the launch has been validated; program-dependent state is
/// created then.
class LaunchProfiler : public LaunchObserver {
 public:
  /// `addresses` must outlive it.
  LaunchProfiler(DeviceAddresses& addresses, TensorRanges tensors, LaunchPlan plan);

  [[nodiscard]] std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                               Program& program) override {
    return make(request, program);
  }
  [[nodiscard]] std::unique_ptr<WorkgroupObserver> observe(const LaunchRequest& request,
                                                           Program& program) override;

  /// Null when the launch was refused before anything ran.
  [[nodiscard]] Replay* replay() { return replay_.get(); }
  /// When all workers are done.
  [[nodiscard]] std::vector<WorkerResults>& results() { return results_; }
  [[nodiscard]] Program& program() const { return *program_; }
  [[nodiscard]] const LaunchPlan& plan() const { return plan_; }
  [[nodiscard]] const TensorRanges& tensors() const { return tensors_; }
  [[nodiscard]] const TensorLines& lines() const { return lines_; }
  [[nodiscard]] DeviceAddresses& addresses() const { return addresses_; }
  void collect(WorkerResults&& results);

 protected:
  /// Makes what depends on the program, once.
  void prepare(const LaunchRequest& request, Program& program);

 private:
  [[nodiscard]] std::unique_ptr<Worker> make(const LaunchRequest& request, Program& program);

  DeviceAddresses& addresses_;
  const TensorRanges tensors_;
  const TensorLines lines_;
  const LaunchPlan plan_;
  std::mutex mutex_;  // guards the members below
  std::vector<WorkerResults> results_;
  Program* program_ = nullptr;
  std::uint32_t resident_ = 1;
  std::unique_ptr<Replay> replay_;
};

}  // namespace margay::profile
