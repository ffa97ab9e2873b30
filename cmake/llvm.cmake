# Two LLVMs. One decodes: its library, and its tools that read and write code objects in tests. The other's
# clang compiles Margay, the kernels that ship and, unless told otherwise, what `margay hipcc` is given
# (docs/compilers.md has why). CMakePresets.json names the compiler too, which has to be known before this,
# and tools/packages.txt the packages.
set(MARGAY_LLVM 22)
set(MARGAY_CLANG_VERSION 19)
find_package(LLVM ${MARGAY_LLVM}.1 REQUIRED CONFIG HINTS /usr/lib/llvm-${MARGAY_LLVM})

# margay_find_llvm(VARIABLE TOOL): a program of the decoding LLVM. Not cached: a build folder outlives a version.
function(margay_find_llvm variable tool)
  find_program(found ${tool}-${MARGAY_LLVM} HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED NO_CACHE)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
# margay_find_clang(VARIABLE TOOL): one of the compiler's.
function(margay_find_clang variable tool)
  find_program(found ${tool}-${MARGAY_CLANG_VERSION} HINTS /usr/lib/llvm-${MARGAY_CLANG_VERSION}/bin REQUIRED
    NO_CACHE)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
margay_find_clang(MARGAY_CLANG clang)

# LLVM is linked statically and its symbols hidden: a host program that carries another LLVM (torch
# does) must not meet ours.
add_library(margay_llvm INTERFACE)
target_include_directories(margay_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(margay_llvm INTERFACE ${llvm_definitions})
llvm_map_components_to_libnames(llvm_libraries AMDGPUDisassembler AMDGPUDesc AMDGPUInfo MC
  MCDisassembler Object DebugInfoDWARF Symbolize BinaryFormat TargetParser Support Demangle)
target_link_libraries(margay_llvm INTERFACE ${llvm_libraries})
