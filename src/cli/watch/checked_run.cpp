// See checked_run.h.
#include "cli/watch/checked_run.h"

#include <algorithm>

#include "cli/process/start.h"
#include "cli/process/temporary_directory.h"
#include "cli/watch/profiled_run.h"
#include "report/check/json.h"
#include "report/check/report.h"

namespace margay::cli {
namespace {

namespace fs = std::filesystem;

}  // namespace

Reports read_reports(const fs::path& directory) {
  Reports reports;
  for (const fs::path& file : files_by_process(directory)) {
    auto report = check::read_report(file.string());
    if (!report) {
      reports.unreadable.push_back(std::move(report).error());
      continue;
    }
    ++reports.count;
    // Advice comes after the errors and notes.
    const auto advice =
        std::ranges::find(report->findings, check::Severity::advice, &check::Finding::severity);
    const auto first =
        advice - std::min<std::ptrdiff_t>(advice - report->findings.begin(),
                                          static_cast<std::ptrdiff_t>(report->in_launch));
    reports.not_printed.insert(reports.not_printed.end(), first, advice);
    check::merge(reports.merged, *std::move(report));
  }
  return reports;
}

Result<CheckedRun> run_checked(const Install& install, const CheckOptions& options,
                               ChildPlan plan) {
  const TemporaryDirectory directory = MARGAY_TRY(TemporaryDirectory::create());
  const auto set = [&](const char* name, std::string value) {
    plan.environment.emplace_back(name, std::move(value));
  };
  set("LD_LIBRARY_PATH", library_path(install));
  if (const std::string path = python_path(install); !path.empty()) set("PYTHONPATH", path);
  set("MARGAY_CHECK", check::list_of(options.tools));
  set("MARGAY_CHECK_JSON", (directory.path() / "%p.json").string());
  const ProcessWatch watch = MARGAY_TRY(ProcessWatch::create(directory.path()));
  set("MARGAY_WATCH_TABLE", watch.path());
  set("MARGAY_CHECK_MAX", std::to_string(options.max_findings));
  if (options.full) set("MARGAY_CHECK_FULL", "1");
  if (!options.suppressions.empty()) {
    // The program may change its directory before it launches anything.
    set("MARGAY_CHECK_SUPPRESSIONS", fs::absolute(options.suppressions).string());
  }
  if (options.adversarial) {
    set("MARGAY_CHECK_ADVERSARIAL", std::to_string(*options.adversarial));
  }
  if (options.leaks) set("MARGAY_CHECK_LEAKS", "1");
  const TemporaryDirectory profiles = MARGAY_TRY(TemporaryDirectory::create());
  if (options.profile) {
    set("MARGAY_PROFILE", "1");
    set("MARGAY_PROFILE_JSON", (profiles.path() / "%p.json").string());
  }
  if (!options.device.empty()) set("MARGAY_DEVICE", options.device);
  if (!options.mfma.empty()) set("MARGAY_MFMA", options.mfma);
  if (options.threads != 0) set("MARGAY_THREADS", std::to_string(options.threads));

  CheckedRun run;
  run.end = MARGAY_TRY(run_child(plan));
  // A program with a time limit has been killed with all its children.
  if (!plan.limit) watch.wait("========= margay check");
  run.processes = watch.processes();
  run.reports = read_reports(directory.path());
  if (options.profile) read_profiles(profiles.path(), run.profile, run.unreadable_profiles);
  return run;
}

}  // namespace margay::cli
