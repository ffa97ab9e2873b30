# Debian packages the build needs; tools/packages.txt lists what provides them.
find_package(Threads REQUIRED)
# The LLVM for decoding, and the clang that `margay hipcc` runs by default.
set(MARGAY_LLVM 19)
find_package(LLVM ${MARGAY_LLVM}.1 REQUIRED CONFIG HINTS /usr/lib/llvm-${MARGAY_LLVM})
find_package(fmt REQUIRED)
find_package(GTest REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)

# LLVM is linked statically and its symbols hidden: a host program that carries another LLVM (torch
# does) must not meet ours.
add_library(margay_llvm INTERFACE)
target_include_directories(margay_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(margay_llvm INTERFACE ${llvm_definitions})
llvm_map_components_to_libnames(llvm_libraries AMDGPUDisassembler AMDGPUDesc AMDGPUInfo MC
  MCDisassembler Object DebugInfoDWARF Symbolize BinaryFormat TargetParser Support Demangle)
target_link_libraries(margay_llvm INTERFACE ${llvm_libraries})
