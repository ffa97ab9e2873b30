# The device libraries `margay hipcc` compiles against, in PREFIX/lib/margay/amdgcn/bitcode: those of
# Debian's rocm-device-libs, plus the control constants that version 5.2 lacks and clang requires.
# Target: margay_device_libs.
#
# An oclc_*.bc file holds one constant that ocml and ockl are specialised on. gfx942 is version 9402
# (major 9, minor 4, stepping 2; LLVM's AMDGPU usage page, "Processors"); the ABI constant is the
# code object version times 100.
set(margay_bitcode ${PROJECT_BINARY_DIR}/lib/margay/amdgcn/bitcode)
find_path(ROCM_DEVICE_LIBS ocml.bc
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/amdgcn/bitcode /usr/lib/amdgcn/bitcode
  /opt/rocm/amdgcn/bitcode NO_DEFAULT_PATH
  DOC "Directory of ocml.bc and ockl.bc (package rocm-device-libs)" REQUIRED)
margay_find_llvm(LLVM_AS llvm-as)

file(MAKE_DIRECTORY ${margay_bitcode})
file(GLOB margay_bitcode_there RELATIVE ${ROCM_DEVICE_LIBS} ${ROCM_DEVICE_LIBS}/*.bc)
foreach(name IN LISTS margay_bitcode_there)
  file(CREATE_LINK ${ROCM_DEVICE_LIBS}/${name} ${margay_bitcode}/${name} SYMBOLIC)
endforeach()

# All modules of a program must have the same data layout. This is LLVM 19's: later compilers bring it up to
# date when they read it, and none reads a later one without a warning.
string(CONCAT margay_data_layout "target datalayout = \"e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64"
  "-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64"
  "-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9\"")

set(margay_device_libs)
# margay_oclc_constant(FILE_STEM CONSTANT VALUE [TEXT]): unless the installation has it.
function(margay_oclc_constant stem constant value)
  if("${stem}.bc" IN_LIST margay_bitcode_there)
    return()
  endif()
  set(text ${PROJECT_BINARY_DIR}/device_libs/${stem}.ll)
  file(CONFIGURE OUTPUT ${text} @ONLY CONTENT
"${margay_data_layout}
target triple = \"amdgcn-amd-amdhsa\"
@__oclc_${constant} = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 ${value}, align 4
${ARGN}")
  add_custom_command(OUTPUT ${margay_bitcode}/${stem}.bc
    COMMAND ${LLVM_AS} ${text} -o ${margay_bitcode}/${stem}.bc
    DEPENDS ${text} COMMENT "Device library ${stem}.bc" VERBATIM)
  list(APPEND margay_device_libs ${margay_bitcode}/${stem}.bc)
  set(margay_device_libs ${margay_device_libs} PARENT_SCOPE)
endfunction()

# Version 5.2's ocml.bc asks whether denormals are zero; clang 22 no longer links the file that
# answers it. Where clang links it (19 does) its answer is taken, which comes first.
margay_oclc_constant(oclc_isa_version_942 ISA_version 9402
  "@__oclc_daz_opt = linkonce_odr protected local_unnamed_addr addrspace(4) constant i8 0, align 1\n")
margay_oclc_constant(oclc_abi_version_400 ABI_version 400)
margay_oclc_constant(oclc_abi_version_500 ABI_version 500)
margay_oclc_constant(oclc_abi_version_600 ABI_version 600)
add_custom_target(margay_device_libs ALL DEPENDS ${margay_device_libs})

# The headers, at the place they have in an installation; a relative link, so that the clone moves.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
file(RELATIVE_PATH margay_headers ${PROJECT_BINARY_DIR}/include ${PROJECT_SOURCE_DIR}/include)
file(CREATE_LINK ${margay_headers} ${PROJECT_BINARY_DIR}/include/margay SYMBOLIC)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION include/margay)
install(DIRECTORY ${ROCM_DEVICE_LIBS}/ DESTINATION lib/margay/amdgcn/bitcode
  FILES_MATCHING PATTERN "*.bc")
install(FILES ${margay_device_libs} DESTINATION lib/margay/amdgcn/bitcode)
