// `margay mutate -- CMD...`: would the checker detect missing synchronisation in a program? Runs
// the program once unchanged, then once for each executed wait, barrier and fence, with that one
// removed or weakened.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/launcher.h"
#include "cli/process/ranks.h"
#include "cli/process/start.h"
#include "cli/watch/checked_run.h"
#include "cli/watch/mutation.h"
#include "cli/watch/rank_runs.h"
#include "report/check/report.h"
#include "report/check/suppressions.h"
#include "report/check/text.h"

namespace margay::cli {
namespace {

constexpr double kTimeFactor = 10;
constexpr double kTimeExtra = 10;  // seconds

struct Options {
  CheckOptions check;
  std::string kernel;
  std::string json;
  unsigned jobs = 0;  ///< 0: two, if the rank has as many cores.
  bool keep_going = false;
  double timeout = 0;  ///< Seconds; 0: from the clean run.
};

constexpr const char* kFooter =
    R"(Runs COMMAND under margay check once as it is. Then, for each s_waitcnt, s_barrier and fence
(buffer_wbl2, buffer_inv) that ran, it runs COMMAND again with the instruction removed (s_nop), and for
each count of an s_waitcnt with that count weaker by one. It says of each such mutant who noticed:
  killed by TOOL KIND     the checker found an error that the unchanged program does not have
  killed by hang          it did not end in time (--timeout)
  only the program's own result   the checker was silent, but the exit code is another one
  equivalent in this run   nothing noticed, and nothing depended on it in the clean run; with the reason
  SURVIVED, though something depended on it

Examples
  margay mutate -- ./gemm --m 256 --n 256 --k 64
  margay mutate --kernel 'micro_*' --json mutants.json -- ./gemm
  mpirun -n 4 margay mutate -- ./gemm --m 256 --n 256 --k 64

Under mpirun or srun each rank runs mutants (docs/clusters.md).
Choose small sizes: the program runs once per mutant. Exit code: 0 if every mutant was killed or is
equivalent, otherwise 1. A program that has errors or fails already is not mutated, unless you say
--keep-going: then only errors count that the unchanged program does not have.)";

void declare(CLI::App& app, Options& options) {
  app.add_option(
         "--kernel", options.kernel,
         "only waits, barriers and fences of this kernel (a name; * and ? as in file names)")
      ->type_name("GLOB");
  app.add_option("--jobs", options.jobs, "mutants that run at the same time on a rank (default: 2)")
      ->check(CLI::Range(1u, 256u))
      ->type_name("N");
  app.add_option("--json", options.json, "write the result to this file as JSON as well")
      ->type_name("FILE");
  app.add_option("--timeout", options.timeout,
                 "seconds after which a mutant hangs (default: ten times the clean run, and ten)")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
  app.add_flag("--keep-going", options.keep_going,
               "go on though the unchanged program fails or has errors");
  app.add_option("--threads", options.check.threads,
                 "host threads of each run (default: the cores divided among the jobs)")
      ->check(CLI::Range(1u, 4096u))
      ->type_name("N");
}

std::atomic<bool> interrupted = false;

void interrupt(int) { interrupted = true; }

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = interrupt;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

/// A progress line on stderr: redrawn on a terminal, otherwise printed periodically.
class Progress {
 public:
  explicit Progress(std::size_t all) : all_(all) {}
  ~Progress() {
    if (drawn_) fmt::print(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t done, std::size_t killed) {
    const auto now = std::chrono::steady_clock::now();
    const double elapsed = std::chrono::duration<double>(now - begin_).count();
    const double left =
        done == 0 ? 0 : elapsed * static_cast<double>(all_ - done) / static_cast<double>(done);
    const std::string line =
        fmt::format("{} of {} mutants run, {} killed, {:.0f} s left", done, all_, killed, left);
    if (is_terminal_) {
      fmt::print(stderr, "\r\x1b[K{}", line);
      drawn_ = true;
    } else if (now - last_ > std::chrono::seconds(30)) {
      fmt::print(stderr, "margay mutate: {}\n", line);
      last_ = now;
    }
  }

 private:
  std::size_t all_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = begin_;
  bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  bool drawn_ = false;
};

/// State shared by the runs of the mutants.
struct Job {
  Install install;
  Options options;
  std::vector<std::string> command;
  CheckedRun clean;
  Errors clean_errors;
  std::vector<check::Site> sites;
  std::vector<Mutant> mutants;
};

RunOrder order_of(const Job& job, const Mutant& mutant) {
  const double from_clean_run = job.clean.end.seconds * kTimeFactor + kTimeExtra;
  return {.environment = {{"MARGAY_MUTATE", mutation_setting(job.sites[mutant.site], mutant)},
                          {"MARGAY_RANKS", "off"}},
          .limit_seconds = job.options.timeout > 0 ? job.options.timeout : from_clean_run};
}

/// All mutants, each run once, by several threads, of which some wait for other ranks.
class Mutants {
 public:
  explicit Mutants(const Job& job)
      : job_(job), outcomes_(job.mutants.size()), progress_(job.mutants.size()) {
    for (std::size_t n = 0; n < job.mutants.size(); ++n) left_.push_back(n);
  }

