#include "report/profile/selection.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace margay::profile {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Selection::Range> range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return Selection::Range{*first, *last};
}

}  // namespace

Selection Selection::every(std::uint64_t step, std::uint64_t count) {
  return Selection({{0, step * count - 1}}, step);
}

std::uint64_t Selection::count_below(std::uint64_t end) const {
  if (ranges_.empty()) return end;
  const auto below = [this](std::uint64_t number) { return (number + step_ - 1) / step_; };
  std::uint64_t count = 0;
  for (const auto& [first, last] : ranges_)
    if (first < end) count += below(std::min(last, end - 1) + 1) - below(first);
  return count;
}

std::uint64_t Selection::first() const { return ranges_.empty() ? 0 : ranges_.front().first; }

Result<Selection> parse_numbers(std::string_view text, std::uint64_t first) {
  std::vector<Selection::Range> ranges;
  const std::string whole(text);
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto one = range(text.substr(0, comma));
    if (!one || one->first < first)
      return fail(ErrorCode::invalid_argument,
                  "not a list of numbers and ranges: \"" + whole + "\"", {},
                  "write 3, or 1,4-6; the first is " + std::to_string(first));
    ranges.push_back(*one);
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  std::ranges::sort(ranges);
  std::vector<Selection::Range> apart;
  for (const Selection::Range& one : ranges) {
    if (!apart.empty() && one.first <= apart.back().second)
      apart.back().second = std::max(apart.back().second, one.second);
    else
      apart.push_back(one);
  }
  return Selection(std::move(apart));
}

Result<Selection> parse_sample(std::string_view text) {
  if (const auto count = number(text)) {
    if (*count == 0)
      return fail(ErrorCode::invalid_argument, "a sample of no workgroups counts nothing");
    return Selection({{0, *count - 1}});
  }
  const auto one = range(text);
  if (!one)
    return fail(ErrorCode::invalid_argument,
                "not a sample of workgroups: \"" + std::string(text) + "\"", {},
                "write 64 for the first 64, or 100-163; the first is 0");
  return Selection({*one});
}

}  // namespace margay::profile
