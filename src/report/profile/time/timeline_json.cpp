#include "report/profile/time/timeline_json.h"

#include <array>

#include <fmt/format.h>

namespace margay::profile {
namespace {

using report::Json;
using report::Node;

/// Numbers of which the first may be larger than 32 bits.
template <std::size_t kSize>
Result<std::array<std::uint64_t, kSize>> numbers(const Node& node) {
  const auto values =
      MARGAY_TRY(report::elements<std::uint64_t>(node, report::as_number<std::uint64_t>));
  if (values.size() != kSize) return node.wrong(fmt::format("an array of {} numbers", kSize));
  std::array<std::uint64_t, kSize> out{};
  for (std::size_t n = 0; n < kSize; ++n) {
    if (n != 0 && values[n] > UINT32_MAX) return node.wrong("numbers below 2^32 behind the first");
    out[n] = values[n];
  }
  return out;
}

Result<timing::WorkgroupSpan> as_workgroup(const Node& node) {
  const auto n = MARGAY_TRY(numbers<6>(node));
  if (n[5] > 1) return node.wrong("a workgroup of a timeline");
  return timing::WorkgroupSpan{n[0],
                               static_cast<std::uint32_t>(n[1]),
                               static_cast<std::uint32_t>(n[2]),
                               static_cast<std::uint32_t>(n[3]),
                               static_cast<std::uint32_t>(n[4]),
                               n[5] != 0};
}

Result<timing::TimelineSlice> as_slice(const Node& node) {
  const auto n = MARGAY_TRY(numbers<5>(node));
  if (n[0] > UINT32_MAX || n[2] > timing::kStalls) return node.wrong("a slice of a timeline");
  timing::TimelineSlice slice;
  slice.begin = static_cast<std::uint32_t>(n[0]);
  slice.cycles = static_cast<std::uint32_t>(n[1]);
  if (n[2] != 0) slice.stall = static_cast<timing::Stall>(n[2] - 1);
  slice.vaddr = static_cast<std::uint32_t>(n[3]);
  slice.instructions = static_cast<std::uint32_t>(n[4]);
  return slice;
}

Result<timing::TimelineCount> as_count(const Node& node) {
  const auto n = MARGAY_TRY(numbers<2>(node));
  if (n[0] > UINT32_MAX) return node.wrong("a count of a timeline");
  return timing::TimelineCount{static_cast<std::uint32_t>(n[0]), static_cast<std::uint32_t>(n[1])};
}

Result<timing::OccupancyTimeline> as_occupancy(const Node& node) {
  timing::OccupancyTimeline unit;
  unit.xcd = MARGAY_TRY(report::number<std::uint32_t>(node, "xcd"));
  unit.cu = MARGAY_TRY(report::number<std::uint32_t>(node, "cu"));
  unit.simds = MARGAY_TRY(report::number<std::uint32_t>(node, "simds"));
  if (unit.simds == 0) return MARGAY_TRY(node.field("simds")).wrong("a number from 1 up");
  unit.waves = MARGAY_TRY(report::list<timing::TimelineCount>(node, "waves", as_count));
  return unit;
}

Result<timing::WaveTimeline> as_wave(const Node& node) {
  timing::WaveTimeline wave;
  wave.workgroup = MARGAY_TRY(report::number<std::uint32_t>(node, "workgroup"));
  wave.wave = MARGAY_TRY(report::number<std::uint32_t>(node, "wave"));
  wave.simd = MARGAY_TRY(report::number<std::uint32_t>(node, "simd"));
  wave.slices = MARGAY_TRY(report::list<timing::TimelineSlice>(node, "slices", as_slice));
  wave.in_flight = MARGAY_TRY(report::list<timing::TimelineCount>(node, "in_flight", as_count));
  return wave;
}

Json counts_json(const std::vector<timing::TimelineCount>& counts) {
  Json json = Json::array();
  for (const timing::TimelineCount& count : counts) json.push_back({count.at, count.count});
  return json;
}

}  // namespace

Json timeline_json(const timing::Timeline& timeline) {
  Json workgroups = Json::array(), waves = Json::array(), occupancy = Json::array();
  for (const timing::WorkgroupSpan& span : timeline.workgroups)
    workgroups.push_back(
        {span.id, span.xcd, span.cu, span.begin, span.cycles, span.stand_in ? 1 : 0});
  for (const timing::WaveTimeline& wave : timeline.waves) {
    Json slices = Json::array();
    for (const timing::TimelineSlice& slice : wave.slices)
      slices.push_back({slice.begin, slice.cycles,
                        slice.stall ? static_cast<unsigned>(*slice.stall) + 1 : 0, slice.vaddr,
                        slice.instructions});
    waves.push_back({{"workgroup", wave.workgroup},
                     {"wave", wave.wave},
                     {"simd", wave.simd},
                     {"slices", std::move(slices)},
                     {"in_flight", counts_json(wave.in_flight)}});
  }
  for (const timing::OccupancyTimeline& unit : timeline.occupancy)
    occupancy.push_back({{"xcd", unit.xcd},
                         {"cu", unit.cu},
                         {"simds", unit.simds},
                         {"waves", counts_json(unit.waves)}});
  return {{"workgroups", std::move(workgroups)},
          {"waves", std::move(waves)},
          {"occupancy", std::move(occupancy)}};
}

Result<timing::Timeline> as_timeline(const Node& node) {
  timing::Timeline out;
  out.workgroups =
      MARGAY_TRY(report::list<timing::WorkgroupSpan>(node, "workgroups", as_workgroup));
  out.waves = MARGAY_TRY(report::list<timing::WaveTimeline>(node, "waves", as_wave));
  out.occupancy =
      MARGAY_TRY(report::list<timing::OccupancyTimeline>(node, "occupancy", as_occupancy));
  for (const timing::WaveTimeline& wave : out.waves)
    if (wave.workgroup >= out.workgroups.size())
      return MARGAY_TRY(node.field("waves")).wrong("waves of the timeline's workgroups");
  return out;
}

}  // namespace margay::profile
