// `margay prof -- CMD...`: runs any program with every launch profiled, and prints the profile of
// its kernels.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/launcher.h"
#include "cli/process/ranks.h"
#include "cli/process/start.h"
#include "cli/watch/profiled_run.h"
#include "report/profile/analysis/advice.h"
#include "report/profile/json/json.h"
#include "report/profile/page/html.h"
#include "report/profile/selection.h"
#include "report/profile/text/text.h"
#include "report/profile/text/trace.h"
#include "report/text_file.h"

namespace margay::cli {
namespace {

struct Options {
  ProfileOptions profile;
  std::string json, html, trace, from;
  bool full = false, quiet = false;
  std::optional<unsigned> ranks;
};

constexpr const char* kFooter = R"(Examples
  margay prof -- ./gemm
  margay prof --kernel micro_tk --html report.html -- python3 test.py
  margay prof --trace timeline.json -- ./gemm     (open it in ui.perfetto.dev)
  margay prof --json a.json -- ./gemm; margay prof --from a.json --full
  margay compare a.json b.json

Every counter is exact and comes from one run. "needs at least" is how long each part of the device
would take at its peak rate; --time and margay time model how long the kernel takes. Counters of the caches hold
for a stated order of workgroups and waves, which docs/prof.md describes next to every counter and
formula. Source lines need -g or -gline-tables-only, which margay hipcc adds. Exit code: the program's
own.)";

/// Why it cannot be; empty when it can.
std::string reason(const Result<profile::Selection>& selection) {
  return selection ? std::string{} : selection.error().text();
}

void declare(CLI::App& app, Options& options) {
  app.add_option(
         "--kernel", options.profile.kernel,
         "profile only kernels that have NAME in their name, as the report prints it, or that "
         "compute NAME: an operation of JAX, or FILE:LINE")
      ->type_name("NAME");
  app.add_option("--json", options.json, "write the whole profile to FILE, for programs")
      ->type_name("FILE");
  app.add_option("--html", options.html, "write a report to FILE: one page, no network needed")
      ->type_name("FILE");
  app.add_option("--trace", options.trace,
                 "write a timeline of the first workgroups to FILE, for ui.perfetto.dev")
      ->type_name("FILE");
  app.add_option("--trace-workgroups", options.profile.traced_workgroups,
                 "number of workgroups in the timeline (default: 2)")
      ->type_name("N");
  app.add_option("--launches", options.profile.launches,
                 "count only these launches of each kernel: 3, or 1,4-6")
      ->check([](const std::string& text) { return reason(profile::parse_numbers(text, 1)); })
      ->type_name("LIST");
  app.add_option("--workgroups", options.profile.workgroups,
                 "count only a sample of each launch's workgroups, the first 64 or 100-163, and "
                 "scale up from it")
      ->check([](const std::string& text) { return reason(profile::parse_sample(text)); })
      ->type_name("N|RANGE");
  app.add_option("--from", options.from, "show the profile in FILE instead of running a program")
      ->type_name("FILE");
  app.add_flag("--time", options.profile.timed,
               "also model how long each kernel takes (docs/time.md); several times slower");
  app.add_flag("--full", options.full,
               "also every line, instruction, metric with its formula, and counter");
  app.add_flag("--quiet", options.quiet, "print no report");
  add_device_options(app, options.profile.device, options.profile.mfma, options.profile.threads);
  add_ranks_option(app, options.ranks);
  add_whole_pages_option(app);
}

/// Files and the screen.
Status show(const Options& options, const profile::Profile& profile) {
  if (!options.json.empty()) MARGAY_CHECK(profile::write_profile(profile, options.json));
  if (!options.html.empty()) {
    MARGAY_CHECK(report::write_text(profile::html_of(profile, read_source, profile::advice_for),
                                    options.html));
    fmt::print(stderr, "margay prof: wrote {}\n", options.html);
  }
  if (!options.trace.empty()) {
    MARGAY_CHECK(report::write_text(profile::trace_of(profile), options.trace));
    fmt::print(stderr, "margay prof: wrote {}; open it in ui.perfetto.dev\n", options.trace);
  }
  if (options.quiet) return {};
  const std::string text =
      profile::text_of(profile, {report::text_options(STDOUT_FILENO), options.full});
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

Result<int> profile_program(const Options& options, std::span<char*> command) {
  const Install install = MARGAY_TRY(find_runtime());
  if (const auto worked =
          MARGAY_TRY(share_launches(install, options.ranks, options.profile.threads)))
    return *worked;
  for (const std::string* const file : {&options.json, &options.html, &options.trace})
    MARGAY_CHECK(report::check_writable(*file));
  ChildPlan plan;
  plan.command.assign(command.begin(), command.end());
  const ProfiledRun run = MARGAY_TRY(run_profiled(install, options.profile, std::move(plan)));
  if (run.end.signal != 0)
    fmt::print(stderr, "margay prof: {} ended by {}\n", command[0], signal_text(run.end.signal));
  for (const Error& error : run.unreadable)
    fmt::print(stderr, "margay prof: the profile of one process is lost: {}\n", error.what);
  if (run.profile.kernels.empty() && run.end.signal != 0) {
    fmt::print(stderr, "margay prof: it left no profile: no launch{} had ended\n",
               options.profile.kernel.empty()
                   ? std::string{}
                   : fmt::format(" of a kernel with \"{}\" in its name", options.profile.kernel));
    if (!run.profile.partial.empty()) fmt::print(stderr, "margay prof: {}\n", run.profile.partial);
    return run.end.shell_code();
  }
  if (run.profile.kernels.empty()) {
    fmt::print(
        stderr,
        "margay prof: no kernel{} was launched, so there is nothing to show (does the program "
        "use HIP, and does it load Margay's libamdhip64 and not another one by its RPATH?)\n",
        options.profile.kernel.empty()
            ? std::string{}
            : fmt::format(" with \"{}\" in its name", options.profile.kernel));
    if (!options.profile.launches.empty() || !options.profile.workgroups.empty())
      fmt::print(stderr, "margay prof: or none of the launches and workgroups that were chosen\n");
    return run.end.shell_code() != 0 ? run.end.shell_code() : kExitFailed;
  }
  MARGAY_CHECK(show(options, run.profile));
  const bool lost = !run.unreadable.empty() ||
                    std::ranges::any_of(run.processes, [](const WatchedProcess& process) {
                      return process.write_error != 0;
                    });
  return run.end.shell_code() == 0 && lost ? kExitFailed : run.end.shell_code();
}

Result<int> profile_or_show(const Options& options, std::span<char*> command) {
  if (options.from.empty()) return profile_program(options, command);
  if (!command.empty())
    return fail(ErrorCode::invalid_argument,
                "--from shows an existing profile, so no program can be run", {},
                "leave out --from, or the command");
  if (const auto launched = launcher(); launched && launched->rank != 0) return kExitOk;
  MARGAY_CHECK(show(options, MARGAY_TRY(profile::read_profile(options.from))));
  return kExitOk;
}

}  // namespace

int prof_main(std::span<char*> arguments) {
  const CommandLine line = split_command(
      arguments,
      {.always = {"--device", "--kernel", "--json", "--html", "--trace", "--trace-workgroups",
                  "--launches", "--workgroups", "--from", "--mfma", "--threads", "--ranks"}});
  CLI::App app{"Runs a HIP program or script and counts what its kernels do.", "margay prof"};
  app.footer(kFooter);
  Options options;
  declare(app, options);
  // A profile that is shown again needs no command.
  const bool shows = std::ranges::any_of(
      line.own, [](const char* word) { return std::string_view(word).starts_with("--from"); });
  if (const auto code = read_own_words(app, line, "prof", !shows)) return *code;
  if (!options.trace.empty() && options.profile.traced_workgroups == 0)
    options.profile.traced_workgroups = 2;
  const Result<int> code = profile_or_show(options, line.command);
  return code ? *code : report("prof", code.error());
}

}  // namespace margay::cli
