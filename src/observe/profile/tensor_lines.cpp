#include "observe/profile/tensor_lines.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace margay::profile {

TensorLines::TensorLines(const std::vector<AddressRange>& ranges)
    : count_(ranges.size()),
      first_line_(ranges.size()),
      reads_(ranges.size()),
      writes_(ranges.size()) {
  std::vector<Piece> whole;
  for (std::size_t n = 0; n < ranges.size(); ++n) {
    const AddressRange& range = ranges[n];
    if (range.end <= range.begin) continue;
    whole.push_back({range, n});
    first_line_[n] = range.begin / kLineBytes;
    const std::uint64_t lines = (range.end - 1) / kLineBytes - first_line_[n] + 1;
    reads_[n] = std::vector<std::atomic<std::uint64_t>>((lines + 63) / 64);
    writes_[n] = std::vector<std::atomic<std::uint64_t>>((2 * lines + 63) / 64);
  }
  const auto by_begin = [](const Piece& p) { return std::pair(p.range.begin, p.tensor); };
  std::ranges::sort(whole, {}, by_begin);
  for (const Piece& piece : whole) lay_over(piece);
  std::ranges::sort(pieces_, {}, by_begin);
}

void TensorLines::lay_over(const Piece& piece) {
  std::vector<Piece> cut;
  for (const Piece& p : pieces_) {
    const AddressRange left = {p.range.begin, std::min(p.range.end, piece.range.begin)};
    const AddressRange right = {std::max(p.range.begin, piece.range.end), p.range.end};
    for (const AddressRange& rest : {left, right})
      if (rest.begin < rest.end) cut.push_back({rest, p.tensor});
  }
  cut.push_back(piece);
  pieces_ = std::move(cut);
}

std::size_t TensorLines::touched_from(std::uint64_t first, std::uint64_t last) const {
  const auto after =
      std::ranges::upper_bound(pieces_, last, {}, [](const Piece& p) { return p.range.begin; });
  if (after == pieces_.begin()) return unnamed();
  const Piece& piece = *(after - 1);
  return first < piece.range.end ? piece.tensor : unnamed();
}

void TensorLines::set(std::size_t tensor, std::uint64_t bit, Bits& bits, unsigned per_line) {
  if (tensor == unnamed()) return;
  const std::uint64_t index = bit - first_line_[tensor] * per_line;
  auto& words = bits[tensor];
  if (index / 64 >= words.size()) return;
  std::atomic<std::uint64_t>& word = words[index / 64];
  const std::uint64_t mask = 1ull << (index % 64);
  if ((word.load(std::memory_order_relaxed) & mask) == 0)
    word.fetch_or(mask, std::memory_order_relaxed);
}

void TensorLines::touch_write(std::size_t tensor, std::uint64_t line, unsigned sectors) {
  if (sectors & 1) set(tensor, 2 * line, writes_, 2);
  if (sectors & 2) set(tensor, 2 * line + 1, writes_, 2);
}

std::uint64_t TensorLines::count(std::size_t tensor, const Bits& bits) {
  if (tensor >= bits.size()) return 0;
  std::uint64_t total = 0;
  for (const auto& word : bits[tensor])
    total += static_cast<std::uint64_t>(std::popcount(word.load(std::memory_order_relaxed)));
  return total;
}

}  // namespace margay::profile
