// Precompiled headers of the compiler driver. Each HIP source begins with clang's runtime wrapper
// and hip/hip_runtime.h, which take 1.4 s of the 1.7 s that a small kernel's compilation takes;
// with MARGAY_HIPCC_CACHE=DIR they are compiled once for each set of options, and kept in DIR.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/hipcc/hipcc_plan.h"

namespace margay::cli {

/// The plan's command, which takes the headers from `cache`; unchanged where that could change what
/// is compiled, or where they are not yet there. The second compilation with the same options makes
/// them, so that options that are used once cost nothing. Headers that changed are compiled again.
/// Processes may share `cache`; what is in it may be deleted at any time.
[[nodiscard]] std::vector<std::string> with_precompiled_headers(const HipccPlan& plan,
                                                                const std::filesystem::path& cache);

/// Whether a source that reads `text` means the same with hip/hip_runtime.h before it: that header,
/// or the tile library, comes before anything but comments and headers of the standard library.
[[nodiscard]] bool begins_with_hip_runtime(std::string_view text);

}  // namespace margay::cli
