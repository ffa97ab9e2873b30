#include "report/profile/compare/compare_lines.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "report/profile/analysis/lines.h"
#include "report/profile/time/time_values.h"
#include "report/words.h"

namespace margay::profile {
namespace {

constexpr std::size_t kShownLines = 6;

struct Line {
  std::string file;  ///< Without directories.
  std::uint32_t line = 0;
  std::string function;
  std::optional<std::string> text;  ///< Without the spaces around.
  double cycles = 0;                ///< Per launch.
  bool matched = false;
};

std::string trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// Of the kernel's modelled cycles, those of a line.
double modelled_cycles(const KernelProfile& k, const LineTotals& line) {
  double cycles = 0;
  for (const std::size_t site : line.sites) cycles += k.time->sites[site].latency;
  return attributed(*k.time, cycles);
}

/// By file and line. `modelled`: with the cycles of the model of time.
std::vector<Line> lines_with_text(const KernelProfile& k, const SourceText& texts, bool modelled) {
  std::vector<Line> out;
  for (const LineTotals& l : lines_of(k)) {
    Line& line = out.emplace_back();
    line.file = l.file.substr(l.file.rfind('/') + 1);
    line.line = l.line;
    line.function = report::short_function(l.function);
    line.cycles = modelled ? modelled_cycles(k, l)
                           : static_cast<double>(l.issue_cycles) / static_cast<double>(k.launches);
    if (const auto file = texts.find(l.file); file != texts.end())
      if (const auto text = file->second.find(l.line); text != file->second.end())
        line.text = trimmed(text->second);
  }
  std::ranges::sort(out, {}, [](const Line& l) { return std::pair(l.file, l.line); });
  return out;
}

using Pairs = std::vector<std::pair<Line*, Line*>>;

/// Pairs the remaining ones with the same key, in order.
void pair_by(std::vector<Line>& a, std::vector<Line>& b, Pairs& pairs,
             const std::function<std::optional<std::string>(const Line&)>& key) {
  std::map<std::string, std::vector<Line*>> of_b;
  for (Line& line : b)
    if (!line.matched)
      if (const auto k = key(line)) of_b[*k].push_back(&line);
  std::map<std::string, std::size_t> used;
  for (Line& line : a) {
    const auto k = line.matched ? std::nullopt : key(line);
    if (!k) continue;
    const auto found = of_b.find(*k);
    if (found == of_b.end() || used[*k] >= found->second.size()) continue;
    Line* const other = found->second[used[*k]++];
    line.matched = other->matched = true;
    pairs.emplace_back(&line, other);
  }
}

std::string place(const Line& l) {
  return l.line == 0 ? "(no source line)" : fmt::format("{}:{}", l.file, l.line);
}

}  // namespace

std::vector<std::string> compare_lines(const KernelProfile& a, const KernelProfile& b,
                                       const SourceText& text_a, const SourceText& text_b) {
  const bool modelled = a.time && b.time;
  auto of_a = lines_with_text(a, text_a, modelled), of_b = lines_with_text(b, text_b, modelled);
  Pairs pairs;
  const auto all = [](const Line& l) -> std::optional<std::string> {
    if (!l.text) return std::nullopt;
    return fmt::format("{}:{}\n{}\n{}", l.file, l.line, l.function, *l.text);
  };
  const auto function_and_text = [](const Line& l) -> std::optional<std::string> {
    if (!l.text || l.text->empty()) return std::nullopt;
    return l.function + "\n" + *l.text;
  };
  const auto text = [](const Line& l) -> std::optional<std::string> {
    // A brace alone is not significant.
    if (!l.text || l.text->size() < 4) return std::nullopt;
    return *l.text;
  };
  const auto where = [](const Line& l) -> std::optional<std::string> {
    return fmt::format("{}:{}\n{}", l.file, l.line, l.function);
  };
  pair_by(of_a, of_b, pairs, all);
  pair_by(of_a, of_b, pairs, function_and_text);
  pair_by(of_a, of_b, pairs, text);
  // A brace at its old position, in an instance of a template for other arguments.
  pair_by(of_a, of_b, pairs, [](const Line& l) -> std::optional<std::string> {
    if (!l.text) return std::nullopt;
    return fmt::format("{}:{}\n{}", l.file, l.line, *l.text);
  });
  // If the text is not known on both sides, only the position is compared.
  const bool has_text = !text_a.empty() && !text_b.empty();
  if (!has_text) pair_by(of_a, of_b, pairs, where);
  pair_by(of_a, of_b, pairs, [](const Line& l) -> std::optional<std::string> {
    return l.line == 0 ? std::optional<std::string>("") : std::nullopt;
  });

  std::vector<std::pair<double, std::string>> changed;
  const auto add = [&](double before, double after, const std::string& what) {
    if (before != after)
      changed.emplace_back(
          std::abs(after - before),
          fmt::format("{:>10} -> {:<10} {} cycles  {}", report::quantity_text(before),
                      report::quantity_text(after), modelled ? "modelled" : "issue", what));
  };
  for (const auto& [x, y] : pairs) {
    std::string what = place(*x);
    if (place(*y) != what) what += " -> " + place(*y);
    if (x->line != 0) what += " in " + y->function;
    add(x->cycles, y->cycles, what);
  }
  const auto alone = [](const Line& l) {
    return l.line == 0 ? place(l) : place(l) + " in " + l.function;
  };
  for (const Line& l : of_a)
    if (!l.matched) add(l.cycles, 0, alone(l) + " (A only)");
  for (const Line& l : of_b)
    if (!l.matched) add(0, l.cycles, alone(l) + " (B only)");
  std::ranges::sort(changed, std::greater{});
  std::vector<std::string> out;
  for (std::size_t n = 0; n < std::min(changed.size(), kShownLines); ++n)
    out.push_back(changed[n].second);
  return out;
}

}  // namespace margay::profile
