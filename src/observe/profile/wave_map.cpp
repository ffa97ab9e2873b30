#include "observe/profile/wave_map.h"

#include <algorithm>
#include <bit>

namespace margay::profile {

void WaveMapRecorder::record(std::uint32_t wave, const LaneAccess& access) {
  if (access.space == MemorySpace::scratch || access.bytes == 0) return;
  Granules& granules = access.space == MemorySpace::lds ? lds_ : global_;
  const std::uint32_t bit = 1u << (wave % 32);
  for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
    const std::uint64_t first = access.at[std::countr_zero(rest)];
    for (std::uint64_t g = first / kGranule; g <= (first + access.bytes - 1) / kGranule; ++g) {
      Waves& waves = granules[g];
      if (access.is_read) waves.readers |= bit;
      if (access.is_write) waves.writers |= bit;
    }
  }
}

std::vector<TouchedRange> WaveMapRecorder::ranges(const Granules& granules,
                                                  const AddressRange& within) {
  std::vector<std::pair<std::uint64_t, Waves>> sorted;
  for (const auto& [granule, waves] : granules)
    if (granule * kGranule + kGranule > within.begin && granule * kGranule < within.end)
      sorted.emplace_back(granule, waves);
  std::ranges::sort(sorted, {}, [](const auto& entry) { return entry.first; });
  std::vector<TouchedRange> out;
  for (const auto& [granule, waves] : sorted) {
    const std::uint64_t begin = std::max(granule * kGranule, within.begin);
    const std::uint64_t end = std::min(granule * kGranule + kGranule, within.end);
    if (!out.empty()) {
      TouchedRange& last = out.back();
      if (last.begin + last.bytes == begin - within.begin && last.readers == waves.readers &&
          last.writers == waves.writers) {
        last.bytes += end - begin;
        continue;
      }
    }
    out.push_back({begin - within.begin, end - begin, waves.readers, waves.writers});
  }
  return out;
}

std::vector<WaveMap> WaveMapRecorder::maps(const std::vector<AddressRange>& tensors) const {
  std::vector<WaveMap> out;
  if (!lds_.empty()) out.push_back({-1, ranges(lds_, {0, ~0ull})});
  for (std::size_t n = 0; n < tensors.size(); ++n) {
    auto touched = ranges(global_, tensors[n]);
    if (!touched.empty()) out.push_back({static_cast<std::int32_t>(n), std::move(touched)});
  }
  return out;
}

}  // namespace margay::profile
