#include "observe/profile/time/phases.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ranges>
#include <tuple>
#include <utility>

#include "timing/launch/device.h"

namespace margay::profile {
namespace {

constexpr std::uint64_t kPhases = 8;

/// Lets the probes miss as often as the recorded workgroups.
void take_over_misses(timing::LaunchRecording& launch) {
  struct Lines {
    double l2 = 0, far = 0;
  };
  std::vector<Lines> sites(launch.instructions.size());
  for_each_access(launch.instructions, launch.workgroups,
                  [&](std::uint32_t n, const timing::MemoryWork& work) {
                    sites[n].l2 += work.l2_lines;
                    sites[n].far += work.far_lines;
                  });
  std::vector<double> left(sites.size());  // of lines that are not whole
  for_each_access(launch.instructions, launch.probes,
                  [&](std::uint32_t n, timing::MemoryWork& work) {
                    if (sites[n].l2 == 0) return;
                    const double part = sites[n].far / sites[n].l2;
                    left[n] += part * work.l2_lines;
                    work.far_lines = static_cast<std::uint16_t>(
                        std::min(std::floor(left[n]), static_cast<double>(work.l2_lines)));
                    left[n] -= work.far_lines;
                    if (part < 0.5) work.awaited = std::min(work.awaited, timing::Level::l2);
                  });
}

/// Of `groups`, by length, the one that is nearest in length, and of those the nearest in the
/// launch.
const timing::WorkgroupRecording* nearest(
    const std::vector<const timing::WorkgroupRecording*>& groups, std::uint64_t id,
    double instructions) {
  return *std::ranges::min_element(groups, {}, [&](const timing::WorkgroupRecording* group) {
    return std::tuple(std::abs(timing::instructions_of(*group) - instructions),
                      group->id > id ? group->id - id : id - group->id);
  });
}

}  // namespace

bool needs_phases(const timing::LaunchRecording& launch, bool is_sampled) {
  if (launch.is_whole() || launch.lengths.empty()) return false;
  return !is_sampled || !timing::is_like_others(timing::sample_length(launch));
}

void divide_into_phases(timing::LaunchRecording& launch,
                        std::vector<timing::WorkgroupRecording> probes) {
  launch.probes = std::move(probes);
  take_over_misses(launch);
  std::vector<const timing::WorkgroupRecording*> groups;
  for (const auto* const some : {&launch.workgroups, &launch.probes})
    for (const timing::WorkgroupRecording& group : *some) groups.push_back(&group);
  std::vector<std::uint64_t> working;
  for (std::uint64_t id = 0; id < launch.lengths.size(); ++id)
    if (launch.lengths[id] != 0) working.push_back(id);
  const std::uint64_t phases = std::min<std::uint64_t>(kPhases, working.size());
  launch.cus.clear();
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    const auto part = std::ranges::subrange(
        working.begin() + static_cast<std::ptrdiff_t>(phase * working.size() / phases),
        working.begin() + static_cast<std::ptrdiff_t>((phase + 1) * working.size() / phases));
    timing::ComputeUnitRecording& cu = launch.cus.emplace_back();
    cu.cu = static_cast<std::uint32_t>(phase);
    for (const std::uint64_t id : part) cu.phase_instructions += launch.lengths[id];
    cu.phase_instructions /= static_cast<double>(part.size());
    // Each generation has workgroups from the whole part, since the model goes on at the pace of
    // the last one, which has those in the middle.
    constexpr std::uint64_t kOrder[timing::kGenerations] = {0, 2, 1};
    for (const std::uint64_t generation : kOrder)
      for (std::uint64_t n = 0; n < launch.resident; ++n) {
        const std::uint64_t place = (timing::kGenerations * n + generation) * part.size() /
                                    (timing::kGenerations * launch.resident);
        const std::uint64_t id = part[static_cast<std::ptrdiff_t>(place)];
        cu.workgroups.push_back(nearest(groups, id, launch.lengths[id]));
      }
  }
}

}  // namespace margay::profile
