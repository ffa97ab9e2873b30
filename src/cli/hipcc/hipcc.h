// The compiler driver, for the other parts of the tool.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/hipcc/hipcc_plan.h"
#include "cli/process/install.h"

namespace margay::cli {

/// One requirement of a compilation, and its Debian package.
struct Need {
  const char* what;
  std::string path;
  std::string package;  ///< Empty for parts of Margay's own build.
};

[[nodiscard]] Toolchain find_toolchain(const Install& install, const Clang& clang = find_clang());
[[nodiscard]] std::vector<Need> needs(const Toolchain& toolchain);

/// The driver by the compiler's name, as CMake's language HIP calls it: in addition it passes
/// PREFIX/rocm to clang as the HIP installation.
int hipcc_as_clang(std::span<char*> arguments);

}  // namespace margay::cli
