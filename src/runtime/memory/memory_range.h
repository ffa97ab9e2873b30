// Checks that a range of addresses may be copied from or to. Device memory is host memory, so
// without this check a wrong size would silently overwrite a neighbour, or crash the process.
#pragma once

#include <cstddef>
#include <string_view>

#include "runtime/base/errors.h"
#include "runtime/device/devices.h"

namespace margay::runtime {

/// Fails for null, freed, and out-of-bounds ranges with hipErrorInvalidValue and the reason. `role`
/// is "source" or "destination". An empty range is always valid.
[[nodiscard]] Outcome check_range(Devices& devices, const void* pointer, std::size_t bytes,
                                  std::string_view role);

/// Rows of `width` bytes, `pitch` bytes apart.
struct Rows {
  const void* pointer = nullptr;
  std::size_t pitch = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};
[[nodiscard]] Outcome check_rows(Devices& devices, const Rows& rows, std::string_view role);

}  // namespace margay::runtime
