#!/bin/bash
# margay run, and the program of the README: run_test.sh MARGAY CASE
set -euo pipefail

margay=$1
case=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }

environment() {
  LD_LIBRARY_PATH=/before "$margay" run --mfma fma --threads 3 --stats -- env >said
  grep -q '^LD_LIBRARY_PATH=/.*/lib:/before$' said || fail "library path"
  grep -q '^MARGAY_MFMA=fma$' said || fail "--mfma"
  grep -q '^MARGAY_THREADS=3$' said || fail "--threads"
  grep -q '^MARGAY_STATS=1$' said || fail "--stats"
  ! grep -q '^MARGAY_PROGRESS' said 2>/dev/null || [ -t 2 ] || fail "progress is for terminals"
  # What follows the program is the program's, dashes or not.
  [ "$("$margay" run echo --mfma x -- --stats)" = "--mfma x -- --stats" ] || fail "arguments"
}

exit_codes() {
  local got=0
  "$margay" run -- sh -c 'exit 7' || got=$?
  [ "$got" = 7 ] || fail "the program's exit code was $got, not 7"
  got=0
  "$margay" run -- ./nothing-there 2>said || got=$?
  [ "$got" = 1 ] || fail "exit code $got for a missing program"
  grep -q 'no such program: ./nothing-there' said || fail "it did not say what is missing"
}

# The first workgroup waits for what the others write, in sweeps over more words than a loop that is known to wait.
long_sweeps() {
  cat >sweeps.hip <<'END'
#include <hip/hip_runtime.h>
#include <cstdio>
constexpr int kWords = 8192, kWriters = 8;
__global__ void sweep(volatile int* words) {
  if (blockIdx.x != 0) {
    for (int n = threadIdx.x; n < kWords / kWriters; n += blockDim.x)
      words[(blockIdx.x - 1) * (kWords / kWriters) + n] = 1;
    return;
  }
  int found;
  do {
    found = 0;
    for (int n = 0; n < kWords; ++n) found += words[n];
  } while (found != kWords);
}
int main() {
  int* words;
  if (hipMalloc(&words, kWords * sizeof(int)) != hipSuccess) return 1;
  if (hipMemset(words, 0, kWords * sizeof(int)) != hipSuccess) return 1;
  sweep<<<1 + kWriters, 64>>>(words);
  std::puts(hipGetErrorName(hipDeviceSynchronize()));
}
END
  "$margay" hipcc -O2 sweeps.hip -o sweeps
  "$margay" run --threads 1 --stats -- ./sweeps >said 2>&1
  cat said
  grep -qx hipSuccess said || fail "the launch failed"
  local executed
  executed=$(sed -n 's/.*wave_instructions=\([0-9]*\) .*kernel=sweep.*/\1/p' said)
  [ "$executed" -lt 20000000 ] || fail "the first workgroup ran for long before the others began"
}

readme() {  # the first cpp block of the README is the program that it says to compile and run
  awk '/^```cpp/ { inside = 1; next } /^```/ { if (inside) exit } inside' "$source/README.md" >saxpy.cpp
  [ -s saxpy.cpp ] || fail "no program in the README"
  "$margay" hipcc -Wall -Wextra -Werror saxpy.cpp -o saxpy
  "$margay" run -- ./saxpy | tee said
  grep -qx 'y\[100\] = 201' said || fail "wrong result"
  ./saxpy >/dev/null || fail "it has to run without margay run, too"
}

device_functions() {
  "$margay" hipcc "$source/tests/toolchain/device_check.hip" -o check
  "$margay" run -- ./check || fail "a device function is wrong"
}

cooperative_groups() {
  "$margay" hipcc -std=c++14 -Wall -Wextra -Werror "$source/tests/toolchain/cooperative_groups.hip" -o groups
  "$margay" run -- ./groups || fail "a group is wrong"
}

runtime_api() {
  "$margay" hipcc -std=c++11 -Wall -Wextra -Werror "$source/tests/toolchain/runtime_api.hip" -o api
  "$margay" run -- ./api || fail "a call of HIP 6 is wrong"
}

fp8() {
  "$margay" hipcc -std=c++17 -Wall -Wextra -Werror "$source/tests/toolchain/fp8_check.hip" -o fp8
  "$margay" run -- ./fp8 || fail "an 8-bit float is wrong"
}

# The types of the headers, each judged by a program of its own on the host and on the device. -O0
# compiles them in a fifth of the time; contraction would fuse on the device only.
types() {
  "$margay" hipcc -O0 -ffp-contract=off -Wall -Wextra -Werror "$source/tests/toolchain/$1" -o types
  "$margay" run -- ./types || fail "a type is wrong"
}
vector_types() { types vector_types.hip; }
half_types() { types half_types.hip; }
bf16_types() { types bf16_types.hip; }
complex_types() { types complex_types.hip; }
fp8_types() { types fp8_types.hip; }

declare -F "$case" >/dev/null || fail "no such case: $case"
"$case"
