#!/bin/bash
# Margay as other projects' build systems find it, one case per run: build_systems_test.sh MARGAY CASE
# Each case builds a small project and runs what came out.
# shellcheck disable=SC1091,SC2154  # margay, case, prefix and work are set there
source "$(dirname "${BASH_SOURCE[0]}")/case.sh"
unset ROCM_PATH HIP_PATH HIPCXX HIP_CLANG_PATH

cat >double.hip <<'END'
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void twice(int* x) { x[threadIdx.x] *= 2; }
int main() {
  int* x = nullptr;
  if (hipMallocManaged(&x, 256) != hipSuccess) return 1;
  for (int i = 0; i < 64; ++i) x[i] = i;
  twice<<<1, 64>>>(x);
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  const bool right = x[21] == 42;
  std::printf("x[21] = %d\n", x[21]);
  return hipFree(x) == hipSuccess && right ? 0 : 1;
}
END
cat >host.cpp <<'END'
#include <hip/hip_runtime_api.h>
#include <cstdio>
int main() {
  hipDeviceProp_t properties{};
  if (hipGetDeviceProperties(&properties, 0) != hipSuccess) return 1;
  std::printf("device: %s\n", properties.name);
}
END

project() {  # the language HIP, a host program of another compiler, a checked test
  cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(demo LANGUAGES CXX HIP)
find_package(margay REQUIRED)
find_package(hip 6.0 REQUIRED)
enable_testing()
add_executable(double double.hip)
add_executable(host host.cpp)
target_link_libraries(host PRIVATE hip::host)
margay_add_check(double.check COMMAND double)
END
}

cmake_toolchain() {
  project
  run cmake -S . -B b --toolchain "$prefix/lib/cmake/margay/toolchain.cmake"
  run cmake --build b
  run b/double
  said 'x\[21\] = 42'
  run b/host
  said 'device: AMD Instinct MI'
  run ctest --test-dir b -V
  said 'margay check: no errors'
}

cmake_with_path() {  # CMake finds the compiler by hipconfig
  project
  PATH=$prefix/rocm/bin:$PATH run cmake -S . -B b -DCMAKE_PREFIX_PATH="$prefix;$prefix/rocm"
  run cmake --build b
  run b/double
  said 'x\[21\] = 42'
}

cmake_cxx_with_hipcc() {  # kernels in .cpp files, hipcc as the C++ compiler
  cp double.hip double.cpp
  cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(demo LANGUAGES CXX)
find_package(hip REQUIRED)
add_executable(double double.cpp)
target_link_libraries(double PRIVATE hip::device)
END
  run cmake -S . -B b -DCMAKE_CXX_COMPILER="$prefix/rocm/bin/hipcc" -DCMAKE_PREFIX_PATH="$prefix/rocm"
  run cmake --build b
  run b/double
  said 'x\[21\] = 42'
}

cmake_tile_library() {
  cat >kernel.hip <<'END'
#include <kittens.cuh>
using namespace kittens;
__global__ void clear(gl<float, 1, 1, -1, -1> out) {
  rt_fl<16, 16> x;
  zero(x);
  store(out, x, {0, 0, 0, 0});
}
int main() {}
END
  cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(demo LANGUAGES CXX HIP)
find_package(margay REQUIRED)
add_executable(kernel kernel.hip)
target_link_libraries(kernel PRIVATE margay::kittens margay::amdhip64)
END
  run cmake -S . -B b --toolchain "$prefix/lib/cmake/margay/toolchain.cmake"
  run cmake --build b
  run b/kernel
}

makefile_with_rocm_path() {
  # shellcheck disable=SC2016  # make expands these
  printf 'double: double.hip\n\t$(ROCM_PATH)/bin/hipcc -O2 $< -o $@\n' >Makefile
  run make ROCM_PATH="$prefix/rocm"
  run ./double
  said 'x\[21\] = 42'
  run g++ host.cpp -D__HIP_PLATFORM_AMD__ -I"$prefix/rocm/include" -L"$prefix/rocm/lib" \
    -Wl,-rpath,"$prefix/rocm/lib" -lamdhip64 -o host
  run ./host
  said 'device: AMD Instinct MI'
}

hipconfig() {
  run "$prefix/rocm/bin/hipconfig"
  said "^ROCM_PATH *: $prefix/rocm$"
  [ "$("$prefix/rocm/bin/hipconfig" --platform)" = amd ] || fail "no platform"
  [ -x "$("$prefix/rocm/bin/hipconfig" -l)/clang++" ] || fail "no compiler"
  status 2 "$prefix/rocm/bin/hipconfig" --nonsense
  said 'no such option: --nonsense'
  [ "$(MARGAY_DEVICES=2 "$prefix/rocm/bin/rocm_agent_enumerator" | grep -c '^gfx942$')" = 2 ] ||
    fail "not two devices"
}

clangd() {  # its options, given to the compiler as clangd would
  "$margay" hipcc --clangd >.clangd
  mapfile -t options < <(sed -n 's/^    - "\(.*\)"$/\1/p' .clangd)
  compiler=$(sed -n 's/^  Compiler: //p' .clangd)
  run "$compiler" "${options[@]}" -Wall -Werror -fsyntax-only double.hip
  printf '#include <kittens.cuh>\n__global__ void k() { kittens::rt_fl<16, 16> x; kittens::zero(x); }\n' >tile.hip
  run "$compiler" "${options[@]}" -fsyntax-only tile.hip
  printf '__global__ void k() { kittens::rt_fl<16, 16> x; }\n' >wrong.hip
  status 1 "$compiler" "${options[@]}" -fsyntax-only wrong.hip
}

declare -F "$case" >/dev/null || fail "no such case: $case"
"$case"
