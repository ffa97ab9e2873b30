// Which global accesses of a workgroup rely on its barriers. Races are found by the bytes and the
// waves (global_races.h); this answers a weaker question, for the advice on barriers that order
// nothing, and says yes when in doubt: per allocation it keeps the range that the workgroup has
// read, written and changed by atomics, whichever wave it was.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exec/program/lane_access.h"
#include "exec/state/memory.h"

namespace margay::check {

class GlobalPhases {
 public:
  explicit GlobalPhases(const Memory& memory) : memory_(memory) {}

  void begin_workgroup();
  /// An access of some lanes in `phase`, which never decreases. Returns the last phase before it
  /// that has an access with which this one would race without barriers; 0: none. `acquires`: what
  /// comes after it in later phases relies on it, as what one wave has learnt from a flag.
  /// `releases`: it relies on all that came before it.
  [[nodiscard]] std::uint32_t access(const LaneAccess& access, std::uint32_t phase, bool acquires,
                                     bool releases);

 private:
  /// The last phase in which something was done, and the last one before that.
  struct Latest {
    std::uint32_t before = 0, now = 0;

    void in(std::uint32_t phase) {
      if (now != phase) before = now;
      now = phase;
    }
  };
  /// From the first byte to the last.
  struct Extent {
    std::uint64_t begin = ~0ull, end = 0;
    std::uint32_t phase = 0;  ///< The last one that added to it.

    void add(const Extent& more) {
      if (more.phase == 0) return;
      begin = std::min(begin, more.begin);
      end = std::max(end, more.end);
      phase = more.phase;
    }
    [[nodiscard]] std::uint32_t met_by(const Extent& other) const {
      return phase != 0 && begin < other.end && other.begin < end ? phase : 0;
    }
  };
  struct Kinds {
    Extent reads, writes, atomics;
  };
  struct Allocation {
    AddressRange range;
    Kinds before, now;
    std::uint32_t phase = 0;  ///< Of `now`.
  };
  [[nodiscard]] Allocation& allocation_of(std::uint64_t address);

  const Memory& memory_;
  std::vector<Allocation> allocations_;
  std::size_t recent_ = 0;
  Latest touched_, acquired_;
};

}  // namespace margay::check
