# find_package(hip), as a ROCm installation has it:
#
#   hip::amdhip64, hip::host   the runtime, for host code of any compiler
#   hip::device                the same for C++ files with kernels in them; CMAKE_CXX_COMPILER has to
#                              be bin/hipcc or bin/amdclang++ of this folder
get_filename_component(hip_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(HIP_PLATFORM amd)
set(HIP_COMPILER clang)
set(HIP_RUNTIME rocclr)
set(hip_INCLUDE_DIR ${hip_root}/include)
set(hip_INCLUDE_DIRS ${hip_root}/include)
set(hip_LIB_INSTALL_DIR ${hip_root}/lib)
set(hip_BIN_INSTALL_DIR ${hip_root}/bin)
set(hip_HIPCC_EXECUTABLE ${hip_root}/bin/hipcc)
set(hip_HIPCONFIG_EXECUTABLE ${hip_root}/bin/hipconfig)
set(hip_LIBRARIES hip::host hip::device)

if(NOT TARGET hip::amdhip64)
  add_library(hip::amdhip64 SHARED IMPORTED)
  set_target_properties(hip::amdhip64 PROPERTIES
    IMPORTED_LOCATION ${hip_root}/lib/libamdhip64.so
    IMPORTED_SONAME libamdhip64.so.5
    INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_AMD__=1"
    INTERFACE_INCLUDE_DIRECTORIES ${hip_root}/include)
  add_library(hip::host INTERFACE IMPORTED)
  set_target_properties(hip::host PROPERTIES INTERFACE_LINK_LIBRARIES hip::amdhip64)
  add_library(hip::device INTERFACE IMPORTED)
  set_target_properties(hip::device PROPERTIES
    INTERFACE_LINK_LIBRARIES hip::host
    INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-x hip>")
endif()
