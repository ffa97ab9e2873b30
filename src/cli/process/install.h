// The locations of Margay's parts. A build tree and an installation have the same layout, so
// everything is found relative to the running program and both can be moved:
//
//   PREFIX/bin/margay
//   PREFIX/lib/libamdhip64.so                 the virtual device's HIP runtime
//   PREFIX/lib/libmargay_kernels.so           plans of the kernels in lib/margay/kernels
//   PREFIX/lib/margay/amdgcn/bitcode/*.bc     device libraries, gfx942 included
//   PREFIX/lib/margay/argument_types.so     a pass for clang (device_pass/)
//   PREFIX/lib/margay/python                the Python package
//   PREFIX/include/margay                     HIP supplements and the tile library
//   PREFIX/rocm                               laid out like /opt/rocm
//
// The Python wheel has PREFIX within the package, site-packages/margay/_home. It has no rocm, which
// is made of links, and none of the programs that need a compiler or oneDNN (pyproject.toml).
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace margay::cli {

struct Install {
  std::filesystem::path prefix;

  [[nodiscard]] std::filesystem::path runtime_lib() const { return prefix / "lib"; }
  [[nodiscard]] std::filesystem::path device_libs() const {
    return prefix / "lib" / "margay" / "amdgcn" / "bitcode";
  }
  [[nodiscard]] std::filesystem::path argument_types() const {
    return prefix / "lib" / "margay" / "argument_types.so";
  }
  [[nodiscard]] std::filesystem::path first_headers() const {
    return prefix / "lib" / "margay" / "first_headers.hip";
  }
  /// Whether this is the wheel's.
  [[nodiscard]] bool in_python_package() const;
  /// What holds the Python package.
  [[nodiscard]] std::filesystem::path python() const;
  /// The command that brings back a part that is missing.
  [[nodiscard]] std::string repair() const;
  /// Laid out like /opt/rocm.
  [[nodiscard]] std::filesystem::path rocm_root() const { return prefix / "rocm"; }
  [[nodiscard]] std::filesystem::path include() const { return prefix / "include" / "margay"; }
};

/// The installation this program belongs to, symbolic links to the program resolved.
[[nodiscard]] Result<Install> find_install();

}  // namespace margay::cli
