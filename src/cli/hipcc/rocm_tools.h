// The programs of a ROCm installation that build systems call, by the names they call them:
// PREFIX/rocm/bin/{hipcc, amdclang++, hipconfig, rocm_agent_enumerator, ...} are links to `margay`,
// which uses the name it was started by.
#pragma once

#include <optional>
#include <span>

namespace margay::cli {

/// Runs the tool that `arguments[0]`, a path, is named after, and returns its exit code; nothing
/// when the name is none of them.
[[nodiscard]] std::optional<int> run_as_rocm_tool(std::span<char*> arguments);

}  // namespace margay::cli
