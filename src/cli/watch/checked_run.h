// Runs a program under the checker: settings for the runtime as environment variables, and the
// reports of its processes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/process/child.h"
#include "cli/process/install.h"
#include "cli/watch/watched_processes.h"
#include "report/check/finding.h"
#include "report/check/tools.h"
#include "report/profile/profile.h"

namespace margay::cli {

struct CheckOptions {
  check::ToolSet tools = check::ToolSet{}.set();
  std::uint64_t max_findings = 100;
  bool full = false;
  std::string suppressions = {};  ///< A file; empty for none.
  std::optional<std::uint64_t> adversarial = {};
  bool leaks = false;
  bool profile = false;     ///< The same run is profiled as well.
  std::string device = {};  ///< Empty: the runtime's default. The same for the next two.
  std::string mfma = {};
  unsigned threads = 0;
};

/// Merges the reports in a directory, in the order of their processes' ids.
struct Reports {
  check::Report merged;
  std::size_t count = 0;
  std::vector<Error> unreadable;
  /// The findings in `merged` from launches during which their process ended.
  std::vector<check::Finding> not_printed;
};
[[nodiscard]] Reports read_reports(const std::filesystem::path& directory);

struct CheckedRun {
  ChildEnd end;
  Reports reports;
  std::vector<WatchedProcess> processes;
  profile::Profile profile;  ///< If requested.
  std::vector<Error> unreadable_profiles;
};

/// Runs `plan` with the virtual device and the checker in its environment.
[[nodiscard]] Result<CheckedRun> run_checked(const Install& install, const CheckOptions& options,
                                             ChildPlan plan);

}  // namespace margay::cli
