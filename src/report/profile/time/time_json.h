// Modelled time as JSON: within a profile, and as `margay time --json` writes it.
#pragma once

#include <string>

#include "report/json_node.h"
#include "report/profile/profile.h"

namespace margay::profile {

/// Null when the kernel has no time.
[[nodiscard]] report::Json time_json(const KernelProfile& kernel);
/// Figures, and "lines": what `margay time --json` has of a kernel without its instructions.
[[nodiscard]] report::Json time_summary_json(const KernelProfile& kernel);
/// What time_json() wrote, for a kernel with `sites` sites.
[[nodiscard]] Result<timing::KernelTime> as_time(const report::Node& node, std::size_t sites);

/// {"device", "modelled": true, "kernels": [{"name", "cycles", "us_boost", "us_sustained", ...,
/// "bound", "stalls", "lines": [...], "instructions": [...]}]}; kernels without a time are left
/// out.
[[nodiscard]] std::string time_document(const Profile& profile);

}  // namespace margay::profile
