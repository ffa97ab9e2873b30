// A run of the fuzzer: case after case, until time, number or a failure ends it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/fuzz/programs/shrink.h"
#include "apps/fuzz/runner/run.h"
#include "base/error.h"

namespace margay::fuzz {

/// Cases compiled together, with the same options.
inline constexpr std::uint64_t kBatch = 64;

struct CampaignSettings {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;  ///< Number of the first case.
  std::optional<std::uint64_t> cases;
  std::optional<double> seconds;
  unsigned jobs = 1;
  bool shrink = true;
  bool coverage = false;
  std::filesystem::path directory;  ///< For intermediate files.
  std::function<void(std::vector<std::byte>&)> tamper = {};
};

/// The program of one case. It is determined by the seed of the whole run and the number.
[[nodiscard]] Program case_program(std::uint64_t seed, std::uint64_t number);
[[nodiscard]] BuildOptions case_options(std::uint64_t seed, std::uint64_t number);

struct Failure {
  std::uint64_t number = 0;  ///< Of the case.
  Program original;
  Shrunk shrunk;
  BuildOptions options;
  Outcome outcome;  ///< Of the shrunk program.
  std::string disassembly;
};

struct CampaignResult {
  std::uint64_t cases = 0;
  std::uint64_t wave_instructions = 0;
  std::uint64_t refused = 0;  ///< Compilations that failed and were repeated with plain options.
  std::uint64_t crashed = 0;  ///< Cases on which the compiler crashes with any options.
  double seconds = 0;
  Executions executions = {};  ///< With CampaignSettings::coverage.
  std::optional<Failure> failure;
};

/// What one batch gave: the cases before the failing one, or all.
struct BatchResult {
  std::uint64_t cases = 0, wave_instructions = 0, refused = 0, crashed = 0;
  std::int64_t failing = -1;  ///< Number of the first case that fails.
};
[[nodiscard]] Result<BatchResult> run_batch(Runner& runner, const CampaignSettings& settings,
                                            std::uint64_t batch);

/// With intermediate files in a folder `name` of its own.
[[nodiscard]] Result<Runner> runner_of(const CampaignSettings& settings, const std::string& name);

/// Runs a batch elsewhere. `lost`: nothing can run there any more, and the batch has to run again.
using RemoteBatches = std::function<Result<BatchResult>(std::uint64_t batch, bool& lost)>;

/// With `remotes` in addition to the threads of this process, each one batch at a time. `progress`
/// is called after each batch, from any thread but one at a time.
[[nodiscard]] Result<CampaignResult> run_campaign(
    const CampaignSettings& settings, const std::vector<RemoteBatches>& remotes,
    const std::function<void(const CampaignResult&)>& progress);

/// Shrinks a failing case: first the program, then the compiler's options.
[[nodiscard]] Result<Failure> minimise(Runner& runner, std::uint64_t number, const Program& program,
                                       const BuildOptions& options, bool shrink_it);

/// The report for a reader: source, inputs, both results, instructions.
[[nodiscard]] std::string describe(const Failure& failure, std::uint64_t seed,
                                   const Compiler& compiler);

}  // namespace margay::fuzz
