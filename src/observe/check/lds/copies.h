// Whether two lanes hold copies of one number that were rounded in another order.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace margay::check {

/// Two encodings of numbers of one sign whose distance is at most `ulps`, or two zeros.
[[nodiscard]] constexpr bool within(std::uint32_t a, std::uint32_t b, std::uint32_t sign,
                                    std::uint32_t ulps) {
  const std::uint32_t x = a & (sign - 1), y = b & (sign - 1);
  if ((a & sign) != (b & sign)) return x + y <= ulps;
  return (x < y ? y - x : x - y) <= ulps;
}

/// Sums that lanes compute of the same numbers, each beginning with its own, differ in their last
/// bits: the compiler fuses a product and the first addition, and the lane's own product is then
/// the one that is not rounded. As numbers of 32 bits they are a few ulps apart, more where the
/// sum cancels; as numbers of 16 bits, to which they are rounded, one or two.
[[nodiscard]] inline bool are_copies(const std::array<std::uint8_t, 16>& a,
                                     const std::array<std::uint8_t, 16>& b) {
  constexpr std::uint32_t kUlps32 = 1u << 14;  // 2^-9 of the number
  constexpr std::uint32_t kUlps16 = 2;
  for (std::size_t n = 0; n < a.size(); n += 4) {
    std::uint32_t x = 0, y = 0;
    std::memcpy(&x, &a[n], 4);
    std::memcpy(&y, &b[n], 4);
    const bool halves = within(x & 0xffff, y & 0xffff, 0x8000, kUlps16) &&
                        within(x >> 16, y >> 16, 0x8000, kUlps16);
    if (!halves && !within(x, y, 0x80000000, kUlps32)) return false;
  }
  return true;
}

}  // namespace margay::check
