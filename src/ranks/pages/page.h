// The unit in which memory moves from the leader to workers, its fingerprint, and its form on the
// wire. What comes back is single bytes (changes.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace margay::ranks {

/// Larger than the system's, so that a round trip is paid for more bytes; the parts of the system's
/// page size that are zero or not accessible do not travel.
inline constexpr std::uint64_t kPageBytes = 64 * 1024;
inline constexpr std::uint64_t kPartBytes = 4 * 1024;
inline constexpr unsigned kParts = kPageBytes / kPartBytes;

[[nodiscard]] constexpr std::uint64_t page_of(std::uint64_t address) {
  return address / kPageBytes * kPageBytes;
}

using Page = std::array<std::byte, kPageBytes>;

/// 64 bits that differ, for all practical purposes, when a page differs.
[[nodiscard]] std::uint64_t fingerprint(std::span<const std::byte, kPageBytes> page);

/// Whether this host lets a process read its memory as read_page() does.
[[nodiscard]] bool can_read_pages();

/// This process's memory at `address`, a multiple of kPageBytes; what is not mapped is zero. No
/// address is a fault.
void read_page(std::uint64_t address, Page& out);

void put_page(Writer& out, std::span<const std::byte, kPageBytes> page);
/// False if the bytes are not a page.
[[nodiscard]] bool get_page(Reader& in, std::span<std::byte, kPageBytes> page);

}  // namespace margay::ranks
