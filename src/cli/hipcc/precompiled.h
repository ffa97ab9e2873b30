// Precompiled headers of the compiler driver. Each HIP source begins with clang's runtime wrapper
// and hip/hip_runtime.h, which take 1.4 s of the 1.7 s that a small kernel's compilation takes;
// with MARGAY_HIPCC_CACHE=DIR they are compiled once for each set of options, and kept in DIR.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/hipcc/hipcc_plan.h"

namespace margay::cli {

/// The plan's command with the headers taken from `cache`; none where that could change what is
/// compiled, or where they are not yet there. The second compilation with the same options makes
/// them, so that options that are used once cost nothing. Headers that changed are compiled again.
/// Processes may share `cache`.
[[nodiscard]] std::optional<std::vector<std::string>> with_precompiled_headers(
    const HipccPlan& plan, const std::filesystem::path& cache);

/// Runs that command: the exit code if it succeeded or was ended by a signal, with its messages
/// printed. None and nothing printed if it failed: then the plan's own command is to be run, for
/// clang reports some errors otherwise with precompiled headers, and these may have been deleted.
[[nodiscard]] std::optional<int> try_command(std::vector<std::string> command);

/// Whether a source that reads `text` means the same with hip/hip_runtime.h before it: that header
/// comes before anything but comments and headers of the standard library.
[[nodiscard]] bool begins_with_hip_runtime(std::string_view text);

}  // namespace margay::cli
