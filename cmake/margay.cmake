# Helpers for libraries and tests. Everything else is plain CMake.

# Programs find their libraries relative to themselves, so that a clone can be moved.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

set(MARGAY_SANITIZER "" CACHE STRING "Value for -fsanitize=, e.g. address,undefined or thread")

add_library(margay_flags INTERFACE)
target_include_directories(margay_flags INTERFACE ${PROJECT_SOURCE_DIR}/src)
# a*b+c is two roundings unless the ISA says otherwise: never let the compiler fuse.
target_compile_options(margay_flags INTERFACE -Wall -Wextra -ffp-contract=off -fno-math-errno
  -fno-trapping-math $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi;-Wno-ignored-attributes;-Wno-dangling-else> $<$<CXX_COMPILER_ID:Clang>:-Wno-psabi>)
if(MARGAY_SANITIZER)
  target_compile_options(margay_flags INTERFACE -fsanitize=${MARGAY_SANITIZER}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(margay_flags INTERFACE -fsanitize=${MARGAY_SANITIZER})
endif()

# For libraries that use std::stable_sort: libstdc++ 12's calls a function that it declares deprecated itself.
function(margay_sorts_stably library)
  target_compile_options(margay_${library} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
endfunction()

# Code that computes on lanes is compiled once for each of the host's instruction-set levels (src/base/host_level.h),
# with this machine's -march names: a third of the build's time each. `native` makes only the level of the
# machine that builds, which is what a first `./margay gemm` needs. The others are the same templates, so that
# sanitizers and `./margay test --fast` do without them; all tests compare the levels.
set(MARGAY_HOST_LEVELS all CACHE STRING "all levels, or native: only the best of this machine")
set_property(CACHE MARGAY_HOST_LEVELS PROPERTY STRINGS all native)
set(margay_levels generic)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND margay_levels x86_v3 x86_v4)
endif()
set(margay_level_options_x86_v3 -march=x86-64-v3)
set(margay_level_options_x86_v4 -march=x86-64-v4 -mprefer-vector-width=512)
if(MARGAY_HOST_LEVELS STREQUAL "native")
  # Only where it is not known: the build folder may have been configured on another machine.
  try_run(margay_level_runs margay_level_compiles ${PROJECT_BINARY_DIR}/host_level
    ${PROJECT_SOURCE_DIR}/cmake/host_level.cpp CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/src"
    CXX_STANDARD 20 RUN_OUTPUT_VARIABLE margay_levels)
  if(NOT margay_level_compiles OR NOT margay_level_runs EQUAL 0)
    message(FATAL_ERROR "cmake/host_level.cpp does not tell this machine's level: use -DMARGAY_HOST_LEVELS=all")
  endif()
elseif(NOT MARGAY_HOST_LEVELS STREQUAL "all")
  message(FATAL_ERROR "MARGAY_HOST_LEVELS is ${MARGAY_HOST_LEVELS}: it is all or native")
endif()

# As base/host_level.h names them.
list(TRANSFORM margay_levels REPLACE "x86_" "x86-64-" OUTPUT_VARIABLE margay_level_names)

# margay_know_levels(SOURCE...): these choose between the levels, and are told which there are.
function(margay_know_levels)
  list(TRANSFORM margay_levels TOUPPER OUTPUT_VARIABLE names)
  list(TRANSFORM names PREPEND MARGAY_LEVEL_)
  set_property(SOURCE ${ARGV} APPEND PROPERTY COMPILE_DEFINITIONS ${names})
endfunction()

# margay_command_line(TARGET...): these read arguments and print a few lines. Optimising them is half of their
# compile time, for microseconds of each command.
function(margay_command_line)
  foreach(target ${ARGV})
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O0>)
  endforeach()
endfunction()

# margay_cold(TARGET...): these do little: the runtime's calls. Sanitizers compile them without optimisation, in half
# the time. (Tests and reports as well would save three minutes, and running them take two and a half more.)
function(margay_cold)
  if(MARGAY_SANITIZER)
    foreach(target ${ARGV})
      target_compile_options(${target} PRIVATE -O0)
    endforeach()
  endif()
endfunction()

# Tests call optimised libraries; to optimise their own code takes longer than it saves.
set(margay_test_options $<$<CONFIG:Release>:-O0>)

# Slow tests take more than some three seconds, or need what takes long to compile. `./margay test --fast` leaves out
# what they alone need.
set(MARGAY_TESTS all CACHE STRING "all tests; fast: without what only slow tests need; none")
set_property(CACHE MARGAY_TESTS PROPERTY STRINGS all fast none)
if(NOT MARGAY_TESTS MATCHES "^(all|fast|none)$")
  message(FATAL_ERROR "MARGAY_TESTS is ${MARGAY_TESTS}: it is all, fast or none")
endif()

# margay_for_slow_tests(TARGET...): only slow tests need these.
function(margay_for_slow_tests)
  if(MARGAY_TESTS STREQUAL "fast")
    set_target_properties(${ARGV} PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endfunction()

# margay_slow_tests(TEST...): these are slow.
function(margay_slow_tests)
  set_tests_properties(${ARGV} PROPERTIES LABELS slow)
endfunction()

include(cmake/precompiled.cmake)

# margay_library(NAME SOURCES a.cpp ... DEPENDS margay::base ... [PRECOMPILE HEADER...]): PRECOMPILE where it
# has many sources, with the headers of this project that most of them include (or none).
function(margay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRECOMPILE" ${ARGN})
  add_library(margay_${name} STATIC ${ARG_SOURCES})
  add_library(margay::${name} ALIAS margay_${name})
  target_link_libraries(margay_${name} PUBLIC margay_flags ${ARG_DEPENDS})
  if(ARG_PRECOMPILE OR "PRECOMPILE" IN_LIST ARG_KEYWORDS_MISSING_VALUES)
    margay_precompile(margay_${name} ${ARG_PRECOMPILE})
  endif()
endfunction()

# margay_test(NAME SOURCES a.cpp ... DEPENDS ... LABELS fast|slow ... [SLOW Suite.Test ...] [OPTIMISED]): one GoogleTest
# program; SLOW are tests of a fast one that are slow, though not under a sanitizer, where they have fewer cases;
# OPTIMISED where what it is written in has much to do.
function(margay_test name)
  cmake_parse_arguments(ARG OPTIMISED "" "SOURCES;DEPENDS;LABELS;SLOW" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  if(MARGAY_SANITIZER MATCHES thread)
    list(APPEND ARG_SOURCES ${PROJECT_SOURCE_DIR}/tests/support/tsan_suppressions.cpp)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE margay_flags ${ARG_DEPENDS} GTest::gtest GTest::gmock
    GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(NOT ARG_OPTIMISED)
    target_compile_options(${name} PRIVATE ${margay_test_options})
    margay_precompile_test(${name})
  endif()
  if(slow IN_LIST ARG_LABELS)
    margay_for_slow_tests(${name})
  endif()
  set(others)
  if(ARG_SLOW AND NOT MARGAY_SANITIZER)
    list(JOIN ARG_SLOW ":" slow)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_LIST ${name}_slow TEST_FILTER "${slow}"
      PROPERTIES LABELS slow TIMEOUT 1200)
    set(others TEST_FILTER "-${slow}")
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 ${others}
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 1200)
endfunction()

# What `./margay` builds: the tool and all it needs at run time, but no test and no benchmark.
# margay_product(TARGET...) adds to it.
add_custom_target(product)
function(margay_product)
  add_dependencies(product ${ARGV})
endfunction()
