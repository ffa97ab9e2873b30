// `margay`: passes its arguments to the subcommand they name. Start-up time matters: nothing is
// initialised here that a subcommand may not need.
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/hipcc/rocm_tools.h"
#include "cli/process/launcher.h"

namespace margay::cli {

namespace {

/// In the order of the help page: the first steps come first.
constexpr auto kCommands = std::to_array<Command>({
    {"gemm", "run and verify a bf16 GEMM on the virtual GPU", gemm_main, true},
    {"hipcc", "compile HIP C++ for the host and gfx942 (hipcc's arguments)", hipcc_main},
    {"run", "run a HIP program or script against the virtual device", run_main},
    {"check", "the same, with every memory access, race, barrier and wait checked", watch_main},
    {"prof", "the same, with every instruction and memory request counted", watch_main},
    {"time", "the same, with a model of how long kernels take on the device", watch_main},
    {"compare", "two profiled kernels side by side", watch_main, true},
    {"mutate", "take waits and barriers away, and see whether the checker notices", watch_main},
    {"fuzz", "compare random programs on the virtual device with the host", fuzz_main},
    {"asm", "show a kernel's resources and instructions, with source lines", asm_main},
    {"test", "build and run the project's tests", test_main, true},
    {"devices", "the virtual devices that --device and MARGAY_DEVICE choose from", devices_main},
    {"doctor", "whether everything is in place, and what to do where it is not", doctor_main},
    {"config", "where the parts are, for CMake, Makefiles and scripts", config_main},
    {"completion", "completion of commands and options, for bash, zsh and fish", completion_main},
});

void print_help() {
  fmt::print(R"(margay: AMD CDNA3 kernels, compiled for gfx942, run on a virtual GPU on the CPU

usage: margay COMMAND [ARGUMENTS]...

commands
)");
  for (const Command& command : kCommands) {
    fmt::print("  {:<10} {}\n", command.name, command.summary);
  }
  fmt::print(R"(
  margay COMMAND --help     the command's own help
  margay --version

a program of your own
  margay hipcc saxpy.cpp -o saxpy
  margay run -- ./saxpy

exit codes: 0 done (and verified, where something is verified), 1 failed, 2 wrong usage
)");
}

int unknown(std::string_view word) {
  std::vector<std::string_view> names;
  for (const Command& command : kCommands) names.push_back(command.name);
  const std::string guess = nearest(word, names);
  const bool is_option = word.starts_with('-');
  return report({},
                Error{ErrorCode::invalid_argument,
                      fmt::format("no such {}: {}", is_option ? "option" : "command", word),
                      {},
                      guess.empty() || is_option ? std::string{"margay --help lists the commands"}
                                                 : fmt::format("did you mean: margay {}", guess)});
}

}  // namespace

static int dispatch(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  if (const auto code = run_as_rocm_tool(arguments)) return *code;
  if (arguments.size() < 2) {
    print_help();
    return kExitUsage;
  }
  const std::string_view word = arguments[1];
  if (word == "--help" || word == "-h" || word == "help") {
    print_help();
    return kExitOk;
  }
  if (word == "--version") {
    fmt::print("margay {}\n", MARGAY_VERSION);
    return kExitOk;
  }
  for (const Command& command : kCommands) {
    if (command.name != word) continue;
    if (command.is_for_rank_0)
      if (const auto code = leave_to_rank_0(word)) return *code;
    return command.run(arguments.subspan(1));
  }
  return unknown(word);
}

}  // namespace margay::cli

int main(int argc, char** argv) { return margay::cli::dispatch(argc, argv); }
