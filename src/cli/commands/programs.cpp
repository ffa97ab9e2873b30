// `margay gemm` and `margay fuzz` are separate programs (apps/gemm, apps/fuzz), because the
// libraries they need would slow down the start of the other commands: this starts them.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/install.h"

namespace margay::cli {
namespace {

/// Becomes PREFIX/bin/margay-NAME.
int become(const std::string& name, std::span<char*> arguments) {
  const auto install = find_install();
  if (!install) return report(name, install.error());
  const std::string program = (install->prefix / "bin" / ("margay-" + name)).string();
  std::vector<char*> words(arguments.begin(), arguments.end());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  return report(name, Error{ErrorCode::not_found,
                            "cannot start " + program + ": " + std::strerror(errno),
                            {},
                            "./margay build"});
}

}  // namespace

int fuzz_main(std::span<char*> arguments) { return become("fuzz", arguments); }
int gemm_main(std::span<char*> arguments) { return become("gemm", arguments); }

}  // namespace margay::cli
