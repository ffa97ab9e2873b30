// `margay gemm` and `margay fuzz` are separate programs (apps/gemm, apps/fuzz), because the
// libraries they need would slow down the start of the other commands: this starts them.
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

/// Becomes PREFIX/bin/margay-NAME.
int become(const std::string& name, std::string_view not_in_the_wheel, std::span<char*> arguments) {
  const auto install = find_install();
  if (!install) return report(name, install.error());
  const std::string program = (install->prefix / "bin" / ("margay-" + name)).string();
  if (install->in_python_package()) {
    return report(
        name, Error{ErrorCode::not_found,
                    fmt::format("the Python wheel has no `margay {}`: {}", name, not_in_the_wheel),
                    {},
                    fmt::format("./margay {} in a clone", name)});
  }
  std::vector<char*> words(arguments.begin(), arguments.end());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  return report(name, Error{ErrorCode::not_found,
                            "cannot start " + program + ": " + std::strerror(errno),
                            {},
                            install->repair()});
}

}  // namespace

int fuzz_main(std::span<char*> arguments) {
  return become("fuzz", "it compiles each program that it makes", arguments);
}
int gemm_main(std::span<char*> arguments) {
  return become("gemm",
                "it verifies with oneDNN, which is left out. margay.matmul in Python runs "
                "the same kernels",
                arguments);
}

}  // namespace margay::cli
