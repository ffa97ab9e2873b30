// A checked stretch of a process: runs launches under the checker, keeps what they found, and makes
// the report.
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

class Session {
 public:
  Session(CheckConfig config, Suppressions suppressions)
      : config_(config), suppressions_(std::move(suppressions)) {}

  /// What the host does with memory is told here.
  [[nodiscard]] GlobalMemory& memory() { return memory_; }

  struct Checked {
    Result<LaunchReport> result;
    std::vector<Finding> fresh;  ///< Errors and notes that no earlier launch had.
  };
  /// Runs a launch under the checker. `has_more` is called now and then while it runs, from any of
  /// its threads, when report() has something new. `operation`: what it is in the order of streams,
  /// if that is known. `launcher`: makes the launch with the observer it is given; the device does
  /// where it is empty.
  using Launcher =
      std::function<Result<LaunchReport>(const LaunchRequest& request, LaunchObserver& checker)>;
  [[nodiscard]] Checked launch(Device& device, const LaunchRequest& request,
                               std::function<void()> has_more = {},
                               const std::shared_ptr<Operation>& operation = nullptr,
                               const Launcher& launcher = {});

  /// What orders the operations of streams is told here, if follows_streams().
  [[nodiscard]] StreamRaces& streams() { return streams_; }
  [[nodiscard]] bool follows_streams() const { return config_.has(Tool::racecheck); }
  /// A copy or fill has touched memory.
  [[nodiscard]] std::vector<Finding> touched(const Memory& memory,
                                             const std::shared_ptr<Operation>& operation,
                                             const Footprint& footprint);
  /// What was found outside of a launch: without what is suppressed or known.
  [[nodiscard]] std::vector<Finding> add(std::vector<Finding> found);

  /// A launch that the device refused, with the reason: programs often do not look.
  [[nodiscard]] std::vector<Finding> launch_refused(const std::string& kernel, const Error& error);
  /// The host has copied memory (GlobalMemory::copied).
  [[nodiscard]] std::vector<Finding> copied(const UndefinedCopy& copy);
  /// What is still allocated; as errors, or as one note.
  [[nodiscard]] std::vector<Finding> leaks(Memory& memory, bool as_errors);

  /// Everything so far, advice included; of launches that run, what their workgroups have shown.
  [[nodiscard]] Report report();
  /// In the child of a fork(): what was found is its parent's. What is known of memory stays.
  void begin_again();

 private:
  struct KnownSite {
    SiteCounts counts;
    Site site;
  };
  /// Without what is suppressed, and one per cause.
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
  std::vector<Finding> in_launch_;            // of launches that run, no part of findings_ yet
  std::map<std::string, std::size_t> known_;  // into findings_
  std::map<std::pair<std::string, std::uint64_t>, KnownSite> sites_;  // by kernel and vaddr
};

}  // namespace margay::check
