#include "observe/profile/memory/tensor_lines.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace margay::profile {

TensorLines::TensorLines(const std::vector<AddressRange>& ranges)
    : count_(ranges.size()), first_line_(ranges.size()), lines_(ranges.size()) {
  std::vector<Piece> whole;
  for (std::size_t n = 0; n < ranges.size(); ++n) {
    const AddressRange& range = ranges[n];
    if (range.end <= range.begin) continue;
    whole.push_back({range, n});
    first_line_[n] = range.begin / kLineBytes;
    lines_[n] = (range.end - 1) / kLineBytes + 1 - first_line_[n];
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

TensorLines::Piece TensorLines::piece_from(std::uint64_t first, std::uint64_t last) const {
  const auto after =
      std::ranges::upper_bound(pieces_, last, {}, [](const Piece& p) { return p.range.begin; });
  const Piece none{{}, unnamed()};
  if (after == pieces_.begin()) return none;
  const Piece& piece = *(after - 1);
  return first < piece.range.end ? piece : none;
}

LineSet::Chunk& LineSet::chunk(std::uint64_t index) {
  if (index >= chunks_.size()) chunks_.resize(index + 1);
  if (chunks_[index] == nullptr) chunks_[index] = std::make_unique<Chunk>();
  return *chunks_[index];
}

void LineSet::add(std::uint64_t number) {
  const std::uint64_t word = number / 64;
  chunk(word / kChunkWords)[word % kChunkWords] |= 1ull << (number % 64);
}

void LineSet::add(const LineSet& other) {
  for (std::size_t n = 0; n < other.chunks_.size(); ++n) {
    if (other.chunks_[n] == nullptr) continue;
    Chunk& own = chunk(n);
    for (std::size_t word = 0; word < kChunkWords; ++word) own[word] |= (*other.chunks_[n])[word];
  }
}

void LineSet::put(Writer& out) const {
  std::uint64_t used = 0;
  for (const auto& chunk : chunks_) used += chunk != nullptr ? 1 : 0;
  out.put(used);
  for (std::uint64_t n = 0; n < chunks_.size(); ++n) {
    if (chunks_[n] == nullptr) continue;
    out.put(n);
    out.put(*chunks_[n]);
  }
}

LineSet LineSet::get(Reader& in) {
  // As much memory as any device has.
  constexpr std::uint64_t kMostChunks = (1ull << 40) / kLineBytes / (64 * kChunkWords);
  LineSet set;
  for (std::uint64_t left = in.get_count(sizeof(Chunk)); left > 0; --left) {
    const auto index = in.get<std::uint64_t>();
    const auto chunk = in.get<Chunk>();
    if (index < kMostChunks) set.chunk(index) = chunk;
  }
  return set;
}

std::uint64_t LineSet::count() const {
  std::uint64_t total = 0;
  for (const auto& chunk : chunks_)
    if (chunk != nullptr)
      for (const std::uint64_t word : *chunk)
        total += static_cast<std::uint64_t>(std::popcount(word));
  return total;
}

std::uint64_t LineSet::count_without(const LineSet& other) const {
  std::uint64_t total = 0;
  for (std::size_t n = 0; n < chunks_.size(); ++n) {
    if (chunks_[n] == nullptr) continue;
    const Chunk* const without = n < other.chunks_.size() ? other.chunks_[n].get() : nullptr;
    for (std::size_t word = 0; word < kChunkWords; ++word) {
      const std::uint64_t taken = without == nullptr ? 0 : (*without)[word];
      total += static_cast<std::uint64_t>(std::popcount((*chunks_[n])[word] & ~taken));
    }
  }
  return total;
}

}  // namespace margay::profile
