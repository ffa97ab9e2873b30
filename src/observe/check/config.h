// What a checked process is checked for.
#pragma once

#include <cstdint>
#include <optional>

#include "report/check/tools.h"

namespace margay::check {

struct CheckConfig {
  ToolSet tools;
  /// Results as late as the ISA allows and waves in a random order that this number chooses.
  std::optional<std::uint64_t> adversarial;
  [[nodiscard]] bool has(Tool tool) const { return tools[index_of(tool)]; }
};

}  // namespace margay::check
