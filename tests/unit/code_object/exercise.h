// Does with untrusted bytes all that the code-object library can do with them, and checks what it
// promises of images that it accepts. Used by the corruption tests and the fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace margay::test {

/// Aborts when an accepted image breaks a promise.
void exercise(const std::vector<std::byte>& bytes);

inline constexpr std::string_view kDebugSections[] = {
    ".debug_abbrev",   ".debug_info", ".debug_line",   ".debug_line_str",   ".debug_str",
    ".debug_rnglists", ".debug_addr", ".debug_ranges", ".debug_str_offsets"};

/// Offset and size of a section in the file; {0, 0} when there is none.
[[nodiscard]] std::pair<std::size_t, std::size_t> section_range(const std::vector<std::byte>& image,
                                                                std::string_view name);

}  // namespace margay::test
