// A checked section of a process: runs launches under the checker, collects their findings, and
// makes the report.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "exec/device/device.h"
#include "observe/check/config.h"
#include "observe/check/findings/barrier_place.h"
#include "observe/check/global/global_memory.h"
#include "observe/check/streams/stream_races.h"
#include "observe/check/waits/site_counts.h"
#include "report/check/finding.h"
#include "report/check/suppressions.h"

namespace margay::check {

/// Findings of different launches with the same identity are one.
struct FindingIdentity {
  Tool tool{};
  Severity severity{};
  std::string kernel;
  std::string cause;
  // Of findings whose cause is not known.
  FindingKind kind{};
  std::vector<std::uint64_t> vaddrs;
  Statement message;  ///< Of those without an instruction.
  friend auto operator<=>(const FindingIdentity&, const FindingIdentity&) = default;
};

class Session {
 public:
  Session(CheckConfig config, Suppressions suppressions)
      : config_(config), suppressions_(std::move(suppressions)) {}

  /// Receives the host's operations on memory.
  [[nodiscard]] GlobalMemory& memory() { return memory_; }

  struct Checked {
    Result<LaunchReport> result;
    std::vector<Finding> fresh;  ///< Errors and notes that no earlier launch had.
  };
  /// Runs a launch under the checker. `has_more` is called while it runs, from any of its threads,
  /// when report() has something new. `operation`: its place in the order of streams, if known.
  /// `launcher`: performs the launch with the given observer; if empty, the device does.
  using Launcher =
      std::function<Result<LaunchReport>(const LaunchRequest& request, LaunchObserver& checker)>;
  [[nodiscard]] Checked launch(Device& device, const LaunchRequest& request,
                               std::function<void()> has_more = {},
                               const std::shared_ptr<Operation>& operation = nullptr,
                               const Launcher& launcher = {});

  /// Receives what orders the operations of streams, if follows_streams().
  [[nodiscard]] StreamRaces& streams() { return streams_; }
  [[nodiscard]] bool follows_streams() const { return config_.has(Tool::racecheck); }
  /// A copy or fill has touched memory.
  [[nodiscard]] std::vector<Finding> touched(const Memory& memory,
                                             const std::shared_ptr<Operation>& operation,
                                             const Footprint& footprint);
  /// Adds findings from outside of a launch, except suppressed or known ones.
  [[nodiscard]] std::vector<Finding> add(std::vector<Finding> found);

  /// A launch that the device refused, with the reason: programs often do not check the error.
  [[nodiscard]] std::vector<Finding> launch_refused(const std::string& kernel, const Error& error);
  /// The host has copied memory (GlobalMemory::copied).
  [[nodiscard]] std::vector<Finding> copied(const UndefinedCopy& copy);
  /// Adds memory that is still allocated, as errors or as one note.
  [[nodiscard]] std::vector<Finding> leaks(Memory& memory, bool as_errors);

  /// Everything so far, including advice; for running launches, the findings of their workgroups so
  /// far.
  [[nodiscard]] Report report();
  /// In the child of a fork(): the findings belong to the parent. The state of memory is kept.
  void begin_again();

 private:
  struct KnownSite {
    SiteCounts counts;
    Site site;
  };
  /// Without suppressed findings, and one per cause.
  [[nodiscard]] std::vector<Finding> grouped(std::vector<Finding> findings,
                                             const std::vector<BarrierChain>& barriers);
  [[nodiscard]] std::vector<Finding> keep(std::vector<Finding> findings);
  [[nodiscard]] bool is_the_users(const Site& site);
  [[nodiscard]] Finding advice_of(const KnownSite& known) const;

  CheckConfig config_;
  Suppressions suppressions_;
  GlobalMemory memory_;
  StreamRaces streams_;
  SourceFiles sources_;
  std::mutex mutex_;
  std::uint64_t launches_ = 0, suppressed_ = 0;
  std::vector<Finding> findings_;
  std::vector<Finding> in_launch_;                // of running launches, not yet in findings_
  std::map<FindingIdentity, std::size_t> known_;  // into findings_
  std::map<std::pair<std::string, std::uint64_t>, KnownSite> sites_;  // by kernel and vaddr
};

}  // namespace margay::check
