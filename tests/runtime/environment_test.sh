#!/bin/bash
# The environment variables of the runtime, seen from outside: environment_test.sh PROGRAM CASE
set -euo pipefail

program=$1
case=$2
unset MARGAY_DEVICE MARGAY_HOST_LEVEL MARGAY_MFMA MARGAY_TARGET MARGAY_THREADS MARGAY_STATS MARGAY_PROGRESS MARGAY_QUIET

fail() { echo "FAILED: $*" >&2; exit 1; }
# run WANTED [NAME=VALUE...]: runs the program; its output is in $out, what it says in $said.
run() {
  local wanted=$1 got=0
  shift
  out=$(env "$@" "$program" 2>/dev/null) || got=$?
  said=$(env "$@" "$program" 2>&1 >/dev/null) || true
  [ "$got" = "$wanted" ] || fail "exit code $got, not $wanted: $said"
}

stats() {
  run 0 MARGAY_STATS=1
  [[ $said =~ ^"margay: launch grid=2x2x1 block=64x1x1 seconds="[0-9.]+" wave_instructions="[0-9]+" mfma=0 kernel=saxpy(float, float const*, float*)"$ ]] ||
    fail "unexpected line: $said"
  run 0 MARGAY_STATS=0
  [ -z "$said" ] || fail "it said: $said"
}

bad_mfma() {
  run 1 MARGAY_MFMA=exakt
  [ "$out" = hipErrorNotInitialized ] || fail "the code was $out"
  [[ $said == *'MARGAY_MFMA is "exakt", which is not one of exact, fma or fast.'* ]] || fail "$said"
  [[ $said == *'fix  Set MARGAY_MFMA to one of exact, fma or fast, or unset it.'* ]] || fail "$said"
}

bad_device() {
  run 1 MARGAY_DEVICE=h100
  [ "$out" = hipErrorNotInitialized ] || fail "the code was $out"
  [[ $said == *'MARGAY_DEVICE is "h100", which is not one of mi325x, mi300x,'* ]] ||
    fail "$said"
  run 0 MARGAY_DEVICE=MI300A
}

bad_threads() {
  run 1 MARGAY_THREADS=0
  [[ $said == *'MARGAY_THREADS is "0", which is not a number from 1 to 4096.'* ]] || fail "$said"
  run 0 MARGAY_THREADS=3
}

quiet() {
  run 1 MARGAY_QUIET=1 MARGAY_MFMA=exakt
  [[ $said == *MARGAY_MFMA* ]] || fail "settings that cannot be read must not silence themselves"
  run 0 MARGAY_QUIET=1
  [ -z "$said" ] || fail "it said: $said"
}

progress_is_silent_when_short() {
  run 0 MARGAY_PROGRESS=1
  [ -z "$said" ] || fail "it said: $said"
}

start_up() {  # registration must not parse code objects: a start costs milliseconds
  local begin end
  begin=$(date +%s%N)
  for _ in 1 2 3 4 5 6 7 8 9 10; do "$program" nothing; done
  end=$(date +%s%N)
  local each=$(((end - begin) / 10000000))
  echo "$each ms for start and end"
  [ "$each" -lt 200 ] || fail "$each ms"
}

declare -F "$case" >/dev/null || fail "no such case: $case"
"$case"
