// How effects of atomics on one word that different processes have executed become one.
#pragma once

#include <cstdint>
#include <span>

namespace margay {

/// For integer operations whose order makes no difference; `none` for all others.
enum class Combine : std::uint8_t {
  none,
  sum,
  bit_and,
  bit_or,
  bit_xor,
  signed_min,
  signed_max,
  unsigned_min,
  unsigned_max
};
inline constexpr auto kLastCombine = Combine::unsigned_max;

/// What a run wants to know of its atomics on memory that another process has as well.
class AtomicNotes {
 public:
  virtual ~AtomicNotes() = default;
  /// Words of `bytes` (4 or 8) each, at aligned addresses, are about to be changed, in the lanes of
  /// a mask. From any thread. `none`: in another way, or the old value is asked for.
  virtual void note(Combine how, unsigned bytes, std::span<const std::uint64_t> addresses,
                    std::uint64_t lanes) = 0;
};

}  // namespace margay
