// Small profiles that tests change.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "report/profile/profile.h"

namespace margay::profile {

/// A kernel about which there is nothing to say.
inline KernelProfile plain() {
  KernelProfile k;
  k.name = "plain(float*)";
  k.grid = {608, 1, 1};
  k.workgroup = {256, 1, 1};
  k.launches = 1;
  k.resources.limit = "wave slots";
  k.resources.workgroups_per_cu = 8;
  k.resources.waves_per_cu = 32;
  k.counters[Counter::SQ_WAVES] = 2432;
  k.counters[Counter::SQ_INSTS] = 24320;
  k.counters[Counter::SQ_ACTIVE_INST_VALU] = 1000;
  k.counters[Counter::SQ_THREAD_CYCLES_VALU] = 64000;
  return k;
}

inline Site& add_site(KernelProfile& k, std::string text, std::uint32_t line = 12) {
  Site& site = k.sites.emplace_back();
  site.vaddr = 0x1000 + 8 * k.sites.size();
  site.text = std::move(text);
  if (line != 0) site.frames = {{"plain", "/src/plain.cpp", line, 3}};
  site.executions = 100;
  site.active_lanes = 6400;
  site.issue_cycles = 400;
  return site;
}

/// `plain` with a modelled time of two sites.
inline KernelProfile timed(double us, double first, double second) {
  KernelProfile k = plain();
  add_site(k, "v_mov_b32 v0, v1", 8);
  add_site(k, "s_waitcnt vmcnt(0)", 9);
  timing::KernelTime& t = k.time.emplace();
  t.us_boost = us;
  t.us_sustained = 2 * us;
  t.boost_ghz = 2.1;
  t.sustained_ghz = 1.05;
  t.cycles = us * 2100;
  t.error_percent = 20;
  t.bound = timing::Bound::memory;
  t.sites.resize(k.sites.size());
  t.sites[0].latency = t.issue = first;
  t.sites[1].latency = second;
  t.sites[1].stalls[static_cast<unsigned>(timing::Stall::waitcnt)] = second;
  t.stalls = t.sites[1].stalls;
  return k;
}

}  // namespace margay::profile
