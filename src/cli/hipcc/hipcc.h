// The compiler driver, for the other parts of the tool.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/hipcc/hipcc_plan.h"
#include "cli/process/install.h"

namespace margay::cli {

/// One thing a compilation needs, and the Debian package that has it.
struct Need {
  const char* what;
  std::string path;
  std::string package;  ///< Empty for what Margay's own build makes.
};

[[nodiscard]] Toolchain find_toolchain(const Install& install, const Clang& clang = find_clang());
[[nodiscard]] std::vector<Need> needs(const Toolchain& toolchain);

/// The driver by the compiler's name, as CMake's language HIP calls it: in addition it tells clang
/// that PREFIX/rocm is the HIP installation.
int hipcc_as_clang(std::span<char*> arguments);

}  // namespace margay::cli
