#!/bin/bash
# margay hipcc as a user meets it, one case per run: hipcc_test.sh MARGAY CASE
# Each case compiles something small and looks at what came out.
set -euo pipefail

margay=$1
case=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
# status WANTED COMMAND...: runs it, keeps what it says in $work/said.
status() {
  local wanted=$1 got=0
  shift
  "$@" >said 2>&1 || got=$?
  [ "$got" = "$wanted" ] || { cat said >&2; fail "exit code $got, not $wanted: $*"; }
}
said() { grep -q -- "$1" said || { cat said >&2; fail "it did not say: $1"; }; }
quiet() { [ ! -s said ] || { cat said >&2; fail "it said something"; }; }

cat >kernel.cpp <<'END'
#include <hip/hip_runtime.h>
__global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }
END

device_functions() {
  status 0 "$margay" hipcc -Wall -Wextra -c "$here/device_functions.hip" -o f.o
  quiet
  status 0 "$margay" hipcc -std=c++17 -Wall -fsyntax-only "$here/device_functions.hip"
  quiet
}

older_standards() {  # what makefiles of benchmarks ask for
  status 0 "$margay" hipcc -std=c++11 -Wall -c kernel.cpp
  quiet
  status 0 "$margay" hipcc -std=c++14 -Wall -fsyntax-only "$here/device_functions.hip"
  quiet
}

host_compiler() {  # the headers' host half, with a compiler that knows no HIP
  printf '#include <hip_bf16.h>\nfloat f() { return __hip_bfloat16(2) * __hip_bfloat16(3); }\n' >h.cc
  "$margay" hipcc --print-config >said
  status 0 g++ -std=c++20 -Wall -Wextra -D__HIP_PLATFORM_AMD__ \
    "-I$(sed -n 's/^tile library *//p' said)" -c h.cc
  quiet
}

mask_of_32_bits() {  # a mask for 32 lanes is a mistake on a wave of 64
  printf '#include <hip/hip_runtime.h>\n__global__ void k(int* p) { *p = __shfl_sync(0xffffffffu, *p, 1); }\n' >m.hip
  status 1 "$margay" hipcc -c m.hip
  said '64-bit integer'
}

object() {
  status 0 "$margay" hipcc -c kernel.cpp
  quiet
  # Code object v5 or later for gfx942, in the section HIP's registration reads.
  llvm-objcopy-22 --dump-section .hip_fatbin=fat kernel.o
  grep -q 'hipv4-amdgcn-amd-amdhsa--gfx942' fat || fail "no gfx942 code object in the fat binary"
}

code_object() {
  status 0 "$margay" hipcc --genco --no-gpu-bundle-output kernel.cpp -o kernel.hsaco
  llvm-readelf-22 -h -n kernel.hsaco >said
  said 'gfx942'
  said '.name: *_Z5scalePff'
  llvm-readelf-22 -S kernel.hsaco >said
  said '.debug_line'  # on without being asked for
  status 0 "$margay" hipcc --genco -g0 --no-gpu-bundle-output kernel.cpp -o kernel.hsaco
  llvm-readelf-22 -S kernel.hsaco >said
  ! grep -q '.debug_line' said || fail "-g0 was not respected"
}

bundle() {
  status 0 "$margay" hipcc --genco kernel.cpp -o kernel.hsaco
  [ "$(head -c 24 kernel.hsaco)" = __CLANG_OFFLOAD_BUNDLE__ ] || fail "--genco gives a bundle, as hipcc"
}

assembly() {
  status 0 "$margay" hipcc -S --cuda-device-only kernel.cpp -o kernel.s
  grep -q 'global_store_dword' kernel.s || fail "no gfx942 assembly"
  grep -q 'gfx942' kernel.s || fail "not for gfx942"
}

resource_usage() {
  status 0 "$margay" hipcc -Rpass-analysis=kernel-resource-usage -c kernel.cpp
  said 'VGPRs: '
  said 'Occupancy'
}

save_temps() {
  status 0 "$margay" hipcc -save-temps -c kernel.cpp
  ls kernel-hip-amdgcn-amd-amdhsa-gfx942.s >/dev/null
}

