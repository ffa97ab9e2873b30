// Which tensor a line of memory belongs to, and which lines of each were touched at all.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "exec/memory.h"
#include "observe/profile/machine.h"

namespace margay::profile {

/// The tensors of a launch, by address; safe to use from several threads. The last index stands for
/// all memory that none of them holds.
class TensorLines {
 public:
  /// Ranges that overlap are cut: the one that begins later has the common part.
  explicit TensorLines(const std::vector<AddressRange>& ranges);

  [[nodiscard]] std::size_t size() const { return count_ + 1; }
  [[nodiscard]] std::size_t unnamed() const { return count_; }
  [[nodiscard]] std::size_t of_address(std::uint64_t address) const {
    return touched_from(address, address);
  }
  /// Ranges may begin and end inside a line, which then belongs to the last that has a byte of it.
  [[nodiscard]] std::size_t of_line(std::uint64_t line) const {
    return touched_from(line * kLineBytes, line * kLineBytes + kLineBytes - 1);
  }

  void touch_read(std::size_t tensor, std::uint64_t line) { set(tensor, line, reads_, 1); }
  /// Bit 0 of `sectors`: the lower 64 bytes of the line, bit 1 the upper.
  void touch_write(std::size_t tensor, std::uint64_t line, unsigned sectors);

  /// How many different lines were read; how many sectors were written.
  [[nodiscard]] std::uint64_t lines_read(std::size_t tensor) const { return count(tensor, reads_); }
  [[nodiscard]] std::uint64_t sectors_written(std::size_t tensor) const {
    return count(tensor, writes_);
  }

 private:
  using Bits = std::vector<std::vector<std::atomic<std::uint64_t>>>;  // by tensor
  struct Piece {
    AddressRange range;
    std::size_t tensor = 0;
  };
  /// Gives `piece` what others have of its range; they keep what lies on both sides.
  void lay_over(const Piece& piece);
  /// The last tensor, by address, that has any of the bytes [first, last].
  [[nodiscard]] std::size_t touched_from(std::uint64_t first, std::uint64_t last) const;
  void set(std::size_t tensor, std::uint64_t bit, Bits& bits, unsigned per_line);
  [[nodiscard]] static std::uint64_t count(std::size_t tensor, const Bits& bits);

  std::size_t count_;
  std::vector<Piece> pieces_;  // by address
  std::vector<std::uint64_t> first_line_;
  Bits reads_, writes_;
};

}  // namespace margay::profile
