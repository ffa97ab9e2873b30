#include "cli/console.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"

namespace margay::cli {

int report(std::string_view subcommand, const Error& error) {
  const std::string_view space = subcommand.empty() ? "" : " ";
  fmt::print(stderr, "margay{}{}: error: {}\n", space, subcommand, error.text());
  return error.code == ErrorCode::invalid_argument ? kExitUsage : kExitFailed;
}

namespace {

/// Edits (insert, delete, replace) that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = (word.size() + 1) / 2 + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return std::string(best);
}

}  // namespace margay::cli
