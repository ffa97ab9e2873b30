// Translates hipcc's command line to clang's: a pure function, so that every rule can be tested
// without compiling anything.
//
// What hipcc accepts and adds is from its public documentation: "HIPCC environment variables" and
// "Using HIPCC" (ROCm 6 and 7), the "Common Compiler Options" of HIP's compiler page, and the
// manual page hipcc(1).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/hipcc/compiler.h"
#include "gpu/gpu.h"

namespace margay::cli {

/// The parts of a compilation: the compiler, and paths.
struct Toolchain {
  Clang compiler;
  std::string margay_include;       ///< HIP supplements and the tile library
  std::string device_libs;          ///< ocml.bc, ockl.bc, oclc_*.bc
  std::string runtime_lib;          ///< the directory of libamdhip64.so
  std::string rocm_root;            ///< the HIP installation passed to clang; empty: none
  std::string argument_types;       ///< device_pass/; empty for a compiler that it does not support
  std::string first_headers = {};   ///< The source in front of which headers are precompiled.
  const Gpu* gpu = &default_gpu();  ///< What is compiled for if no option says it
};

/// The variables hipcc reads that have a meaning here.
struct HipccEnvironment {
  std::string compile_flags_append;  ///< HIPCC_COMPILE_FLAGS_APPEND
  std::string link_flags_append;     ///< HIPCC_LINK_FLAGS_APPEND
  unsigned verbose = 0;              ///< HIPCC_VERBOSE, a bit mask: 1 command, 4 arguments
};

/// A compilation whose first headers can be precompiled: one architecture, HIP sources, no language
/// or output besides code.
struct HeaderPlan {
  /// The compiler and the options that headers depend on: no input, output or debug information.
  std::vector<std::string> command;
  std::vector<std::string> sources;  ///< As given.
  std::string first_headers;         ///< Of the toolchain.
  bool names_headers = false;        ///< With -include, known ones.
};

struct HipccPlan {
  std::vector<std::string> command;   ///< The compiler and its arguments.
  std::optional<HeaderPlan> headers;  ///< Only with the clang that Margay is built with.
  bool links = false;                 ///< Whether the output is a host program or library.
  bool openmp = false;                ///< Whether host code uses OpenMP.
  unsigned verbose = 0;
};

/// `arguments` excludes the program's name. Fails on an --offload-arch that no device has, a
/// response file that cannot be read, or an option without its value.
[[nodiscard]] Result<HipccPlan> plan_hipcc(const Toolchain& toolchain,
                                           std::span<const std::string> arguments,
                                           const HipccEnvironment& environment);

/// Splits as a shell would, quotes and backslashes respected, without expanding anything.
[[nodiscard]] std::vector<std::string> split_words(const std::string& text);

}  // namespace margay::cli
