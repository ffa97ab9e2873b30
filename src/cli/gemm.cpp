// `margay gemm` is a program of its own (cli/gemm): this starts it.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/install.h"

namespace margay::cli {

int gemm_main(std::span<char*> arguments) {
  const auto install = find_install();
  if (!install) return report("gemm", install.error());
  const std::string program = (install->prefix / "bin" / "margay-gemm").string();
  std::vector<char*> words(arguments.begin(), arguments.end());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  return report("gemm", Error{ErrorCode::not_found,
                              "cannot start " + program + ": " + std::strerror(errno),
                              {},
                              "./margay build"});
}

}  // namespace margay::cli
