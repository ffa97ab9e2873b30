#include "apps/fuzz/runner/campaign.h"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <thread>

#include "apps/fuzz/programs/generate.h"

namespace margay::fuzz {

namespace {

const BuildOptions kPlain = {};

/// Runs candidates of the shrinker. If one does not compile, its batch fails and is halved.
Result<std::vector<bool>> failing(Runner& runner, const BuildOptions& options,
                                  std::span<const Program> programs) {
  const auto outcomes = runner.run(programs, options);
  if (outcomes) {
    std::vector<bool> out;
    for (const Outcome& outcome : *outcomes) out.push_back(!outcome.passed());
    return out;
  }
  if (programs.size() == 1) return std::vector<bool>{false};
  const std::size_t half = programs.size() / 2;
  std::vector<bool> out = MARGAY_TRY(failing(runner, options, programs.first(half)));
  const std::vector<bool> rest = MARGAY_TRY(failing(runner, options, programs.subspan(half)));
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

/// The first of some simpler options with which the program still fails.
Result<BuildOptions> simpler_options(Runner& runner, const Program& program, BuildOptions options) {
  const auto fails = [&](const BuildOptions& o) -> Result<bool> {
    return MARGAY_TRY(failing(runner, o, std::span(&program, 1)))[0];
  };
  for (const char* level : {"-O1", "-O2", "-O0"}) {
    BuildOptions plain;
    plain.device = {level};
    if (MARGAY_TRY(fails(plain))) return plain;
  }
  for (std::size_t at = options.device.size(); at-- > 1;) {
    if (options.device[at] != "-mllvm") continue;
    BuildOptions fewer = options;
    const auto begin = fewer.device.begin() + static_cast<std::ptrdiff_t>(at);
    fewer.device.erase(begin, begin + 2);
    if (MARGAY_TRY(fails(fewer))) options = fewer;
  }
  return options;
}

/// The programs without those on which the compiler crashes.
Result<std::vector<Outcome>> run_compilable(Runner& runner, std::span<const Program> programs,
                                            const BuildOptions& options) {
  auto outcomes = runner.run(programs, options);
  if (outcomes || outcomes.error().text().find("PLEASE submit a bug report") == std::string::npos)
    return outcomes;
  if (programs.size() == 1)
    return std::vector<Outcome>{{.difference = {}, .device_error = {}, .compiled = false}};
  const std::size_t half = programs.size() / 2;
  std::vector<Outcome> out = MARGAY_TRY(run_compilable(runner, programs.first(half), options));
  std::vector<Outcome> rest = MARGAY_TRY(run_compilable(runner, programs.subspan(half), options));
  std::ranges::move(rest, std::back_inserter(out));
  return out;
}

Result<std::vector<Outcome>> run_with(Runner& runner, std::span<const Program> programs,
                                      BuildOptions& options, bool& refused) {
  if (options != kPlain) {
    auto outcomes = runner.run(programs, options);
    if (outcomes) return outcomes;
    refused = true;  // some options are only for some programs
    options = kPlain;
  }
  return run_compilable(runner, programs, options);
}

/// State shared by the threads of a campaign.
class Campaign {
 public:
  Campaign(const CampaignSettings& settings,
           const std::function<void(const CampaignResult&)>& progress)
      : settings_(settings), progress_(progress) {}

  /// Runs batches by `run` until none is left, one fails, or `run` says that it is lost.
  template <typename Run>
  void work(Run run) {
    std::unique_lock lock(mutex_);
    while (true) {
      // One that another thread has may come back.
      while (!stops() && again_.empty() && !more_batches() && running_ != 0) changed_.wait(lock);
      if (stops() || (again_.empty() && !more_batches())) return;
      std::uint64_t batch = settings_.first / kBatch + next_;
      if (again_.empty()) {
        ++next_;
      } else {
        batch = again_.back();
        again_.pop_back();
      }
      ++running_;
      lock.unlock();
      bool lost = false;
      auto result = run(batch, lost);
      lock.lock();
      --running_;
      changed_.notify_all();
      if (lost) {
        again_.push_back(batch);
        return;
      }
      if (!result) {
        if (!error_) error_ = std::move(result).error();
        return;
      }
      add(*result);
    }
  }

  void add(const Executions& executions) {
    const std::lock_guard lock(mutex_);
    for (const auto& [mnemonic, count] : executions) result_.executions[mnemonic] += count;
  }
  void fail_with(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    changed_.notify_all();
  }

  /// When all threads have ended. A failure has only its number and options.
  [[nodiscard]] Result<CampaignResult> result() {
    if (error_) return std::unexpected(*error_);
    result_.seconds = seconds();
    return std::move(result_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - started_).count();
  }
  [[nodiscard]] bool stops() const { return error_ || result_.failure; }
  [[nodiscard]] bool more_batches() const {
    if (settings_.seconds && seconds() >= *settings_.seconds) return false;
    const std::uint64_t batch = settings_.first / kBatch + next_;
    return !settings_.cases || batch * kBatch < settings_.first + *settings_.cases;
  }
  void add(const BatchResult& batch) {
    result_.cases += batch.cases;
    result_.crashed += batch.crashed;
    result_.wave_instructions += batch.wave_instructions;
    result_.refused += batch.refused;
    result_.seconds = seconds();
    progress_(result_);
    if (batch.failing < 0 || result_.failure) return;
    result_.failure.emplace();
    result_.failure->number = static_cast<std::uint64_t>(batch.failing);
    // Those that its batch was run with.
    result_.failure->options =
        batch.refused != 0 ? kPlain : case_options(settings_.seed, result_.failure->number);
  }

  const CampaignSettings& settings_;
  const std::function<void(const CampaignResult&)>& progress_;
  const Clock::time_point started_ = Clock::now();
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::uint64_t next_ = 0, running_ = 0;
  std::vector<std::uint64_t> again_;
  CampaignResult result_;
  std::optional<Error> error_;
};

}  // namespace

Result<Runner> runner_of(const CampaignSettings& settings, const std::string& name) {
  const auto directory = settings.directory / name;
  std::filesystem::create_directories(directory);
  return Runner::create(
      {.directory = directory, .coverage = settings.coverage, .tamper = settings.tamper});
}

Program case_program(std::uint64_t seed, std::uint64_t number) {
  return generate(derived_seed(seed, number));
}

BuildOptions case_options(std::uint64_t seed, std::uint64_t number) {
  Random random(derived_seed(~seed, number / kBatch));
  return random_options(random);
}

Result<Failure> minimise(Runner& runner, std::uint64_t number, const Program& program,
                         const BuildOptions& options, bool shrink_it) {
  Failure out{.number = number,
              .original = program,
              .shrunk = {.program = program},
              .options = options,
              .outcome = {},
              .disassembly = {}};
  // Alone it may pass: then it depends on its neighbours, and is not shrunk.
  const bool alone = MARGAY_TRY(failing(runner, options, std::span(&program, 1)))[0];
  if (shrink_it && alone) {
    out.options = MARGAY_TRY(simpler_options(runner, program, options));
    out.shrunk = MARGAY_TRY(shrink(program, [&](std::span<const Program> candidates) {
      return failing(runner, out.options, candidates);
    }));
    out.options = MARGAY_TRY(simpler_options(runner, out.shrunk.program, out.options));
  }
  out.outcome = MARGAY_TRY(runner.run(std::span(&out.shrunk.program, 1), out.options)).front();
  return out;
}

Result<BatchResult> run_batch(Runner& runner, const CampaignSettings& settings,
                              std::uint64_t batch) {
  const std::uint64_t end = settings.cases ? settings.first + *settings.cases : ~0ull;
  const std::uint64_t from = std::max(batch * kBatch, settings.first);
  const std::uint64_t to = std::min((batch + 1) * kBatch, end);
  std::vector<Program> programs;
  for (std::uint64_t n = from; n < to; ++n) programs.push_back(case_program(settings.seed, n));
  BuildOptions options = case_options(settings.seed, from);
  bool refused = false;
  const std::uint64_t before = runner.wave_instructions();
  const auto outcomes = MARGAY_TRY(run_with(runner, programs, options, refused));
  const auto bad = std::ranges::find_if_not(outcomes, &Outcome::passed);
  const auto passed = static_cast<std::uint64_t>(bad - outcomes.begin());
  BatchResult out;
  out.crashed = static_cast<std::uint64_t>(
      std::ranges::count(outcomes.begin(), bad, false, &Outcome::compiled));
  out.cases = passed - out.crashed;
  out.wave_instructions = runner.wave_instructions() - before;
  out.refused = refused ? 1 : 0;
  if (bad != outcomes.end()) out.failing = static_cast<std::int64_t>(from + passed);
  return out;
}

Result<CampaignResult> run_campaign(const CampaignSettings& settings,
                                    const std::vector<RemoteBatches>& remotes,
                                    const std::function<void(const CampaignResult&)>& progress) {
  Campaign campaign(settings, progress);
  const auto work_here = [&](unsigned job) {
    auto runner = runner_of(settings, std::to_string(job));
    if (!runner) return campaign.fail_with(runner.error());
    campaign.work([&](std::uint64_t batch, bool&) { return run_batch(*runner, settings, batch); });
    campaign.add(runner->executions());
  };
  {
    std::vector<std::jthread> threads;
    for (const RemoteBatches& remote : remotes)
      threads.emplace_back([&] { campaign.work(remote); });
    for (unsigned job = 0; job < settings.jobs; ++job) threads.emplace_back(work_here, job);
  }
  CampaignResult out = MARGAY_TRY(campaign.result());
  if (!out.failure) return out;
  const std::uint64_t number = out.failure->number;
  Runner runner = MARGAY_TRY(runner_of(settings, "failure"));
  const Program program = case_program(settings.seed, number);
  out.failure =
      MARGAY_TRY(minimise(runner, number, program, out.failure->options, settings.shrink));
  return out;
}

}  // namespace margay::fuzz
