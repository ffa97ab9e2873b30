// Checks one launch: makes its workers and puts together what they found. Several processes do so
// for a part of its workgroups each in parts.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "exec/device/device.h"
#include "observe/check/config.h"
#include "observe/check/findings/barrier_place.h"
#include "observe/check/global/global_memory.h"
#include "observe/check/order/sync_graph.h"
#include "observe/check/streams/footprint.h"
#include "observe/check/streams/stream_order.h"
#include "observe/check/worker.h"

namespace margay::check {

class LaunchChecker : public LaunchObserver {
 public:
  using Show = std::function<void(std::vector<Finding>)>;
  /// `show` periodically receives the workers' findings so far; it may be empty.
  LaunchChecker(const CheckConfig& config, const Memory& memory, GlobalMemory& global,
                std::uint64_t number, Show show);

  [[nodiscard]] std::unique_ptr<Watcher> watch(const LaunchRequest& request,
                                               Program& program) override;
  [[nodiscard]] std::unique_ptr<WorkgroupObserver> observe(const LaunchRequest& request,
                                                           Program& program) override;

  // ---- After the launch

  [[nodiscard]] std::vector<Finding> findings(const LaunchRequest& request);
  /// The locations of the executed barriers, with lines.
  [[nodiscard]] std::vector<BarrierChain> barriers() const;
  [[nodiscard]] const std::map<std::uint64_t, WorkerResults::SiteResult>& sites() const {
    return sites_;
  }
  [[nodiscard]] const Program* program() const { return program_; }
  /// The instructions that stored undefined values in tracked memory.
  [[nodiscard]] std::vector<UndefinedStore> take_stores();
  /// The launch's place in the order of streams, and its accesses; call after findings().
  [[nodiscard]] Footprint touched_by(Operation& operation, const LaunchRequest& request) const;
  /// Allocations that the host has written through its pointer.
  [[nodiscard]] const std::vector<AddressRange>& host_written() const { return host_written_; }
  /// The arguments that point to unregistered host memory that the kernel accessed.
  [[nodiscard]] const std::vector<HostArgument>& host_arguments() const { return host_arguments_; }

 protected:
  /// Looks at the program, once; how its waves synchronise.
  SyncMeans prepare(Program& program);
  void collect(WorkerResults results);

  const CheckConfig& config_;
  const Memory& memory_;
  GlobalMemory& global_;
  const std::uint64_t number_;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kShowEvery{500};

  [[nodiscard]] std::unique_ptr<WorkerChecker> make(const LaunchRequest& request, Program& program);
  void show(const FindingSet& found);
  void add_failure(std::vector<Finding>& findings);
  void credit_releases();
  void add_store(UndefinedStore store);

  const Show show_;
  std::mutex mutex_;  // guards the members below
  Clock::time_point next_show_ = Clock::now() + kShowEvery;
  FindingSet shown_;
  Program* program_ = nullptr;
  SyncMeans means_;
  SyncGraph graph_;
  FindingSet findings_;
  std::vector<UndefinedStore> stores_;
  std::vector<AddressRange> host_written_;
  std::vector<HostArgument> host_arguments_;
  std::set<std::uint64_t> moving_;
  std::optional<Finding> failure_;
  std::uint64_t failed_workgroup_ = 0;
  std::vector<WorkerResults::ReleaseCredit> release_credits_;
  std::vector<Run> runs_;
  std::map<std::uint64_t, WorkerResults::SiteResult> sites_;
};

/// Whether the compiler lets several lanes do the same: WorkerChecker::Launch::replicates.
[[nodiscard]] inline bool replicates(const LaunchRequest& request) {
  return !request.kernel->variant.empty();
}

}  // namespace margay::check
