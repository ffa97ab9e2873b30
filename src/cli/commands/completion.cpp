// `margay completion SHELL`: a script that completes commands, their options and file names. The
// options come from each command's own --help, so that the script stays current.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/console.h"

namespace margay::cli {
namespace {

constexpr const char* kHelp =
    R"sh(margay completion: completion of commands, options and files, for a shell

usage: margay completion bash|zsh|fish

  eval "$(margay completion bash)"                                     in ~/.bashrc
  eval "$(margay completion zsh)"                                      in ~/.zshrc
  margay completion fish > ~/.config/fish/completions/margay.fish
)sh";

// After `--` the user's own command is completed as usual.
constexpr const char* kBash = R"sh(_margay() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} n
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p' | grep -vx margay)" -- "$word")
    return
  fi
  for ((n = 2; n < COMP_CWORD; ++n)); do
    if [ "${COMP_WORDS[n]}" = -- ]; then
      if [ $((n + 1)) = "$COMP_CWORD" ]; then
        mapfile -t COMPREPLY < <(compgen -c -f -- "$word")
      else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
      fi
      return
    fi
  done
  case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" "$command" --help 2>&1 | grep -oE -- '--[a-z][a-z-]*' | sort -u)" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}
complete -o filenames -F _margay margay ./margay
)sh";

constexpr const char* kFish = R"sh(function __margay_commands
  margay --help | sed -n 's/^  \([a-z]\{1,\}\)  *\(.*\)/\1\t\2/p' | grep -v '^margay'
end
function __margay_options
  set -l words (commandline -opc)
  margay $words[2] --help 2>&1 | grep -oE -- '--[a-z][a-z-]*' | sort -u
end
complete -c margay -f -n 'test (count (commandline -opc)) = 1' -a '(__margay_commands)'
complete -c margay -n 'test (count (commandline -opc)) -gt 1' -a '(__margay_options)'
)sh";

}  // namespace

int completion_main(std::span<char*> arguments) {
  const std::string_view shell = arguments.size() == 2 ? arguments[1] : "";
  if (shell == "--help" || shell == "-h") {
    fmt::print("{}", kHelp);
  } else if (shell == "bash") {
    fmt::print("{}", kBash);
  } else if (shell == "zsh") {
    fmt::print(
        "autoload -U +X compinit && compinit; autoload -U +X bashcompinit && bashcompinit\n{}",
        kBash);
  } else if (shell == "fish") {
    fmt::print("{}", kFish);
  } else {
    return report("completion",
                  Error{ErrorCode::invalid_argument,
                        shell.empty() ? "which shell?" : fmt::format("no such shell: {}", shell),
                        {},
                        "margay completion bash, zsh or fish"});
  }
  return kExitOk;
}

}  // namespace margay::cli
