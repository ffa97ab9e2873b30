// A profiled section of a process: runs launches under the profiler and sums them by kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exec/device/device.h"
#include "observe/described_tensors.h"
#include "report/profile/profile.h"
#include "report/profile/selection.h"
#include "timing/time_config.h"

namespace margay::profile {

struct ProfileConfig {
  /// Only kernels selected by is_wanted(); empty: all.
  std::string kernel;
  /// The number of workgroups of each kernel's first launch that get a timeline.
  std::uint64_t traced_workgroups = 0;
  Selection launches = {};    ///< Of each kernel and size, from 1.
  Selection workgroups = {};  ///< Of each launch, from 0.
  bool timed = false;         ///< The model of time sees the first launch of each kernel and size.
  timing::TimeConfig time = {};
};

/// Whether the kernel with this mangled name matches `wanted`: part of its name as in any of the
/// reports, or the mangled name itself.
[[nodiscard]] bool is_wanted(const Kernel& kernel, std::string_view wanted);

class KernelTotals;

class Session {
 public:
  explicit Session(ProfileConfig config);
  ~Session();

  /// Receives the tensors that the program describes.
  [[nodiscard]] DescribedTensors& tensors() { return described_; }

  /// Performs a launch with an observer, or with none (null).
  using Run = std::function<Result<LaunchReport>(LaunchObserver* observer)>;
  /// Has `run` perform a launch under the profiler; kernels that are not selected run without it.
  [[nodiscard]] Result<LaunchReport> launch(Device& device, const LaunchRequest& request,
                                            const Run& run);
  /// The device performs it. `beside`: another watcher.
  [[nodiscard]] Result<LaunchReport> launch(Device& device, const LaunchRequest& request,
                                            LaunchObserver* beside = nullptr);

  /// In the child of a fork(): past launches are in its parent's profile.
  void begin_again();

  /// Everything so far, at any time: nothing of a running launch, everything of those before it.
  [[nodiscard]] Profile profile();

 private:
  [[nodiscard]] KernelTotals& totals_of(const LaunchRequest& request);
  /// The number of executed 256-byte pieces of code that no earlier launch has run; records them.
  [[nodiscard]] std::uint64_t cold_code(const std::string& kernel,
                                        const std::set<std::uint64_t>& pieces);

  const ProfileConfig config_;
  DescribedTensors described_;
  std::mutex launching_;  // launches run one after another
  std::mutex mutex_;      // of what follows
  std::string device_, mfma_;
  std::string interrupted_;  // launches, as text
  std::uint32_t launches_ = 0;
  std::vector<std::unique_ptr<KernelTotals>> kernels_;
  std::set<std::pair<std::string, std::uint64_t>> warm_code_;
};

}  // namespace margay::profile
