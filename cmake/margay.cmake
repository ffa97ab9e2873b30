# Two helpers: one for a library, one for a test. Everything else is plain CMake.

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

# margay_library(NAME SOURCES a.cpp ... DEPENDS margay::base ...)
function(margay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(margay_${name} STATIC ${ARG_SOURCES})
  add_library(margay::${name} ALIAS margay_${name})
  target_link_libraries(margay_${name} PUBLIC margay_flags ${ARG_DEPENDS})
endfunction()

# margay_test(NAME SOURCES a.cpp ... DEPENDS ... LABELS fast|slow ...): one GoogleTest program.
function(margay_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  if(MARGAY_SANITIZER MATCHES thread)
    list(APPEND ARG_SOURCES ${PROJECT_SOURCE_DIR}/tests/support/tsan_suppressions.cpp)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE margay_flags ${ARG_DEPENDS} GTest::gtest GTest::gmock
    GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 1200)
endfunction()

# What `./margay` builds: the tool and all it needs at run time, but no test and no benchmark.
# margay_product(TARGET...) adds to it.
add_custom_target(product)
function(margay_product)
  add_dependencies(product ${ARGV})
endfunction()
