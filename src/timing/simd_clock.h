// What one SIMD does over time, while a replay goes on: whether it works, waits or has no waves,
// and whether matrix work and memory accesses overlap on it.
#pragma once

#include <algorithm>

namespace margay::timing {

/// Cycles of SIMDs, or parts of them.
struct SimdTime {
  double work = 0;   ///< A wave issues, or the VALU port or the matrix unit is busy.
  double idle = 0;   ///< It has waves, and all of them wait.
  double empty = 0;  ///< It has no wave.
  /// The matrix unit is busy, accesses to memory of the SIMD's waves are in flight: both, one,
  /// none.
  double both = 0, matrix = 0, memory = 0, neither = 0;
  SimdTime& operator+=(const SimdTime& more) {
    work += more.work;
    idle += more.idle;
    empty += more.empty;
    both += more.both;
    matrix += more.matrix;
    memory += more.memory;
    neither += more.neither;
    return *this;
  }
  /// Parts of all cycles, 0 to 1.
  [[nodiscard]] SimdTime parts() const {
    const double one = all() > 0 ? 1 / all() : 0;
    return {one * work,   one * idle,   one * empty,  one * both,
            one * matrix, one * memory, one * neither};
  }
  [[nodiscard]] double all() const { return work + idle + empty; }
};

/// What happens comes in the order in which it begins. What has begun is over at the latest of its
/// ends, so that three ends are all that has to be remembered.
class SimdClock {
 public:
  void advance(double now) {
    const double cycles = now - now_;
    if (cycles <= 0) return;
    const double work = std::clamp(works_until_ - now_, 0.0, cycles);
    time_.work += work;
    if (waves_ == 0) {
      time_.empty += cycles - work;
    } else {
      time_.idle += cycles - work;
      lost_ += (cycles - work) / waves_;
    }
    const double matrix = std::clamp(matrix_until_ - now_, 0.0, cycles);
    const double memory = std::clamp(memory_until_ - now_, 0.0, cycles);
    time_.both += std::min(matrix, memory);
    time_.matrix += std::max(matrix - memory, 0.0);
    time_.memory += std::max(memory - matrix, 0.0);
    time_.neither += cycles - std::max(matrix, memory);
    now_ = now;
  }

  // From the time on that it has advanced to.
  void works(double until) { works_until_ = std::max(works_until_, until); }
  void matrix_works(double until) {
    matrix_until_ = std::max(matrix_until_, until);
    works(until);
  }
  void memory_is_accessed(double until) { memory_until_ = std::max(memory_until_, until); }
  void wave_begins() { ++waves_; }
  void wave_ends() { --waves_; }

  [[nodiscard]] const SimdTime& time() const { return time_; }
  /// Idle cycles so far, each divided evenly among the waves that wait.
  [[nodiscard]] double lost() const { return lost_; }

 private:
  SimdTime time_;
  double now_ = 0, works_until_ = 0, matrix_until_ = 0, memory_until_ = 0;
  double waves_ = 0, lost_ = 0;
};

}  // namespace margay::timing
