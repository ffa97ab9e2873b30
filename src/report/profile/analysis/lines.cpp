#include "report/profile/analysis/lines.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace margay::profile {

namespace {

bool has_line(const Site& site) { return !site.frames.empty() && site.frames.front().line != 0; }

enum class Unlined { together, apart };

std::vector<LineTotals> totals_of(const KernelProfile& kernel, Unlined unlined) {
  std::map<std::tuple<std::string, std::uint32_t, std::uint64_t>, LineTotals> lines;
  for (std::size_t n = 0; n < kernel.sites.size(); ++n) {
    const Site& site = kernel.sites[n];
    const SourceFrame frame = site.frames.empty() ? SourceFrame{} : site.frames.front();
    const std::uint64_t address =
        frame.line == 0 && unlined == Unlined::apart ? std::uint64_t{site.vaddr} : 0;
    LineTotals& line = lines[{frame.line == 0 ? "" : frame.file, frame.line, address}];
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
    return std::tie(b.issue_cycles, a.file, a.line, a.sites) <
           std::tie(a.issue_cycles, b.file, b.line, b.sites);
  });
  return out;
}

}  // namespace

std::vector<LineTotals> lines_of(const KernelProfile& kernel) {
  return totals_of(kernel, Unlined::together);
}

std::vector<LineTotals> places_of(const KernelProfile& kernel) {
  return totals_of(
      kernel, std::ranges::any_of(kernel.sites, has_line) ? Unlined::together : Unlined::apart);
}

std::string instruction_at(const KernelProfile& kernel, const std::vector<std::size_t>& sites) {
  if (sites.size() != 1) return {};
  const Site& site = kernel.sites[sites.front()];
  return fmt::format("{:#x} {}", site.vaddr, site.text);
}

}  // namespace margay::profile
