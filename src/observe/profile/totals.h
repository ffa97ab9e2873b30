// The sum of the launches of one kernel: from the results of a launch's workers and caches to a
// KernelProfile.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "exec/device/device.h"
#include "exec/program/program.h"
#include "observe/profile/memory/replay.h"
#include "observe/profile/worker.h"
#include "observe/tensor_arguments.h"
#include "report/profile/profile.h"

namespace margay::profile {

/// The identity of a kernel in a profile: the same code with the same sizes.
struct KernelKey {
  std::string symbol, variant;
  std::array<std::uint32_t, 3> grid{}, workgroup{};
  std::uint32_t dynamic_lds_bytes = 0;
  friend auto operator<=>(const KernelKey&, const KernelKey&) = default;
};
[[nodiscard]] KernelKey key_of(const LaunchRequest& request);

class KernelTotals {
 public:
  explicit KernelTotals(KernelKey key) : key_(std::move(key)) {}
  [[nodiscard]] const KernelKey& key() const { return key_; }
  [[nodiscard]] bool empty() const { return profile_.launches == 0; }
  [[nodiscard]] bool is_timed() const { return profile_.time.has_value(); }

  /// A launch begins; returns its number among those of the kernel, from 1.
  [[nodiscard]] std::uint64_t see_launch() { return ++profile_.launches_seen; }

  /// Adds one host thread's results; all of a launch before add_launch().
  void add_worker(WorkerResults&& results, Program& program);
  void add_launch(const LaunchRequest& request, const Program& program, const Replay& replay,
                  const std::vector<TensorArgument>& tensors, std::uint64_t workgroups_counted,
                  bool code_was_warm, const Result<LaunchReport>& result);

  /// What the model says of a launch whose instructions are `recorded`.
  void set_time(timing::KernelTime time, const std::vector<timing::Instruction>& recorded,
                Program& program);

  /// Pieces of 256 bytes of code, by number, that the launches so far have run.
  [[nodiscard]] std::set<std::uint64_t> code_pieces() const;

  [[nodiscard]] KernelProfile profile() const;

 private:
  struct SiteTotals {
    Site site;
    LdsPatterns lds;
    bool has_lds = false;
    std::size_t tensor = SiteCounts::kNoTensor;
  };
  [[nodiscard]] SiteTotals& site_of(const InstructionFacts& facts, const Program& program);
  void add_tensors(const std::vector<TensorArgument>& tensors, const Replay& replay);

  KernelKey key_;
  KernelProfile profile_;
  std::map<std::uint64_t, SiteTotals> sites_;        // by vaddr
  std::map<std::uint64_t, timing::SiteTime> times_;  // by vaddr
  std::uint64_t first_vaddr_ = 0;
  std::vector<LaneTraffic> lanes_;  // of the current launch, by tensor
  std::uint64_t workgroups_run_ = 0, workgroups_counted_ = 0;
};

}  // namespace margay::profile
