// The host's instruction-set levels. Code that computes on lanes is compiled once for each of them,
// with the compiler's -march of the same name, in a namespace of its own; one is chosen at
// start-up.
#pragma once

#include <initializer_list>
#include <string_view>

namespace margay {

/// Whether this host has everything that code compiled for `level` may use: "generic", or a
/// microarchitecture level of the x86-64 psABI. The compiler's own list is used, because with
/// -march=x86-64-v3 it may use any of AVX2, FMA, BMI, F16C, LZCNT and MOVBE.
[[nodiscard]] inline bool host_has(std::string_view level) {
  if (level == "generic") return true;
#if defined(__x86_64__)
  if (level == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
  if (level == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
#endif
  return false;
}

[[nodiscard]] inline std::string_view best_host_level() {
  for (const std::string_view level : {"x86-64-v4", "x86-64-v3"})
    if (host_has(level)) return level;
  return "generic";
}

}  // namespace margay
