// Profiles as JSON: written by a profiled process and by `margay prof --json`, read by Python and
// `margay compare`. docs/prof.md describes the fields; they are part of the tool's interface.
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

/// The lines of a source file, or nothing if it cannot be read.
using SourceReader = std::function<std::optional<std::vector<std::string>>(const std::string&)>;
/// Keeps the text of the executed lines, so that a later comparison can identify lines by their
/// text.
void keep_sources(Profile& profile, const SourceReader& read);

/// Adds the profile of another process of the same command.
void merge(Profile& into, Profile other);

}  // namespace margay::profile
