// Sets of the checker's tools in option syntax: "all", or names separated by commas.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/check/finding.h"

namespace margay::check {

/// Indexed by Tool.
using ToolSet = std::bitset<kToolCount>;

[[nodiscard]] constexpr std::size_t index_of(Tool tool) { return static_cast<std::size_t>(tool); }

/// Fails on an empty list and on an unknown name.
[[nodiscard]] Result<ToolSet> parse_tools(std::string_view list);

/// The names of the set's tools, in the order of Tool.
[[nodiscard]] std::vector<std::string> names_of(ToolSet tools);

/// "all", or the names separated by commas, as read by parse_tools().
[[nodiscard]] std::string list_of(ToolSet tools);

}  // namespace margay::check
