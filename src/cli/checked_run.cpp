// See checked_run.h.
#include "cli/checked_run.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "cli/start.h"
#include "observe/check/json.h"
#include "observe/check/report.h"

namespace margay::cli {
namespace {

namespace fs = std::filesystem;

/// The process id in "1234.json"; 0 where there is none.
unsigned long process_of(const fs::path& file) {
  const std::string name = file.stem().string();
  unsigned long process = 0;
  std::from_chars(name.data(), name.data() + name.size(), process);
  return process;
}

}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::create() {
  std::error_code failure;
  const fs::path parent = fs::temp_directory_path(failure);
  std::string name = (parent / "margay-check-XXXXXX").string();
  if (failure || mkdtemp(name.data()) == nullptr) {
    return fail(ErrorCode::system,
                fmt::format("a temporary directory cannot be made: {}",
                            failure ? failure.message() : std::strerror(errno)),
                name, "set TMPDIR to a directory that can be written to");
  }
  return TemporaryDirectory(name);
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Reports read_reports(const fs::path& directory) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files, [](const fs::path& a, const fs::path& b) {
    return process_of(a) != process_of(b) ? process_of(a) < process_of(b) : a < b;
  });
  Reports reports;
  for (const fs::path& file : files) {
    auto report = check::read_report(file.string());
    if (!report) {
      reports.unreadable.push_back(std::move(report).error());
      continue;
    }
    ++reports.count;
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
  set("MARGAY_CHECK", check::list_of(options.tools));
  set("MARGAY_CHECK_JSON", (directory.path() / "%p.json").string());
  set("MARGAY_CHECK_MAX", std::to_string(options.max_findings));
  if (!options.suppressions.empty()) {
    // The program may change its directory before it launches anything.
    set("MARGAY_CHECK_SUPPRESSIONS", fs::absolute(options.suppressions).string());
  }
  if (options.adversarial) {
    set("MARGAY_CHECK_ADVERSARIAL", std::to_string(*options.adversarial));
  }
  if (options.leaks) set("MARGAY_CHECK_LEAKS", "1");
  if (!options.mfma.empty()) set("MARGAY_MFMA", options.mfma);
  if (options.threads != 0) set("MARGAY_THREADS", std::to_string(options.threads));

  CheckedRun run;
  run.end = MARGAY_TRY(run_child(plan));
  run.reports = read_reports(directory.path());
  return run;
}

}  // namespace margay::cli
