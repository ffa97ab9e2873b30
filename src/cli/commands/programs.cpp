// Commands that are programs of their own, in src/apps, because what they need would slow down the
// start of the other commands and the build of what a new user runs first: this starts them.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/install.h"

namespace margay::cli {
namespace {

/// Becomes PREFIX/bin/PROGRAM. `not_in_the_wheel`: why it is not there, if it is not.
int become(const std::string& name, std::string_view not_in_the_wheel, std::span<char*> arguments) {
  const std::string_view command = arguments[0];
  const auto install = find_install();
  if (!install) return report(command, install.error());
  const std::string program = (install->prefix / "bin" / name).string();
  if (install->in_python_package() && !not_in_the_wheel.empty()) {
    return report(command, Error{ErrorCode::not_found,
                                 fmt::format("the Python wheel has no `margay {}`: {}", command,
                                             not_in_the_wheel),
                                 {},
                                 fmt::format("./margay {} in a clone", command)});
  }
  std::vector<char*> words(arguments.begin(), arguments.end());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  return report(command, Error{ErrorCode::not_found,
                               "cannot start " + program + ": " + std::strerror(errno),
                               {},
                               install->repair()});
}

}  // namespace

int asm_main(std::span<char*> arguments) { return become("margay-asm", {}, arguments); }
int watch_main(std::span<char*> arguments) { return become("margay-watch", {}, arguments); }
int fuzz_main(std::span<char*> arguments) {
  return become("margay-fuzz", "it compiles each program that it makes", arguments);
}
int gemm_main(std::span<char*> arguments) {
  return become("margay-gemm",
                "it verifies with oneDNN, which is left out. margay.matmul in Python runs "
                "the same kernels",
                arguments);
}

}  // namespace margay::cli