precompiled() {  # headers are taken from a cache from the second time on, and the code is the same
  export HIPCC_VERBOSE=1 MARGAY_HIPCC_CACHE=$work/cache
  local options=(-Wall -Werror -MD -MF kernel.d -c kernel.cpp) mode object
  commands() { grep -c "^hipcc-cmd:.*${1-}" said; }
  taken() { [ "$(commands -include-pch)/$(commands)" = 1/1 ] || fail "$1: the headers were not taken from the cache"; }
  compiled() { [ "$(commands -include-pch)/$(commands)" = 0/1 ] || fail "$1: headers were taken from the cache"; }
  both() { [ "$(commands -include-pch)/$(commands)" = 1/2 ] || fail "$1: no second compilation without the cache"; }
  for mode in -fPIE -DN=1; do  # each with its own headers
    status 0 "$margay" hipcc "${options[@]}" "$mode" -o first.o
    compiled "first time with $mode"
    cp kernel.d first.d
    for _ in 2 3; do
      status 0 "$margay" hipcc "${options[@]}" "$mode" -o later.o
      taken "later time with $mode"
    done
  done
  dependencies_of() { tr ' ' '\n' <"$1" | grep / | grep -v first_headers.hip | xargs realpath | sort -u; }
  diff <(dependencies_of kernel.d) <(dependencies_of first.d) || fail "other dependencies"
  for object in first later; do
    llvm-objcopy-22 --dump-section ".hip_fatbin=$object" "$object.o"
    clang-offload-bundler-19 --unbundle --type=o --targets=hipv4-amdgcn-amd-amdhsa--gfx942 "--input=$object" \
      "--output=$object.hsaco"
    llvm-objcopy-22 -O binary --only-section=.text "$object.hsaco" "$object.text"
  done
  cmp first.text later.text || fail "precompiled headers change the code"
  # Options that come with macros are another set. (-Wno-deprecated leaves out __DEPRECATED.)
  for mode in -std=c++17 -Wno-deprecated -O0; do
    status 0 "$margay" hipcc "${options[@]}" -DN=1 "$mode" -o later.o
    compiled "first time with $mode"
  done
  # A header that is not as it was: all sets are said to be of another one, and the one used is made again.
  sed -i '1s/^[0-9]*/1/' cache/*/inputs
  status 0 "$margay" hipcc "${options[@]}" -DN=1 -o later.o
  [ "$(head -qn1 cache/*/inputs | grep -vc '^1 ')" = 1 ] || fail "not one set was made again"
  # Errors are those of an ordinary compilation, and warnings are kept.
  printf '#include <hip/hip_runtime.h>\n#include <string>\n__global__ void k() { std::string s("k"); }\n' >error.cpp
  status 1 "$margay" hipcc "${options[@]:0:5}" -DN=1 -c error.cpp
  both "an error"
  grep -v "^hipcc-cmd" said >with
  MARGAY_HIPCC_CACHE='' status 1 "$margay" hipcc "${options[@]:0:5}" -DN=1 -c error.cpp
  diff with <(grep -v "^hipcc-cmd" said) || fail "other errors with the cache"
  printf '#include <hip/hip_runtime.h>\nint f() {}\n' >warning.cpp
  status 0 "$margay" hipcc -Wall -MD -MF kernel.d -DN=1 -c warning.cpp
  taken "a warning"
  said 'non-void function does not return a value'
  # Precompiled headers that cannot be used, and some that are gone.
  for n in cache/*/pch/host.pch; do echo x >"$n"; done
  status 0 "$margay" hipcc "${options[@]}" -DN=1 -o later.o
  both "broken headers"
  rm cache/*/pch/host.pch
  status 0 "$margay" hipcc "${options[@]}" -DN=1 -o later.o
  taken "made again after they were deleted"
  # The user's own headers never are: clang would drop a variable that only host code in them reads.
  cat >factor.h <<'END'
#include <hip/hip_runtime.h>
static __device__ float factor = 3;
inline float read_factor() {
  float value = 0;
  return hipMemcpyFromSymbol(&value, HIP_SYMBOL(factor), sizeof value) == hipSuccess ? value : -1;
}
END
  mkdir -p own/hip
  printf '#include_next <hip/hip_runtime.h>\n' >own/hip/hip_runtime.h
  for mode in "-include factor.h" -Iown; do
    for _ in 1 2 3; do
      # shellcheck disable=SC2086 # two words
      status 0 "$margay" hipcc -c kernel.cpp $mode -o later.o
      compiled "own headers with $mode"
    done
  done
  echo 'int main() { return read_factor() == 3 ? 0 : 1; }' >symbol.cpp
  for _ in 1 2 3; do status 0 "$margay" hipcc -include factor.h symbol.cpp -o symbol; done
  status 0 "$margay" run -- ./symbol
  # Several at once, of which one makes the headers.
  status 0 "$margay" hipcc -O2 -c kernel.cpp -o later.o
  for n in 1 2 3 4 5 6; do "$margay" hipcc -O2 -c kernel.cpp -o "p$n.o" >"said$n" 2>&1 || touch failed & done
  wait
  [ ! -e failed ] || fail "one of several at once: $(cat said?)"
  status 0 "$margay" hipcc -O2 -c kernel.cpp -o later.o
  taken "after several at once"
  # A cache that cannot be written, and one that was emptied.
  MARGAY_HIPCC_CACHE=/proc status 0 "$margay" hipcc "${options[@]}" -o later.o
  compiled "a cache that cannot be written"
  rm -rf cache
  status 0 "$margay" hipcc "${options[@]}" -DN=1 -o later.o
  compiled "a cache that was emptied"
}

