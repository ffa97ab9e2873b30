#!/bin/bash
# What a user sees who got something wrong: front_door_test.sh MARGAY INPUTS CASE. In INPUTS are the
# program `victim` and its code object `victim.hsaco`. Every mistake must be answered by what went
# wrong and where, an exit code that is not 0, and nothing else may break.
set -euo pipefail

margay=$1
inputs=$2
case=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset MARGAY_MFMA MARGAY_THREADS MARGAY_STATS MARGAY_QUIET

fail() { echo "FAILED: $*" >&2; cat said >&2 2>/dev/null || true; exit 1; }
# says TEXT...: stderr holds each.
says() {
  local text
  for text in "$@"; do grep -qF -- "$text" said || fail "it did not say '$text'"; done
}
# program CODE_NAME ARGUMENT...: the victim ends with 1 and prints that error's name.
program() {
  local wanted=$1 got=0
  shift
  "$margay" run -- "$inputs/victim" "$@" >out 2>said || got=$?
  [ "$got" = 1 ] || fail "exit code $got, not 1: victim $*"
  [ "$(cat out)" = "$wanted" ] || fail "it printed '$(cat out)', not $wanted: victim $*"
  says 'margay: ' '  at   '
}
# tool EXIT_CODE TEXT ARGUMENT...: margay itself refuses.
tool() {
  local wanted=$1 text=$2 got=0
  shift 2
  "$margay" "$@" >out 2>said || got=$?
  [ "$got" = "$wanted" ] || fail "exit code $got, not $wanted: margay $*"
  says "$text" ': error: ' '  fix  '
}

pointers() {
  program hipErrorIllegalAddress null_pointer
  says victim.hip:19 increment 'lane 0' 'null pointer'
  program hipErrorIllegalAddress freed_pointer
  says victim.hip:19 freed
  program hipErrorIllegalAddress past_the_end
  says victim.hip:19 '1024'
  program hipErrorIllegalAddress wild_pointer
  says victim.hip:19 0x12345678000
}

limits() {
  program hipErrorInvalidValue dynamic_lds
  says '100000 bytes of LDS' 65536 '  fix  '
  program hipErrorInvalidConfiguration block_too_large
  says '2048 work-items' 1024 '  fix  '
  program hipErrorInvalidConfiguration no_blocks
  says 'zero dimension' '  fix  '
  program hipErrorOutOfMemory out_of_memory
}

survival() {
  local name
  for name in works refusal_harms_nothing; do
    "$margay" run -- "$inputs/victim" "$name" >out 2>said || fail "$name: exit code $?"
    [ "$(cat out)" = 'still works' ] || fail "$name: it printed '$(cat out)'"
  done
}

modules() {
  "$margay" run -- "$inputs/victim" load "$inputs/victim.hsaco" >out 2>said || fail "a good module"
  [ "$(cat out)" = 1 ] || fail "the module's kernel computed $(cat out)"
  program hipErrorFileNotFound load nothing.hsaco
  says nothing.hsaco
  head -c 3000 "$inputs/victim.hsaco" >short.hsaco
  program hipErrorInvalidImage load short.hsaco
  : >empty.hsaco
  program hipErrorInvalidImage load empty.hsaco
  echo 'some text' >text.hsaco
  program hipErrorInvalidImage load text.hsaco
  says 'not a code object' '  fix  '
  cp "$inputs/victim.hsaco" gfx90a.hsaco
  printf '\x3f' | dd of=gfx90a.hsaco bs=1 seek=48 conv=notrunc status=none  # e_flags
  program hipErrorNoBinaryForGpu load gfx90a.hsaco
  says gfx90a --offload-arch=gfx942
}

damaged_modules() {
  "$margay" run -- "$inputs/victim" load_damaged "$inputs/victim.hsaco" >out 2>said ||
    fail "exit code $?"
  grep -qE '^refused [0-9]+ of 300$' out || fail "it printed: $(cat out)"
  grep -qx 'still works' out || fail "the device does not work any more"
  ! grep -q '^took' out || fail "a damaged file of 10 KB $(grep '^took' out)"
  # Truncations alone are a third; most of them are refused.
  [ "$(sed -n 's/^refused \([0-9]*\) .*/\1/p' out)" -ge 100 ] || fail "too few: $(cat out)"
}

options() {
  tool 2 'did you mean: margay hipcc' hipc x.cpp
  tool 2 'no such option' --frobnicate
  tool 2 exakt run --mfma exakt -- true
  tool 2 '--threads' run --threads 0 -- true
  tool 2 '--threads' run --threads many -- true
  tool 2 'which program' run --stats
  tool 1 'no such program' run -- ./nothing
  echo 'int main() {}' >empty.hip
  "$margay" hipcc --offload-arch=gfx90a empty.hip -o empty >out 2>said && fail "gfx90a was accepted"
  says gfx90a gfx942
}

declare -F "$case" >/dev/null || fail "no such case: $case"
"$case"
