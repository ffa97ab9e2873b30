// Modelled time by the user's source lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/profile/profile.h"

namespace margay::profile {

struct LineTime {
  std::string file;  ///< Empty: without debug information.
  std::uint32_t line = 0;
  std::string function;
  std::string instruction;  ///< Without a source line, if it is one: its address and text.
  timing::SiteTime time;    ///< Of its instructions together.
};

/// Of a kernel that has a time; by latency, the highest first.
[[nodiscard]] std::vector<LineTime> line_times(const KernelProfile& kernel);

/// The same of each instruction if none has a source line.
[[nodiscard]] std::vector<LineTime> place_times(const KernelProfile& kernel);

/// The same of all instructions of one name, which `instruction` is: "v_exp_f32_e32".
[[nodiscard]] std::vector<LineTime> name_times(const KernelProfile& kernel);

/// Adds `more` to `sum`.
void add(timing::SiteTime& sum, const timing::SiteTime& more);

}  // namespace margay::profile
