// Which bytes of a workgroup's LDS hold a written value. The writer, and whether the access was
// ordered, is tracked by lds_shadow.h.
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

  /// All lanes in `active` read (or write) `bytes`, 16 at most, at their offsets, which are inside
  /// LDS. read(): false when everything that is read is defined.
  [[nodiscard]] bool read(const std::uint64_t* at, std::uint64_t active, unsigned bytes,
                          LaneBits& undefined) const;
  void write(const std::uint64_t* at, std::uint64_t active, unsigned bytes);
  /// After write(): some of what the lanes wrote was undefined.
  void write_undefined(const std::uint64_t* at, const LaneBits& undefined, unsigned bytes);

 private:
  /// Whether everything from the lowest to the highest accessed byte is written: the usual case,
  /// found without a loop over the lanes.
  [[nodiscard]] bool all_written(const std::uint64_t* at, std::uint64_t active,
                                 unsigned bytes) const;

  void set(std::uint64_t& word, std::uint64_t bits);

  const std::uint32_t bytes_;
  std::uint32_t unwritten_;             // bytes
  std::vector<std::uint64_t> written_;  // a bit per byte
  PartialBytes partial_;
};

}  // namespace margay::check
