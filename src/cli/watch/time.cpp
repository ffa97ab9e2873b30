// `margay time -- CMD...`: runs any program and says how long its kernels would take on the device,
// by the model of time.
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/ranks.h"
#include "cli/process/start.h"
#include "cli/watch/profiled_run.h"
#include "report/profile/time/att.h"
#include "report/profile/time/measured.h"
#include "report/profile/time/time_json.h"
#include "report/profile/time/time_text.h"
#include "report/text_file.h"

namespace margay::cli {
namespace {

struct Options {
  ProfileOptions profile;
  std::string json, att, clock = "boost", measured;
  bool full = false, quiet = false;
  std::optional<unsigned> ranks;
};

constexpr const char* kFooter = R"(Examples
  margay time -- ./gemm
  margay time --kernel micro_tk --json time.json -- python3 test.py
  margay time --device mi300x --clock 1500 -- ./gemm

Every figure is modelled: instructions are replayed as they were executed, against issue ports, LDS,
caches and memory of the device (docs/time.md). Of each kernel and launch size the first launch is
timed. "boost" is the clock of a short kernel, "sustained" the one that the device holds within its
power when it runs for seconds; --clock MHZ fixes both. Exit code: the program's own.)";

/// "boost" and "sustained" are both reported; a number replaces them.
std::string clock_reason(const std::string& text) {
  if (text == "boost" || text == "sustained") return {};
  const bool is_number = !text.empty() && text.size() < 5 &&
                         text.find_first_not_of("0123456789") == text.npos &&
                         std::stoi(text) >= 100;
  return is_number ? std::string{} : "give boost, sustained, or MHz from 100 to 9999";
}

void declare(CLI::App& app, Options& options) {
  add_device_options(app, options.profile.device, options.profile.mfma, options.profile.threads);
  add_ranks_option(app, options.ranks);
  add_whole_pages_option(app);
  app.add_option("--kernel", options.profile.kernel,
                 "time only kernels that have NAME in their name, as the report prints it, or that "
                 "compute NAME: an operation of JAX, or FILE:LINE")
      ->type_name("NAME");
  app.add_option("--clock", options.clock,
                 "which time comes first, boost (default) or sustained; or MHz, for both")
      ->check(clock_reason)
      ->type_name("CLOCK");
  app.add_flag("--all-workgroups", options.profile.all_workgroups,
               "replay every workgroup of large grids, not a sample: slower");
  app.add_flag("--warm", options.profile.warm,
               "L2 and the Infinity Cache have what a launch before left there, as in a loop");
  app.add_option(
         "--measured", options.measured,
         "what the device takes, such as 118us: the report says how far the model is off; for "
         "one kernel, see --kernel")
      ->check([](const std::string& text) {
        const Result<double> us = profile::parse_microseconds(text);
        return us ? std::string{} : us.error().text();
      })
      ->type_name("TIME");
  app.add_option("--json", options.json, "write the times to FILE, for programs")
      ->type_name("FILE");
  app.add_option("--att", options.att,
                 "write cycles by instruction to FILE, in the columns of AMD's thread-trace "
                 "statistics")
      ->type_name("FILE");
  app.add_flag("--full", options.full,
               "every source line that takes half a percent, and every change that was tried");
  app.add_flag("--quiet", options.quiet, "print no report");
}

/// Of the one kernel that has a time.
Result<std::string> measured(const std::string& text, const profile::Profile& profile) {
  const double us = MARGAY_TRY(profile::parse_microseconds(text));
  const profile::KernelProfile* timed = nullptr;
  std::size_t count = 0;
  for (const profile::KernelProfile& kernel : profile.kernels) {
    if (!kernel.time) continue;
    timed = &kernel;
    ++count;
  }
  if (count != 1)
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("--measured is for one kernel and launch size, and {} were timed", count), {},
        "choose one with --kernel NAME");
  return profile::measured_text(*timed, us);
}

Status show(const Options& options, const profile::Profile& profile) {
  if (!options.json.empty())
    MARGAY_CHECK(report::write_text(profile::time_document(profile), options.json));
  if (!options.att.empty()) MARGAY_CHECK(report::write_text(profile::att_of(profile), options.att));
  if (options.quiet) return {};
  const std::string text = profile::time_text(
      profile, report::text_options(STDOUT_FILENO), options.full,
      options.clock == "sustained" ? profile::TimeClock::sustained : profile::TimeClock::boost);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!options.measured.empty()) {
    const std::string compared = MARGAY_TRY(measured(options.measured, profile));
    std::fwrite(compared.data(), 1, compared.size(), stdout);
  }
  return {};
}

Result<int> time_program(Options& options, std::span<char*> command) {
  const Install install = MARGAY_TRY(find_runtime());
  if (const auto worked =
          MARGAY_TRY(share_launches(install, options.ranks, options.profile.threads)))
    return *worked;
  MARGAY_CHECK(report::check_writable(options.json));
  MARGAY_CHECK(report::check_writable(options.att));
  options.profile.timed = true;
  if (options.clock != "boost" && options.clock != "sustained")
    options.profile.clock_mhz = options.clock;
  ChildPlan plan;
  plan.command.assign(command.begin(), command.end());
  const ProfiledRun run = MARGAY_TRY(run_profiled(install, options.profile, std::move(plan)));
  if (run.end.signal != 0)
    fmt::print(stderr, "margay time: {} ended by {}\n", command[0], signal_text(run.end.signal));
  for (const Error& error : run.unreadable)
    fmt::print(stderr, "margay time: the times of one process are lost: {}\n", error.what);
  if (run.profile.kernels.empty()) {
    fmt::print(stderr,
               "margay time: no kernel{} was launched to its end, so there is nothing to time\n",
               options.profile.kernel.empty()
                   ? std::string{}
                   : fmt::format(" with \"{}\" in its name", options.profile.kernel));
    if (!options.json.empty())
      MARGAY_CHECK(report::write_text(profile::time_document(run.profile), options.json));
    return run.end.shell_code() != 0 ? run.end.shell_code() : kExitFailed;
  }
  MARGAY_CHECK(show(options, run.profile));
  return run.end.shell_code() == 0 && !run.unreadable.empty() ? kExitFailed : run.end.shell_code();
}

}  // namespace

int time_main(std::span<char*> arguments) {
  const CommandLine line =
      split_command(arguments, {.always = {"--device", "--kernel", "--clock", "--measured",
                                           "--json", "--att", "--mfma", "--threads", "--ranks"}});
  CLI::App app{"Runs a HIP program or script and models how long its kernels take.", "margay time"};
  app.footer(kFooter);
  Options options;
  declare(app, options);
  if (const auto code = read_own_words(app, line, "time", true)) return *code;
  const Result<int> code = time_program(options, line.command);
  return code ? *code : report("time", code.error());
}

}  // namespace margay::cli
