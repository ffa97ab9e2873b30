#include "report/profile/time/time_advice.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "gpu/occupancy.h"
#include "report/profile/analysis/bounds.h"
#include "report/profile/analysis/lines.h"
#include "report/profile/analysis/occupancy_table.h"
#include "report/words.h"

namespace margay::profile {
namespace {

using timing::WhatIfKind;

/// Work-items of a workgroup.
std::uint32_t items_of(const KernelProfile& kernel) {
  return kernel.workgroup[0] * kernel.workgroup[1] * kernel.workgroup[2];
}

/// Waves of a SIMD, with as many workgroups on a compute unit.
std::uint32_t waves_per_simd(const KernelProfile& kernel, std::uint32_t workgroups) {
  const ComputeUnit& cu = kernel.gpu->arch().cu;
  const std::uint32_t waves = (items_of(kernel) + 63) / 64 * workgroups;
  return (waves + cu.simds - 1) / cu.simds;
}

/// "; they take 32 registers of each lane, and 24 are free".
std::string registers_for(std::uint32_t wanted, const KernelProfile& kernel) {
  const Resources& r = kernel.resources;
  if (wanted == 0 || r.workgroups_per_cu == 0) return {};
  const ComputeUnit& cu = kernel.gpu->arch().cu;
  // A grid may have fewer workgroups than there is room for.
  const auto waves =
      static_cast<std::uint32_t>(std::ceil(achieved_waves_per_cu(kernel) / cu.simds));
  const std::uint32_t most = cu.vgprs_per_lane / waves / cu.vgpr_granule * cu.vgpr_granule;
  const std::uint32_t free = most > r.vgprs ? most - r.vgprs : 0;
  const std::string out = fmt::format("; a step's loads take {} VGPRs, {} are free", wanted, free);
  return wanted <= free ? out
                        : fmt::format(
                              "{}: use {} fewer elsewhere (what is not free is spilled, or "
                              "costs a workgroup per CU)",
                              out, wanted - free);
}

/// What it takes, and what that leaves of the workgroups.
std::string twice_the_lds(const KernelProfile& kernel) {
  const Resources& r = kernel.resources;
  const std::uint32_t lds = r.static_lds_bytes + r.dynamic_lds_bytes;
  if (lds == 0 || r.workgroups_per_cu == 0) return "give waves equal work";
  const Occupancy then =
      occupancy(kernel.gpu->arch(), {r.vgprs, r.sgprs, 2 * lds, items_of(kernel)});
  const std::string out = fmt::format("either takes twice the LDS: {} bytes", 2 * lds);
  if (then.workgroups_per_cu == 0)
    return out + ", more than there is, unless it has two buffers and more barriers already";
  return fmt::format("{}, with which {} of {} fit a CU (that is counted)", out,
                     report::counted(then.workgroups_per_cu, "workgroup"), r.workgroups_per_cu);
}

/// What would allow no workgroup more if the limit did: "LDS". Empty if nothing.
std::string second_limit(const KernelProfile& kernel) {
  const Resources& r = kernel.resources;
  OccupancyQuery without{r.vgprs, r.sgprs, r.static_lds_bytes + r.dynamic_lds_bytes,
                         items_of(kernel)};
  if (r.limit == name_of(OccupancyLimit::vgprs))
    without.vgprs = 0;
  else if (r.limit == name_of(OccupancyLimit::sgprs))
    without.sgprs = 0;
  else if (r.limit == name_of(OccupancyLimit::lds))
    without.lds_bytes = 0;
  else
    return {};
  const Occupancy then = occupancy(kernel.gpu->arch(), without);
  return then.workgroups_per_cu > r.workgroups_per_cu ? std::string{}
                                                      : std::string(name_of(then.limit));
}

std::string room_for_a_workgroup(const KernelProfile& kernel) {
  const Resources& r = kernel.resources;
  if (r.limit.empty()) return "use fewer registers or less LDS";
  std::string out = fmt::format("the limit is {}", r.limit);
  if (const std::string second = second_limit(kernel); !second.empty())
    out += fmt::format(", and {} would allow no more either", second);
  if (r.next_step.empty()) return out;
  out += ": " + r.next_step;
  if (const std::string unused = unused_lds(kernel); !unused.empty())
    out += "; " + unused;
  else if (r.limit == name_of(OccupancyLimit::lds))
    out += " (if steps have to be shorter for that, they take more barriers, which is not counted)";
  if (r.limit == name_of(OccupancyLimit::vgprs))
    out += fmt::format(
        "; __launch_bounds__({}, {}) makes the compiler keep to it, but look for spills (margay "
        "asm --resources): keep fewer values at a time",
        items_of(kernel), waves_per_simd(kernel, r.workgroups_per_cu + 1));
  return out;
}

/// What to do where lanes access bytes that are apart.
std::string side_by_side(const KernelProfile& kernel) {
  std::string out =
      "let adjacent lanes access adjacent bytes, 16 for each lane, and rows of tiles fill lines of "
      "128 bytes";
  const std::uint64_t lds = kernel.gpu->arch().cu.lds_bytes;
  if (std::ranges::any_of(kernel.tensors, [&](const TensorTraffic& tensor) {
        return tensor.touched_read_bytes != 0 && tensor.touched_read_bytes <= lds;
      }))
    out += "; a table in which lanes look something up fits LDS";
  out +=
      "; indices that come from data can be sorted, or each XCD take those of one part of the "
      "table";
  if (const std::uint32_t scratch = kernel.resources.scratch_bytes; scratch != 0)
    out += fmt::format(
        "; {} bytes of scratch for each work-item are such accesses, too: spills, or an array with "
        "an index that is not known before the kernel runs, which can be in LDS or have its loop "
        "unrolled",
        scratch);
  return out;
}

std::string without_scratch(const KernelProfile& kernel) {
  const Resources& r = kernel.resources;
  return fmt::format(
      "{} bytes of scratch for each work-item are spills, or an array with an index that is not "
      "known before the kernel runs: keep fewer values at a time ({} VGPRs are in use; fewer waves "
      "in __launch_bounds__ leave more), unroll the loop that has the index, or keep the array in "
      "LDS (margay asm --resources names the spills)",
      r.scratch_bytes, r.vgprs);
}

/// What to do where only a few compute units have work at the end.
std::string fill_the_rounds(const KernelProfile& kernel) {
  const auto workgroups = static_cast<std::uint64_t>(workgroups_of(kernel));
  const std::uint64_t units = kernel.gpu->compute_units();
  const std::string how_many = fmt::format(
      "the last workgroups leave compute units idle: {} for {} units, and {} of each "
      "unit at a time; ",
      report::counted(workgroups, "workgroup"), units, kernel.resources.workgroups_per_cu);
  const std::uint64_t room = units * kernel.resources.workgroups_per_cu;
  const std::string how = workgroups <= units ? "the longest ones decide: split them, or give all "
                                                "as much to do"
                          : workgroups <= room && workgroups % units != 0
                              ? fmt::format(
                                    "all of them begin at once, and some units have one more than "
                                    "others, or longer ones: let their number be a multiple of {}, "
                                    "and give all as much to do",
                                    units)
                          : workgroups % units == 0
                              ? "they do not take equally long: take smaller ones, or only as many "
                                "as there is room for that share the work evenly"
                              : "let their number fill whole rounds by another size of tile, or "
                                "take smaller ones, or only as many as there is room for that "
                                "share the work evenly";
  return how_many + how + " (this is the most that it can save)";
}

/// What to do where compute units have no workgroup at all.
std::string more_workgroups(const KernelProfile& kernel) {
  return fmt::format(
      "the grid has {} for {} compute units: take smaller tiles, or divide what each of them sums "
      "and add the parts up (split-K); this is the most that it can save, if the work can be "
      "divided evenly",
      report::counted(static_cast<std::uint64_t>(workgroups_of(kernel)), "workgroup"),
      kernel.gpu->compute_units());
}

std::string fewer_workgroups(const KernelProfile& kernel) {
  constexpr std::uint64_t kEnough = 256;
  std::string out = "the dispatcher of an XCD starts one workgroup after the other: ";
  if (items_of(kernel) < kEnough)
    return out + fmt::format(
                     "with {} work-items in place of {} there are fewer to start; or let each "
                     "work-item do more",
                     kEnough, items_of(kernel));
  return out +
         "let each work-item do more, in a loop with the grid's stride; half as many workgroups "
         "save this";
}

std::string what_to_do(const timing::WhatIf& what_if, const KernelProfile& kernel) {
  switch (what_if.kind) {
    case WhatIfKind::no_bank_conflicts:
      return "pad or swizzle the LDS tile, so that the lanes of one pass use different banks";
    case WhatIfKind::no_l2_misses:
      return "a limit: what an XCD has not loaded yet misses its L2";
    case WhatIfKind::shared_l2_lines:
      return fmt::format(
          "let workgroups that run on one XCD at the same time share tiles, squares of the grid "
          "rather than rows or columns of it, and load each line once (every {}th workgroup is on "
          "the same XCD: renumber them); lines that one workgroup alone loads again it uses too "
          "late: L2 has lost them meanwhile",
          kernel.gpu->xcds);
    case WhatIfKind::perfect_coalescing:
      return side_by_side(kernel);
    case WhatIfKind::no_scratch:
      return without_scratch(kernel);
    case WhatIfKind::all_lanes_active:
      return "let the lanes of a wave take the same way at branches and end loops together: sort "
             "or "
             "group what they work on, or share out the work of those that have more (vector "
             "instructions alone are counted)";
    case WhatIfKind::no_barrier_skew:
      return "a limit, if waves of a workgroup never waited for each other: give them equal work";
    case WhatIfKind::half_the_barriers:
      return "two buffers need one barrier for each step, larger steps have fewer; " +
             twice_the_lds(kernel);
    case WhatIfKind::no_memory_waits:
      return "the most that hiding latency can save, by whatever means; the others say how";
    case WhatIfKind::loads_ahead:
      return "issue the loads of the next step before the work of this one, into registers or "
             "another buffer, and wait for them a step later; this is the most that it can save, "
             "if moving the data costs nothing more" +
             registers_for(what_if.vgprs, kernel);
    case WhatIfKind::waits_at_use:
      return "wait only for what is used next, right before its use: vmcnt(n), n > 0, leaves "
             "younger loads in flight; behind a branch around loads or stores compilers wait for "
             "all";
    case WhatIfKind::double_lds:
      return "the same with half of the bytes to and from LDS: keep in registers what is read "
             "again, and let each wave compute a larger tile (twice as wide and high, it reads "
             "half for each result); wider accesses alone move as many bytes";
    case WhatIfKind::additional_workgroup:
      return room_for_a_workgroup(kernel);
    case WhatIfKind::fewer_workgroups:
      return fewer_workgroups(kernel);
    case WhatIfKind::longest_first:
      return fmt::format(
          "workgroups begin in the order of the grid, and those that begin last leave compute "
          "units "
          "idle if they are long: number the longest ones first (causal attention: the last rows), "
          "or give all as much to do; the {} XCDs get workgroups in turn, each a fair share of "
          "long "
          "ones",
          kernel.gpu->xcds);
    case WhatIfKind::no_tail:
      return fill_the_rounds(kernel);
    case WhatIfKind::all_units:
      return more_workgroups(kernel);
  }
  return {};
}

/// A limit is nothing to do.
bool is_limit(WhatIfKind kind, const KernelProfile& kernel) {
  switch (kind) {
    case WhatIfKind::no_memory_waits:
    case WhatIfKind::no_l2_misses:
    case WhatIfKind::no_barrier_skew:
      return true;
    case WhatIfKind::double_lds:
      // Bytes can be traded for registers. Where LDS is not what bounds the kernel, what that costs
      // elsewhere is more than it saves.
      return kernel.time->bound != timing::Bound::lds;
    case WhatIfKind::additional_workgroup:
      return kernel.resources.limit == name_of(OccupancyLimit::wave_slots);
    default:
      return false;
  }
}

/// Lines by what they cause, of the sites that cause most.
std::vector<SavedLine> saved_lines(const KernelProfile& kernel, const timing::WhatIf& what_if) {
  std::map<std::uint64_t, double> shares;  // by address
  for (const timing::WhatIf::Site& site : what_if.sites) shares[site.vaddr] += site.share;
  std::vector<SavedLine> out;
  for (const LineTotals& line : places_of(kernel)) {
    double share = 0;
    for (const std::size_t site : line.sites)
      if (const auto one = shares.find(kernel.sites[site].vaddr); one != shares.end())
        share += one->second;
    if (share == 0) continue;
    out.push_back({line.file, line.line, line.function, {}, share});
    if (line.file.empty()) out.back().instruction = instruction_at(kernel, line.sites);
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &SavedLine::share);
  return out;
}

/// Whether lines that miss L2 are asked for by lanes that access bytes apart, as of a table by
/// indices: there is nothing that workgroups could share.
bool misses_are_scattered(const timing::KernelTime& time) {
  const auto find = [&](WhatIfKind kind) {
    return std::ranges::find(time.what_if, kind, &timing::WhatIf::kind);
  };
  const auto shared = find(WhatIfKind::shared_l2_lines);
  const auto coalesced = find(WhatIfKind::perfect_coalescing);
  if (shared == time.what_if.end() || coalesced == time.what_if.end()) return false;
  return !shared->sites.empty() && !coalesced->sites.empty() &&
         shared->sites[0].vaddr == coalesced->sites[0].vaddr &&
         coalesced->saves_percent >= shared->saves_percent;
}

}  // namespace

std::vector<TimeAdvice> time_advice(const KernelProfile& kernel) {
  std::vector<TimeAdvice> out;
  for (const timing::WhatIf& what_if : kernel.time->what_if) {
    TimeAdvice& one = out.emplace_back();
    one.kind = what_if.kind;
    one.saves_percent = what_if.saves_percent;
    one.lines = saved_lines(kernel, what_if);
    one.is_advice =
        !is_limit(what_if.kind, kernel) &&
        timing::is_beyond_error(what_if.saves_percent, kernel.time->error_percent) &&
        kernel.time->between.polling == 0 &&
        !(what_if.kind == WhatIfKind::shared_l2_lines && misses_are_scattered(*kernel.time));
    one.what_to_do = what_to_do(what_if, kernel);
    one.vgprs = what_if.vgprs;
  }
  return out;
}

}  // namespace margay::profile
