#include "report/profile/kernel_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/names.h"

namespace margay::profile {
namespace {

constexpr std::size_t kRowsShown = 30, kWidestName = 48, kWidestNote = 14;

std::string share_text(double seconds, double all) {
  const double percent = all > 0 ? 100 * seconds / all : 0;
  return percent > 0 && percent < 1 ? "<1 %" : fmt::format("{:.0f} %", percent);
}

/// The name with its template arguments, of which the end may be what differs.
std::string long_name(std::string_view name) {
  constexpr std::size_t kBegin = 30, kWidest = 100;
  name = name.substr(0, names::parameter_list(name));
  name = name.substr(names::past_return_type(name));
  if (name.size() <= kWidest) return std::string(name);
  return fmt::format("{}...{}", name.substr(0, kBegin),
                     name.substr(name.size() - (kWidest - kBegin - 3)));
}

}  // namespace

std::string launch_size(const KernelProfile& kernel) {
  return fmt::format("{} of {}", fmt::join(kernel.grid, "x"), fmt::join(kernel.workgroup, "x"));
}

std::string kernel_table(std::vector<KernelCost> costs, std::string_view what,
                         const report::TextOptions& options, bool full) {
  std::ranges::sort(costs, [](const KernelCost& a, const KernelCost& b) {
    return std::tuple(-a.seconds, std::string_view(a.kernel->name)) <
           std::tuple(-b.seconds, std::string_view(b.kernel->name));
  });
  // By their short names alone those of one template, and those that were launched in several
  // sizes, would look the same.
  std::map<std::string_view, std::size_t> sizes;
  std::map<std::string, std::set<std::string_view>> names;
  for (const KernelCost& cost : costs) {
    ++sizes[cost.kernel->name];
    names[report::short_function(cost.kernel->name)].insert(cost.kernel->name);
  }
  const auto name_of = [&](const KernelProfile& k) {
    std::string name = report::short_function(k.name);
    if (names.at(name).size() > 1) name = long_name(k.name);
    if (sizes.at(k.name) > 1) name += ", " + launch_size(k);
    return name;
  };
  double all = 0;
  std::size_t name_width = 0, note_width = 0;
  const std::size_t shown = full ? costs.size() : std::min(costs.size(), kRowsShown);
  for (const KernelCost& cost : costs) all += cost.seconds;
  for (const KernelCost& cost : std::span(costs).first(shown)) {
    const std::size_t width = name_of(*cost.kernel).size();
    name_width = std::max(name_width, std::min(width, kWidestName));
    note_width = std::max(note_width, std::min(cost.note.size(), kWidestNote));
  }
  std::string out =
      painted(fmt::format("  {:>10}  share  launches  kernel", what), report::kBold, options) +
      "\n";
  for (const KernelCost& cost : std::span(costs).first(shown)) {
    const KernelProfile& k = *cost.kernel;
    std::string line =
        fmt::format("  {:>10}  {:>5}  {:>8}  {:<{}}", report::seconds_text(cost.seconds),
                    share_text(cost.seconds, all), k.launches_seen, name_of(k), name_width);
    if (note_width != 0) line += fmt::format("  {:<{}}", cost.note, note_width);
    if (!k.computes.empty()) line += "  " + report::operations_text(k.computes, options);
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  if (shown == costs.size()) return out;
  double rest = 0;
  for (const KernelCost& cost : std::span(costs).subspan(shown)) rest += cost.seconds;
  out += fmt::format("  {:>10}  {:>5}  {} more (--full lists them)\n", report::seconds_text(rest),
                     share_text(rest, all), report::counted(costs.size() - shown, "kernel"));
  return out;
}

}  // namespace margay::profile
