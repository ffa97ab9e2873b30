// Which bytes of a workgroup's LDS hold a value that somebody wrote. Who wrote it, and whether that
// was in time, is lds_shadow.h's matter.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace margay::check {

/// Lanes that got bytes nobody wrote, per register of the result.
using UnwrittenLanes = std::array<std::uint64_t, 4>;

class LdsDefinedness {
 public:
  explicit LdsDefinedness(std::uint32_t bytes);

  /// Nothing in LDS is written yet.
  void begin_workgroup();

  /// All lanes in `active` read (or write) `bytes`, 16 at most, at their offsets, which lie inside
  /// LDS.
  void read(const std::uint64_t* at, std::uint64_t active, unsigned bytes,
            UnwrittenLanes& unwritten) const;
  void write(const std::uint64_t* at, std::uint64_t active, unsigned bytes);
  /// Values that were themselves never written: the bytes become unwritten again.
  void unwrite(std::uint32_t at, unsigned bytes);

 private:
  /// Whether everything from the lowest to the highest byte that the lanes touch is written: the
  /// usual case, found without looking at each lane.
  [[nodiscard]] bool all_written(const std::uint64_t* at, std::uint64_t active,
                                 unsigned bytes) const;

  std::vector<std::uint64_t> written_;  // a bit per byte
};

}  // namespace margay::check
