#include "timing/launch/what_if.h"

#include <algorithm>
#include <map>
#include <set>

#include "timing/coalescing.h"
#include "timing/launch/launch_replay.h"
#include "timing/launch/sustained.h"

namespace margay::timing {
namespace {

struct Row {
  std::string_view name;
  Change change;
};
constexpr Row kRows[kWhatIfs] = {
    {"no bank conflicts", {.no_bank_conflicts = true}},
    {"no L2 misses", {.no_l2_misses = true}},
    {"lines shared in L2", {}},  // what is left is known from the launch
    {"perfect coalescing", {.perfect_coalescing = true}},
    {"no scratch", {.no_scratch = true}},
    {"all lanes active", {.all_lanes_active = true}},
    {"no barrier skew", {.no_barrier_skew = true}},
    {"half as many barriers", {.half_the_barriers = true}},
    {"no waits for memory", {.no_memory_waits = true}},
    {"loads a step ahead", {.loads_ahead = true}},
    {"waits at their latest", {.waits_at_use = true}},
    {"double LDS bandwidth", {.lds_speed = 2}},
    {"one more workgroup per CU", {.additional_workgroups = 1}},
    {"fewer workgroups", {}},  // how much faster that starts waves is known from the launch
    {"longest workgroups first", {.longest_first = true}},
    {"no tail", {}},  // known from the launch, as the next one
    {"all compute units", {}},
};

/// What the memory instructions of a launch cost, by number of the instruction.
struct Causes {
  std::vector<double> conflicts, lds, misses, scattered;
};

Causes causes_of(const LaunchRecording& launch, const Gpu& gpu) {
  const std::size_t count = launch.instructions.size();
  Causes out{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count),
             std::vector<double>(count)};
  for_each_access(launch.instructions, launch.workgroups,
                  [&](std::uint32_t n, const MemoryWork& work) {
                    const Instruction& i = launch.instructions[n];
                    if (i.unit == Unit::lds) {
                      out.conflicts[n] += work.conflicts;
                      out.lds[n] += work.cycles;
                      return;
                    }
                    out.misses[n] += work.far_lines;
                    const LeastWork least = least_work(i, gpu);
                    out.scattered[n] += std::max(work.cycles - least.cycles, 0);
                    out.scattered[n] += std::max(work.l2_lines - least.l2_lines, 0);
                  });
  return out;
}

/// How many times faster dispatchers would start the launch's waves in workgroups of four; where
/// they have as many and starting them decides, half of them with twice the work.
double dispatch_speed_of_fewer(const LaunchRecording& launch, const Parameters& parameters,
                               const ReplayedLaunch& before) {
  constexpr double kWaves = 4;
  if (launch.workgroups.empty()) return 1;
  const auto waves = static_cast<double>(launch.workgroups.front().waves.size());
  if (waves == 0) return 1;
  if (waves >= kWaves) return before.dispatch >= before.cycles ? 2 : 1;
  return parameters.dispatch_cycles(waves) / waves / (parameters.dispatch_cycles(kWaves) / kWaves);
}

bool is_any(const std::vector<double>& weights) {
  return std::ranges::any_of(weights, [](double weight) { return weight > 0; });
}

bool has(const LaunchRecording& launch, Unit unit) {
  return std::ranges::any_of(launch.instructions,
                             [=](const Instruction& i) { return i.unit == unit; });
}

/// Whether the launch has what the change is about. If not, its replay is the one without the
/// change.
bool concerns(WhatIfKind kind, const LaunchReplay& replay, const LaunchRecording& launch,
              const ReplayedLaunch& before, const Causes& causes) {
  switch (kind) {
    case WhatIfKind::no_bank_conflicts:
      return is_any(causes.conflicts);
    case WhatIfKind::shared_l2_lines:
      return launch.needed_far_lines < 1;
    case WhatIfKind::perfect_coalescing:
      return is_any(causes.scattered);
    case WhatIfKind::no_scratch:
      return std::ranges::any_of(launch.instructions, &Instruction::is_scratch);
    case WhatIfKind::all_lanes_active:
      return std::ranges::any_of(launch.instructions,
                                 [](const Instruction& i) { return i.active_lanes < 1; });
    case WhatIfKind::no_barrier_skew:
    case WhatIfKind::half_the_barriers:
      return has(launch, Unit::barrier);
    case WhatIfKind::double_lds:
      return has(launch, Unit::lds);
    case WhatIfKind::fewer_workgroups:
      return dispatch_speed_of_fewer(launch, replay.parameters(), before) != 1;
    case WhatIfKind::longest_first:
      return replay.is_uneven();
    case WhatIfKind::no_tail:
    case WhatIfKind::all_units:
      return false;  // known from the launch
    case WhatIfKind::no_l2_misses:
    case WhatIfKind::no_memory_waits:
    case WhatIfKind::loads_ahead:
    case WhatIfKind::waits_at_use:
    case WhatIfKind::additional_workgroup:
      return true;
  }
  return true;
}

/// Whether it only removes what the kernel has to do or to wait for.
bool is_removal(WhatIfKind kind) {
  switch (kind) {
    case WhatIfKind::no_bank_conflicts:
    case WhatIfKind::no_l2_misses:
    case WhatIfKind::perfect_coalescing:
    case WhatIfKind::no_scratch:
    case WhatIfKind::all_lanes_active:
    case WhatIfKind::no_barrier_skew:
    case WhatIfKind::no_memory_waits:
    case WhatIfKind::double_lds:
      return true;
    default:
      return false;
  }
}

/// Cycles in which waves were held up by instructions of `unit`.
std::vector<double> held_up(const LaunchRecording& launch, const std::vector<SiteTime>& times,
                            Unit unit) {
  std::vector<double> out(times.size());
  for (std::size_t n = 0; n < times.size(); ++n)
    if (launch.instructions[n].unit == unit) out[n] = times[n].stall();
  return out;
}

/// Turns of the VALU, by the part of the lanes that were not active in them.
std::vector<double> idle_lanes(const LaunchRecording& launch, const std::vector<SiteTime>& times) {
  std::vector<double> out;
  for (std::size_t n = 0; n < times.size(); ++n) {
    const Instruction& i = launch.instructions[n];
    out.push_back(static_cast<double>(times[n].hits) * i.turns * (1 - i.active_lanes));
  }
  return out;
}

/// What accesses to scratch take: their issue, and what is waited for them.
std::vector<double> of_scratch(const LaunchRecording& launch, const std::vector<SiteTime>& times) {
  std::vector<double> out(times.size());
  for (std::size_t n = 0; n < times.size(); ++n)
    if (launch.instructions[n].is_scratch) out[n] = times[n].latency + times[n].unhidden;
  return out;
}

/// Cycles in which SIMDs did nothing but wait for accesses of memory.
std::vector<double> waited_for(const std::vector<SiteTime>& times) {
  std::vector<double> out;
  for (const SiteTime& time : times) out.push_back(time.unhidden);
  return out;
}

/// Cycles that waits take in `before`, and neither they nor the instructions behind them, which use
/// what is waited for, in `after`.
std::vector<double> saved_waits(const LaunchRecording& launch, const ReplayedLaunch& before,
                                const ReplayedLaunch& after) {
  std::vector<double> out = held_up(launch, before.sites, Unit::wait);
  for (std::size_t n = 0; n < out.size(); ++n) {
    const double longer = after.sites[n].stall() - before.sites[n].stall();
    if (launch.instructions[n].unit == Unit::wait) {
      out[n] = std::max(-longer, 0.0);
      continue;
    }
    // The use waits instead: for the last of the waits before it.
    double moved = std::max(longer, 0.0);
    for (std::size_t wait = n; wait-- > 0 && moved > 0;) {
      const double part = std::min(moved, out[wait]);
      out[wait] -= part;
      moved -= part;
    }
  }
  return out;
}

std::vector<double> weights(WhatIfKind kind, const LaunchRecording& launch, const Causes& causes,
                            const std::vector<SiteTime>& times, const ReplayedLaunch& before,
                            const ReplayedLaunch& after) {
  switch (kind) {
    case WhatIfKind::no_bank_conflicts:
      return causes.conflicts;
    case WhatIfKind::double_lds:
      return causes.lds;
    case WhatIfKind::no_l2_misses:
    case WhatIfKind::shared_l2_lines:
      return causes.misses;
    case WhatIfKind::perfect_coalescing:
      return causes.scattered;
    case WhatIfKind::no_scratch:
      return of_scratch(launch, times);
    case WhatIfKind::all_lanes_active:
      return idle_lanes(launch, times);
    case WhatIfKind::no_barrier_skew:
    case WhatIfKind::half_the_barriers:
      return held_up(launch, times, Unit::barrier);
    case WhatIfKind::no_memory_waits:
    case WhatIfKind::loads_ahead:
      return waited_for(times);
    case WhatIfKind::waits_at_use:
      return saved_waits(launch, before, after);
    case WhatIfKind::additional_workgroup:
    case WhatIfKind::fewer_workgroups:
    case WhatIfKind::longest_first:
    case WhatIfKind::no_tail:
    case WhatIfKind::all_units:
      return {};  // of the whole kernel
  }
  return {};
}

/// Of the lines that loads miss in L2, the part that the bytes fill for which they ask, each
/// counted once: a line may be asked for in pieces, by one instruction after another, of which the
/// first has the miss.
double compulsory_far_lines(const LaunchRecording& launch, const Gpu& gpu) {
  double asked = 0, far = 0;
  for_each_access(launch.instructions, launch.workgroups,
                  [&](std::uint32_t n, const MemoryWork& work) {
                    const Instruction& i = launch.instructions[n];
                    if (i.unit != Unit::vector_memory || i.is_store || i.is_atomic) return;
                    asked += i.lane_bytes_in * gpu.arch().wavefront_size;
                    far += work.far_lines * gpu.arch().caches.line_bytes;
                  });
  if (far == 0) return 0;
  const auto recorded = static_cast<double>(launch.workgroups.size());
  const double scale =
      launch.equivalent_workgroups > 0 ? launch.equivalent_workgroups / recorded : 1;
  const double once = launch.touched_bytes > 0 ? launch.touched_bytes / scale : asked;
  return std::min(1.0, std::min(asked, once) / far);
}

/// Barriers for each stretch between two of them in which a workgroup loads from memory.
double barriers_per_step(const LaunchRecording& launch) {
  if (launch.workgroups.empty()) return 0;
  std::size_t barriers = 0;
  std::set<std::size_t> with_loads;
  for (const WaveRecording& wave : launch.workgroups.front().waves) {
    std::size_t passed = 0;
    for (const std::uint32_t number : wave.instructions) {
      const Instruction& i = launch.instructions[number];
      if (i.unit == Unit::barrier) ++passed;
      if (i.unit == Unit::vector_memory && i.lane_bytes_in != 0) with_loads.insert(passed);
    }
    barriers = std::max(barriers, passed);
  }
  return static_cast<double>(barriers) /
         static_cast<double>(std::max<std::size_t>(with_loads.size(), 1));
}

/// Registers of a lane that take what a wave loads in a step: from barrier to barrier, or until it
/// executes one of the loads again. Of most of its steps, of the wave that loads most.
std::uint32_t vgprs_of_a_step(const LaunchRecording& launch) {
  std::uint32_t most = 0;
  if (launch.workgroups.empty()) return most;
  for (const WaveRecording& wave : launch.workgroups.front().waves) {
    std::map<std::uint32_t, std::uint32_t> steps;  // how many, by bytes
    std::set<std::uint32_t> loads;
    std::uint32_t bytes = 0;
    const auto end_step = [&] {
      if (bytes != 0) ++steps[bytes];
      bytes = 0;
      loads.clear();
    };
    for (const std::uint32_t number : wave.instructions) {
      const Instruction& i = launch.instructions[number];
      if (i.unit == Unit::barrier) end_step();
      if (i.unit != Unit::vector_memory || i.lane_bytes_in == 0 || i.is_atomic) continue;
      if (!loads.insert(number).second) {
        end_step();
        loads.insert(number);
      }
      bytes += i.lane_bytes_in;
    }
    end_step();
    if (steps.empty()) continue;
    const auto usual = std::ranges::max_element(steps, {}, [](const auto& s) { return s.second; });
    most = std::max(most, (usual->first + 3) / 4);
  }
  return most;
}

/// The largest parts first. All of them: what is unrolled has many for each line.
std::vector<WhatIf::Site> sites_of(const LaunchRecording& launch,
                                   const std::vector<double>& weights) {
  double all = 0;
  for (const double weight : weights) all += weight;
  std::vector<WhatIf::Site> out;
  for (std::size_t n = 0; n < weights.size(); ++n)
    if (weights[n] > 0) out.push_back({launch.instructions[n].vaddr, weights[n] / all});
  std::ranges::stable_sort(out, std::ranges::greater{}, &WhatIf::Site::share);
  return out;
}

/// Whether as many workgroups share an L2, and the same ones.
bool is_shared_alike(const Gpu& a, const Gpu& b) {
  return a.xcds == b.xcds && a.cus_per_xcd == b.cus_per_xcd &&
         a.arch().caches.l2_bytes() == b.arch().caches.l2_bytes();
}

}  // namespace

