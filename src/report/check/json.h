// Reports as JSON: written by a checked process and by `margay check --json`, read by other
// programs. docs/check.md describes the fields; they are part of the tool's interface.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"
#include "report/check/finding.h"

namespace margay::check {

inline constexpr int kJsonVersion = 1;

/// Source positions, as in all our JSON documents.
[[nodiscard]] nlohmann::ordered_json frames_json(const std::vector<SourceFrame>& frames);

[[nodiscard]] std::string json_of(const Report& report);

/// Malformed text, a field of the wrong type, an unknown tool or a newer version are errors that
/// name the field. Unknown fields are ignored.
[[nodiscard]] Result<Report> parse_report(std::string_view json);

/// Writes `report` to `path`, in which %p is replaced by the process's id. The file appears whole
/// or not at all.
[[nodiscard]] Status write_report(const Report& report, const std::string& path);

[[nodiscard]] Result<Report> read_report(const std::string& path);

}  // namespace margay::check
