// The instructions of a run in chains, each with one sum, and the orders in which chains can be
// executed.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mfma/instructions/operands.h"

namespace margay::mfma_amx {

inline constexpr int kSourceRows = 2;

/// One multiplication of the unit: one instruction's A and B, or two instructions'.
struct Unit {
  std::int32_t a, second_a, b, second_b;  ///< Register rows; of one: second_a and second_b are 0.
  std::size_t end;                        ///< The number of its chain's factors up to it.
  bool is_double;

  [[nodiscard]] bool has_adjacent_b() const { return second_b == b + kSourceRows; }
  [[nodiscard]] bool has_same_a(const Unit& other) const {
    return is_double == other.is_double && a == other.a && second_a == other.second_a;
  }
  [[nodiscard]] bool has_same_b(const Unit& other) const {
    return is_double == other.is_double && b == other.b && second_b == other.second_b;
  }
};

/// The instructions of a segment of which each has the D of the one before as its C.
struct Chain {
  MfmaStep first;
  std::int32_t d;          ///< Where the sum is now,
  bool only_next_reads_d;  ///< and whether its next step alone reads it there.
  std::vector<std::pair<std::int32_t, std::int32_t>> factors;  ///< A and B, in order.
  /// Where it was before, unless another chain's sum has that place now, and after how many
  /// factors.
  std::vector<std::pair<std::int32_t, std::size_t>> left;

  /// Of two instructions each where `in_pairs` and there are two.
  [[nodiscard]] std::vector<Unit> units(bool in_pairs) const;
  [[nodiscard]] bool is_left_after(std::size_t count) const;
};

/// A segment of the run whose chains can each be executed at once: no instruction reads a D that
/// another chain of the segment writes, or its own except as C. A chain comes before those that
/// overwrite what it reads.
class Segment {
 public:
  explicit Segment(int result_rows) : result_rows_(result_rows) {}

  /// False when the step has to wait for the segment to end.
  [[nodiscard]] bool add(const MfmaStep& step);
  /// In the order in which they are to be executed.
  [[nodiscard]] std::vector<Chain> chains() const;
  /// Whether `reader` reads what `writer` overwrites in the end.
  [[nodiscard]] bool is_before(const Chain& reader, const Chain& writer) const;

 private:
  [[nodiscard]] bool is_written(std::int32_t first, int count) const;
  [[nodiscard]] bool reads(const Chain& reader, std::int32_t rows) const;
  [[nodiscard]] std::optional<std::vector<std::size_t>> order() const;
  [[nodiscard]] bool move(Chain& chain, std::int32_t to);

  int result_rows_;
  std::vector<Chain> chains_;
};

}  // namespace margay::mfma_amx
