# What other projects' build systems find: lib/cmake/margay (find_package(margay), a toolchain file),
# and PREFIX/rocm, a folder laid out like /opt/rocm, so that ROCM_PATH=PREFIX/rocm serves Makefiles,
# scripts and CMake's language HIP. Everything in it is a link or a few lines.
set(margay_rocm ${PROJECT_BINARY_DIR}/rocm)
set(margay_package ${PROJECT_SOURCE_DIR}/cmake/package)

# The tool goes by the name it is called by (src/cli/hipcc/rocm_tools.cpp).
file(MAKE_DIRECTORY ${margay_rocm}/bin ${margay_rocm}/llvm/bin ${margay_rocm}/lib
  ${margay_rocm}/share/hip)
foreach(name hipcc hipconfig amdclang++ clang++ rocm_agent_enumerator amdgpu-arch)
  file(CREATE_LINK ../../bin/margay ${margay_rocm}/bin/${name} SYMBOLIC)
endforeach()
foreach(name amdclang++ clang++ amdgpu-arch)
  file(CREATE_LINK ../../../bin/margay ${margay_rocm}/llvm/bin/${name} SYMBOLIC)
endforeach()
file(CREATE_LINK ../include/margay ${margay_rocm}/include SYMBOLIC)
file(CREATE_LINK ../lib/margay/amdgcn ${margay_rocm}/amdgcn SYMBOLIC)
foreach(name libamdhip64.so libhiprtc.so)
  foreach(version "" .5 .6 .7) # a program finds the version it was linked with in its RPATH
    file(CREATE_LINK ../../lib/${name}${version} ${margay_rocm}/lib/${name}${version} SYMBOLIC)
  endforeach()
endforeach()
# clang takes a folder for a HIP installation by this file.
file(WRITE ${margay_rocm}/share/hip/version
  "HIP_VERSION_MAJOR=5\nHIP_VERSION_MINOR=2\nHIP_VERSION_PATCH=21153\n")
foreach(package hip hip-lang)
  foreach(file ${package}-config.cmake ${package}-config-version.cmake)
    if(EXISTS ${margay_package}/${file})
      configure_file(${margay_package}/${file} ${margay_rocm}/lib/cmake/${package}/${file} COPYONLY)
    endif()
  endforeach()
endforeach()

set(margay_cmake ${PROJECT_BINARY_DIR}/lib/cmake/margay)
configure_file(${margay_package}/margay-config.cmake ${margay_cmake}/margay-config.cmake COPYONLY)
configure_file(${margay_package}/margay-config-version.cmake.in
  ${margay_cmake}/margay-config-version.cmake @ONLY)

install(FILES ${margay_cmake}/margay-config.cmake ${margay_cmake}/margay-config-version.cmake
  DESTINATION lib/cmake/margay)
if(NOT MARGAY_WHEEL) # whose files cannot be links
  configure_file(${margay_package}/toolchain.cmake ${margay_cmake}/toolchain.cmake COPYONLY)
  install(FILES ${margay_cmake}/toolchain.cmake DESTINATION lib/cmake/margay)
  install(DIRECTORY ${margay_rocm}/ DESTINATION rocm)
endif()
