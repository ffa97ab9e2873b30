// See profiled_run.h.
#include "cli/watch/profiled_run.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/process/start.h"
#include "cli/process/temporary_directory.h"
#include "report/profile/json/json.h"

namespace margay::cli {

std::optional<std::vector<std::string>> read_source(const std::string& path) {
  // The names come from untrusted debug information.
  constexpr std::uintmax_t kLargest = 8 << 20;
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure) ||
      std::filesystem::file_size(path, failure) > kLargest || failure)
    return std::nullopt;
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

void read_profiles(const std::filesystem::path& directory, profile::Profile& all,
                   std::vector<Error>& unreadable) {
  for (const auto& file : files_by_process(directory)) {
    auto profile = profile::read_profile(file.string());
    if (profile)
      profile::merge(all, *std::move(profile));
    else
      unreadable.push_back(std::move(profile).error());
  }
  profile::keep_sources(all, read_source);
}

Result<ProfiledRun> run_profiled(const Install& install, const ProfileOptions& options,
                                 ChildPlan plan) {
  const TemporaryDirectory directory = MARGAY_TRY(TemporaryDirectory::create());
  const auto set = [&](const char* name, std::string value) {
    plan.environment.emplace_back(name, std::move(value));
  };
  set("LD_LIBRARY_PATH", library_path(install));
  if (const std::string path = python_path(install); !path.empty()) set("PYTHONPATH", path);
  set("MARGAY_PROFILE", "1");
  set("MARGAY_PROFILE_JSON", (directory.path() / "%p.json").string());
  const ProcessWatch watch = MARGAY_TRY(ProcessWatch::create(directory.path()));
  set("MARGAY_WATCH_TABLE", watch.path());
  set("MARGAY_PROFILE_KERNEL", options.kernel);
  set("MARGAY_PROFILE_TRACE", std::to_string(options.traced_workgroups));
  set("MARGAY_PROFILE_LAUNCHES", options.launches);
  set("MARGAY_PROFILE_WORKGROUPS", options.workgroups);
  set("MARGAY_PROFILE_TIME", options.timed ? "1" : "0");
  set("MARGAY_PROFILE_CLOCK", options.clock_mhz);
  set("MARGAY_PROFILE_ALL_WORKGROUPS", options.all_workgroups ? "1" : "0");
  set("MARGAY_PROFILE_WARM", options.warm ? "1" : "0");
  if (!options.device.empty()) set("MARGAY_DEVICE", options.device);
  if (!options.mfma.empty()) set("MARGAY_MFMA", options.mfma);
  if (options.threads != 0) set("MARGAY_THREADS", std::to_string(options.threads));
  // A long launch shows its progress, unless the user has disabled it.
  if (isatty(STDERR_FILENO) != 0 && getenv("MARGAY_PROGRESS") == nullptr)
    set("MARGAY_PROGRESS", "1");

  ProfiledRun run;
  run.end = MARGAY_TRY(run_child(plan));
  if (!plan.limit) watch.wait(options.timed ? "margay time" : "margay prof");
  run.processes = watch.processes();
  read_profiles(directory.path(), run.profile, run.unreadable);
  for (const WatchedProcess& process : run.processes)
    if (const std::string lacks = process.text(); !lacks.empty())
      run.profile.partial += (run.profile.partial.empty() ? "" : "; ") + lacks;
  return run;
}

}  // namespace margay::cli
