// See tools.h.
#include "report/check/tools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace margay::check {
namespace {

std::optional<std::size_t> tool_called(std::string_view name) {
  for (std::size_t i = 0; i < kToolCount; ++i) {
    if (tool_name(static_cast<Tool>(i)) == name) return i;
  }
  return std::nullopt;
}

}  // namespace

Result<ToolSet> parse_tools(std::string_view list) {
  ToolSet tools;
  while (true) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, comma);
    if (name == "all") {
      tools.set();
    } else if (const auto tool = tool_called(name)) {
      tools.set(*tool);
    } else {
      return fail(
          ErrorCode::invalid_argument,
          name.empty() ? "A tool's name is missing." : fmt::format("No such tool: {}.", name), {},
          fmt::format("Tools are all, or some of {} with commas between.",
                      fmt::join(names_of(ToolSet{}.set()), ", ")));
    }
    if (comma == list.size()) return tools;
    list.remove_prefix(comma + 1);
  }
}

std::vector<std::string> names_of(ToolSet tools) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kToolCount; ++i) {
    if (tools.test(i)) names.emplace_back(tool_name(static_cast<Tool>(i)));
  }
  return names;
}

std::string list_of(ToolSet tools) {
  return tools.all() ? "all" : fmt::format("{}", fmt::join(names_of(tools), ","));
}

}  // namespace margay::check
