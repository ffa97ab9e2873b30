#include "report/profile/analysis/limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "report/profile/analysis/bounds.h"

namespace margay::profile {
std::optional<LoadLatency> load_latency_of(const KernelProfile& k) {
  double loads = 0, bytes = 0, from_l2 = 0, from_memory = 0, waits = 0, left = 0;
  for (const Site& site : k.sites) {
    const auto executions = static_cast<double>(site.executions);
    if (site.traits.vm_wait) {
      waits += executions;
      left += executions * *site.traits.vm_wait;
    }
    if (!site.memory || !site.is_read) continue;
    loads += executions;
    bytes += static_cast<double>(site.memory->lane_bytes);
    // The wave waits for the slowest of its lines.
    from_l2 += std::min(executions, static_cast<double>(site.memory->l2_reads));
    from_memory += std::min(executions, static_cast<double>(site.memory->l2_misses));
  }
  const double waves = workgroups_of(k) * waves_per_workgroup(k) * static_cast<double>(k.launches);
  if (loads == 0 || waves == 0) return std::nullopt;
  LoadLatency out;
  const LoadCycles& idle = k.gpu->arch().load_cycles;
  out.cycles = idle.vector_cache + (idle.l2 - idle.vector_cache) * from_l2 / loads +
               (idle.memory - idle.l2) * from_memory / loads;
  // Each wait ends a batch of loads; loads left in flight overlap with the next batch.
  const double in_flight =
      std::min(64.0, waits == 0 ? loads / waves : loads / waits + left / waits);
  out.wave_bytes = in_flight * bytes / loads;
  out.waves_per_cu = achieved_waves_per_cu(k);
  const auto launches = static_cast<double>(k.launches);
  out.rounds = std::max(1.0, waves / launches / (cus_in_use(k) * out.waves_per_cu));
  out.batches = std::max(1.0, loads / waves / in_flight);
  out.seconds = launches * out.rounds * out.batches * out.cycles / k.gpu->clock_hz();
  return out;
}

Limits::Limits(const KernelProfile& kernel) {
  for (const Bound& bound : bounds_of(kernel))
    parts_.push_back({bound.part, bound.seconds, bound.peak_per_second});
  if (const auto latency = load_latency_of(kernel))
    parts_.push_back({DevicePart::load_latency, latency->seconds, 1});
  std::ranges::sort(parts_, {},
                    [](const Part& p) { return std::pair(-p.seconds, part_name(p.part)); });
}

double Limits::seconds_of(DevicePart part) const {
  const auto found = std::ranges::find(parts_, part, &Part::part);
  return found == parts_.end() ? 0 : found->seconds;
}

Limits::Effect Limits::effect_of(const std::vector<Saving>& savings) const {
  Effect out;
  if (parts_.empty() || parts_.front().seconds <= 0) return out;
  double longest = 0;
  for (const Part& part : parts_) {
    double saved = 0;
    for (const Saving& saving : savings)
      if (saving.part == part.part && part.peak_per_second > 0)
        saved += saving.amount / part.peak_per_second;
    saved = std::min(saved, part.seconds);
    // Avoids a division by zero.
    const double relief = part.seconds > 0 ? saved / part.seconds : 0;
    if (saved > 0 &&
        (!out.relieved || part.seconds * relief > seconds_of(*out.relieved) * out.relief)) {
      out.relief = relief;
      out.relieved = part.part;
    }
    if (part.seconds - saved > longest) {
      longest = part.seconds - saved;
      out.then = part.part;
    }
  }
  out.gain = 1 - longest / parts_.front().seconds;
  return out;
}

}  // namespace margay::profile
