// Which tensor a line of memory belongs to; sets of lines.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "exec/state/memory.h"
#include "report/profile/machine.h"

namespace margay::profile {

/// A set of numbers, most of them near each other.
class LineSet {
 public:
  void add(std::uint64_t number);
  void add(const LineSet& other);
  [[nodiscard]] std::uint64_t count() const;
  /// Of those that `other` does not have.
  [[nodiscard]] std::uint64_t count_without(const LineSet& other) const;
  void put(Writer& out) const;
  [[nodiscard]] static LineSet get(Reader& in);

 private:
  static constexpr std::uint64_t kChunkWords = 256;
  using Chunk = std::array<std::uint64_t, kChunkWords>;
  [[nodiscard]] Chunk& chunk(std::uint64_t index);

  std::vector<std::unique_ptr<Chunk>> chunks_;
};

/// The tensors of a launch, by address; thread-safe. The last index means all memory outside of
/// them.
class TensorLines {
  struct Piece {
    AddressRange range;
    std::size_t tensor = 0;
  };

 public:
  /// Overlapping ranges are split: the one that begins later gets the common part.
  explicit TensorLines(const std::vector<AddressRange>& ranges);

  [[nodiscard]] std::size_t size() const { return count_ + 1; }
  [[nodiscard]] std::size_t unnamed() const { return count_; }
  [[nodiscard]] std::size_t of_address(std::uint64_t address) const {
    return touched_from(address, address);
  }
  /// Ranges may begin and end inside a line, which then belongs to the last range with a byte in
  /// it.
  [[nodiscard]] std::size_t of_line(std::uint64_t line) const {
    return touched_from(line * kLineBytes, line * kLineBytes + kLineBytes - 1);
  }

  /// Lines of `tensor`, which is not the unnamed one, by its size.
  [[nodiscard]] std::uint64_t lines(std::size_t tensor) const { return lines_[tensor]; }
  /// The number of a line of `tensor`, which is not the unnamed one, from 0.
  [[nodiscard]] std::uint64_t number_of(std::size_t tensor, std::uint64_t line) const {
    return line - first_line_[tensor];
  }

  /// Looks tensors up one after the other, which is faster for neighbours.
  class Finder {
   public:
    explicit Finder(const TensorLines& lines) : lines_(lines) {}
    [[nodiscard]] std::size_t of_address(std::uint64_t address) { return find(address, address); }
    [[nodiscard]] std::size_t of_line(std::uint64_t line) {
      return find(line * kLineBytes, line * kLineBytes + kLineBytes - 1);
    }

   private:
    [[nodiscard]] std::size_t find(std::uint64_t first, std::uint64_t last) {
      if (!last_.range.contains(first, last - first + 1)) last_ = lines_.piece_from(first, last);
      return last_.tensor;
    }
    const TensorLines& lines_;
    Piece last_;
  };

 private:
  /// Assigns `piece` its whole range; overlapping ranges keep the parts on both sides.
  void lay_over(const Piece& piece);
  /// The last tensor, by address, that has any of the bytes [first, last].
  [[nodiscard]] std::size_t touched_from(std::uint64_t first, std::uint64_t last) const {
    return piece_from(first, last).tensor;
  }
  /// That part of it; an empty range for the unnamed one.
  [[nodiscard]] Piece piece_from(std::uint64_t first, std::uint64_t last) const;

  std::size_t count_;
  std::vector<Piece> pieces_;  // by address
  std::vector<std::uint64_t> first_line_, lines_;
};

}  // namespace margay::profile
