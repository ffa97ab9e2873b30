#include "report/profile/time/line_times.h"

#include <algorithm>

#include "report/profile/analysis/lines.h"

namespace margay::profile {

void add(timing::SiteTime& sum, const timing::SiteTime& more) {
  sum.hits += more.hits;
  sum.latency += more.latency;
  for (unsigned n = 0; n < timing::kStalls; ++n) sum.stalls[n] += more.stalls[n];
  sum.exposed += more.exposed;
  sum.lost += more.lost;
  sum.flight += more.flight;
  sum.unhidden += more.unhidden;
}

std::vector<LineTime> line_times(const KernelProfile& kernel) {
  std::vector<LineTime> out;
  for (const LineTotals& line : lines_of(kernel)) {
    LineTime& one = out.emplace_back();
    one.file = line.file;
    one.line = line.line;
    one.function = line.function;
    for (const std::size_t site : line.sites) add(one.time, kernel.time->sites[site]);
  }
  std::ranges::stable_sort(out, std::ranges::greater{},
                           [](const LineTime& line) { return line.time.latency; });
  return out;
}

}  // namespace margay::profile
