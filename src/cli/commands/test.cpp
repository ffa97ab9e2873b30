// `margay test`: the tests belong to the source tree, where the launcher builds and runs them; this
// starts the launcher.
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/process/install.h"

namespace margay::cli {

int test_main(std::span<char*> arguments) {
  const Result<Install> install = find_install();
  if (!install) return report("test", install.error());
  // PREFIX is SOURCE/build/PRESET in a build tree.
  const std::filesystem::path source = install->prefix.parent_path().parent_path();
  const std::filesystem::path launcher = source / "margay";
  if (!std::filesystem::exists(launcher) ||
      !std::filesystem::exists(source / "CMakePresets.json")) {
    return report("test", Error{ErrorCode::not_found, "the tests are not part of an installation",
                                install->prefix.string(), "run ./margay test in a clone"});
  }
  std::string program = launcher.string();
  std::vector<char*> words(arguments.begin(), arguments.end());
  words.insert(words.begin(), program.data());
  words.push_back(nullptr);
  execv(words[0], words.data());
  return report("test", Error{ErrorCode::system, "cannot start the launcher", program, {}});
}

}  // namespace margay::cli
