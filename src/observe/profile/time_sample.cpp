#include "observe/profile/time_sample.h"

#include <algorithm>
#include <random>
#include <set>

#include "observe/profile/launch_profiler.h"
#include "observe/profile/memory/footprint.h"

namespace margay::profile {
namespace {

/// `count` workgroups outside of `sample`.
std::set<std::uint64_t> spread(const Selection& sample, std::uint64_t all, std::uint64_t count) {
  std::set<std::uint64_t> out;
  for (std::uint64_t n = 1; out.size() < count; ++n) {
    const auto id =
        static_cast<std::uint64_t>(static_cast<unsigned __int128>(n * kGoldenRatio) * all >> 64);
    if (!sample.contains(id)) out.insert(id);
  }
  return out;
}

/// As many of each of the other XCDs: some share more with the first one than others do. By chance:
/// how often they meet says how much there is.
std::set<std::uint64_t> probes_of_all_xcds(const Gpu& gpu, std::uint64_t all) {
  const std::uint64_t others = std::max(2u, gpu.xcds) - 1;
  constexpr std::uint64_t kOfEach = 3;
  std::set<std::uint64_t> out;
  std::minstd_rand random(1);
  for (std::uint64_t n = 0; n < kOfEach * others; ++n) {
    const std::uint64_t round = random() % ((all + gpu.xcds - 1) / gpu.xcds);
    out.insert(std::min(round * gpu.xcds + 1 + n % others, all - 1));
  }
  return out;
}

}  // namespace

Selection time_sample(const Gpu& gpu, const LaunchRequest& request) {
  constexpr std::uint64_t kSmallPart = 16;
  const ReplayPlan plan = replay_plan(gpu, request, 0, {});
  const std::uint64_t room = std::uint64_t{plan.workgroups_per_cu} * gpu.cus_per_xcd;
  if (plan.workgroups <= room) return {};
  return Selection::every(gpu.xcds,
                          std::clamp<std::uint64_t>(plan.workgroups / kSmallPart, room, 2 * room));
}

std::vector<std::uint64_t> probes_of(const Gpu& gpu, const LaunchRequest& request) {
  const Selection sample = time_sample(gpu, request);
  const std::uint64_t all = request.grid.count();
  constexpr std::uint64_t kSmallPart = 2;  // otherwise they would not be much fewer than all
  if (sample.count_below(all) >= all / kSmallPart) return {};
  std::set<std::uint64_t> out = probes_of_all_xcds(gpu, all);
  const std::uint64_t first = end_of(sample);
  for (std::uint64_t id = first; id < std::min(first + kProbesInARow, all); ++id)
    if (!sample.contains(id)) out.insert(id);
  return {out.begin(), out.end()};
}

std::shared_ptr<const std::vector<std::uint64_t>> workgroups_to_time(const Gpu& gpu,
                                                                     const LaunchRequest& request) {
  constexpr std::uint64_t kFewest = 16, kPart = 4;
  const Selection sample = time_sample(gpu, request);
  const std::uint64_t all = request.grid.count();
  const std::uint64_t watched = sample.count_below(all);
  const std::uint64_t others = std::max(kFewest, watched / kPart);
  if (watched + 2 * others >= all) return nullptr;
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t n = 0; n < all && chosen.size() < watched; n += gpu.xcds)
    if (sample.contains(n)) chosen.push_back(n);
  std::set<std::uint64_t> rest = spread(sample, all, others);
  for (const std::uint64_t id : probes_of_all_xcds(gpu, all))
    if (!sample.contains(id)) rest.insert(id);
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  std::ranges::sort(chosen);
  return std::make_shared<const std::vector<std::uint64_t>>(std::move(chosen));
}

}  // namespace margay::profile
