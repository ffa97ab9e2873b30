// Which latency a compute unit hides and which it exposes, while it is replayed. What a wave waits
// is hidden while its SIMD works, for another wave or with what the wave issued before; it is
// exposed while all waves of the SIMD wait. Exposed cycles are lost: each is divided among those
// waves.
#pragma once

#include <cstdint>
#include <vector>

#include "timing/recording.h"
#include "timing/simd_clock.h"
#include "timing/site_time.h"

namespace margay::timing {

/// From a wave's first instruction until it has ended, in cycles.
struct WaveLife {
  double begin = 0, end = 0;
};

/// Waves and their instructions, in the order of time. Both are numbers.
class Latencies {
 public:
  Latencies(std::size_t simds, std::vector<SiteTime>& sites) : simds_(simds), sites_(sites) {}

  /// A wave looks at an instruction: for the first time, or again after a wait.
  void looks_at(std::uint32_t wave, std::uint32_t simd, std::uint32_t site, double now);
  /// A wait for the memory access of `cause`.
  void waits_for(std::uint32_t wave, std::uint32_t cause) { waves_[wave].cause = cause; }
  /// It goes on; its SIMD has issued until `until`.
  void went_on(std::uint32_t wave, double until);
  void matrix_works(std::uint32_t simd, double until) { simds_[simd].matrix_works(until); }
  void valu_works(std::uint32_t simd, double until) { simds_[simd].works(until); }
  void memory_works(std::uint32_t simd, double until) { simds_[simd].memory_is_accessed(until); }
  /// An instruction that began at `now` accesses memory or LDS.
  void accesses(std::uint32_t site, double now, double done);
  void ends(std::uint32_t wave, double begin, double now, double end);
  /// The compute unit has ended.
  void finish(double cycles);

  [[nodiscard]] SimdTime time() const;  ///< Of all SIMDs.
  [[nodiscard]] std::vector<WaveLife>& lives() { return lives_; }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct Wave {
    bool is_fresh = true;  ///< It has not yet looked at its instruction.
    std::uint32_t simd = 0, site = kNone, cause = kNone;
    double idle = 0, lost = 0;  ///< Of its SIMD, when it looked at the instruction first.
  };
  /// Adds what passed since the wave looked at its instruction.
  void settle(Wave& wave);

  std::vector<SimdClock> simds_;
  std::vector<SiteTime>& sites_;
  std::vector<Wave> waves_;
  std::vector<WaveLife> lives_;
};

}  // namespace margay::timing
