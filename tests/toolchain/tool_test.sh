#!/bin/bash
# The tool's commands about itself, one case per run: tool_test.sh MARGAY CASE
# shellcheck disable=SC1091,SC2154  # margay, case, prefix and work are set there
source "$(dirname "${BASH_SOURCE[0]}")/case.sh"
commands() { "$margay" --help | sed -n '/^commands/,/^$/s/^  \([a-z]*\) .*/\1/p'; }

doctor() {
  status 0 "$margay" doctor
  said '^ok  *compiler '
  said '^ok  *run it '
  said '^ok  *check it '
  said '^everything that Margay needs is in place$'
  LD_LIBRARY_PATH=$work/other status 0 "$margay" doctor
  mkdir other
  : >other/libamdhip64.so
  LD_LIBRARY_PATH=$work/other status 0 "$margay" doctor
  said '^note  *LD_LIBRARY_PATH .*has a libamdhip64 of its own'
}

doctor_finds_faults() {
  HIP_CLANG_PATH=$work/none status 1 "$margay" doctor
  said '^FAILED  *compiler  .*/none/clang++ is missing'
  said 'apt-get install clang-19'
  said '^FAILED  *compile a kernel'
  said 'of these need mending'
  status 2 "$margay" doctor --nonsense
}

config() {
  status 0 "$margay" config
  said "^prefix  *$prefix "
  for part in prefix include library rocm cmake toolchain; do
    [ -e "$("$margay" config $part)" ] || fail "no $part"
  done
  status 2 "$margay" config toolchian
  said 'did you mean: toolchain'
}

completion() {
  status 2 "$margay" completion tcsh
  said 'no such shell: tcsh'
  "$margay" completion fish | grep -q 'complete -c margay' || fail "nothing for fish"
  "$margay" completion zsh | grep -q 'bashcompinit' || fail "nothing for zsh"
  eval "$("$margay" completion bash)"
  complete_words() {  # what is offered for the last of the words
    COMP_WORDS=("$margay" "$@")
    COMP_CWORD=$#
    _margay
    printf '%s\n' "${COMPREPLY[@]}"
  }
  [ "$(complete_words che)" = check ] || fail "no check: $(complete_words che)"
  [ "$(complete_words '' | sort)" = "$(commands | sort)" ] || fail "not all commands"
  complete_words check --le | grep -qx -- --leak-check || fail "no --leak-check"
  : >a_file.hip
  [ "$(complete_words hipcc a_f)" = a_file.hip ] || fail "no file"
  [ "$(complete_words check -- ./a_f)" = ./a_file.hip ] || fail "no command after --"
}

man_pages() {
  man=$prefix/share/man/man1
  for command in $(commands); do
    [ -s "$man/margay-$command.1" ] || fail "no margay-$command.1"
    grep -q "margay\\\\-$command\|margay-$command" "$man/margay.1" || fail "margay.1 does not name margay-$command"
  done
  grep -q -- '\\-\\-leak\\-check' "$man/margay-check.1" || fail "an option is missing"
  [ "$(head -1 "$man/margay-check.1" | cut -d' ' -f1,2)" = '.TH MARGAY-CHECK' ] || fail "no heading"
}

declare -F "$case" >/dev/null || fail "no such case: $case"
"$case"
