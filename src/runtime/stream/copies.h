// Copies and fills, executed at once: every range is checked against the allocation map first, and
// accesses are reported to the checker.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/errors.h"
#include "runtime/device/devices.h"
#include "runtime/memory/memory_range.h"
#include "runtime/stream/ordering.h"
#include "runtime/stream/timeline.h"
#include "runtime/watch/watch.h"

namespace margay::runtime {

class Copies {
 public:
  Copies(Devices& devices, const Watchers& watchers, Ordering& ordering, Timeline& timeline)
      : devices_(devices), watchers_(watchers), ordering_(ordering), timeline_(timeline) {}

  [[nodiscard]] Outcome copy(void* to, const void* from, std::size_t bytes);
  [[nodiscard]] Outcome copy_rows(const Rows& to, const Rows& from);
  /// See check_box().
  [[nodiscard]] Outcome copy_box(const hipMemcpy3DParms& parameters);

  /// Fills with a pattern of 1, 2 or 4 bytes.
  template <typename T>
  [[nodiscard]] Outcome fill(void* to, T value, std::size_t count);
  [[nodiscard]] Outcome fill_rows(void* to, std::size_t pitch, int value, std::size_t width,
                                  std::size_t height);
  [[nodiscard]] Outcome fill_elements(const hipMemsetParams& parameters);

 private:
  class Copy;
  void note_written(const void* at, std::size_t bytes, Touching& touching);

  Devices& devices_;
  const Watchers& watchers_;
  Ordering& ordering_;
  Timeline& timeline_;
};

extern template Outcome Copies::fill(void*, std::uint8_t, std::size_t);
extern template Outcome Copies::fill(void*, std::uint16_t, std::size_t);
extern template Outcome Copies::fill(void*, std::int32_t, std::size_t);

/// An error for an invalid copy direction.
[[nodiscard]] Outcome check_kind(hipMemcpyKind kind);
/// An error for a box that cannot be copied.
[[nodiscard]] Outcome check_box(const hipMemcpy3DParms* parameters);

}  // namespace margay::runtime
