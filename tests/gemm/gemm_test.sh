#!/bin/bash
# margay gemm from outside: gemm_test.sh MARGAY CASE
set -euo pipefail

margay=$1
case=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; cat said >&2 || true; exit 1; }
verified() { "$margay" gemm "$@" >said 2>&1 || fail "exit code $? of gemm $*"; grep -q 'verified: C is right' said || fail "$*"; }

# Every mode and layout, whole and ragged blocks, rows of every alignment.
modes() { for mode in exact fma fast; do verified --m 256 --n 512 --k 192 --mfma $mode; done; }
ragged() {
  verified --m 257 --n 255 --k 65 --mfma fma
  verified --m 100 --n 300 --k 72 --mfma fma
  verified --m 1 --n 1 --k 1 --mfma fma
  verified --m 33 --n 500 --k 1 --mfma exact
}
not_transposed() {
  verified --m 256 --n 256 --k 128 --no-transpose-b --mfma fma
  verified --m 129 --n 263 --k 77 --no-transpose-b --mfma fma
}
scaled() {
  verified --m 300 --n 200 --k 100 --alpha -0.5 --beta 3 --mfma fma
  verified --m 300 --n 200 --k 100 --alpha 2 --beta 1 --output bf16 --mfma fma
  verified --m 64 --n 64 --k 64 --alpha 0 --beta 1 --mfma fma
}
# Where oneDNN has no bf16, as on a host without AVX-512, it multiplies the same numbers in f32.
narrow_host() {
  export DNNL_MAX_CPU_ISA=AVX2
  verified --m 100 --n 300 --k 72 --mfma fma --json out.json
  grep -q 'reference (oneDNN, f32)' said || fail "does not say what the reference is"
  grep -q '"reference_dtype": "f32"' out.json || fail "reference_dtype"
  verified --m 129 --n 263 --k 77 --no-transpose-b --alpha 2 --beta 1 --output bf16 --mfma fma
}
json() {
  verified --m 256 --n 256 --k 64 --json out.json --threads 1
  local field
  for field in m n k dtype kernel device mfma_mode threads verified max_abs_error max_rel_error \
    checked_elements wall_s reference_wall_s wave_instructions mfma_instructions; do
    grep -q "\"$field\":" out.json || fail "no $field in the JSON"
  done
  grep -q '"checked_elements": 65536' out.json || fail "checked_elements"
  # 256 x 256 x 64 in instructions of 16 x 16 x 16.
  grep -q '"mfma_instructions": 1024' out.json || fail "mfma_instructions"
  grep -q '"verified": true' out.json || fail "verified"
}
# Progress takes the place of a step's name on a terminal, so that the name is printed again with the time.
on_a_terminal() {
  script -qec "$margay gemm --m 256 --n 256 --k 64" typed </dev/null >said || fail "exit code $?"
  grep -Eq $'^  run on the virtual MI325X +\r  run on the virtual MI325X +[0-9.]+ s' said || { cat -v said; fail "the step has no name"; }
  verified --m 256 --n 256 --k 64
  ! grep -q $'\r' said || fail "a file gets what is for terminals"
}
# Where progress is a line of its own, a step's row is not divided by it.
in_a_file() {
  verified --m 3072 --n 3072 --k 4096 --mfma exact --threads 1
  grep -Eq '^  run on the virtual MI325X +[0-9.]+ s$' said || fail "the row is not whole"
}
# Modelled time stands next to the host's, and only when asked for.
modelled_time() {
  verified --m 512 --n 512 --k 256 --json plain.json
  ! grep -q modelled said plain.json || fail "modelled time that nobody asked for"
  verified --m 512 --n 512 --k 256 --time --json out.json
  grep -q 'host, with modelling  ' said || fail "no host time"
  grep -Eq 'modelled device time +[0-9.]+ us, [0-9.]+ TFLOP/s at 2.10 GHz; error about [0-9]+ %' said || fail "no modelled time"
  grep -Eq '  sustained +[0-9.]+ us, [0-9.]+ TFLOP/s at [0-9.]+ GHz' said || fail "no sustained time"
  python3 - out.json <<'END' || fail "the modelled figures of the JSON"
import json, sys
time = json.load(open(sys.argv[1]))["modelled"]
assert 3 < time["us_boost"] <= time["us_sustained"] < 1000, time
assert abs(time["tflops_boost"] - 2 * 512 * 512 * 256 / time["us_boost"] * 1e-6) < 1e-6, time
assert time["error_percent"] > 0 and time["bound"], time
END
}
# margay-gemm has no watchers: it becomes the program that has, or says that this is not built.
watched() {
  local bin=${margay%/*}
  "$margay" check -- "$margay" gemm --m 256 --n 256 --k 64 >said 2>&1 || fail "margay check"
  grep -q 'verified: C is right' said || fail "the checked run"
  grep -q 'margay check: no errors' said || fail "it was not checked"
  "$margay" prof --quiet --json profile.json -- "$margay" gemm --m 256 --n 256 --k 64 >said 2>&1 || fail "margay prof"
  grep -Eq '"launches": ?1[,}]' profile.json || fail "it was not profiled"
  mkdir -p alone/bin
  cp "$bin/margay-gemm" alone/bin/
  ln -s "$bin/../lib" alone/lib
  alone/bin/margay-gemm --m 64 --n 64 --k 64 >said 2>&1 || fail "it does not run alone"
  if alone/bin/margay-gemm --m 64 --n 64 --k 64 --time >said 2>&1; then fail "who modelled the time?"; fi
  grep -q 'alone/bin/margay-gemm-watched' said || fail "no word on what is missing"
  grep -q 'fix  ./margay build' said || fail "no word on what to do"
}
# The device of the report, by option and by environment; the bits are the same on all.
device() {
  local name
  verified --m 512 --n 256 --k 64 --json default.json
  for name in mi325x mi300x mi300a mi308x; do
    verified --m 512 --n 256 --k 64 --device $name --json $name.json
    grep -q "virtual ${name^^}, MFMA" said || fail "the report does not name the device $name"
    grep -q "\"device\": \"AMD Instinct ${name^^}\"" $name.json || fail "$name is not in the JSON"
    [ "$(grep mean_abs_error default.json)" = "$(grep mean_abs_error $name.json)" ] || fail "other bits on $name"
  done
  grep -q '"device": "AMD Instinct MI325X"' default.json || fail "the default device"
  MARGAY_DEVICE=mi300a verified --m 64 --n 64 --k 64 --json environment.json
  grep -q '"device": "AMD Instinct MI300A"' environment.json || fail "MARGAY_DEVICE"
}
# exact and fma give the same bits on any number of threads: the same largest error to the digit.
threads() {
  verified --m 512 --n 512 --k 128 --mfma fma --threads 1 --json one.json
  verified --m 512 --n 512 --k 128 --mfma fma --threads 4 --json four.json
  # Against the reference, in every element, where that has the same bits itself: in f32 oneDNN sums in other orders.
  local figure=mean_abs_error
  if grep -q '"reference_dtype": "f32"' one.json; then figure=max_sample_error; fi
  [ "$(grep $figure one.json)" = "$(grep $figure four.json)" ] || fail "threads change the bits"
}
usage() {
  local options
  for options in "--m 0" "--m x" "--k -3" "--mfma quick" "--dtype f64" "--device h100" "--threads 0" "--nonsense"; do
    local got=0
    # shellcheck disable=SC2086  # the words of an option
    "$margay" gemm $options >said 2>&1 || got=$?
    [ "$got" = 2 ] || fail "exit code $got, not 2, of gemm $options"
    [ -s said ] || fail "no message for gemm $options"
  done
  local got=0
  "$margay" gemm --m 256 --n 256 --k 64 --json no/such/directory/out.json >said 2>&1 || got=$?
  [ "$got" = 1 ] || fail "exit code $got of an unwritable JSON file"
}

# Every level of the ladder, what a level cannot do, and the list of them.
levels() {
  local level options
  for level in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
    verified --level $level --m 512 --n 256 --k 192 --mfma fma --json out.json
    grep -q "\"level\": $level," out.json || fail "no level in the JSON"
    grep -q "^level $level, " said || fail "no title of level $level"
    if [ $level -lt 13 ]; then
      grep -q "\"kernel\": \"gemm_level$(printf %02d $level)\"" out.json || fail "another kernel"
    fi
  done
  verified --level 1 --no-transpose-b --m 64 --n 64 --k 64
  verified --level 3 --transpose-b --m 128 --n 128 --k 64
  verified --level 13 --m 100 --n 30 --k 20 --alpha 2
  for options in "--level 0" "--level 14" "--level x" "--level 1 --transpose-b" "--level 4 --no-transpose-b" \
    "--level 5 --alpha 2" "--level 5 --beta 1" "--level 6 --output bf16"; do
    local got=0
    # shellcheck disable=SC2086  # the words of an option
    "$margay" gemm $options --m 512 --n 256 --k 192 >said 2>&1 || got=$?
    [ "$got" = 2 ] || fail "exit code $got, not 2, of gemm $options"
  done
  local got=0
  "$margay" gemm --level 9 --m 512 --n 100 --k 192 >said 2>&1 || got=$?
  [ "$got" = 2 ] || fail "exit code $got, not 2, of a wrong size"
  grep -q "level 9 needs n in multiples of 256, up to 1048576; n is 100" said || fail "no reason"
  "$margay" gemm --list-levels >said
  [ "$(grep -cE '^ +[0-9]+  [a-z_]+ +[0-9]+x[0-9]+' said)" = 13 ] || fail "not 13 levels"
}

# Ctrl-C stops the launch and says how far it got, also where a watcher waits for its profile.
interrupted() {
  local got
  # A shell script starts what it does not wait for with SIGINT ignored.
  local interruptible="env --default-signal=INT"
  : >said
  $interruptible "$margay" gemm --level 1 --no-transpose-b --m 4096 --n 4096 --k 4096 --json out.json >said 2>&1 &
  interrupt_soon $!
  [ "$got" = 130 ] || fail "exit code $got, not 130, after an interrupt"
  grep -qE 'interrupted +by Interrupt after [0-9.]+ s: the launch was interrupted after [0-9]+ of [0-9]+ workgroups' said ||
    fail "does not say how far it got"
  grep -q 'not verified; out.json was not written' said || fail "does not say what is lacking"
  if grep -q 'error:' said; then fail "an interrupt is no error"; fi

  : >said
  $interruptible "$margay" prof --json profile.json -- "$margay" gemm --level 1 --no-transpose-b --m 4096 --n 4096 --k 4096 >said 2>&1 &
  interrupt_soon $!
  [ "$got" = 130 ] || fail "exit code $got, not 130, of an interrupted profile"
  grep -q '"failed_launches": *1' profile.json || fail "no partial counts"

  # Without SIGINT's default action, as under nohup, it goes on.
  : >said
  env --ignore-signal=INT "$margay" gemm --level 1 --no-transpose-b --m 2048 --n 2048 --k 2048 >said 2>&1 &
  interrupt_soon $!
  [ "$got" = 0 ] || fail "exit code $got though it ignores interrupts"
}
# Interrupts process $1 when its launch begins, and waits for it: got is its exit code.
interrupt_soon() {
  local pid=$1 tries
  for ((tries = 0; tries < 600; ++tries)); do
    if grep -q 'load the code object' said; then break; fi  # the last row before the launch
    sleep 0.05
  done
  sleep 0.3
  kill -INT "$pid"
  got=0
  wait "$pid" || got=$?
}

"$case"
