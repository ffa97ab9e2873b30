// The subcommands of `margay`. apps/margay/main.cpp has the table of all; those that are programs
// of their own are started by commands/programs.cpp.
#pragma once

#include <span>
#include <string_view>

namespace margay::cli {

/// Exit codes, the same for every subcommand.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  ///< The operation failed, or errors were found.
inline constexpr int kExitUsage = 2;   ///< The command line is invalid.

/// `arguments[0]` is the subcommand's name, followed by its arguments.
using CommandFunction = int (*)(std::span<char*> arguments);

struct Command {
  std::string_view name;
  std::string_view summary;  ///< One line, for `margay --help`.
  CommandFunction run;
  /// Starts programs, and does so in one process: under mpirun on rank 0 alone.
  bool is_for_rank_0 = false;
};

int completion_main(std::span<char*> arguments);
int config_main(std::span<char*> arguments);
int devices_main(std::span<char*> arguments);
int doctor_main(std::span<char*> arguments);
int hipcc_main(std::span<char*> arguments);
int run_main(std::span<char*> arguments);
int test_main(std::span<char*> arguments);

// Programs of their own (src/apps).
int asm_main(std::span<char*> arguments);
int fuzz_main(std::span<char*> arguments);
int gemm_main(std::span<char*> arguments);
/// check, compare, mutate, prof and time.
int watch_main(std::span<char*> arguments);

// What watch_main() starts (cli/watch).
int check_main(std::span<char*> arguments);
int compare_main(std::span<char*> arguments);
int mutate_main(std::span<char*> arguments);
int prof_main(std::span<char*> arguments);
int time_main(std::span<char*> arguments);

}  // namespace margay::cli
