// When the registers are ready that a wave's loads write.
#pragma once

#include <algorithm>
#include <vector>

#include "timing/recording.h"

namespace margay::timing {

class Scoreboard {
 public:
  void load(const RegisterMask& writes, double done) { loads_.push_back({&writes, done}); }

  /// When all registers of an instruction that would issue at `now` are ready; `now` at the
  /// earliest.
  [[nodiscard]] double ready(const Registers& registers, double now) {
    std::erase_if(loads_, [&](const Load& load) { return load.done <= now; });
    double out = now;
    for (const Load& load : loads_)
      if (overlap(*load.writes, registers)) out = std::max(out, load.done);
    return out;
  }

 private:
  struct Load {
    const RegisterMask* writes;
    double done;
  };
  [[nodiscard]] static bool overlap(const RegisterMask& mask, const Registers& registers) {
    std::uint64_t common = 0;
    for (std::size_t n = 0; n < mask.size(); ++n)
      common |= mask[n] & (registers.reads[n] | registers.writes[n]);
    return common != 0;
  }
  std::vector<Load> loads_;
};

}  // namespace margay::timing
