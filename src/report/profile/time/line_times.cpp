#include "report/profile/time/line_times.h"

#include <algorithm>
#include <map>
#include <string>

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

namespace {

void sort_by_latency(std::vector<LineTime>& lines) {
  std::ranges::stable_sort(lines, std::ranges::greater{},
                           [](const LineTime& line) { return line.time.latency; });
}

std::vector<LineTime> times_of(const KernelProfile& kernel, const std::vector<LineTotals>& lines) {
  std::vector<LineTime> out;
  for (const LineTotals& line : lines) {
    LineTime& one = out.emplace_back();
    one.file = line.file;
    one.line = line.line;
    one.function = line.function;
    if (line.file.empty()) one.instruction = instruction_at(kernel, line.sites);
    for (const std::size_t site : line.sites) add(one.time, kernel.time->sites[site]);
  }
  sort_by_latency(out);
  return out;
}

}  // namespace

std::vector<LineTime> line_times(const KernelProfile& kernel) {
  return times_of(kernel, lines_of(kernel));
}

std::vector<LineTime> place_times(const KernelProfile& kernel) {
  return times_of(kernel, places_of(kernel));
}

std::vector<LineTime> name_times(const KernelProfile& kernel) {
  std::map<std::string, timing::SiteTime> names;
  for (std::size_t n = 0; n < kernel.sites.size(); ++n) {
    const std::string& text = kernel.sites[n].text;
    add(names[text.substr(0, text.find(' '))], kernel.time->sites[n]);
  }
  std::vector<LineTime> out;
  for (auto& [name, time] : names) {
    LineTime& one = out.emplace_back();
    one.instruction = name;
    one.time = time;
  }
  sort_by_latency(out);
  return out;
}

}  // namespace margay::profile
