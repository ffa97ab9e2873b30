// Which bytes of a workgroup's LDS hold a value that somebody wrote. Who wrote it, and whether that
// was in time, is lds_shadow.h's matter.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/check/values/undefined_bits.h"

namespace margay::check {

class LdsDefinedness {
 public:
  explicit LdsDefinedness(std::uint32_t bytes);

  /// Nothing in LDS is written yet.
  void begin_workgroup();

  /// All lanes in `active` read (or write) `bytes`, 16 at most, at their offsets, which lie inside
  /// LDS. read(): false when all that is read is defined.
  [[nodiscard]] bool read(const std::uint64_t* at, std::uint64_t active, unsigned bytes,
                          LaneBits& undefined) const;
  void write(const std::uint64_t* at, std::uint64_t active, unsigned bytes);
  /// After write(): some of what the lanes wrote was undefined.
  void write_undefined(const std::uint64_t* at, const LaneBits& undefined, unsigned bytes);

 private:
  /// Whether everything from the lowest to the highest byte that the lanes touch is written: the
  /// usual case, found without looking at each lane.
  [[nodiscard]] bool all_written(const std::uint64_t* at, std::uint64_t active,
                                 unsigned bytes) const;

  void set(std::uint64_t& word, std::uint64_t bits);

  const std::uint32_t bytes_;
  std::uint32_t unwritten_;             // bytes
  std::vector<std::uint64_t> written_;  // a bit per byte
  PartialBytes partial_;
};

}  // namespace margay::check
