#include "timing/launch/device.h"

#include <algorithm>
#include <numeric>

#include "timing/launch/launch_replay.h"
#include "timing/launch/sustained.h"

namespace margay::timing {
namespace {

Bound bound_of(const Utilisation& u, double launch, double tail) {
  constexpr double kBusy = 0.6, kLarge = 0.5, kLongTail = 0.4;
  if (launch > kLarge) return Bound::launch;
  if (tail > kLongTail) return Bound::tail;  // of the units that work, one may be busy
  const std::pair<double, Bound> units[] = {{u.matrix, Bound::matrix},
                                            {u.valu, Bound::valu},
                                            {u.scalar, Bound::scalar},
                                            {u.lds, Bound::lds},
                                            {u.l2, Bound::l2},
                                            {u.vector_cache, Bound::vector_cache},
                                            {u.memory, Bound::memory},
                                            {u.infinity_cache, Bound::infinity_cache},
                                            {u.dispatcher, Bound::dispatcher}};
  const auto most = std::ranges::max_element(units, {}, &std::pair<double, Bound>::first);
  if (most->first >= kBusy) return most->second;
  return tail > 0.3 ? Bound::tail : Bound::latency;
}

/// Per cent: about twice the mean error of the kernels in docs/time.md with this bound.
double error_of(Bound bound) {
  switch (bound) {
    case Bound::matrix:
    case Bound::infinity_cache:
    case Bound::memory:
      return 15;
    case Bound::launch:
    case Bound::dispatcher:
      return 20;
    case Bound::valu:
    case Bound::scalar:
    case Bound::lds:
    case Bound::latency:
    case Bound::l2:
      return 25;
    case Bound::vector_cache:
    case Bound::tail:
      return 35;
  }
  return 35;
}

}  // namespace

std::string_view bound_name(Bound bound) {
  constexpr std::string_view kNames[kBounds] = {
      "VALU port",    "matrix unit",    "scalar unit", "LDS port",   "vector cache (TA, vL1D)",
      "L2 bandwidth", "Infinity Cache", "HBM",         "dispatcher", "latency",
      "tail",         "launch"};
  return kNames[static_cast<unsigned>(bound)];
}

double sample_length(const LaunchRecording& launch) {
  const auto working =
      static_cast<double>(launch.lengths.size() - std::ranges::count(launch.lengths, 0u));
  if (launch.is_whole() || launch.cus.empty() || working == 0) return 1;
  double recorded = 0, workgroups = 0;
  for (const ComputeUnitRecording& cu : launch.cus) {
    for (const WorkgroupRecording* const group : cu.workgroups) recorded += instructions_of(*group);
    workgroups += static_cast<double>(cu.workgroups.size());
  }
  const double all = std::accumulate(launch.lengths.begin(), launch.lengths.end(), 0.0);
  return recorded / workgroups / (all / working);
}

namespace {

/// Which part of the time compute units without a workgroup could save: until memory has no time to
/// spare, or the work is no more than a few accesses to it one after the other.
double saved_by_all_units(const LaunchRecording& launch, const Gpu& gpu, const Parameters& p,
                          const ReplayedLaunch& boost, const KernelTime& time) {
  const double used = static_cast<double>(launch.grid) / gpu.compute_units();
  if (used >= 1) return 0;
  constexpr double kAccesses = 3;
  const double least = (p.arguments_ns + kAccesses * p.memory_ns) * time.boost_ghz;
  const double moving = std::max(time.busy.memory, time.busy.infinity_cache);
  const double left = std::max({used, moving, least / std::max(boost.cycles, 1.0)});
  return std::max(0.0, 1 - left) * boost.cycles / time.cycles;
}

}  // namespace

KernelTime time_of(const LaunchRecording& launch, const Gpu& gpu, const TimeConfig& config,
                   unsigned host_threads) {
  const double ghz = config.clock_ghz;
  const Parameters& p = parameters_of(gpu);
  KernelTime out;
  out.boost_ghz = ghz != 0 ? ghz : p.boost_ghz;
  const LaunchReplay replay(launch, gpu, p, host_threads);
  const ReplayedLaunch boost = replay.all(out.boost_ghz, config);
  out.us_boost = us_of(boost.cycles, out.boost_ghz, launch, p);
  out.cycles = out.us_boost * out.boost_ghz * 1e3;
  const ReplayedLaunch few = replay.few(out.boost_ghz);
  const AtClock held = ghz != 0 ? AtClock{out.boost_ghz, out.us_boost}
                                : sustained(replay, launch, p, out.boost_ghz, boost.cycles, few);
  out.sustained_ghz = held.ghz;
  out.us_sustained = held.us;
  const double cycles = std::max(boost.cu_cycles, 1.0);
  const double simds = gpu.arch().cu.simds;
  // What L2 still has to write back may be more than there was time for.
  const auto part = [&](double busy) { return std::min(busy / cycles, 1.0); };
  out.busy = {part(boost.busy.valu / simds),
              part(boost.busy.matrix / simds),
              part(boost.busy.scalar / simds),
              part(boost.busy.lds),
              part(boost.busy.vector_cache),
              part(boost.busy.l2),
              part(boost.busy.fabric),
              part(boost.busy.memory),
              boost.dispatch / std::max(boost.cycles, 1.0)};
  out.flops = launch.flops;
  out.launch_us = out.us_boost - boost.cycles / out.boost_ghz / 1e3;
  // While the last compute units keep memory busy, all that is to be moved is.
  const double moving = std::max(out.busy.memory, out.busy.infinity_cache) * boost.cycles;
  out.tail_us = std::max(0.0, boost.cycles - std::max(boost.mean, moving)) / out.boost_ghz / 1e3;
  out.write_back_us = launch.dirty_bytes / p.fabric_write_bytes_per_ns / 1e3;
  out.bound = bound_of(out.busy, (out.launch_us - out.write_back_us) / out.us_boost,
                       out.tail_us / out.us_boost);
  out.error_percent = error_of(out.bound);
  out.sample_length = sample_length(launch);
  // Sequences and rows of ascending and of descending length took 9 % less to 1 % more than all
  // of their instructions (docs/time.md).
  constexpr double kOfPhases = 25;
  if (launch.has_phases()) out.error_percent = std::max(out.error_percent, kOfPhases);
  out.warm = launch.is_warm;
  out.between = between_workgroups(launch);
  if (!is_like_others(out.sample_length) || out.between.polling > 0) out.error_percent = 50;
  if (config.what_if) {
    out.what_if = what_ifs(replay, launch, few, boost.sites, out.boost_ghz,
                           {.work = boost.cycles / out.cycles,
                            .tail = out.tail_us / out.us_boost,
                            .idle = saved_by_all_units(launch, gpu, p, boost, out)});
    if (ghz == 0) out.elsewhere = elsewhere(replay, launch, gpu, boost, few, out.error_percent);
  }
  if (config.traced_workgroups != 0)
    out.timeline = replay.timeline(out.boost_ghz, boost.active, config.traced_workgroups);
  out.sites = boost.sites;
  out.simds = boost.simds.parts();
  out.simd_cycles = boost.simds.all();
  out.waves_per_simd = boost.waves_per_simd;
  out.occupancy = boost.occupancy;
  out.occupancy_cycles = boost.occupancy_cycles;
  for (const SiteTime& site : out.sites) {
    for (unsigned s = 0; s < kStalls; ++s) out.stalls[s] += site.stalls[s];
    out.issue += site.latency - site.stall();
  }
  return out;
}

}  // namespace margay::timing
