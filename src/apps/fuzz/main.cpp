// `margay fuzz`: random programs, compiled for gfx942 and for the host; the virtual device and the
// host's processor must agree on every bit.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/fuzz/programs/print.h"
#include "apps/fuzz/ranks.h"
#include "apps/fuzz/runner/campaign.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/install.h"
#include "cli/process/launcher.h"
#include "cli/process/ranks.h"
#include "cli/process/temporary_directory.h"

namespace margay::fuzz {
namespace {

struct Options {
  CampaignSettings campaign;
  std::string keep, json;
  bool show = false;
};

constexpr const char* kFooter = R"(
A case is one generated function: integer and floating-point arithmetic, conversions, bit operations,
small vectors, arrays in registers, LDS and global memory, atomics, divergent control flow, calls. The
same source is compiled by the same compiler for gfx942 and for the host, runs with the same inputs for
96 work-items, and all results must be equal bit for bit (approximate instructions: within their ulp).
Seed and number of a case determine it, options of the compiler included.

On a failure the case is made small and printed with its inputs, both results and its instructions; the
source is left in the current directory (or in --keep). Exit code 1.

  margay fuzz                                    a minute of it
  mpirun -n 4 margay fuzz --seconds 600          the same on four ranks
  margay fuzz --seed 7 --cases 100000            until a failure, or this many
  margay fuzz --seed 7 --first 4711 --cases 1    one case again
  margay fuzz --seed 7 --first 4711 --show       its source, not run)";

/// One line that is redrawn, only on a terminal.
class Progress {
 public:
  void operator()(const CampaignResult& r) {
    if (!terminal_) return;
    fmt::print(stderr, "\r  {} cases, {:.1f} per second, {} wave instructions ", r.cases,
               static_cast<double>(r.cases) / r.seconds, r.wave_instructions);
    std::fflush(stderr);
    shown_ = true;
  }
  void end() const {
    if (shown_) fmt::print(stderr, "\r{:70}\r", "");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
};

Status write_json(const Options& o, const CampaignResult& r) {
  nlohmann::json j{{"seed", o.campaign.seed},
                   {"first", o.campaign.first},
                   {"cases", r.cases},
                   {"seconds", r.seconds},
                   {"cases_per_second", static_cast<double>(r.cases) / r.seconds},
                   {"wave_instructions", r.wave_instructions},
                   {"compilations_refused", r.refused},
                   {"compiler_crashes", r.crashed},
                   {"failed", r.failure.has_value()}};
  for (const auto& [mnemonic, count] : r.executions) j["executed"][std::string(mnemonic)] = count;
  if (r.failure) {
    j["failing_case"] = r.failure->number;
    j["source"] = print(r.failure->shrunk.program, 0);
    j["device_options"] = r.failure->options.device;
    if (r.failure->outcome.difference) {
      j["work_item"] = r.failure->outcome.difference->item;
      j["device"] = r.failure->outcome.difference->device;
      j["host"] = r.failure->outcome.difference->host;
    }
  }
  std::ofstream file(o.json);
  file << j.dump(2) << '\n';
  if (!file.flush()) return fail(ErrorCode::system, "cannot write " + o.json, "--json");
  return {};
}

/// The output of `margay asm` for the failing kernel.
std::string disassemble(const cli::Install& install, const std::filesystem::path& object) {
  const std::string command =
      fmt::format("'{}' asm '{}' k0 --no-source 2>&1 | sed -n '/^ *[0-9a-f]*  [svdgbf][a-z_]*_/p'",
                  (install.prefix / "bin" / "margay").string(), object.string());
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string out;
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) out += buffer;
  return out;
}

Status report_failure(const Options& o, Failure& failure, const std::filesystem::path& directory) {
  const auto install = MARGAY_TRY(cli::find_install());
  const Compiler compiler = MARGAY_TRY(Compiler::create(directory));
  const std::string source = print_all(std::span(&failure.shrunk.program, 1));
  const Compiled compiled = MARGAY_TRY(compiler.compile("failing", source, failure.options));
  failure.disassembly = disassemble(install, compiled.device);
  const std::string text = describe(failure, o.campaign.seed, compiler);
  fmt::print("{}", text);
  const auto file = std::filesystem::path(o.keep.empty() ? "." : o.keep) /
                    fmt::format("margay-fuzz-{}-{}.cpp", o.campaign.seed, failure.number);
  std::ofstream out(file);
  out << "/*\n" << text << "*/\n" << source;
  if (!out.flush()) return fail(ErrorCode::system, "cannot write " + file.string(), "--keep");
  fmt::print("\nreproducer: {}\n", file.string());
  return {};
}

Result<int> run(Options& o) {
  const auto temporary = MARGAY_TRY(cli::TemporaryDirectory::create());
  o.campaign.directory = o.keep.empty() ? temporary.path() : std::filesystem::path(o.keep);
  std::filesystem::create_directories(o.campaign.directory);
  const auto launcher = cli::launcher();
  if (o.campaign.jobs == 0)
    o.campaign.jobs = std::max(
        1u, launcher ? cli::threads_of_rank(*launcher) : std::thread::hardware_concurrency());
  if (launcher && o.campaign.coverage)
    return fail(ErrorCode::invalid_argument, "--coverage counts in one process", {},
                "leave out mpirun or srun, or set MARGAY_RANKS=off");
  if (launcher && launcher->rank != 0) {
    MARGAY_CHECK(serve_batches(*launcher, o.campaign));
    return cli::kExitOk;
  }
  std::optional<RemoteRanks> ranks;
  if (launcher) ranks = MARGAY_TRY(RemoteRanks::gather(*launcher, o.campaign.jobs));
  Progress progress;
  CampaignResult result =
      MARGAY_TRY(run_campaign(o.campaign, ranks ? ranks->batches() : std::vector<RemoteBatches>{},
                              [&](const CampaignResult& r) { progress(r); }));
  progress.end();
  fmt::print("{} cases agree, seed {}, first {}: {:.1f} s, {:.1f} cases/s, {} wave instructions\n",
             result.cases, o.campaign.seed, o.campaign.first, result.seconds,
             static_cast<double>(result.cases) / result.seconds, result.wave_instructions);
  if (result.refused != 0)
    fmt::print("{} times the compiler refused the chosen options; repeated with -O1\n",
               result.refused);
  if (result.crashed != 0)
    fmt::print("{} cases left out: the compiler crashes on them\n", result.crashed);
  if (o.campaign.coverage) fmt::print("\n{}", coverage_text(result.executions));
  if (!o.json.empty()) MARGAY_CHECK(write_json(o, result));
  if (!result.failure) return cli::kExitOk;
  fmt::print("\n");
  MARGAY_CHECK(report_failure(o, *result.failure, o.campaign.directory));
  return cli::kExitFailed;
}

int fuzz_main(int argc, char** argv) {
  Options o;
  o.campaign.jobs = 0;  // one per core
  CLI::App app{"Differential fuzzing: random programs on the virtual device and on the host.",
               "margay fuzz"};
  app.footer(kFooter);
  bool no_shrink = false;
  app.add_option("--seed", o.campaign.seed, "of the whole run")->capture_default_str();
  app.add_option("--cases", o.campaign.cases, "how many to run");
  app.add_option("--seconds", o.campaign.seconds, "how long to run (default: 60, without --cases)");
  app.add_option("--first", o.campaign.first, "number of the first case")->capture_default_str();
  app.add_option("--jobs", o.campaign.jobs, "host threads (default: one per core)")
      ->check(CLI::Range(1u, 1024u));
  app.add_option("--keep", o.keep, "leave sources, code objects and reproducers in this directory");
  app.add_option("--json", o.json, "also write the figures to this file");
  app.add_flag("--no-shrink", no_shrink, "report a failing case as it was generated");
  app.add_flag("--coverage", o.campaign.coverage,
               "print which instructions ran how often, and which of the executor's never");
  app.add_flag("--show", o.show, "print the sources of the cases instead of running them");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::kExitOk : cli::kExitUsage;
  }
  o.campaign.shrink = !no_shrink;
  if (o.show) {
    for (std::uint64_t n = 0; n < o.campaign.cases.value_or(1); ++n)
      fmt::print("{}\n", print(case_program(o.campaign.seed, o.campaign.first + n), n));
    return cli::kExitOk;
  }
  if (!o.campaign.cases && !o.campaign.seconds) o.campaign.seconds = 60;
  const Result<int> code = run(o);
  return code ? *code : cli::report("fuzz", code.error());
}

}  // namespace
}  // namespace margay::fuzz

int main(int argc, char** argv) { return margay::fuzz::fuzz_main(argc, argv); }
