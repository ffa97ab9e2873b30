#include "mfma/fast/chains.h"

#include <algorithm>

#include "mfma/instructions/rows_meet.h"

namespace margay::mfma_amx {

std::vector<Unit> Chain::units(bool in_pairs) const {
  std::vector<Unit> units;
  for (std::size_t n = 0; n < factors.size(); ++n) {
    auto [a, b] = factors[n];
    if (!in_pairs || n + 1 == factors.size() || is_left_after(n + 1)) {
      units.push_back({a, 0, b, 0, n + 1, false});
      continue;
    }
    ++n;
    auto [next_a, next_b] = factors[n];
    // The order of k is free, so the lower B registers come first.
    if (next_b < b) {
      std::swap(a, next_a);
      std::swap(b, next_b);
    }
    units.push_back({a, next_a, b, next_b, n + 1, true});
  }
  return units;
}

bool Chain::is_left_after(std::size_t count) const {
  return std::ranges::any_of(left, [&](const auto& place) { return place.second == count; });
}

bool Segment::add(const MfmaStep& step) {
  if (is_written(step.a, kSourceRows) || is_written(step.b, kSourceRows)) return false;
  if (!step.c_is_constant) {
    const auto chain = std::ranges::find(chains_, step.c, &Chain::d);
    if (chain != chains_.end()) {
      if (step.d != step.c && !move(*chain, step.d)) return false;
      chain->only_next_reads_d = step.only_next_reads_d;
      chain->factors.emplace_back(step.a, step.b);
      return true;
    }
    if (is_written(step.c, result_rows_)) return false;
  }
  if (is_written(step.d, result_rows_)) return false;
  chains_.push_back({step, step.d, step.only_next_reads_d, {{step.a, step.b}}, {}});
  return true;
}

std::vector<Chain> Segment::chains() const {
  std::vector<Chain> out;
  const auto numbers = order();
  for (const std::size_t n : numbers.value()) out.push_back(chains_[n]);
  return out;
}

bool Segment::is_before(const Chain& reader, const Chain& writer) const {
  return reads(reader, writer.d) || std::ranges::any_of(writer.left, [&](const auto& place) {
           return reads(reader, place.first);
         });
}

bool Segment::is_written(std::int32_t first, int count) const {
  return std::ranges::any_of(chains_, [&](const Chain& chain) {
    return rows_meet(first, count, chain.d, result_rows_) ||
           std::ranges::any_of(chain.left, [&](const auto& place) {
             return rows_meet(first, count, place.first, result_rows_);
           });
  });
}

bool Segment::reads(const Chain& reader, std::int32_t rows) const {
  return (!reader.first.c_is_constant &&
          rows_meet(rows, result_rows_, reader.first.c, result_rows_)) ||
         std::ranges::any_of(reader.factors, [&](const auto& factors) {
           return rows_meet(rows, result_rows_, factors.first, kSourceRows) ||
                  rows_meet(rows, result_rows_, factors.second, kSourceRows);
         });
}

/// Numbers of chains, each behind those that read what it writes in the end, or else in the order
/// in which they begin. None: there is no such order.
std::optional<std::vector<std::size_t>> Segment::order() const {
  std::vector<std::size_t> out;
  std::vector<bool> is_out(chains_.size());
  while (out.size() < chains_.size()) {
    const std::size_t before = out.size();
    for (std::size_t n = 0; n < chains_.size(); ++n) {
      if (is_out[n]) continue;
      bool is_next = true;
      for (std::size_t other = 0; other < chains_.size() && is_next; ++other)
        is_next = other == n || is_out[other] || !is_before(chains_[other], chains_[n]);
      if (!is_next) continue;
      out.push_back(n);
      is_out[n] = true;
    }
    if (out.size() == before) return std::nullopt;
  }
  return out;
}

/// The chain's sum goes on at `to`, as compilers do with the accumulators of a loop. False: it
/// cannot.
bool Segment::move(Chain& chain, std::int32_t to) {
  for (const Chain& other : chains_) {
    if (rows_meet(to, result_rows_, other.d, result_rows_)) return false;
    for (const auto& [place, count] : other.left)
      if (place != to && rows_meet(to, result_rows_, place, result_rows_)) return false;
  }
  const std::int32_t from = std::exchange(chain.d, to);
  if (!order()) {
    chain.d = from;
    return false;
  }
  for (Chain& other : chains_)
    std::erase_if(other.left, [&](const auto& place) { return place.first == to; });
  if (!chain.only_next_reads_d) chain.left.emplace_back(from, chain.factors.size());
  return true;
}

}  // namespace margay::mfma_amx
