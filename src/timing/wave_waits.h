// What a wave waits for before its next instruction can issue: its code, and registers that loads
// write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "timing/recording.h"

namespace margay::timing {

/// Holds two fetches of 32 bytes of a wave's code, and asks for another one as soon as all of the
/// first has issued. Instructions of 8 bytes that begin with a fetch come just in time; those at 4
/// modulo 8 free it one instruction later, and each fetch holds them up for a turn. With a few
/// instructions of 4 bytes among them, or a stall, the next fetch has come before it is needed.
class FetchBuffer {
 public:
  /// How late `next` is in a wave that could go on at `time`: in cycles. `before` left the buffer
  /// at `freed`; `fetch`: cycles from asking for code until it comes.
  double late(const Instruction& before, const Instruction& next, double freed, double time,
              double fetch) {
    const std::uint32_t ends = fetch_of(before.vaddr + before.bytes - 1u);
    const std::uint32_t begins = fetch_of(next.vaddr);
    if (fetch_of(before.vaddr) != ends) comes_ = freed + fetch;
    if (before.unit == Unit::branch && next.vaddr < before.vaddr) return comes_ = 0, fetch;
    // What a branch forward goes to may have been fetched already.
    if (next.vaddr != before.vaddr + before.bytes) return comes_ = 0;
    const double out =
        fetch_of(next.vaddr + next.bytes - 1u) == ends ? 0 : std::max(0.0, comes_ - time);
    if (begins != ends) comes_ = freed + fetch;
    return out;
  }

 private:
  [[nodiscard]] static std::uint32_t fetch_of(std::uint32_t vaddr) { return vaddr / 32; }
  double comes_ = 0;  ///< The fetch behind that of the last instruction.
};

/// When the registers are ready that a wave's loads write.
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
