// The minimum time of each part of the machine, and its work: the numbers behind limits, advice and
// rooflines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/profile/profile.h"

namespace margay::profile {

/// What a kernel may keep busy, or wait for.
enum class DevicePart : std::uint8_t {
  matrix_units,
  vector_alu,
  lds,
  vector_cache,
  l2,
  memory,
  scalar_issue,
  load_latency,  ///< Not busy, but waited for (limits.h).
};
[[nodiscard]] constexpr std::string_view part_name(DevicePart part) {
  constexpr std::string_view kNames[] = {
      "matrix units", "vector ALU", "LDS", "vL1D", "L2", "memory", "scalar issue", "load latency"};
  return kNames[static_cast<std::size_t>(part)];
}

/// The minimum time that one part of the device is busy, at its peak rate and with the work spread
/// evenly over the CUs that have any.
struct Bound {
  DevicePart part{};
  double amount = 0;           ///< Operations, cycles or bytes.
  std::string_view unit;       ///< Of the amount: "cycles", "bytes".
  double peak_per_second = 0;  ///< Of the CUs in use, or of the device if it is shared.
  double seconds = 0;          ///< amount / peak.
};
/// The longest first; idle parts are omitted. These are limits, not a prediction.
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

/// Of one launch.
[[nodiscard]] double workgroups_of(const KernelProfile& kernel);
[[nodiscard]] double waves_per_workgroup(const KernelProfile& kernel);
/// CUs with any work: launches run one after another.
[[nodiscard]] double cus_in_use(const KernelProfile& kernel);
/// Waves on a CU that has any, limited by occupancy and by the size of the launch.
[[nodiscard]] double achieved_waves_per_cu(const KernelProfile& kernel);

}  // namespace margay::profile
