// `margay compare A B`: two profiles, or two commands, side by side.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/start.h"
#include "cli/watch/profiled_run.h"
#include "report/profile/compare/compare.h"
#include "report/profile/json/json.h"
#include "report/text_file.h"

namespace margay::cli {
namespace {

constexpr const char* kCompareFooter =
    R"(A and B are files that margay prof --json wrote, or commands in quotes, which are run.
With modelled time in both (margay prof --time) what changed is ranked by cycles.

Examples
  margay compare before.json after.json
  margay compare "./gemm 1" "./gemm 2"
  margay compare --time "./gemm 1" "./gemm 2"
  margay compare --kernel-a micro_tk --kernel-b Cijk a.json pytorch.json)";

struct CompareOptions {
  std::string a, b, kernel_a, kernel_b, json, html;
  bool time = false;
};

/// A file that exists, or a command for the shell.
Result<profile::Profile> profile_of(const std::string& what, bool timed) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(what, ignored) && what.ends_with(".json"))
    return profile::read_profile(what);
  if (what.ends_with(".json") && what.find(' ') == std::string::npos)
    return fail(ErrorCode::not_found, "there is no such profile", what,
                "margay prof --json FILE -- COMMAND writes one");
  ChildPlan plan;
  plan.command = {"/bin/sh", "-c", what};
  const Install install = MARGAY_TRY(find_runtime());
  fmt::print(stderr, "margay compare: running {}\n", what);
  ProfileOptions options;
  options.timed = timed;
  ProfiledRun run = MARGAY_TRY(run_profiled(install, options, std::move(plan)));
  if (run.end.shell_code() != 0)
    return fail(ErrorCode::system,
                fmt::format("\"{}\" ended with exit code {}", what, run.end.shell_code()));
  return std::move(run.profile);
}

Result<int> compare_both(const CompareOptions& options) {
  const profile::Profile a = MARGAY_TRY(profile_of(options.a, options.time));
  const profile::Profile b = MARGAY_TRY(profile_of(options.b, options.time));
  const profile::Pair pair =
      MARGAY_TRY(profile::choose_kernels(a, b, options.kernel_a, options.kernel_b));
  const profile::Comparison comparison = profile::compare(*pair.a, *pair.b, a.sources, b.sources);
  if (!options.json.empty())
    MARGAY_CHECK(report::write_text(profile::json_of(comparison, pair), options.json));
  if (!options.html.empty())
    MARGAY_CHECK(report::write_text(profile::html_of(comparison, pair), options.html));
  const std::string text = profile::text_of(comparison, pair, report::text_options(STDOUT_FILENO));
  std::fwrite(text.data(), 1, text.size(), stdout);
  return kExitOk;
}

}  // namespace

int compare_main(std::span<char*> arguments) {
  CLI::App app{"Shows two profiled kernels side by side.", "margay compare"};
  app.footer(kCompareFooter);
  CompareOptions options;
  app.add_option("A", options.a, "a profile, or a command")->required();
  app.add_option("B", options.b, "a profile, or a command")->required();
  app.add_option("--kernel-a", options.kernel_a, "the kernel of A with NAME in its name")
      ->type_name("NAME");
  app.add_option("--kernel-b", options.kernel_b, "the kernel of B with NAME in its name")
      ->type_name("NAME");
  app.add_flag("--time", options.time,
               "run commands with the model of time: the comparison begins with modelled cycles");
  app.add_option("--html", options.html,
                 "write the comparison to FILE: one page, no network needed")
      ->type_name("FILE");
  app.add_option("--json", options.json, "write the comparison to FILE, for programs")
      ->type_name("FILE");
  try {
    app.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? kExitOk : kExitUsage;
  }
  const Result<int> code = compare_both(options);
  return code ? *code : report("compare", code.error());
}

}  // namespace margay::cli
