// What would make a kernel faster in the model, and where.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/profile/profile.h"

namespace margay::profile {

/// A line that causes what a change saves.
struct SavedLine {
  std::string file;  ///< Empty: without debug information.
  std::uint32_t line = 0;
  std::string function;
  std::string instruction;  ///< Without a source line, if it is one: its address and text.
  double share = 0;         ///< Of the causes, 0 to 1.
};

/// One what-if of a kernel.
struct TimeAdvice {
  timing::WhatIfKind kind = timing::WhatIfKind::no_bank_conflicts;
  double saves_percent = 0;      ///< Of the kernel's modelled time; below 0: it would take longer.
  std::vector<SavedLine> lines;  ///< The most first.
  /// Whether it saves more than the model's error of savings, so that it is advice.
  bool is_advice = false;
  std::string what_to_do;
  std::uint32_t vgprs = 0;  ///< That it takes of each lane; 0: not known, or none.
};

/// Of a kernel that has a time; what saves most first.
[[nodiscard]] std::vector<TimeAdvice> time_advice(const KernelProfile& kernel);

}  // namespace margay::profile
