#include "timing/latencies.h"

#include <algorithm>

namespace margay::timing {

void Latencies::settle(Wave& wave) {
  const SimdClock& simd = simds_[wave.simd];
  const double exposed = simd.time().idle - wave.idle;
  SiteTime& site = sites_[wave.site];
  site.exposed += exposed;
  site.lost += simd.lost() - wave.lost;
  if (wave.cause != kNone) sites_[wave.cause].unhidden += exposed;
  wave.cause = kNone;
}

void Latencies::looks_at(std::uint32_t index, std::uint32_t simd_number, std::uint32_t site,
                         double now) {
  SimdClock& simd = simds_[simd_number];
  simd.advance(now);
  if (index >= waves_.size()) waves_.resize(index + 1);
  Wave& wave = waves_[index];
  if (!wave.is_fresh) return;
  wave.is_fresh = false;
  wave.simd = simd_number;
  if (wave.site == kNone)
    simd.wave_begins();
  else
    settle(wave);
  wave.site = site;
  wave.idle = simd.time().idle;
  wave.lost = simd.lost();
}

void Latencies::went_on(std::uint32_t index, double until) {
  waves_[index].is_fresh = true;
  simds_[waves_[index].simd].works(until);
}

void Latencies::accesses(std::uint32_t site, double now, double done) {
  sites_[site].flight += done - now;
}

void Latencies::ends(std::uint32_t index, double begin, double now, double end) {
  Wave& wave = waves_[index];
  simds_[wave.simd].advance(now);
  settle(wave);
  simds_[wave.simd].wave_ends();
  lives_.push_back({begin, end});
}

void Latencies::finish(double cycles) {
  for (SimdClock& simd : simds_) simd.advance(cycles);
}

SimdTime Latencies::time() const {
  SimdTime out;
  for (const SimdClock& simd : simds_) out += simd.time();
  return out;
}

}  // namespace margay::timing
