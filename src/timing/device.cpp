#include "timing/device.h"

#include <algorithm>
#include <cmath>

namespace margay::timing {
namespace {

struct Pass {
  double cycles = 0;  ///< Of the compute units, without launch and write-back.
  double mean = 0;    ///< Of them, over all compute units that work.
  Busy busy;
  double cu_cycles = 0;
  std::vector<SiteTime> sites;
};

void add(std::vector<SiteTime>& sum, const std::vector<SiteTime>& more) {
  for (std::size_t n = 0; n < sum.size(); ++n) {
    sum[n].hits += more[n].hits;
    sum[n].latency += more[n].latency;
    for (unsigned s = 0; s < kStalls; ++s) sum[n].stalls[s] += more[n].stalls[s];
  }
}

/// Cycles of a compute unit that runs `workgroups` of the launch, of which some were recorded: the
/// others take as long as those that began when another one had ended.
double cycles_of(const LaunchRecording& launch, const ComputeUnitTime& time, double workgroups) {
  std::vector<double> ends = time.workgroup_end;
  std::ranges::sort(ends);
  const auto recorded = static_cast<double>(ends.size());
  if (workgroups <= recorded) return time.cycles;
  const std::size_t first = ends.size() > launch.resident ? launch.resident : 0;
  const double began = first == 0 ? 0 : ends[first - 1];
  const double pace = (ends.back() - began) / static_cast<double>(ends.size() - first);
  return time.cycles + (workgroups - recorded) * pace;
}

Pass pass(const LaunchRecording& launch, const Gpu& gpu, const Parameters& p, double ghz) {
  Share share;
  share.clock_ghz = ghz;
  share.active_cus =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(launch.grid, gpu.compute_units()));
  share.active_cus_per_xcd = std::max(1u, (share.active_cus + gpu.xcds - 1) / gpu.xcds);
  share.infinity_cache_hits = launch.infinity_cache_hits;
  const auto active = static_cast<double>(share.active_cus);
  Pass out;
  out.sites.resize(launch.instructions.size());
  for (const ComputeUnitRecording& cu : launch.cus) {
    ComputeUnitTime time = replay(cu, launch.instructions, launch.resident, gpu, p, share);
    const bool all = launch.workgroups.size() == launch.grid;
    const double mean = static_cast<double>(launch.grid) / active;
    out.cycles = std::max(out.cycles, all ? time.cycles : cycles_of(launch, time, std::ceil(mean)));
    out.mean += (all ? time.cycles : cycles_of(launch, time, mean)) /
                static_cast<double>(launch.cus.size());
    out.cu_cycles += time.cycles;
    out.busy.valu += time.busy.valu;
    out.busy.matrix += time.busy.matrix;
    out.busy.lds += time.busy.lds;
    out.busy.vector_cache += time.busy.vector_cache;
    out.busy.l2 += time.busy.l2;
    out.busy.fabric += time.busy.fabric;
    out.busy.memory += time.busy.memory;
    add(out.sites, time.sites);
  }
  return out;
}

Bound bound_of(const Utilisation& u, double launch, double tail) {
  constexpr double kBusy = 0.6, kLarge = 0.5;
  if (launch > kLarge) return Bound::launch;
  const std::pair<double, Bound> units[] = {
      {u.matrix, Bound::matrix}, {u.valu, Bound::valu},
      {u.lds, Bound::lds},       {u.vector_cache, Bound::vector_cache},
      {u.l2, Bound::l2},         {u.infinity_cache, Bound::infinity_cache},
      {u.memory, Bound::memory}};
  const auto most = std::ranges::max_element(units, {}, &std::pair<double, Bound>::first);
  if (most->first >= kBusy) return most->second;
  return tail > 0.3 ? Bound::tail : Bound::latency;
}

/// Per cent. Whole kernels are not validated yet: about twice the error of the loop and of the
/// streams that docs/time.md lists.
double error_of(Bound bound) {
  switch (bound) {
    case Bound::valu:
    case Bound::matrix:
    case Bound::lds:
      return 15;
    case Bound::launch:
      return 30;
    default:
      return 25;
  }
}

}  // namespace

std::string_view bound_name(Bound bound) {
  constexpr std::string_view kNames[kBounds] = {
      "VALU port",    "matrix unit",    "LDS port", "vector cache (TA, vL1D)",
      "L2 bandwidth", "Infinity Cache", "HBM",      "latency",
      "tail",         "launch"};
  return kNames[static_cast<unsigned>(bound)];
}

KernelTime time_of(const LaunchRecording& launch, const Gpu& gpu, double ghz) {
  const Parameters& p = parameters_of(gpu);
  const auto us_of = [&](double cycles, double clock) {
    return cycles / clock / 1e3 + (p.launch_ns + launch.dirty_bytes / p.fabric_bytes_per_ns) / 1e3;
  };
  KernelTime out;
  out.boost_ghz = ghz != 0 ? ghz : p.boost_ghz;
  const Pass boost = pass(launch, gpu, p, out.boost_ghz);
  out.us_boost = us_of(boost.cycles, out.boost_ghz);
  out.cycles = out.us_boost * out.boost_ghz * 1e3;
  out.sustained_ghz = out.boost_ghz;
  out.us_sustained = out.us_boost;
  for (int round = 0; round < 4 && ghz == 0; ++round) {
    const double seconds = out.us_sustained * 1e-6;
    const double per_ghz = 1e-12 / seconds / out.sustained_ghz;
    const double clock = sustained_ghz(
        {launch.memory_bytes * 1e-12 / seconds, launch.vector_flops * per_ghz,
         launch.f16_flops * per_ghz, launch.bf16_flops * per_ghz, launch.fp8_flops * per_ghz},
        p);
    if (std::abs(clock - out.sustained_ghz) < 0.01) break;
    out.sustained_ghz = clock;
    out.us_sustained = us_of(pass(launch, gpu, p, clock).cycles, clock);
  }
  const double cycles = std::max(boost.cu_cycles, 1.0);
  const double simds = gpu.arch().cu.simds;
  out.busy = {boost.busy.valu / cycles / simds, boost.busy.matrix / cycles / simds,
              boost.busy.lds / cycles,          boost.busy.vector_cache / cycles,
              boost.busy.l2 / cycles,           boost.busy.fabric / cycles,
              boost.busy.memory / cycles};
  out.launch_us = out.us_boost - boost.cycles / out.boost_ghz / 1e3;
  out.tail_us = (boost.cycles - boost.mean) / out.boost_ghz / 1e3;
  out.bound = bound_of(out.busy, out.launch_us / out.us_boost, out.tail_us / out.us_boost);
  out.error_percent = error_of(out.bound);
  out.sites = boost.sites;
  for (const SiteTime& site : out.sites) {
    for (unsigned s = 0; s < kStalls; ++s) out.stalls[s] += site.stalls[s];
    out.issue += site.latency - site.stall();
  }
  return out;
}

}  // namespace margay::timing
