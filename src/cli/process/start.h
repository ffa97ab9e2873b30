// Shared by the subcommands that start the user's program: splitting the command line, the virtual
// device's library, and messages when it does not start.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cli/process/install.h"

namespace CLI {  // NOLINT(readability-identifier-naming): a library's
class App;
}

namespace margay::cli {

/// A command line in two parts: margay's own words, and the user's command.
struct CommandLine {
  std::span<char*> own;      ///< With the subcommand's name in front.
  std::span<char*> command;  ///< May be empty.
};

/// The options of a subcommand that take a value in the next word.
struct OptionsWithValues {
  std::initializer_list<std::string_view> always = {};
  std::initializer_list<std::string_view> if_number = {};  ///< Only when that word is a number.
};

/// The first word that is not an option of ours, or the one after `--`, starts the command;
/// everything after it belongs to the command, including words that look like options.
[[nodiscard]] CommandLine split_command(std::span<char*> arguments,
                                        const OptionsWithValues& options);

/// Parses margay's own words with `app`, whose options are declared; the help page also names
/// COMMAND. Returns the exit code if the command line asks for help or is invalid (which has been
/// reported).
[[nodiscard]] std::optional<int> read_own_words(CLI::App& app, const CommandLine& line,
                                                std::string_view subcommand,
                                                bool needs_command = true);

/// --device: the machine, by one of the names in gpu/machines. `device` stays empty without it.
void add_device_option(CLI::App& app, std::string& device);
/// The same with --mfma and --threads: how the virtual device of a program runs. `mfma` stays empty
/// and `threads` 0 without them.
void add_device_options(CLI::App& app, std::string& device, std::string& mfma, unsigned& threads);

/// --whole-pages, which sets MARGAY_WHOLE_PAGES for the program.
void add_whole_pages_option(CLI::App& app);
/// --ranks: for share_launches().
void add_ranks_option(CLI::App& app, std::optional<unsigned>& ranks);

/// This installation, if the HIP runtime in it has been built.
[[nodiscard]] Result<Install> find_runtime();

/// LD_LIBRARY_PATH with the virtual device's directory before its old value.
[[nodiscard]] std::string library_path(const Install& install);

/// PYTHONPATH with the folder before its old value whose sitecustomize.py makes the virtual device
/// Triton's when a Python program imports it; empty if this installation has none, or if
/// MARGAY_TRITON is 0.
[[nodiscard]] std::string python_path(const Install& install);

/// `number` is the errno of the attempt.
[[nodiscard]] Error cannot_start(const std::string& program, int number);

/// No command was given to `margay SUBCOMMAND`.
[[nodiscard]] Error which_program(std::string_view subcommand);

}  // namespace margay::cli
