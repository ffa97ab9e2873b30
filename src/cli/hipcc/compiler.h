// Finds the clang that compiles kernels, for `margay hipcc` and all its callers.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace margay::cli {

/// The versions that Margay's headers and device libraries are tested with, the default first:
/// the one that Margay itself is built with and that compiles its kernels (docs/compilers.md has
/// why).
constexpr std::array<std::string_view, 2> kClangVersions = {MARGAY_CLANG_VERSION, "22"};

struct Clang {
  std::string program;  ///< clang++; if not found, the first place searched.
  std::string version;  ///< "19"; empty for one that HIP_CLANG_PATH names.

  /// Passes for clang, which work only with the version they are built with.
  [[nodiscard]] bool loads_our_passes() const { return version == MARGAY_CLANG_VERSION; }
  /// The version of Debian's packages for it. For a compiler that the user chose, of the default.
  [[nodiscard]] std::string package_version() const;
  /// A package of the same LLVM, by its name before the version.
  [[nodiscard]] std::string package(std::string_view name) const;
};

/// The clang of `version`; without one that of HIP_CLANG_PATH if set, else the default. Searches
/// Debian's directory for it, then PATH.
[[nodiscard]] Clang find_clang(std::string_view version = {});

/// Removes `--clang N` and `--clang=N` from the arguments of a compilation, and finds that clang.
/// The last one counts. invalid_argument for a version that is not among the known ones.
[[nodiscard]] Result<Clang> take_clang_option(std::vector<std::string>& arguments);

}  // namespace margay::cli
