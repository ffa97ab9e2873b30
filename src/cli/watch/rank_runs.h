// Runs of one program under the checker that differ in their environment, handed out one by one to
// the ranks that a launcher (mpirun, srun) has started. Each rank has the same command line.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "cli/process/launcher.h"
#include "cli/watch/checked_run.h"
#include "ranks/rendezvous.h"

namespace margay::cli {

/// One run: what is added to the environment, and after how many seconds it hangs.
struct RunOrder {
  std::vector<std::pair<std::string, std::string>> environment;
  double limit_seconds = 0;
};
/// What is needed of it.
struct RunResult {
  ChildEnd end;
  check::Report report;
};

/// On this rank. An error if a report cannot be read, which must not count as a clean run.
[[nodiscard]] Result<RunResult> run_here(const Install& install, const CheckOptions& options,
                                         const std::vector<std::string>& command,
                                         const RunOrder& order, const std::atomic<bool>& stop);

/// Another rank's, one run at a time. For one thread.
class RemoteRuns {
 public:
  RemoteRuns(ranks::Connection connection, std::string name)
      : connection_(std::move(connection)), name_(std::move(name)) {}
  /// "rank 3 (node7)"
  [[nodiscard]] const std::string& name() const { return name_; }
  /// `lost`: whether the rank is, so that the run has to be repeated elsewhere.
  [[nodiscard]] Result<RunResult> run(const RunOrder& order, bool& lost);

 private:
  ranks::Connection connection_;
  std::string name_;
};

/// Rank 0: the other ranks of `launcher`, which run until this is destroyed.
class RankRuns {
 public:
  /// `jobs`: runs of a rank at the same time.
  [[nodiscard]] static Result<RankRuns> gather(const Launcher& launcher, unsigned jobs);
  [[nodiscard]] std::vector<RemoteRuns>& all() { return remotes_; }

 private:
  std::vector<ranks::Joined> ranks_;
  std::vector<RemoteRuns> remotes_;
};

/// Any other rank: runs what rank 0 asks for until that ends.
[[nodiscard]] Status serve_runs(const Launcher& launcher, const Install& install,
                                const CheckOptions& options,
                                const std::vector<std::string>& command);

}  // namespace margay::cli
