// `margay check -- CMD...`: runs any program with every launch watched. The runtime inside the
// program prints findings as they occur; this waits for the end, merges the reports of all
// processes of the program, and determines the exit code.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/ranks.h"
#include "cli/process/start.h"
#include "cli/watch/checked_run.h"
#include "report/check/json.h"
#include "report/check/report.h"
#include "report/check/suppressions.h"
#include "report/check/text.h"
#include "report/profile/json/json.h"

namespace margay::cli {
namespace {

struct Options {
  CheckOptions check;
  std::string tools = "all";
  std::string json, profile;
  int error_exit_code = 1;
  std::optional<unsigned> ranks;
};

constexpr const char* kFooter = R"(What the tools find
  memcheck    global, LDS and scratch access out of bounds, misaligned, or after free; leaks
  racecheck   waves that use the same LDS or global bytes with nothing that orders them, late
              completion of asynchronous loads and stores included
  initcheck   reads of registers, LDS and global bytes that nothing has written
  synccheck   barriers that some waves do not reach, deadlocks
  waitcheck   registers used before their load was waited for, missing wait states; as advice,
              waits and (with racecheck and synccheck) barriers that nothing needed in this run

Examples
  margay check -- ./gemm
  margay check --tool memcheck,racecheck --json report.json -- python3 train.py
  margay check --adversarial 7 -- ./gemm      results arrive as late as the ISA allows
  margay check --suppressions known.txt -- pytest tests/
  margay check --profile gemm.json -- ./gemm; margay prof --from gemm.json

Findings go to stderr, each line behind "=========": what is wrong, then who did it (wave, lane,
workgroup, instruction, source line), then a fix. Source lines need -g or -gline-tables-only, which
margay hipcc adds. Exit code: N of --error-exitcode if there was an error, otherwise the program's
own; notes and advice do not count. docs/check.md has the JSON's fields and the suppressions' form.)";

std::uint64_t seed_of(const std::string& word) {
  std::uint64_t seed = 1;
  const char* const end = word.data() + word.size();
  const auto [stop, code] = std::from_chars(word.data(), end, seed);
  if (!word.empty() && (code != std::errc{} || stop != end)) {
    throw CLI::ValidationError("--adversarial",
                               word + " is not a seed (a number from 0 to 2^64-1)");
  }
  return seed;
}

void declare(CLI::App& app, Options& options) {
  CheckOptions& check = options.check;
  app.add_option("--tool", options.tools,
                 "all (the default), or some of memcheck, racecheck, initcheck, synccheck, "
                 "waitcheck with commas between")
      ->type_name("LIST");
  app.add_option("--json", options.json, "write all findings to this file as JSON as well")
      ->type_name("FILE");
  app.add_option("--error-exitcode", options.error_exit_code,
                 "exit code if there was an error (default: 1)")
      ->check(CLI::Range(0, 255))
      ->type_name("N");
  app.add_option("--max-findings", check.max_findings,
                 "print at most N findings and count the rest (default: 100)")
      ->type_name("N");
  app.add_flag("--full", check.full,
               "show every frame of the library and every instruction of a finding, paths in full");
  app.add_option("--suppressions", check.suppressions,
                 "a file that says which findings are not wanted")
      ->type_name("FILE");
  app.add_option_function<std::vector<std::string>>(
         "--adversarial",
         [&check](const std::vector<std::string>& words) {
           check.adversarial = seed_of(words.empty() ? std::string{} : words[0]);
         },
         "deliver every result as late as the ISA allows; the seed chooses among the orders that "
         "are left (default: 1)")
      ->expected(0, 1)
      ->type_name("[SEED]");
  app.add_option("--profile", options.profile,
                 "profile the same run, and write it to FILE for margay prof --from FILE")
      ->type_name("FILE");
  app.add_flag("--leak-check", check.leaks, "report allocations that the program never freed");
  add_device_options(app, check.device, check.mfma, check.threads);
  add_ranks_option(app, options.ranks);
}

/// Invalid option values are reported before the program starts.
Status complete(Options& options) {
  options.check.tools = MARGAY_TRY(check::parse_tools(options.tools));
  if (!options.check.suppressions.empty()) {
    (void)MARGAY_TRY(check::read_suppressions(options.check.suppressions));
  }
  return {};
}

void say(const std::string& text) { fmt::print(stderr, "========= margay check: {}\n", text); }

std::uint64_t launches_of(const CheckedRun& run) {
  std::uint64_t launches = run.reports.merged.launches;
  for (const WatchedProcess& process : run.processes) launches += process.not_reported;
  return launches;
}

/// Whether some findings may only have been printed.
bool is_lost(const WatchedProcess& process) { return process.write_error != 0; }

/// How the program ended, if abnormally; then the closing line.
void print_end(const CheckedRun& run, const std::string& program, const CheckOptions& options) {
  const Reports& reports = run.reports;
  check::FindingPrinter printer(check::stderr_text_options(), options.max_findings);
  const std::string unseen = printer.findings(reports.not_printed);
  std::fwrite(unseen.data(), 1, unseen.size(), stderr);
  if (run.end.signal != 0) {
    say(fmt::format(
        "{} ended by {}{}", program, signal_text(run.end.signal),
        reports.count == 0 ? "; it left no report, so what is printed above is all" : ""));
  } else if (run.end.exit_code != 0) {
    say(fmt::format("{} ended with exit code {}", program, run.end.exit_code));
  }
  for (const Error& error : reports.unreadable) {
    say(fmt::format("the report of one process is lost: {}", error.what));
  }
  for (const WatchedProcess& process : run.processes) {
    if (const std::string text = process.text(); !text.empty()) say(text);
    if (options.leaks && !process.ended)
      say(
          fmt::format("process {} did not end by exit() or a return from main(): its memory was "
                      "not looked through for leaks",
                      process.id));
  }
  const bool nobody_knows =
      !reports.unreadable.empty() || std::ranges::any_of(run.processes, is_lost);
  if (nobody_knows) {
    say("what is printed above is all that is known of it");
    if (reports.count == 0) return;
  }
  // A launch that was refused is a finding of its own.
  if (launches_of(run) == 0 && reports.merged.findings.empty()) {
    if (run.end.signal != 0) return;
    say("no kernel was launched, so nothing was checked (does the program use HIP, and does it "
        "load "
        "Margay's libamdhip64 and not another one by its RPATH?)");
    return;
  }
  const std::string line = check::summary_line(reports.merged, check::stderr_text_options());
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int exit_code_of(const CheckedRun& run, int error_exit_code) {
  // A process also counts its errors itself, in case its report is lost.
  const bool has_errors =
      check::tally(run.reports.merged.findings).errors != 0 ||
      std::ranges::any_of(run.processes, [](const auto& process) { return process.errors != 0; });
  if (has_errors) return error_exit_code;
  // Without its report it is unknown whether the program was clean.
  const bool lost = !run.reports.unreadable.empty() || std::ranges::any_of(run.processes, is_lost);
  if (run.end.shell_code() == 0 && lost) return kExitFailed;
  return run.end.shell_code();
}

Status write_files(const Options& options, const CheckedRun& run) {
  if (!options.json.empty()) MARGAY_CHECK(check::write_report(run.reports.merged, options.json));
  if (options.profile.empty()) return {};
  for (const Error& error : run.unreadable_profiles)
    say(fmt::format("the profile of one process is lost: {}", error.what));
  if (run.profile.kernels.empty())
    return fail(ErrorCode::not_found, "there is no profile: no launch was counted",
                options.profile);
  MARGAY_CHECK(profile::write_profile(run.profile, options.profile));
  say(fmt::format("wrote {}; margay prof --from {} shows it", options.profile, options.profile));
  return {};
}

Result<int> check_program(const Options& options, std::span<char*> command) {
  const Install install = MARGAY_TRY(find_runtime());
  if (const auto worked = MARGAY_TRY(share_launches(install, options.ranks, options.check.threads)))
    return *worked;
  ChildPlan plan;
  plan.command.assign(command.begin(), command.end());
  // A long launch shows its progress, unless the user has disabled it.
  if (isatty(STDERR_FILENO) != 0 && getenv("MARGAY_PROGRESS") == nullptr) {
    plan.environment.emplace_back("MARGAY_PROGRESS", "1");
  }
  CheckOptions checks = options.check;
  checks.profile = !options.profile.empty();
  const CheckedRun run = MARGAY_TRY(run_checked(install, checks, std::move(plan)));
  print_end(run, command[0], options.check);
  const Status written = write_files(options, run);
  const int code = exit_code_of(run, options.error_exit_code);
  if (written) return code;
  const int failed = report("check", written.error());
  return code == 0 ? failed : code;
}

}  // namespace

int check_main(std::span<char*> arguments) {
  const CommandLine line = split_command(
      arguments, {.always = {"--device", "--tool", "--json", "--error-exitcode", "--max-findings",
                             "--suppressions", "--mfma", "--threads", "--ranks", "--profile"},
                  .if_number = {"--adversarial"}});
  CLI::App app{"Runs a HIP program or script and watches every kernel launch for mistakes.",
               "margay check"};
  app.footer(kFooter);
  Options options;
  declare(app, options);
  if (const auto code = read_own_words(app, line, "check")) return *code;
  if (const Status status = complete(options); !status) return report("check", status.error());
  const Result<int> code = check_program(options, line.command);
  return code ? *code : report("check", code.error());
}

}  // namespace margay::cli
