# find_package(margay): the virtual MI325X and the tile library for other projects' CMake.
#
#   margay::kittens     kittens.cuh and the HIP supplements: include directories
#   margay::amdhip64    the virtual device's HIP runtime, a shared library
#   MARGAY_EXECUTABLE   the tool
#   MARGAY_ROCM         a folder laid out like /opt/rocm, with bin/hipcc and the packages hip, hip-lang
#
#   margay_add_check(NAME COMMAND ...)   a test that runs COMMAND under `margay check`
#
# A project that enables the language HIP needs the compiler before this file is read: give
# `cmake --toolchain MARGAY/lib/cmake/margay/toolchain.cmake`.
get_filename_component(MARGAY_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(MARGAY_EXECUTABLE ${MARGAY_PREFIX}/bin/margay)
set(MARGAY_ROCM ${MARGAY_PREFIX}/rocm)

foreach(part ${MARGAY_EXECUTABLE} ${MARGAY_PREFIX}/lib/libamdhip64.so
    ${MARGAY_PREFIX}/include/margay/kittens.cuh)
  if(NOT EXISTS ${part})
    set(margay_FOUND FALSE)
    set(margay_NOT_FOUND_MESSAGE "${part} is missing: build Margay (./margay build in its clone)")
    return()
  endif()
endforeach()

if(NOT TARGET margay::amdhip64)
  add_library(margay::amdhip64 SHARED IMPORTED)
  set_target_properties(margay::amdhip64 PROPERTIES
    IMPORTED_LOCATION ${MARGAY_PREFIX}/lib/libamdhip64.so
    IMPORTED_SONAME libamdhip64.so.5
    INTERFACE_COMPILE_DEFINITIONS __HIP_PLATFORM_AMD__=1
    INTERFACE_INCLUDE_DIRECTORIES ${MARGAY_PREFIX}/include/margay)
  add_library(margay::kittens INTERFACE IMPORTED)
  set_target_properties(margay::kittens PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${MARGAY_PREFIX}/include/margay
    INTERFACE_COMPILE_FEATURES cxx_std_20)
endif()

function(margay_add_check name)
  cmake_parse_arguments(ARG "" "" "COMMAND;OPTIONS" ${ARGN})
  if(NOT ARG_COMMAND)
    message(FATAL_ERROR "margay_add_check(${name}) needs COMMAND")
  endif()
  list(POP_FRONT ARG_COMMAND program)
  if(TARGET ${program})
    set(program $<TARGET_FILE:${program}>)
  endif()
  add_test(NAME ${name}
    COMMAND ${MARGAY_EXECUTABLE} check ${ARG_OPTIONS} -- ${program} ${ARG_COMMAND})
endfunction()