  /// Until none is left. `run` has its second argument true when it cannot run any more.
  template <typename Run>
  void work(Run run) {
    std::unique_lock lock(mutex_);
    while (true) {
      // One that another thread has may come back.
      while (left_.empty() && running_ != 0 && !stops())
        changed_.wait_for(lock, std::chrono::seconds(1));
      if (left_.empty() || stops()) return;
      const std::size_t mine = left_.front();
      left_.pop_front();
      ++running_;
      lock.unlock();
      const Mutant& mutant = job_.mutants[mine];
      bool lost = false;
      auto result = run(order_of(job_, mutant), lost);
      lock.lock();
      --running_;
      changed_.notify_all();
      if (lost) {
        left_.push_front(mine);
        return;
      }
      if (!result) {
        failure_ = std::move(result).error();
        return;
      }
      const Outcome outcome = judge(job_.sites[mutant.site], mutant, job_.clean.end,
                                    job_.clean_errors, result->end, result->report);
      killed_ += outcome.fate == Fate::killed || outcome.fate == Fate::hang ? 1 : 0;
      outcomes_[mine] = outcome;
      progress_.show(++done_, killed_);
    }
  }

  [[nodiscard]] Result<std::vector<Outcome>> all() {
    if (interrupted) return fail(ErrorCode::system, "interrupted");
    if (failure_) return std::unexpected(*failure_);
    std::vector<Outcome> all;
    for (std::optional<Outcome>& outcome : outcomes_) all.push_back(*std::move(outcome));
    return all;
  }

 private:
  [[nodiscard]] bool stops() const { return failure_ || interrupted; }

  const Job& job_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<std::size_t> left_;
  std::size_t running_ = 0, done_ = 0, killed_ = 0;
  std::vector<std::optional<Outcome>> outcomes_;
  std::optional<Error> failure_;
  Progress progress_;
};

Result<std::vector<Outcome>> run_mutants(const Job& job, std::vector<RemoteRuns>& remotes) {
  Mutants mutants(job);
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < job.options.jobs; ++i)
      threads.emplace_back([&] {
        mutants.work([&](const RunOrder& order, bool&) {
          return run_here(job.install, job.options.check, job.command, order, interrupted);
        });
      });
    for (RemoteRuns& remote : remotes)
      threads.emplace_back([&] {
        mutants.work([&](const RunOrder& order, bool& lost) {
          auto result = remote.run(order, lost);
          if (lost && !interrupted)
            fmt::print(stderr, "margay mutate: {} was lost: {}; its mutant runs again elsewhere\n",
                       remote.name(), result.error().what);
          return result;
        });
      });
  }
  return mutants.all();
}

/// The unchanged program must be worth mutating.
Status judge_clean_run(const Job& job) {
  const check::Report& report = job.clean.reports.merged;
  const ChildEnd& end = job.clean.end;
  if (!job.clean.reports.unreadable.empty()) {
    return std::unexpected(job.clean.reports.unreadable.front());
  }
  if (report.launches == 0) {
    return fail(ErrorCode::not_found,
                fmt::format("{} launched no kernel under margay check{}", job.command[0],
                            end.signal != 0 ? ": it ended by " + signal_text(end.signal) : ""),
                {}, "see margay check -- COMMAND");
  }
  if (job.options.keep_going) return {};
  if (const std::uint64_t errors = check::tally(report.findings).errors; errors != 0) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("the unchanged program already has {}", check::counted(errors, "error")), {},
        "margay check -- COMMAND shows them; --keep-going mutates it anyway");
  }
  if (end.shell_code() != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the unchanged program already fails: {}",
                            end.signal != 0 ? signal_text(end.signal)
                                            : fmt::format("exit code {}", end.exit_code)),
                {}, "--keep-going mutates it anyway");
  }
  return {};
}

