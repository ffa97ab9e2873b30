// What limits a kernel, and what it would gain by a change: the busy times of bounds.h and an
// estimate of the time it waits for loads.
#pragma once

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "report/profile/analysis/bounds.h"
#include "report/profile/profile.h"

namespace margay::profile {

/// How long the kernel waits for its loads, if nothing but the loads in flight at a wait overlaps.
/// An estimate: latencies are those of an idle device.
struct LoadLatency {
  double seconds = 0;
  double cycles = 0;        ///< Of a load, on average, by where it is served.
  double wave_bytes = 0;    ///< In flight when a wave waits.
  double waves_per_cu = 0;  ///< That the launch keeps there: achieved occupancy.
  double rounds = 0;        ///< How often a launch fills the CUs that it uses.
  double batches = 0;       ///< How often a wave waits for everything that it has in flight.
};
[[nodiscard]] std::optional<LoadLatency> load_latency_of(const KernelProfile& kernel);

class Limits {
 public:
  struct Part {
    DevicePart part{};
    double seconds = 0;
    double peak_per_second = 0;  ///< Of the Bound's unit; 1 for latency, which is in seconds.
  };
  explicit Limits(const KernelProfile& kernel);

  [[nodiscard]] bool empty() const { return parts_.empty(); }
  /// The longest first.
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] const Part& longest() const { return parts_.front(); }
  [[nodiscard]] bool is_longest(DevicePart part) const {
    return !parts_.empty() && parts_.front().part == part;
  }
  [[nodiscard]] double seconds_of(DevicePart part) const;

  /// What a change takes from a part, in its unit.
  struct Saving {
    DevicePart part{};
    double amount = 0;
  };
  struct Effect {
    double gain = 0;    ///< Share of the longest part's time that the kernel gains.
    double relief = 0;  ///< Largest share of a part that is taken from it ...
    std::optional<DevicePart> relieved;  ///< ... and which part that is.
    std::optional<DevicePart> then;      ///< The longest part afterwards.
  };
  [[nodiscard]] Effect effect_of(const std::vector<Saving>& savings) const;

 private:
  std::vector<Part> parts_;
};

}  // namespace margay::profile
