# Precompiled headers. Without them the standard library and fmt, read by three hundred sources, are half of the
# time of a build from nothing.
#
# tools/compile-cached makes them known to ccache. What builds without them holds that each source includes what it
# uses: tools/check-sources, and sanitizers by default.
set(margay_precompiles OFF)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang AND NOT MARGAY_SANITIZER)
  set(margay_precompiles ON)
endif()
option(MARGAY_PRECOMPILED_HEADERS "Precompile the headers that most sources include" ${margay_precompiles})

# margay_hipcc: the command that compiles kernels and programs with kernels. The headers that all of them read are
# compiled once (src/cli/hipcc/precompiled.h).
set(margay_hipcc ${CMAKE_COMMAND} -E env MARGAY_HIPCC_CACHE=${PROJECT_BINARY_DIR}/hipcc-headers
  $<TARGET_FILE:margay_tool> hipcc)

# margay_precompile(TARGET [HEADER...]): what nearly all sources include, and HEADER, of this project.
function(margay_precompile target)
  if(NOT MARGAY_PRECOMPILED_HEADERS)
    return()
  endif()
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE headers)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <bit> <charconv> <chrono> <cmath> <cstring>
    <deque> <expected> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional> <set> <span> <string>
    <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h>
    ${headers})
endfunction()

# margay_precompile_test(TARGET): GoogleTest, once for all test programs.
function(margay_precompile_test target)
  if(NOT MARGAY_PRECOMPILED_HEADERS)
    return()
  endif()
  if(NOT TARGET margay_test_headers)
    # Programs are compiled as such (-fPIE), so that this has to be one.
    set(source ${PROJECT_BINARY_DIR}/test_headers.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
    add_executable(margay_test_headers ${source})
    target_link_libraries(margay_test_headers PRIVATE margay_flags GTest::gtest GTest::gmock)
    target_compile_options(margay_test_headers PRIVATE ${margay_test_options})
    target_precompile_headers(margay_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <algorithm> <array> <cstring>
      <filesystem> <fstream> <functional> <map> <memory> <optional> <random> <span> <string> <string_view> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM margay_test_headers)
endfunction()
