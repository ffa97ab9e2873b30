// What an instruction, or a copy of a stream, did in a finding.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace margay::check {

enum class Role : std::uint8_t {
  use,
  read,
  write,
  atomic,
  load,
  direct_load,  ///< Straight to LDS.
  store,
  barrier,
  wait,
  waits_here,
  loops_here,
  runs_on,
  ended,
  stopped,
  result_of,
};
inline constexpr std::array<std::string_view, 15> kRoleNames = {
    "use",  "read",       "write",      "atomic",  "load",  "direct load", "store",    "barrier",
    "wait", "waits here", "loops here", "runs on", "ended", "stopped",     "result of"};
inline constexpr std::size_t kRoleCount = kRoleNames.size();
static_assert(static_cast<std::size_t>(Role::result_of) + 1 == kRoleCount);
[[nodiscard]] constexpr std::string_view role_name(Role role) {
  return kRoleNames[static_cast<std::size_t>(role)];
}

}  // namespace margay::check
