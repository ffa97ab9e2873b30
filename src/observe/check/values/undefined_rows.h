// The undefined bits of a wave's VGPRs: a mask of 32 bits for each lane and row, which most
// instructions need not read. Everything is undefined when a wave begins.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "exec/program/register_use.h"
#include "isa/operand.h"

namespace margay::check {

class UndefinedRows {
 public:
  explicit UndefinedRows(unsigned rows)
      : rows_(rows),
        bits_(std::make_unique_for_overwrite<std::uint32_t[]>(std::size_t{rows} * kWaveLanes)) {}

  void reset() {
    attention_ = {};
    for (unsigned row = 0; row < rows_; ++row) {
      lanes_[row] = whole_[row] = ~0ull;
      attention_[row / 64] |= 1ull << (row % 64);
    }
  }
  /// Rows that have undefined bits in any lane.
  [[nodiscard]] const VgprMask& attention() const { return attention_; }
  /// Lanes of a row that have any.
  [[nodiscard]] std::uint64_t lanes(unsigned row) const { return row < rows_ ? lanes_[row] : 0; }
  [[nodiscard]] std::uint32_t bits(unsigned row, unsigned lane) const {
    if ((lanes(row) >> lane & 1) == 0) return 0;
    return whole_[row] >> lane & 1 ? ~0u : bits_[row * std::size_t{kWaveLanes} + lane];
  }
  void define(unsigned row, std::uint64_t lanes) {
    if (row < rows_) note(row, lanes_[row] & ~lanes);
  }
  void set(unsigned row, unsigned lane, std::uint32_t bits) {
    if (row >= rows_) return;
    const std::uint64_t bit = 1ull << lane;
    bits_[row * std::size_t{kWaveLanes} + lane] = bits;
    whole_[row] = bits == ~0u ? whole_[row] | bit : whole_[row] & ~bit;
    note(row, bits != 0 ? lanes_[row] | bit : lanes_[row] & ~bit);
  }

 private:
  void note(unsigned row, std::uint64_t lanes) {
    lanes_[row] = lanes;
    const std::uint64_t bit = 1ull << (row % 64);
    attention_[row / 64] = lanes != 0 ? attention_[row / 64] | bit : attention_[row / 64] & ~bit;
  }

  unsigned rows_;
  VgprMask attention_{};
  std::array<std::uint64_t, 512> lanes_{}, whole_{};  // whole: all 32 bits, regardless of bits_
  std::unique_ptr<std::uint32_t[]> bits_;
};

}  // namespace margay::check
