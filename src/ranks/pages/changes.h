// The bytes that a launch changed, as they travel back: for each page, either runs of bytes or a
// mask with one bit for each byte, whichever is shorter.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ranks/pages/page.h"

namespace margay::ranks {

/// Adds the bytes of `now` that differ from `before`; nothing if none does.
void put_changes(Writer& out, std::uint64_t address, std::span<const std::byte, kPageBytes> before,
                 std::span<const std::byte, kPageBytes> now);

/// Calls `apply` for each run of changed bytes; false, possibly after some, if the bytes are not
/// changes.
using Apply = std::function<bool(std::uint64_t address, std::span<const std::byte> bytes)>;
[[nodiscard]] bool get_changes(std::span<const std::byte> changes, const Apply& apply);

}  // namespace margay::ranks
