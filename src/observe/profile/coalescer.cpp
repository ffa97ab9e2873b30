#include "observe/profile/coalescer.h"

#include <algorithm>
#include <array>
#include <bit>

#include "observe/profile/machine.h"

namespace margay::profile {
namespace {

constexpr unsigned kQuad = 4;  // lanes
constexpr std::uint64_t kQuarterBytes = kLineBytes / 4;

/// The quarters of its line that [first, last] covers; the bytes lie in one line.
std::uint8_t quarters_of(std::uint64_t first, std::uint64_t last) {
  const auto from = static_cast<unsigned>(first % kLineBytes / kQuarterBytes);
  const auto to = static_cast<unsigned>(last % kLineBytes / kQuarterBytes);
  return static_cast<std::uint8_t>((0xfu >> (3 - (to - from))) << from);
}

/// Lines in the order they are touched, as runs.
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

/// How many different values the first `count` of `values` have, which are few.
unsigned distinct(std::uint64_t* values, unsigned count) {
  unsigned kept = 0;
  for (unsigned n = 0; n < count; ++n)
    if (std::find(values, values + kept, values[n]) == values + kept) values[kept++] = values[n];
  return kept;
}

}  // namespace

void coalesce(const LaneAccess& access, Coalesced& out) {
  out.thread_requests = out.tag_accesses = 0;
  Runs runs(out.runs);
  std::array<std::uint64_t, 2 * kWaveLanes> sectors;
  unsigned sector_count = 0, active = 0;
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
    active += lane_count;
    out.tag_accesses += distinct(lines.data(), line_count);
    out.thread_requests += access.bytes <= 4 ? distinct(segments.data(), lane_count) : lane_count;
  }
  runs.flush();
  std::sort(sectors.begin(), sectors.begin() + sector_count);
  out.sectors = static_cast<std::uint32_t>(
      std::unique(sectors.begin(), sectors.begin() + sector_count) - sectors.begin());
  out.least_sectors = (active * access.bytes + kSectorBytes - 1) / kSectorBytes;
}

}  // namespace margay::profile