/// Sites of the kernels that the user selects, in program order.
std::vector<check::Site> chosen_sites(const check::Report& report, const std::string& kernel) {
  std::vector<check::Site> sites;
  for (const check::Site& site : report.sites) {
    if (kernel.empty() || kernel == site.kernel ||
        check::function_matches(kernel, demangled_kernel(site.kernel))) {
      sites.push_back(site);
    }
  }
  std::ranges::sort(sites, [](const check::Site& a, const check::Site& b) {
    return a.kernel != b.kernel ? a.kernel < b.kernel : a.vaddr < b.vaddr;
  });
  return sites;
}

Status write_json(const Job& job, std::span<const Outcome> outcomes) {
  if (job.options.json.empty()) return {};
  const std::string text = mutation_json(job.sites, outcomes, job.command);
  std::FILE* file = std::fopen(job.options.json.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file != nullptr && std::fclose(file) == 0;
  if (written && closed) return {};
  return fail(ErrorCode::system,
              fmt::format("the JSON file cannot be written: {}", std::strerror(errno)),
              job.options.json, "name a file in a directory that exists and can be written to");
}

Result<int> mutate_program(Options options, std::span<char*> command) {
  Job job;
  job.install = MARGAY_TRY(find_runtime());
  job.options = std::move(options);
  job.command.assign(command.begin(), command.end());
  const auto launched = launcher();
  const unsigned cores =
      std::max(1U, launched ? threads_of_rank(*launched) : std::thread::hardware_concurrency());
  if (job.options.jobs == 0) job.options.jobs = std::min(2U, cores);
  if (job.options.check.threads == 0)
    job.options.check.threads = std::max(1U, cores / job.options.jobs);
  if (launched && launched->rank != 0) {
    MARGAY_CHECK(serve_runs(*launched, job.install, job.options.check, job.command));
    return kExitOk;
  }
  std::optional<RankRuns> ranks;
  if (launched) ranks = MARGAY_TRY(RankRuns::gather(*launched, job.options.jobs));
  std::vector<RemoteRuns> none;
  std::vector<RemoteRuns>& remotes = ranks ? ranks->all() : none;
  ChildPlan plan;
  plan.command = job.command;
  plan.environment = {{"MARGAY_RANKS", "off"}};
  fmt::print(stderr, "margay mutate: the unchanged program\n");
  job.clean = MARGAY_TRY(run_checked(job.install, job.options.check, std::move(plan)));
  MARGAY_CHECK(judge_clean_run(job));
  job.clean_errors = errors_of(job.clean.reports.merged);
  job.sites = chosen_sites(job.clean.reports.merged, job.options.kernel);
  job.mutants = mutants_of(job.sites);
  if (job.mutants.empty()) {
    return fail(
        ErrorCode::not_found,
        fmt::format("no s_waitcnt, no s_barrier and no fence ran{}",
                    job.options.kernel.empty() ? std::string{}
                                               : " in a kernel called " + job.options.kernel));
  }
  fmt::print(
      stderr, "margay mutate: {} of {}, {} at a time; the clean run took {:.1f} s\n",
      check::counted(job.mutants.size(), "mutant"),
      check::counted(job.sites.size(), "wait, barrier or fence", "waits, barriers and fences"),
      job.options.jobs + remotes.size(), job.clean.end.seconds);
  catch_signals();
  const std::vector<Outcome> outcomes = MARGAY_TRY(run_mutants(job, remotes));
  MARGAY_CHECK(write_json(job, outcomes));
  const std::string text =
      mutation_text(job.sites, outcomes, check::stderr_text_options().directory);
  std::fwrite(text.data(), 1, text.size(), stdout);
  const Score score = score_of(outcomes);
  return score.survived + score.own_result == 0 ? kExitOk : kExitFailed;
}

}  // namespace

int mutate_main(std::span<char*> arguments) {
  const CommandLine line = split_command(
      arguments, {.always = {"--kernel", "--jobs", "--json", "--threads", "--timeout"}});
  CLI::App app{
      "Takes waits, barriers and fences away, one at a time, and says which the checker misses.",
      "margay mutate"};
  app.footer(kFooter);
  Options options;
  declare(app, options);
  if (const auto code = read_own_words(app, line, "mutate")) return *code;
  const Result<int> code = mutate_program(std::move(options), line.command);
  return code ? *code : report("mutate", code.error());
}

}  // namespace margay::cli
