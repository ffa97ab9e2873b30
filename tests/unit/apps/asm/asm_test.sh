#!/bin/bash
# margay asm, as its user sees it: asm_test.sh MARGAY INPUTS CASE. In INPUTS are the programs `one`
# and `three` (by their number of kernels) and the code object `one.hsaco`, made of saxpy.hip.
set -euo pipefail

margay=$1
inputs=$2
case=$3
source=$(dirname "$(realpath "$0")")/saxpy.hip
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; cat said >&2 2>/dev/null || true; exit 1; }
# run WANTED ARGUMENT...: margay asm; what it prints goes to `out` and `said`.
run() {
  local wanted=$1 got=0
  shift
  "$margay" asm "$@" >out 2>said || got=$?
  [ "$got" = "$wanted" ] || fail "exit code $got, not $wanted: margay asm $*"
}
# refuse WANTED TEXT ARGUMENT...: an error with that text, nothing on stdout.
refuse() {
  local wanted=$1 text=$2
  shift 2
  run "$wanted" "$@"
  grep -qF -- "$text" said || fail "it did not say '$text': margay asm $*"
  grep -q '^margay asm: error: ' said || fail "no error line: margay asm $*"
  grep -q '^  fix  ' said || fail "no word on what to do: margay asm $*"
  [ ! -s out ] || fail "it printed something: margay asm $*"
}

program() {
  run 0 "$inputs/one"
  grep -qx 'kernel saxpy(float, float const\*, float\*)' out || fail "no heading"
  grep -qE '^  VGPRs +[0-9]+  per lane' out || fail "no resources"
  grep -qE '^ +8 +8  global_buffer +float const\*$' out || fail "no arguments"
  grep -qF '| ' out || fail "no source lines"
  grep -qF '  y[threadIdx.x] += scaled(a) * x[threadIdx.x];' out || fail "no source text"
  grep -qE '^ +[0-9a-f]+  s_endpgm' out || fail "no instructions"
  ! grep -q $'\x1b' out || fail "colours in a file"
  run 0 "$inputs/one" --no-source
  ! grep -qF 'threadIdx' out || fail "source lines in spite of --no-source"
  run 0 "$inputs/one" --resources
  ! grep -qF 's_endpgm' out || fail "instructions in spite of --resources"
}

source_file() {  # with options for the compiler
  mkdir tmp
  TMPDIR=$PWD/tmp run 0 --no-source "$source" -- -DSCALE=7 -O1
  grep -qF 's_endpgm' out || fail "no instructions"
  grep -qF '0x40e00000' out || fail "the option did not reach the compiler"
  [ -z "$(ls tmp)" ] || fail "it left files: $(ls tmp)"
  refuse 2 'need a source file' "$inputs/one" -- -O1
}

source_that_does_not_compile() {
  echo 'nonsense' >bad.hip
  run 1 bad.hip
  grep -qF 'bad.hip:1:1: error:' said || fail "no message of the compiler"
  grep -qF 'bad.hip does not compile for gfx942' said || fail "no error of its own"
}

several_kernels() {
  run 0 "$inputs/three"
  [ "$(grep -cE ' (saxpy|fill<3>|fill<4>)\(' out)" = 3 ] || fail "not three kernels"
  ! grep -qF 's_endpgm' out || fail "instructions of all kernels"
  run 0 "$inputs/three" 'fill<4>'
  grep -qx 'kernel fill<4>(int\*)' out || fail "not the kernel that was asked for"
  grep -qF 's_endpgm' out || fail "no instructions"
  run 0 "$inputs/three" fill
  [ "$(grep -cE ' fill<[34]>\(' out)" = 2 ] || fail "not both that have the name"
}

json() {
  run 0 --json report.json "$inputs/one"
  grep -qF '"name": "saxpy(float, float const*, float*)"' report.json || fail "no name"
  grep -qF '"mnemonic": "s_endpgm"' report.json || fail "no instructions"
  run 0 --resources --json report.json "$inputs/one"
  ! grep -qF 's_endpgm' report.json || fail "instructions in spite of --resources"
  refuse 1 'cannot be written' --json no/such/directory/x.json "$inputs/one"
}

colour() {  # script(1) gives it a terminal
  if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    echo "SKIPPED: no pseudo-terminal can be opened here; is /dev/pts mounted?"
    exit 77
  fi
  TERM=xterm NO_COLOR='' script -qec "'$margay' asm '$inputs/one'" /dev/null >out </dev/null
  grep -q $'\x1b\\[34mglobal_load' out || fail "no colours on a terminal"
  TERM=xterm NO_COLOR=1 script -qec "'$margay' asm '$inputs/one'" /dev/null >out </dev/null
  ! grep -q $'\x1b' out || fail "colours in spite of NO_COLOR"
}

help() {
  run 0 --help
  for word in FILE KERNEL --resources --no-source --json; do
    grep -qF -- "$word" out || fail "no $word"
  done
  "$margay" --help | grep -qE '^  asm ' || fail "not in the list of commands"
}

wrong_kernel() {
  refuse 1 'Did you mean saxpy?' "$inputs/three" saxpi
  refuse 1 'Its kernels are fill<3>, fill<4>, saxpy.' "$inputs/three" something_else
}

damaged_files() {
  head -c 2000 "$inputs/one.hsaco" >short.hsaco
  refuse 1 short.hsaco short.hsaco
  cp "$inputs/one.hsaco" gfx90a.hsaco
  printf '\x3f' | dd of=gfx90a.hsaco bs=1 seek=48 conv=notrunc status=none
  refuse 1 'for gfx90a' gfx90a.hsaco
  : >empty.hsaco
  refuse 1 'The file is empty.' empty.hsaco
  refuse 1 'There is no file nothing.hsaco.' nothing.hsaco
  echo 'some text' >text.hsaco
  refuse 1 'not a code object' text.hsaco
  refuse 1 'holds no HIP kernels' /bin/true
  echo 'int main() {}' >host.cpp
  refuse 1 'no kernels' host.cpp
}

impossible_options() {
  refuse 2 '--colour' --colour "$inputs/one"
  refuse 2 'FILE' --resources
  refuse 2 'is not a file' .
  refuse 2 '--json' "$inputs/one" --json
}

declare -F "$case" >/dev/null || fail "no such case: $case"
"$case"