argument_types() {  # names and types of kernel arguments cost nothing: the machine code is the same
  local sources=("$here"/../../kernels/gemm/level07_eight_waves/kernel.hip
    "$here"/device_functions.hip)
  local source
  for source in "${sources[@]}"; do
    # With the places of variables clang 19 dies of some of these.
    for debug in "" -gline-tables-only -g "-g -O0"; do
      [ "$debug" != "-g -O0" ] || [ "$source" = "$here/device_functions.hip" ] || continue
      # shellcheck disable=SC2086 # "-g -O0" are two words
      status 0 "$margay" hipcc -std=c++20 -O3 $debug --genco --no-gpu-bundle-output \
        -I"$here/../../include" "$source" -o "code$debug"
      llvm-objcopy-22 -O binary --only-section=.text "code$debug" "text$debug"
      llvm-dwarfdump-22 "code$debug" >"debug$debug"
    done
    cmp text text-gline-tables-only || fail "$source: types change the code"
    cmp text text-g || fail "$source: -g changes the code"
    grep -q DW_TAG_formal_parameter debug || fail "$source: no kernel argument has a name"
    grep -q DW_TAG_variable debug && fail "$source: variables are still there"
    [ "$(stat -c %s code)" -lt $(($(stat -c %s code-gline-tables-only) * 6 / 5)) ] ||
      fail "$source: much debug information"
  done
  grep -q DW_TAG_formal_parameter "debug-g -O0" || fail "no names at -O0"
  status 0 "$margay" hipcc -Werror --cuda-host-only -c kernel.cpp
  quiet
}

openmp() {  # in host code, with Debian's libomp for this clang
  cat >omp.cpp <<'END'
#include <hip/hip_runtime.h>
#include <omp.h>
#include <cstdio>
__global__ void twice(int* x) { x[blockIdx.x * 64 + threadIdx.x] *= 2; }
int main() {
  int* x = nullptr;
  if (hipMallocManaged(&x, 640 * sizeof(int)) != hipSuccess) return 1;
#pragma omp parallel for
  for (int i = 0; i < 640; ++i) x[i] = i;
  twice<<<10, 64>>>(x);
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  long sum = 0;
  int threads = 0;
#pragma omp parallel for reduction(+ : sum) reduction(max : threads) num_threads(3)
  for (int i = 0; i < 640; ++i) sum += x[i], threads = omp_get_num_threads();
  std::printf("%ld %d\n", sum, threads);
}
END
  status 0 "$margay" hipcc -Wall -Werror -fopenmp omp.cpp -o omp
  status 0 ./omp
  said '^408960 3$'
  # A compiler without the library.
  mkdir -p elsewhere/bin
  ln -s "$(readlink -f /usr/lib/llvm-19/bin/clang++)" elsewhere/bin/clang++
  HIP_CLANG_PATH=$PWD/elsewhere/bin status 1 "$margay" hipcc -fopenmp -c omp.cpp
  said 'not found: OpenMP'
  said 'apt-get install libomp-19-dev'
  HIP_CLANG_PATH=$PWD/elsewhere/bin status 0 "$margay" hipcc -fopenmp -fno-openmp -E kernel.cpp -o e
}

