#include "observe/profile/memory/coalescer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "report/profile/machine.h"

namespace margay::profile {
namespace {

constexpr unsigned kQuad = 4;  // lanes
constexpr std::uint64_t kQuarterBytes = kLineBytes / 4;

/// The quarters of its line that [first, last] covers; the bytes are in one line.
std::uint8_t quarters_of(std::uint64_t first, std::uint64_t last) {
  const auto from = static_cast<unsigned>(first % kLineBytes / kQuarterBytes);
  const auto to = static_cast<unsigned>(last % kLineBytes / kQuarterBytes);
  return static_cast<std::uint8_t>((0xfu >> (3 - (to - from))) << from);
}

/// The number of 64-byte sectors of a line that the quarters are in.
std::uint32_t sectors_in(std::uint8_t quarters) {
  return ((quarters & 3) != 0 ? 1u : 0u) + ((quarters & 12) != 0 ? 1u : 0u);
}

/// Lines in the order of access, as runs.
class Runs {
 public:
  explicit Runs(std::vector<LineRun>& runs) : runs_(runs) { runs_.clear(); }

  void touch(std::uint64_t line, std::uint8_t quarters) {
    if (has_last_ && line == last_) {
      quarters_ |= quarters;
      return;
    }
    flush();
    last_ = line;
    quarters_ = quarters;
    has_last_ = true;
  }

  void flush() {
    if (!has_last_) return;
    has_last_ = false;
    if (!runs_.empty() && runs_.back().quarters == quarters_) {
      LineRun& run = runs_.back();
      const auto stride = static_cast<std::int64_t>(last_ - run.line) -
                          run.stride * static_cast<std::int64_t>(run.count - 1);
      if (run.count == 1 || stride == run.stride) {
        run.stride = stride;
        ++run.count;
        return;
      }
    }
    runs_.push_back({last_, 0, 1, quarters_});
  }

 private:
  std::vector<LineRun>& runs_;
  std::uint64_t last_ = 0;
  std::uint8_t quarters_ = 0;
  bool has_last_ = false;
};

/// The number of different values among the first `count` of `values`, which are few.
unsigned distinct(std::uint64_t* values, unsigned count) {
  unsigned kept = 0;
  for (unsigned n = 0; n < count; ++n)
    if (std::find(values, values + kept, values[n]) == values + kept) values[kept++] = values[n];
  return kept;
}

/// Of four lanes of at most a dword that are neither contiguous nor in one sector, which take a
/// cycle each: how many there are more than changes from sector to sector.
unsigned more_cycles(const LaneAccess& access, unsigned quad) {
  if (access.bytes > 4) return 0;
  unsigned lanes = 0, first = 0, sectors = 0, halves = 0;
  std::uint64_t line = ~0ull;
  bool contiguous = true;
  for (unsigned lane = quad; lane < quad + kQuad; ++lane) {
    if ((access.active >> lane & 1) == 0) continue;
    const std::uint64_t at = access.at[lane];
    if (lanes++ == 0) first = lane;
    contiguous &= at - access.at[first] == std::uint64_t{lane - first} * access.bytes;
    if (at / kLineBytes != line) halves = 0;
    line = at / kLineBytes;
    const unsigned half = 1u << (at / kSectorBytes & 1);
    if ((halves & half) == 0) ++sectors;
    halves |= half;
  }
  return contiguous || sectors <= 1 ? 0 : lanes - sectors;
}

std::uint32_t sectors_for(std::uint64_t bytes) {
  return static_cast<std::uint32_t>((bytes + kSectorBytes - 1) / kSectorBytes);
}

/// The bytes of the active lanes as runs without a gap.
class ByteRuns {
 public:
  explicit ByteRuns(const LaneAccess& access) {
    unsigned count = 0;
    bool is_one_run = true;  // as most accesses are
    for (std::uint64_t rest = access.active; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      lanes_[count] = {access.at[lane], lane};
      is_one_run &= access.at[lane] == lanes_[0].first + std::uint64_t{count} * access.bytes;
      ++count;
    }
    if (is_one_run) {
      bytes = std::uint64_t{count} * access.bytes;
      aligned_sectors = packed_sectors = sectors_for(bytes);
      return;
    }
    const auto end = lanes_.begin() + count;
    if (!std::is_sorted(lanes_.begin(), end)) std::sort(lanes_.begin(), end);
    for (auto at = lanes_.begin(); at != end; ++at) add(*at, access.bytes);
    close();
  }

  std::uint64_t bytes = 0;            ///< Each counted once.
  std::uint32_t aligned_sectors = 0;  ///< If each run began with a sector.
  std::uint32_t packed_sectors = 0;   ///< And had no holes from inactive lanes.

 private:
  using LaneAt = std::pair<std::uint64_t, unsigned>;