std::vector<Elsewhere> elsewhere(const LaunchReplay& replay, const LaunchRecording& launch,
                                 const Gpu& gpu, const ReplayedLaunch& all,
                                 const ReplayedLaunch& few, double error_percent) {
  std::vector<Elsewhere> out;
  if (few.cycles == 0) return out;
  for (const Gpu& other : all_gpus()) {
    if (other.option == gpu.option || other.architecture != gpu.architecture) continue;
    const Parameters& p = parameters_of(other);
    const LaunchReplay there = replay.on(other, p);
    const ReplayedLaunch few_there = there.few(p.boost_ghz);
    const double cycles = all.cycles * few_there.cycles / few.cycles;
    Elsewhere& one = out.emplace_back();
    one.device = other.short_name();
    if (!is_shared_alike(gpu, other)) {
      const double us = us_of(cycles, p.boost_ghz, launch, p);
      const double hits = there.few(p.boost_ghz, {.no_l2_misses = true}).cycles / few.cycles;
      const double missing = 100 * (1 - us_of(all.cycles * hits, p.boost_ghz, launch, p) / us);
      one.misses_decide = is_beyond_error(missing, error_percent);
      if (one.misses_decide) continue;
    }
    one.us_boost = us_of(cycles, p.boost_ghz, launch, p);
    one.us_sustained = sustained(there, launch, p, p.boost_ghz, cycles, few_there).us;
  }
  return out;
}

