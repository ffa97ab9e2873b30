# cmake --toolchain .../lib/cmake/margay/toolchain.cmake: CMake's language HIP and find_package(hip)
# with Margay's compiler driver and the virtual device, no ROCm needed.
get_filename_component(MARGAY_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_HIP_COMPILER ${MARGAY_PREFIX}/rocm/bin/amdclang++)
set(CMAKE_HIP_COMPILER_ROCM_ROOT ${MARGAY_PREFIX}/rocm)
set(CMAKE_HIP_ARCHITECTURES gfx942 CACHE STRING "AMD GPU architectures")
set(ROCM_PATH ${MARGAY_PREFIX}/rocm)
list(PREPEND CMAKE_PREFIX_PATH ${MARGAY_PREFIX} ${MARGAY_PREFIX}/rocm)
