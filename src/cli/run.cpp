// `margay run -- CMD...`: starts any program so that its libamdhip64 is the virtual device. The
// options travel as environment variables, which the runtime reads when its device is first used.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/install.h"

namespace margay::cli {

namespace {

void prepend_library_path(const std::string& directory) {
  const char* before = std::getenv("LD_LIBRARY_PATH");
  const std::string path =
      before == nullptr || *before == '\0' ? directory : directory + ":" + before;
  setenv("LD_LIBRARY_PATH", path.c_str(), 1);
}

Error cannot_start(const std::string& program, int number) {
  if (number == ENOENT) {
    const bool has_file = program.find('/') != std::string::npos &&
                          std::filesystem::exists(program);  // then its interpreter is missing
    return {ErrorCode::not_found,
            has_file ? "cannot start " + program + ": its interpreter does not exist"
                     : "no such program: " + program,
            {},
            has_file ? "check its first line" : "give its path, or a name that is in PATH"};
  }
  return {ErrorCode::system,
          "cannot start " + program + ": " + std::strerror(number),
          {},
          number == EACCES ? "is it executable?" : ""};
}

}  // namespace

int run_main(std::span<char*> arguments) {
  // The first word that is not an option of ours starts the command; everything after it belongs
  // to the command, also what looks like an option.
  std::size_t first = 1;
  while (first < arguments.size()) {
    const std::string_view word = arguments[first];
    if (!word.starts_with('-') || word == "--") break;
    first += word == "--mfma" || word == "--threads" ? 2 : 1;
  }
  first = std::min(first, arguments.size());
  const bool has_dashes = first < arguments.size() && std::string_view(arguments[first]) == "--";
  const std::span<char*> command = arguments.subspan(has_dashes ? first + 1 : first);

  CLI::App app{"Runs a HIP program or script against the virtual MI325X.", "margay run"};
  app.footer("  margay run -- ./saxpy\n  margay run --mfma fast --stats -- python3 bench.py");
  std::string mfma;
  unsigned threads = 0;
  bool stats = false;
  app.add_option("--mfma", mfma, "how MFMA instructions round: exact, fma or fast")
      ->check(CLI::IsMember({"exact", "fma", "fast"}));
  app.add_option("--threads", threads, "host threads that run workgroups (default: one per core)")
      ->check(CLI::Range(1u, 4096u));
  app.add_flag("--stats", stats, "print what the launches did when the program ends");
  std::vector<std::string> for_the_help_page;
  app.add_option("COMMAND", for_the_help_page,
                 "the program and its arguments, after `--` if need be");
  try {
    app.parse(static_cast<int>(first), arguments.data());
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return report("run", Error{ErrorCode::invalid_argument, error.what(), {}, "margay run --help"});
  }
  if (command.empty()) {
    return report("run", Error{ErrorCode::invalid_argument,
                               "which program?",
                               {},
                               "margay run [OPTIONS] -- COMMAND [ARGUMENTS]..."});
  }

  const Result<Install> install = find_install();
  if (!install) return report("run", install.error());
  const std::filesystem::path runtime = install->runtime_lib() / "libamdhip64.so";
  if (!std::filesystem::exists(runtime)) {
    return report("run", Error{ErrorCode::not_found, "the HIP runtime is not built",
                               runtime.string(), "./margay build"});
  }
  prepend_library_path(install->runtime_lib().string());
  if (!mfma.empty()) setenv("MARGAY_MFMA", mfma.c_str(), 1);
  if (threads != 0) setenv("MARGAY_THREADS", std::to_string(threads).c_str(), 1);
  if (stats) setenv("MARGAY_STATS", "1", 1);
  // A long launch shows how far it is, unless the user has said otherwise.
  if (isatty(STDERR_FILENO) != 0) setenv("MARGAY_PROGRESS", "1", /*overwrite=*/0);

  std::vector<char*> words(command.begin(), command.end());
  words.push_back(nullptr);
  execvp(words[0], words.data());
  return report("run", cannot_start(words[0], errno));
}

}  // namespace margay::cli
