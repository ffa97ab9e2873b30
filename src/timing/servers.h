// What works for one after the other: units of a compute unit, and its share of levels beyond L2.
#pragma once

#include <algorithm>

namespace margay::timing {

/// Serves one after the other.
struct Server {
  double free = 0, busy = 0;
  /// When work that comes at `now` and takes `cycles` has been done.
  double serve(double now, double cycles) {
    free = std::max(now, free) + cycles;
    busy += cycles;
    return free;
  }
};

/// To a level beyond L2: loads go first, what L2 writes back uses the time between them, until L2
/// has no room for more dirty lines. What a compute unit does not ask for of its share of the
/// bandwidth is lost to it: if it got 500 cycles of it later, the curves of read bandwidth against
/// waves (docs/time.md, MI300X HBM slope) would be 18 % off, not 2 %.
class FarChannel {
 public:
  /// `room`: of the dirty lines, in cycles that the channel needs for them.
  double read(double now, double cycles, double room) {
    pass(now);
    const double excess = std::max(0.0, debt_ - room);
    debt_ -= excess;
    free_ += cycles + excess;
    busy_ += cycles;
    return free_;
  }
  /// When L2 has room for the store's lines.
  double write(double now, double cycles, double room) {
    pass(now);
    debt_ += cycles;
    busy_ += cycles;
    return debt_ > room ? free_ + (debt_ - room) : now;
  }
  [[nodiscard]] double busy() const { return busy_; }

 private:
  void pass(double now) {
    if (now <= free_) return;
    debt_ = std::max(0.0, debt_ - (now - free_));
    free_ = now;
  }
  double free_ = 0, debt_ = 0, busy_ = 0;
};

}  // namespace margay::timing
