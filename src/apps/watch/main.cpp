// `margay check`, `prof`, `time`, `compare` and `mutate`: `margay` starts this program with the
// subcommand's name as its own.
#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.h"

int main(int argc, char** argv) {
  using namespace margay::cli;
  constexpr auto kCommands = std::to_array<std::pair<std::string_view, CommandFunction>>({
      {"check", check_main},
      {"compare", compare_main},
      {"mutate", mutate_main},
      {"prof", prof_main},
      {"time", time_main},
  });
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  const std::string_view name = argc == 0 ? "" : argv[0];
  const auto command =
      std::ranges::find(kCommands, name, [](const auto& one) { return one.first; });
  if (command != kCommands.end()) return command->second(arguments);
  fmt::print(stderr, "margay-watch is started by margay check, compare, mutate, prof and time\n");
  return kExitUsage;
}
