// Instructions and source lines for the page; see html_data.h.
#include <algorithm>

#include "report/profile/analysis/lines.h"
#include "report/profile/page/html_data.h"

namespace margay::profile {
namespace {

/// Call chains repeat from instruction to instruction, and frames from chain to chain.
class ChainTable {
 public:
  ChainTable(StringTable& strings, UsedLines& used) : strings_(strings), used_(used) {}

  std::size_t index(const std::vector<SourceFrame>& frames) {
    std::vector<std::size_t> chain;
    for (const SourceFrame& frame : frames)
      if (frame.line != 0) chain.push_back(index(frame));
    const auto [at, fresh] = chains_.try_emplace(chain, chain_list_.size());
    if (fresh) chain_list_.push_back(chain);
    return at->second;
  }
  [[nodiscard]] const Json& frames() const { return frame_list_; }
  [[nodiscard]] const Json& chains() const { return chain_list_; }

 private:
  std::size_t index(const SourceFrame& frame) {
    used_[frame.file].insert(frame.line);
    const std::array<std::size_t, 4> key = {strings_.index(frame.file), frame.line, frame.column,
                                            strings_.index(frame.function)};
    const auto [at, fresh] = frames_.try_emplace(key, frame_list_.size());
    if (fresh) frame_list_.push_back(key);
    return at->second;
  }

  StringTable& strings_;
  UsedLines& used_;
  std::map<std::array<std::size_t, 4>, std::size_t> frames_;
  std::map<std::vector<std::size_t>, std::size_t> chains_;
  Json frame_list_ = Json::array(), chain_list_ = Json::array();
};

std::string kind_of(const Site& site) {
  std::string kind;
  if (site.is_read) kind += 'r';
  if (site.is_write) kind += 'w';
  if (site.is_atomic) kind += 'a';
  if (site.is_scratch()) kind += 's';
  return kind;
}

Json site_json(const Site& site, ChainTable& chains, StringTable& strings) {
  Json out = {{"address", site.vaddr},
              {"text", site.text},
              {"class", static_cast<unsigned>(site.instruction_class)},
              {"function", strings.index(site.function)},
              {"chain", chains.index(site.frames)}};
  out.update(page_record(static_cast<const SiteFigures&>(site)));
  if (std::string kind = kind_of(site); !kind.empty()) out["kind"] = std::move(kind);
  if (site.lds) out["lds"] = page_record(*site.lds);
  if (site.memory) out["memory"] = page_record(*site.memory);
  return out;
}

}  // namespace

void add_sites(const KernelProfile& kernel, StringTable& strings, UsedLines& used, Json& out) {
  ChainTable chains(strings, used);
  Json sites = Json::array();
  for (const Site& site : kernel.sites) sites.push_back(site_json(site, chains, strings));
  Json lines = Json::array();
  for (const LineTotals& line : lines_of(kernel))
    lines.push_back({{"file", strings.index(line.file)},
                     {"line", line.line},
                     {"function", strings.index(line.function)},
                     {"n", line.instructions},
                     {"cycles", line.issue_cycles},
                     {"flops", line.flops},
                     {"lds", line.lds_cycles},
                     {"conflict", line.lds_conflict_cycles},
                     {"memory", page_record(line.memory)},
                     {"sites", line.sites}});
  out["sites"] = std::move(sites);
  out["frames"] = chains.frames();
  out["chains"] = chains.chains();
  out["lines"] = std::move(lines);
}

Json source_pieces(const std::vector<std::string>& lines, const std::set<std::uint32_t>& used) {
  constexpr std::size_t kWhole = 1500;   // lines
  constexpr std::uint32_t kAround = 25;  // lines before and after a used one
  Json pieces = Json::array();
  const auto add = [&](std::size_t first, std::size_t last) {
    Json text = Json::array();
    for (std::size_t n = first; n <= last; ++n) text.push_back(lines[n - 1]);
    pieces.push_back({{"first", first}, {"lines", std::move(text)}});
  };
  if (lines.size() <= kWhole) {
    if (!lines.empty()) add(1, lines.size());
    return pieces;
  }
  std::size_t first = 0, last = 0;  // the current piece
  for (const std::uint32_t line : used) {
    if (line > lines.size()) continue;  // the file has changed since it was compiled
    const std::size_t from = line > kAround ? line - kAround : 1;
    const std::size_t to = std::min<std::size_t>(line + kAround, lines.size());
    if (first != 0 && from <= last + 1) {
      last = to;
      continue;
    }
    if (first != 0) add(first, last);
    first = from;
    last = to;
  }
  if (first != 0) add(first, last);
  return pieces;
}

}  // namespace margay::profile
