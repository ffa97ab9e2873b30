// `margay fuzz` is a program of its own (main.cpp): this starts it.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/install.h"

namespace margay::cli {

int fuzz_main(std::span<char*> arguments) {
  const auto install = find_install();
  if (!install) return report("fuzz", install.error());
  const std::string program = (install->prefix / "bin" / "margay-fuzz").string();
  std::vector<char*> words(arguments.begin(), arguments.end());
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  return report("fuzz", Error{ErrorCode::not_found,
                              "cannot start " + program + ": " + std::strerror(errno),
                              {},
                              "./margay build"});
}

}  // namespace margay::cli
