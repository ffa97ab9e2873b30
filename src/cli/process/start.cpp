// See start.h.
#include "cli/process/start.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/console.h"
#include "gpu/gpu.h"

namespace margay::cli {
namespace {

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

bool contains(std::initializer_list<std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

CommandLine split_command(std::span<char*> arguments, const OptionsWithValues& options) {
  std::size_t first = 1;
  while (first < arguments.size()) {
    const std::string_view word = arguments[first];
    if (!word.starts_with('-') || word == "--") break;
    ++first;
    const bool has_next = first < arguments.size();
    if (contains(options.always, word) ||
        (contains(options.if_number, word) && has_next && is_number(arguments[first]))) {
      ++first;
    }
  }
  first = std::min(first, arguments.size());
  const bool has_dashes = first < arguments.size() && std::string_view(arguments[first]) == "--";
  return {.own = arguments.first(first),
          .command = arguments.subspan(has_dashes ? first + 1 : first)};
}

std::optional<int> read_own_words(CLI::App& app, const CommandLine& line,
                                  std::string_view subcommand, bool needs_command) {
  std::vector<std::string> for_the_help_page;
  app.add_option("COMMAND", for_the_help_page,
                 "the program and its arguments, after `--` if need be");
  try {
    app.parse(static_cast<int>(line.own.size()), line.own.data());
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return report(subcommand, Error{ErrorCode::invalid_argument,
                                    error.what(),
                                    {},
                                    "margay " + std::string(subcommand) + " --help"});
  }
  if (needs_command && line.command.empty()) return report(subcommand, which_program(subcommand));
  return std::nullopt;
}

void add_device_option(CLI::App& app, std::string& device) {
  app.add_option(
         "--device", device,
         fmt::format("the virtual device: {} (default: {})", gpu_options(), default_gpu().option))
      ->check([](const std::string& word) {
        const auto gpu = find_gpu(word);
        return gpu ? std::string{} : fmt::format("{}; {}", gpu.error().what, gpu.error().hint);
      })
      ->type_name("NAME");
}

void add_device_options(CLI::App& app, std::string& device, std::string& mfma, unsigned& threads) {
  add_device_option(app, device);
  app.add_option("--mfma", mfma, "how MFMA instructions round: exact, fma or fast")
      ->check(CLI::IsMember({"exact", "fma", "fast"}))
      ->type_name("MODE");
  app.add_option("--threads", threads, "host threads that run workgroups (default: one per core)")
      ->check(CLI::Range(1u, 4096u))
      ->type_name("N");
}

void add_whole_pages_option(CLI::App& app) {
  app.add_flag_callback(
      "--whole-pages", [] { setenv("MARGAY_WHOLE_PAGES", "1", 1); },
      "let kernels read an allocation to the end of its last page of 4 KiB, as the hardware does: "
      "shipped kernels may rely on it");
}

void add_ranks_option(CLI::App& app, std::optional<unsigned>& ranks) {
  app.add_option("--ranks", ranks,
                 "processes on this machine that share long launches; under mpirun or srun the "
                 "ranks are theirs, and 1 makes each a run of its own (docs/clusters.md)")
      ->check(CLI::Range(1u, 1024u))
      ->type_name("N");
}

Result<Install> find_runtime() {
  Install install = MARGAY_TRY(find_install());
  const std::filesystem::path runtime = install.runtime_lib() / "libamdhip64.so";
  std::error_code ignored;
  if (!std::filesystem::exists(runtime, ignored)) {
    return fail(ErrorCode::not_found, "the HIP runtime is not built", runtime.string(),
                install.repair());
  }
  return install;
}

namespace {

std::string before_the_value_of(const char* variable, const std::string& directory) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? directory : directory + ":" + value;
}

}  // namespace

std::string library_path(const Install& install) {
  return before_the_value_of("LD_LIBRARY_PATH", install.runtime_lib().string());
}

std::string python_path(const Install& install) {
  const std::filesystem::path directory = install.python() / "margay" / "triton" / "site";
  const char* const wanted = std::getenv("MARGAY_TRITON");
  std::error_code ignored;
  if ((wanted != nullptr && std::string_view(wanted) == "0") ||
      !std::filesystem::exists(directory / "sitecustomize.py", ignored))
    return {};
  return before_the_value_of("PYTHONPATH", directory.string());
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

Error which_program(std::string_view subcommand) {
  return {ErrorCode::invalid_argument,
          "which program?",
          {},
          fmt::format("margay {} [OPTIONS] -- COMMAND [ARGUMENTS]...", subcommand)};
}

}  // namespace margay::cli
