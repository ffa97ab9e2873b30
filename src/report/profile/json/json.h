// Profiles as JSON: what a profiled process leaves behind, `margay prof --json` writes, Python
// reads and `margay compare` takes. docs/prof.md describes the fields; they are part of the tool's
// interface.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/profile/profile.h"

namespace margay::profile {

inline constexpr int kJsonVersion = 1;

[[nodiscard]] std::string json_of(const Profile& profile);

/// Malformed text, a field of the wrong type or another version are errors that name the field.
[[nodiscard]] Result<Profile> parse_profile(std::string_view json);

/// Writes `profile` to `path`, in which %p is replaced by the process's id.
[[nodiscard]] Status write_profile(const Profile& profile, const std::string& path);
[[nodiscard]] Result<Profile> read_profile(const std::string& path);

/// The lines of a source file, or nothing when it cannot be read.
using SourceReader = std::function<std::optional<std::vector<std::string>>(const std::string&)>;
/// Keeps the text of the lines that ran, so that a later comparison can tell lines by what is
/// in them.
void keep_sources(Profile& profile, const SourceReader& read);

/// Adds what another process of the same command left.
void merge(Profile& into, Profile other);

}  // namespace margay::profile
