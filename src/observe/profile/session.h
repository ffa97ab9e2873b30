// A profiled stretch of a process: runs launches under the profiler and adds them up by kernel.
#pragma once

#include <cstdint>
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

namespace margay::profile {

struct ProfileConfig {
  /// Only kernels that is_wanted() finds by this; empty: all.
  std::string kernel;
  /// So many workgroups of each kernel's first launch get a timeline.
  std::uint64_t traced_workgroups = 0;
  Selection launches = {};    ///< Of each kernel and size, from 1.
  Selection workgroups = {};  ///< Of each launch, from 0.
};

/// Whether the kernel with this mangled name is meant by `wanted`, a part of its name as any of the
/// reports prints it, or the mangled name itself.
[[nodiscard]] bool is_wanted(const std::string& symbol, std::string_view wanted);

class KernelTotals;

class Session {
 public:
  explicit Session(ProfileConfig config);
  ~Session();

  /// Tensors the program describes are told here.
  [[nodiscard]] DescribedTensors& tensors() { return described_; }

  /// Runs a launch under the profiler; kernels that are not wanted run without it. `beside`: who
  /// else watches.
  [[nodiscard]] Result<LaunchReport> launch(Device& device, const LaunchRequest& request,
                                            LaunchObserver* beside = nullptr);

  /// In the child of a fork(): what ran is in its parent's profile.
  void begin_again();

  /// Everything so far, at any time: of a launch that runs nothing, of those before it all.
  [[nodiscard]] Profile profile();

 private:
  [[nodiscard]] KernelTotals& totals_of(const LaunchRequest& request);
  /// How many 256-byte pieces of code ran that no earlier launch has run; they are noted.
  [[nodiscard]] std::uint64_t cold_code(const std::string& kernel,
                                        const std::set<std::uint64_t>& pieces);

  const ProfileConfig config_;
  DescribedTensors described_;
  std::mutex launching_;  // launches run one after another
  std::mutex mutex_;      // of what follows
  std::string device_, mfma_;
  std::string interrupted_;  // launches, in words
  std::uint32_t launches_ = 0;
  std::vector<std::unique_ptr<KernelTotals>> kernels_;
  std::set<std::pair<std::string, std::uint64_t>> warm_code_;
};

}  // namespace margay::profile
