#include "ranks/pages/changes.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace margay::ranks {
namespace {

struct Run {
  std::uint32_t begin = 0, bytes = 0;
};
/// Before the changes of a page.
struct PageHeader {
  std::uint64_t address = 0;
  std::uint32_t runs = 0;  ///< 0: a mask follows.
  std::uint32_t bytes = 0;
};
constexpr std::size_t kMaskBytes = kPageBytes / 8;
using Mask = std::array<std::byte, kMaskBytes>;

[[nodiscard]] bool has(const Mask& mask, std::size_t n) {
  return std::to_integer<unsigned>(mask[n / 8]) >> n % 8 & 1;
}

/// Calls `visit` for each longest run of places of a page where `differs`.
template <typename Differs, typename Visit>
void for_each_run(Differs&& differs, Visit&& visit) {
  for (std::uint32_t at = 0; at < kPageBytes; ++at) {
    if (!differs(at)) continue;
    const std::uint32_t begin = at;
    while (at < kPageBytes && differs(at)) ++at;
    visit(Run{begin, at - begin});
  }
}

}  // namespace

void put_changes(Writer& out, std::uint64_t address, std::span<const std::byte, kPageBytes> before,
                 std::span<const std::byte, kPageBytes> now) {
  std::vector<Run> runs;
  PageHeader header{.address = address};
  constexpr std::uint32_t kStep = 64;  // most bytes of a page are often unchanged
  for (std::uint32_t at = 0; at < kPageBytes;) {
    if (at % kStep == 0 && std::memcmp(&before[at], &now[at], kStep) == 0) {
      at += kStep;
      continue;
    }
    if (before[at] == now[at]) {
      ++at;
      continue;
    }
    const std::uint32_t begin = at;
    while (at < kPageBytes && before[at] != now[at]) ++at;
    runs.push_back({begin, at - begin});
    header.bytes += at - begin;
  }
  if (runs.empty()) return;
  const bool as_runs = runs.size() * sizeof(Run) <= kMaskBytes;
  header.runs = as_runs ? static_cast<std::uint32_t>(runs.size()) : 0;
  out.put(header);
  if (as_runs) {
    out.put_bytes(std::as_bytes(std::span(runs)));
  } else {
    Mask mask{};
    for (const Run& run : runs)
      for (std::uint32_t n = run.begin; n < run.begin + run.bytes; ++n)
        mask[n / 8] |= std::byte(1u << n % 8);
    out.put_bytes(mask);
  }
  for (const Run& run : runs) out.put_bytes(now.subspan(run.begin, run.bytes));
}

bool get_changes(std::span<const std::byte> changes, const Apply& apply) {
  Reader in(changes);
  while (!in.at_end()) {
    const auto header = in.get<PageHeader>();
    std::vector<Run> runs(std::min<std::size_t>(header.runs, kPageBytes));
    if (header.runs != 0) {
      for (Run& run : runs) run = in.get<Run>();
    } else {
      const auto mask = in.get<Mask>();
      for_each_run([&](std::uint32_t n) { return has(mask, n); },
                   [&](Run run) { runs.push_back(run); });
    }
    for (const Run& run : runs) {
      const auto bytes = in.get_bytes(run.bytes);
      if (!in.ok() || run.begin > kPageBytes || run.bytes > kPageBytes - run.begin) return false;
      if (!apply(header.address + run.begin, bytes)) return false;
    }
  }
  return in.ok();
}

}  // namespace margay::ranks
