// What is derived from counters: the metrics of rocprofiler-compute under its names and by its
// formulas, some of our own, and how long each part of the machine needs at least.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "observe/profile/profile.h"

namespace margay::profile {

/// A derived value of one kernel.
struct Metric {
  std::string_view id;          ///< For assertions and JSON: "lds_bank_conflicts_per_access".
  std::string_view panel;       ///< rocprofiler-compute's panel, or "Margay".
  std::string_view name;        ///< As rocprofiler-compute prints it.
  std::string_view unit;        ///< "", "%", "bytes" ...
  std::string_view formula;     ///< In counters.
  std::optional<double> value;  ///< Nothing where the formula divides by zero.
};

/// In the order of their panels.
[[nodiscard]] std::vector<Metric> metrics_of(const KernelProfile& kernel);

/// A metric by its id or a counter by its name (with or without "_sum"). not_found names the ones
/// that are nearest in spelling.
[[nodiscard]] Result<double> value_of(const KernelProfile& kernel, std::string_view name);

/// How long one part of the device is busy at least, if it ran at its peak rate all the time and
/// the work were spread evenly over the CUs that have any.
struct Bound {
  std::string_view part;       ///< "matrix units", "LDS", "L2", "memory" ...
  double amount = 0;           ///< Operations, cycles or bytes.
  std::string_view unit;       ///< Of the amount: "cycles", "bytes".
  double peak_per_second = 0;  ///< Of the CUs in use, or of the device where it is shared.
  double seconds = 0;          ///< amount / peak.
};
/// The longest first; parts with nothing to do are left out. These are limits, not a prediction.
[[nodiscard]] std::vector<Bound> bounds_of(const KernelProfile& kernel);

/// Floating-point (and i8 matrix) operations of the kernel, by type: "bf16 matrix", "f32 vector".
struct Operations {
  std::string type;
  double count = 0;
  double peak_per_second = 0;  ///< Of the whole device.
};
[[nodiscard]] std::vector<Operations> operations_of(const KernelProfile& kernel);

/// Bytes that moved between two levels, for a roofline.
struct Level {
  std::string_view name;  ///< "LDS", "vL1D", "L2", "memory"
  double bytes = 0;
  double peak_bytes_per_second = 0;
};
[[nodiscard]] std::vector<Level> levels_of(const KernelProfile& kernel);

/// Counts of one source line (or of one line of inlined library code): its instructions together.
struct LineTotals {
  std::string file;
  std::uint32_t line = 0;
  std::string function;
  std::uint64_t instructions = 0;  ///< Executions by waves.
  std::uint64_t issue_cycles = 0;  ///< Cycles they hold their wave or unit; an order of cost.
  std::uint64_t flops = 0;
  std::uint64_t lds_cycles = 0, lds_conflict_cycles = 0;
  MemoryTraffic memory;
  std::vector<std::size_t> sites;  ///< Indices into KernelProfile::sites.
};
/// By issue_cycles, the highest first. Instructions without a source line have an empty file.
[[nodiscard]] std::vector<LineTotals> lines_of(const KernelProfile& kernel);

}  // namespace margay::profile
