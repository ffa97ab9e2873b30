// Values derived from counters: the metrics of rocprofiler-compute under its names and by its
// formulas, and some of our own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "report/profile/profile.h"

namespace margay::profile {

/// A derived value of one kernel.
struct Metric {
  std::string_view id;          ///< For assertions and JSON: "lds_bank_conflicts_per_access".
  std::string_view panel;       ///< rocprofiler-compute's panel, or "Margay".
  std::string_view name;        ///< As rocprofiler-compute prints it.
  std::string_view unit;        ///< "", "%", "bytes" ...
  std::string_view formula;     ///< In counters.
  std::optional<double> value;  ///< Empty if the formula divides by zero.
};

/// In the order of their panels.
[[nodiscard]] std::vector<Metric> metrics_of(const KernelProfile& kernel);

/// A metric by its id or a counter by its name (with or without "_sum"). not_found names the ones
/// that are nearest in spelling.
[[nodiscard]] Result<double> value_of(const KernelProfile& kernel, std::string_view name);

}  // namespace margay::profile