std::string_view what_if_name(WhatIfKind kind) { return kRows[static_cast<unsigned>(kind)].name; }

std::vector<WhatIf> what_ifs(const LaunchReplay& replay, const LaunchRecording& launch,
                             const ReplayedLaunch& before, const std::vector<SiteTime>& times,
                             double ghz, const LaunchParts& parts) {
  const Causes causes = causes_of(launch, replay.gpu());
  std::vector<ReplayedLaunch> after;
  for (unsigned n = 0; n < kWhatIfs; ++n) {
    const auto kind = static_cast<WhatIfKind>(n);
    if (!concerns(kind, replay, launch, before, causes)) {
      after.push_back(before);
      continue;
    }
    Change change = kRows[n].change;
    if (kind == WhatIfKind::shared_l2_lines) change.far_lines = launch.needed_far_lines;
    if (kind == WhatIfKind::fewer_workgroups)
      change.dispatch_speed = dispatch_speed_of_fewer(launch, replay.parameters(), before);
    if (change.perfect_coalescing)
      change.compulsory_far_lines = compulsory_far_lines(launch, replay.gpu());
    after.push_back(replay.few(ghz, change));
  }
  std::vector<WhatIf> out;
  for (unsigned n = 0; n < kWhatIfs; ++n) {
    WhatIf one;
    one.kind = static_cast<WhatIfKind>(n);
    double saved = before.cycles > 0 ? 1 - after[n].cycles / before.cycles : 0;
    if (one.kind == WhatIfKind::no_barrier_skew && saved > 0) {
      // Waves come late to a barrier for what they wait for, too: that is not the barrier's.
      const ReplayedLaunch& working = after[static_cast<unsigned>(WhatIfKind::no_memory_waits)];
      const ReplayedLaunch even =
          replay.few(ghz, {.no_barrier_skew = true, .no_memory_waits = true});
      saved = std::min(saved, (working.cycles - even.cycles) / before.cycles);
    }
    // These take work or waits away. Where the order of the others then costs more than that, they
    // save nothing.
    if (is_removal(one.kind)) saved = std::max(saved, 0.0);
    if (one.kind == WhatIfKind::half_the_barriers &&
        (!has(launch, Unit::barrier) ||
         (launch.resident_with_twice_the_lds == 0 && barriers_per_step(launch) < 1.5)))
      saved = 0;
    if (one.kind == WhatIfKind::loads_ahead) one.vgprs = vgprs_of_a_step(launch);
    one.saves_percent = 100 * (one.kind == WhatIfKind::no_tail     ? parts.tail
                               : one.kind == WhatIfKind::all_units ? parts.idle
                                                                   : saved * parts.work);
    one.sites = sites_of(launch, weights(one.kind, launch, causes, times, before, after[n]));
    out.push_back(std::move(one));
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &WhatIf::saves_percent);
  return out;
}

}  // namespace margay::timing
