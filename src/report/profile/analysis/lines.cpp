#include "report/profile/analysis/lines.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace margay::profile {

std::vector<LineTotals> lines_of(const KernelProfile& kernel) {
  std::map<std::pair<std::string, std::uint32_t>, LineTotals> lines;
  for (std::size_t n = 0; n < kernel.sites.size(); ++n) {
    const Site& site = kernel.sites[n];
    const SourceFrame frame = site.frames.empty() ? SourceFrame{} : site.frames.front();
    LineTotals& line = lines[{frame.line == 0 ? "" : frame.file, frame.line}];
    line.file = frame.line == 0 ? "" : frame.file;
    line.line = frame.line;
    line.function = frame.function;
    line.instructions += site.executions;
    line.issue_cycles += site.issue_cycles;
    line.flops += site.flops;
    if (site.lds) {
      line.lds_cycles += site.lds->cycles;
      line.lds_conflict_cycles += site.lds->conflict_cycles;
    }
    if (site.memory) line.memory += *site.memory;
    line.sites.push_back(n);
  }
  std::vector<LineTotals> out;
  for (auto& [key, line] : lines) out.push_back(std::move(line));
  std::ranges::sort(out, [](const LineTotals& a, const LineTotals& b) {
    return std::tie(b.issue_cycles, a.file, a.line) < std::tie(a.issue_cycles, b.file, b.line);
  });
  return out;
}

}  // namespace margay::profile
