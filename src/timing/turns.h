// Which wave of a compute unit is looked at next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace margay::timing {

/// Which of two waves a SIMD serves first. LLVM marks transcendental and packed f32 instructions as
/// those that never issue together with a matrix instruction (SIPreEmitPeephole); that they come
/// last, and matrix instructions first, is derived from the MI300 thread trace: there v_exp and
/// v_pk_mul wait for the other wave, and neither MFMA nor other VALU instructions do. However long:
/// if packed ones went first after 16, 32 or 64 cycles, those of the trace would take 50, 39 or 29
/// % less than they do.
enum class IssueClass : std::uint8_t { matrix, ordinary, alone };

/// When a wave is looked at next. Of those at the same time the one with the higher priority is
/// first, then by class of its instruction, then the one with the lower order, then the older one.
class Turn {
 public:
  Turn(double time, std::uint32_t priority, IssueClass issue_class, double order,
       std::uint32_t wave)
      : time_(time),
        order_(order),
        rank_((kHighestPriority - priority) << 8 | static_cast<std::uint32_t>(issue_class)),
        wave_(wave) {}
  [[nodiscard]] double time() const { return time_; }
  [[nodiscard]] std::uint32_t wave() const { return wave_; }
  [[nodiscard]] bool is_before(const Turn& other) const {
    if (time_ != other.time_) return time_ < other.time_;
    if (rank_ != other.rank_) return rank_ < other.rank_;
    if (order_ != other.order_) return order_ < other.order_;
    return wave_ < other.wave_;
  }

 private:
  static constexpr std::uint32_t kHighestPriority = 3;  // of s_setprio
  double time_, order_;
  std::uint32_t rank_, wave_;
};

/// The turns to come, one of each wave that does not wait for others: some dozens at most. A new
/// one comes behind most of them, so that moving up the few that come later is faster than a heap.
class Turns {
 public:
  [[nodiscard]] bool empty() const { return first_ == turns_.size(); }
  void add(const Turn& turn) {
    turns_.push_back(turn);
    std::size_t place = turns_.size() - 1;
    for (; place != first_ && turn.is_before(turns_[place - 1]); --place)
      turns_[place] = turns_[place - 1];
    turns_[place] = turn;
  }
  /// Removes the first one.
  Turn take() {
    const Turn first = turns_[first_++];
    if (first_ == kTaken) {
      turns_.erase(turns_.begin(), turns_.begin() + static_cast<std::ptrdiff_t>(kTaken));
      first_ = 0;
    }
    return first;
  }

 private:
  static constexpr std::size_t kTaken = 1024;  // are removed at once
  std::vector<Turn> turns_;                    // in their order, behind those that have been taken
  std::size_t first_ = 0;
};

}  // namespace margay::timing
