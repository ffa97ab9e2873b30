// Runs a program under the profiler: settings for the runtime as environment variables, and the
// resulting profile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/process/child.h"
#include "cli/process/install.h"
#include "cli/watch/watched_processes.h"
#include "report/profile/profile.h"

namespace margay::cli {

struct ProfileOptions {
  std::string kernel = {};  ///< Only kernels with this in their name; empty: all.
  std::uint64_t traced_workgroups = 0;
  std::string launches = {}, workgroups = {};  ///< As profile/selection.h reads them; empty: all.
  std::string device = {};  ///< Empty: the runtime's default. The same for the next two.
  std::string mfma = {};
  unsigned threads = 0;
  bool timed = false;                         ///< With the model of time.
  std::string clock_mhz = {};                 ///< For it; empty: by the power model.
  bool all_workgroups = false, warm = false;  ///< See timing/time_config.h.
};

struct ProfiledRun {
  ChildEnd end;
  profile::Profile profile;  ///< Of all processes of the program.
  std::vector<Error> unreadable;
  std::vector<WatchedProcess> processes;
};

/// The lines of a source file, or nothing when it cannot be read.
[[nodiscard]] std::optional<std::vector<std::string>> read_source(const std::string& path);

/// Adds the profiles that processes have written to a directory, with their sources.
void read_profiles(const std::filesystem::path& directory, profile::Profile& all,
                   std::vector<Error>& unreadable);

/// Runs `plan` with the virtual device and the profiler in its environment.
[[nodiscard]] Result<ProfiledRun> run_profiled(const Install& install,
                                               const ProfileOptions& options, ChildPlan plan);

}  // namespace margay::cli
