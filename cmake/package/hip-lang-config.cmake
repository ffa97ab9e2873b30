# What CMake's language HIP asks of a ROCm installation: the target that its programs link to. The
# compiler driver adds options, headers and libraries by itself.
if(NOT TARGET hip-lang::device)
  add_library(hip-lang::host INTERFACE IMPORTED)
  add_library(hip-lang::device INTERFACE IMPORTED)
  set_target_properties(hip-lang::device PROPERTIES INTERFACE_LINK_LIBRARIES hip-lang::host)
endif()
set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET "hip-lang::device")
set(HIP_COMPILER clang)
set(HIP_RUNTIME rocclr)
