#include "apps/fuzz/runner/campaign.h"

#include <algorithm>
#include <iterator>
#include <thread>

#include "apps/fuzz/programs/generate.h"

namespace margay::fuzz {

namespace {

using Clock = std::chrono::steady_clock;

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

/// State shared by the threads of a campaign.
struct Shared {
  const CampaignSettings& settings;
  const std::function<void(const CampaignResult&)>& progress;
  Clock::time_point started = Clock::now();
  std::atomic<std::uint64_t> next_batch{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  CampaignResult result;
  std::optional<Error> error;

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - started).count();
  }
};

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

Result<std::vector<Outcome>> run_batch(Runner& runner, std::span<const Program> programs,
                                       BuildOptions& options, bool& refused) {
  if (options != kPlain) {
    auto outcomes = runner.run(programs, options);
    if (outcomes) return outcomes;
    refused = true;  // some options are only for some programs
    options = kPlain;
  }
  return run_compilable(runner, programs, options);
}

Status run_batches(Shared& shared, unsigned job) {
  const CampaignSettings& s = shared.settings;
  const auto directory = s.directory / std::to_string(job);
  std::filesystem::create_directories(directory);
  Runner runner = MARGAY_TRY(
      Runner::create({.directory = directory, .coverage = s.coverage, .tamper = s.tamper}));
  const std::uint64_t end = s.cases ? s.first + *s.cases : ~0ull;
  while (!shared.stop) {
    const std::uint64_t batch = s.first / kBatch + shared.next_batch++;
    const std::uint64_t from = std::max(batch * kBatch, s.first);
    const std::uint64_t to = std::min((batch + 1) * kBatch, end);
    if (from >= to || (s.seconds && shared.seconds() >= *s.seconds)) break;
    std::vector<Program> programs;
    for (std::uint64_t n = from; n < to; ++n) programs.push_back(case_program(s.seed, n));
    BuildOptions options = case_options(s.seed, from);
    bool refused = false;
    const std::uint64_t before = runner.wave_instructions();
    const auto outcomes = MARGAY_TRY(run_batch(runner, programs, options, refused));
    const auto bad = std::ranges::find_if_not(outcomes, &Outcome::passed);
    const auto index = static_cast<std::size_t>(bad - outcomes.begin());
    {
      const std::lock_guard lock(shared.mutex);
      const auto crashed = static_cast<std::uint64_t>(
          std::ranges::count(outcomes.begin(), bad, false, &Outcome::compiled));
      shared.result.cases += index - crashed;
      shared.result.crashed += crashed;
      shared.result.wave_instructions += runner.wave_instructions() - before;
      shared.result.refused += refused ? 1 : 0;
      shared.result.seconds = shared.seconds();
      shared.progress(shared.result);
      if (bad == outcomes.end() || shared.stop) continue;
      shared.stop = true;  // from here on only this thread continues
    }
    Failure failure =
        MARGAY_TRY(minimise(runner, from + index, programs[index], options, s.shrink));
    const std::lock_guard lock(shared.mutex);
    shared.result.failure = std::move(failure);
  }
  const std::lock_guard lock(shared.mutex);
  for (const auto& [mnemonic, count] : runner.executions())
    shared.result.executions[mnemonic] += count;
  return {};
}

}  // namespace

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

Result<CampaignResult> run_campaign(const CampaignSettings& settings,
                                    const std::function<void(const CampaignResult&)>& progress) {
  Shared shared{.settings = settings, .progress = progress, .mutex = {}, .result = {}, .error = {}};
  const auto job = [&](unsigned n) {
    const Status status = run_batches(shared, n);
    if (status) return;
    const std::lock_guard lock(shared.mutex);
    shared.stop = true;
    if (!shared.error) shared.error = status.error();
  };
  {
    std::vector<std::jthread> others;
    for (unsigned n = 1; n < settings.jobs; ++n) others.emplace_back(job, n);
    job(0);
  }
  if (shared.error) return std::unexpected(*shared.error);
  shared.result.seconds = shared.seconds();
  return std::move(shared.result);
}

}  // namespace margay::fuzz
