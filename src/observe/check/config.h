// The configuration of the checker for a process.
#pragma once

#include <cstdint>
#include <optional>

#include "report/check/tools.h"

namespace margay::check {

struct CheckConfig {
  ToolSet tools;
  /// The seed for results as late as the ISA allows and waves in a random order.
  std::optional<std::uint64_t> adversarial;
  [[nodiscard]] bool has(Tool tool) const { return tools[index_of(tool)]; }
};

}  // namespace margay::check