missing_libraries() {  # a header that is not installed is missed in a sentence
  local header
  for header in rocrand/rocrand_kernel.h rocrand_kernel.h hiprand/hiprand.h; do
    local library=${header%%_*}
    library=${library%%/*}
    library=${library%.h}
    printf '#include <%s>\n' "$header" >l.hip
    # Without those of this machine, where there are any.
    status 1 "$margay" hipcc -nogpuinc -nostdinc -fsyntax-only l.hip
    said "is not installed: apt-get install lib$library-dev"
  done
  for header in thrust/device_vector.h thrust/sort.h hipblas/hipblas.h rocblas/rocblas.h rocwmma/rocwmma.hpp \
    hipfft/hipfft.h rccl/rccl.h hipsparse/hipsparse.h; do
    printf '#include <%s>\n' "$header" >l.hip
    status 1 "$margay" hipcc -nogpuinc -nostdinc -fsyntax-only l.hip
    said "\"$header is not installed, and Debian 12 has no package of .* from ROCm"
  done
  # Where there is one, it is found.
  mkdir -p there/rocrand
  echo '#define FOUND 1' >there/rocrand/rocrand_kernel.h
  for header in rocrand/rocrand_kernel.h rocrand_kernel.h; do
    printf '#include <%s>\nstatic_assert(FOUND == 1);\n' "$header" >l.hip
    status 0 "$margay" hipcc -Ithere -Wall -Werror -fsyntax-only l.hip
  done
}

upstream_helpers() {  # names that kernels written for upstream's tile library use
  cat >t.hip <<'END'
#include <kittens.cuh>
__device__ float f(const kittens::st_bf<32, 32>& tile) {
  static_assert(std::is_same_v<typeof(tile), kittens::st_bf<32, 32>>);
  __shared__ kittens::col_vec<typeof(tile)> sums;
  return static_cast<float>(sums.data[0]);
}
END
  status 0 "$margay" hipcc -std=c++20 -fsyntax-only t.hip
}

dependencies() {
  status 0 "$margay" hipcc -MM kernel.cpp -MF d
  grep -q 'kernel.cpp' d || fail "no dependency on the source"
  status 0 "$margay" hipcc -E kernel.cpp -o e
  grep -q 'void scale' e || fail "no preprocessed source"
  # clang 22's own options for these do nothing where only the device's code is made.
  for clang in 19 22; do
    [ -e /usr/lib/llvm-$clang/bin/clang++ ] || continue
    status 0 "$margay" hipcc --clang $clang --genco -MD -MF d -MT rule kernel.cpp -o k.hsaco
    quiet
    { grep -q '^rule: kernel.cpp' d && grep -q hip_runtime.h d; } || fail "no dependencies of --genco"
    status 0 "$margay" hipcc --clang $clang --genco -MMD kernel.cpp -o k.hsaco
    [ "$(cat k.d)" = 'k.hsaco: kernel.cpp' ] || fail "-MMD: $(cat k.d)"
  done
}

wrong_architecture() {
  status 2 "$margay" hipcc --offload-arch=gfx90a -c kernel.cpp
  said 'cannot compile for gfx90a'
  said 'gfx942'
}

compile_error() {
  echo 'int main() { return x; }' >bad.cpp
  status 1 "$margay" hipcc -c bad.cpp
  said "bad.cpp:1:21: error: use of undeclared identifier 'x'"
}

missing_compiler() {
  HIP_CLANG_PATH=/nonexistent status 1 "$margay" hipcc -c kernel.cpp
  said 'not found: compiler'
  said 'apt-get install clang-19'
}

makefile() {
  # shellcheck disable=SC2016  # make expands these
  printf 'kernel.o: kernel.cpp\n\t$(HIPCXX) -O2 -c $< -o $@\n' >Makefile
  status 0 make HIPCXX="$margay hipcc"
  [ -s kernel.o ] || fail "make made nothing"
}

verbose() {
  HIPCC_VERBOSE=1 status 0 "$margay" hipcc -c kernel.cpp "-DA=b c"
  said 'hipcc-cmd: .*clang++ .*-x hip kernel.cpp .*-DA=b c'
}

config() {
  status 0 "$margay" hipcc --print-config
  said 'architecture *gfx942'
  said 'device libraries .*ocml.bc'
  status 0 "$margay" hipcc --version
  said 'clang version 19'
}

clang_version() {
  status 0 "$margay" hipcc --clang 19 --version
  said 'clang version 19'
  status 2 "$margay" hipcc --clang 18 -c kernel.cpp
  said 'clang "18" is not one that Margay is tested with'
  said '--clang 19 or --clang 22; HIP_CLANG_PATH names the folder of any other'
  status 2 "$margay" hipcc -c kernel.cpp --clang
  said 'the option --clang needs a value'
  HIP_CLANG_PATH=/nonexistent status 0 "$margay" hipcc --clang=19 -c kernel.cpp
  # It is optional.
  if [ ! -e /usr/lib/llvm-22/bin/clang++ ]; then
    status 1 "$margay" hipcc --clang 22 -c kernel.cpp
    said 'not found: compiler'
    said 'apt-get install clang-22 lld-22 clang-tools-22'
    return
  fi
  status 0 "$margay" hipcc --clang 22 --version
  said 'clang version 22'
  status 0 "$margay" hipcc --clang=22 -Werror -O2 "$here/device_check.hip" -o check22
  status 0 "$margay" run -- ./check22
  status 0 "$margay" hipcc -Werror -O2 "$here/device_check.hip" -o check19
  status 0 "$margay" run -- ./check19
  cmp -s check19 check22 && fail "both compilers make the same program"
  return 0
}

usage() {
  status 2 "$margay"
  said 'usage: margay COMMAND'
  status 0 "$margay" --help
  said 'hipcc'
  status 2 "$margay" hipc
  said 'did you mean: margay hipcc'
  status 2 "$margay" --nonsense
  said 'no such option'
  status 2 "$margay" hipcc
  status 2 "$margay" run
  said 'which program'
  status 2 "$margay" run --mfma round -- true
  said 'exact,fma,fast'
  status 2 "$margay" run --threads 0 -- true
}

declare -F "$case" >/dev/null || fail "no such case: $case"
"$case"