  void add(const LaneAt& lane, unsigned width) {
    const std::uint64_t first = lane.first, last = first + width;
    // Lanes between, if active, would fill the gap.
    const bool is_filled =
        open_ && lane.second > before_.second &&
        first - before_.first == std::uint64_t{width} * (lane.second - before_.second);
    if (!open_ || (first > end_ && !is_filled)) {
      close();
      open_ = true;
      begin_ = end_ = first;
    }
    if (last > end_) run_bytes_ += last - std::max(first, end_);
    end_ = std::max(end_, last);
    before_ = lane;
  }
  void close() {
    if (!open_) return;
    aligned_sectors += sectors_for(end_ - begin_);
    packed_sectors += sectors_for(run_bytes_);
    bytes += std::exchange(run_bytes_, 0);
    open_ = false;
  }

  std::array<LaneAt, kWaveLanes> lanes_;
  LaneAt before_{};
  std::uint64_t begin_ = 0, end_ = 0, run_bytes_ = 0;
  bool open_ = false;
};

}  // namespace

void coalesce(const LaneAccess& access, Coalesced& out) {
  out.thread_requests = out.tag_accesses = out.least_tag_accesses = out.lookup_cycles = 0;
  Runs runs(out.runs);
  std::array<std::uint64_t, 2 * kWaveLanes> sectors;
  unsigned sector_count = 0;
  std::uint64_t last_sector = ~0ull;
  for (unsigned quad = 0; quad < kWaveLanes; quad += kQuad) {
    std::array<std::uint64_t, kQuad> segments;
    std::array<std::uint64_t, 2 * kQuad> lines;
    unsigned lane_count = 0, line_count = 0;
    for (unsigned lane = quad; lane < quad + kQuad; ++lane) {
      if ((access.active >> lane & 1) == 0) continue;
      const std::uint64_t first = access.at[lane], last = first + access.bytes - 1;
      segments[lane_count++] = first / 16;
      for (std::uint64_t line = first / kLineBytes; line <= last / kLineBytes; ++line) {
        lines[line_count++] = line;
        runs.touch(line, quarters_of(std::max(first, line * kLineBytes),
                                     std::min(last, line * kLineBytes + kLineBytes - 1)));
      }
      for (std::uint64_t sector = first / kSectorBytes; sector <= last / kSectorBytes; ++sector) {
        if (sector != last_sector) sectors[sector_count++] = sector;
        last_sector = sector;
      }
    }
    if (lane_count == 0) continue;
    out.lookup_cycles += more_cycles(access, quad);
    ++out.least_tag_accesses;
    out.tag_accesses += distinct(lines.data(), line_count);
    out.thread_requests += access.bytes <= 4 ? distinct(segments.data(), lane_count) : lane_count;
  }
  runs.flush();
  for (const LineRun& run : out.runs) out.lookup_cycles += run.count * sectors_in(run.quarters);
  std::sort(sectors.begin(), sectors.begin() + sector_count);
  out.sectors = static_cast<std::uint32_t>(
      std::unique(sectors.begin(), sectors.begin() + sector_count) - sectors.begin());
  const ByteRuns lie(access);
  out.least_sectors = sectors_for(lie.bytes);
  const std::uint32_t more = out.sectors - std::min(out.sectors, out.least_sectors);
  const auto beyond = [](std::uint32_t a, std::uint32_t b) { return a > b ? a - b : 0; };
  out.misaligned_sectors = std::min(more, beyond(out.sectors, lie.aligned_sectors));
  out.inactive_sectors =
      std::min(more - out.misaligned_sectors, beyond(lie.aligned_sectors, lie.packed_sectors));
}

const Coalesced& Coalescer::operator()(const LaneAccess& access) {
  const std::uint64_t first = access.active == 0 ? 0 : access.at[std::countr_zero(access.active)];
  const std::uint64_t line = first / kLineBytes;
  const auto phase = static_cast<std::uint32_t>(first % kLineBytes);
  alignas(64) std::uint64_t distance[kWaveLanes];
  if (access.active == ~0ull) {
    for (unsigned lane = 0; lane < kWaveLanes; ++lane) distance[lane] = access.at[lane] - first;
  } else {
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      distance[lane] = (access.active >> lane & 1) != 0 ? access.at[lane] - first : 0;
  }
  for (const auto& pattern : patterns_) {
    if (pattern->active != access.active || pattern->bytes != access.bytes ||
        pattern->phase != phase)
      continue;
    std::uint64_t differences = 0;
    for (unsigned lane = 0; lane < kWaveLanes; ++lane)
      differences |= pattern->distance[lane] ^ distance[lane];
    if (differences != 0) continue;
    for (LineRun& run : pattern->result.runs) run.line += line - pattern->line;
    pattern->line = line;
    return pattern->result;
  }
  if (patterns_.size() < kKept) patterns_.push_back(std::make_unique<Pattern>());
  Pattern& fresh = *patterns_[next_++ % kKept];
  fresh.active = access.active;
  fresh.bytes = access.bytes;
  fresh.phase = phase;
  fresh.line = line;
  std::ranges::copy(distance, fresh.distance);
  coalesce(access, fresh.result);
  return fresh.result;
}

}  // namespace margay::profile
