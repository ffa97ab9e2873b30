// See profiled_run.h.
#include "cli/profiled_run.h"

#include <unistd.h>

#include <cstdlib>

#include "cli/start.h"
#include "cli/temporary_directory.h"
#include "observe/profile/json.h"

namespace margay::cli {

Result<ProfiledRun> run_profiled(const Install& install, const ProfileOptions& options,
                                 ChildPlan plan) {
  const TemporaryDirectory directory = MARGAY_TRY(TemporaryDirectory::create());
  const auto set = [&](const char* name, std::string value) {
    plan.environment.emplace_back(name, std::move(value));
  };
  set("LD_LIBRARY_PATH", library_path(install));
  set("MARGAY_PROFILE", "1");
  set("MARGAY_PROFILE_JSON", (directory.path() / "%p.json").string());
  set("MARGAY_PROFILE_KERNEL", options.kernel);
  set("MARGAY_PROFILE_TRACE", std::to_string(options.traced_workgroups));
  if (!options.mfma.empty()) set("MARGAY_MFMA", options.mfma);
  if (options.threads != 0) set("MARGAY_THREADS", std::to_string(options.threads));
  // A long launch shows how far it is, unless the user has said otherwise.
  if (isatty(STDERR_FILENO) != 0 && getenv("MARGAY_PROGRESS") == nullptr)
    set("MARGAY_PROGRESS", "1");

  ProfiledRun run;
  run.end = MARGAY_TRY(run_child(plan));
  for (const auto& file : files_by_process(directory.path())) {
    auto profile = profile::read_profile(file.string());
    if (profile)
      profile::merge(run.profile, *std::move(profile));
    else
      run.unreadable.push_back(std::move(profile).error());
  }
  return run;
}

}  // namespace margay::cli
