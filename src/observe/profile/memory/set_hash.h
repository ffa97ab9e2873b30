// Which of 2048 sets of an L2 a line is in. AMD does not say how an XCD chooses it; that
// power-of-two strides cost nothing in particular is seen in MGPUSim's mi300a.csv, in atax of 2048
// and 6144 rows.
//
// The line's number is taken as a polynomial over GF(2), and its remainder by a primitive
// polynomial of degree 11 is the set (B. R. Rau, "Pseudo-randomly interleaved memory", 1991):
// multiplying by x, which is a stride twice as large, is a permutation of the remainders. So 2048
// lines in a row are in 2048 sets at every stride of a power of two. The polynomial has its terms
// high and low, so that blocks of a few hundred lines, some blocks apart, do not meet in a part of
// the sets either.
#pragma once

#include <array>
#include <cstdint>

namespace margay::profile {

inline constexpr unsigned kSetBits = 11;

namespace detail {

constexpr std::uint32_t kSetPolynomial = 07413;  ///< x^11 + x^10 + x^9 + x^8 + x^3 + x + 1

/// The remainders of the bytes of a line's number above its low bits.
using SetRemainders = std::array<std::array<std::uint16_t, 256>, 4>;

consteval SetRemainders set_remainders() {
  SetRemainders out{};
  std::uint32_t power = 1u << (kSetBits - 1);
  for (auto& of_byte : out)
    for (unsigned bit = 0; bit < 8; ++bit) {
      power <<= 1;
      if ((power >> kSetBits & 1) != 0) power ^= kSetPolynomial;
      for (unsigned byte = 0; byte < 256; ++byte)
        if ((byte >> bit & 1) != 0) of_byte[byte] ^= static_cast<std::uint16_t>(power);
    }
  return out;
}
inline constexpr SetRemainders kSetRemainders = set_remainders();

}  // namespace detail

/// For the low 43 bits of a line's number, 50 of its address.
[[nodiscard]] constexpr std::uint32_t set_of_line(std::uint64_t line) {
  auto set = static_cast<std::uint32_t>(line & ((1u << kSetBits) - 1));
  line >>= kSetBits;
  for (const auto& of_byte : detail::kSetRemainders) {
    set ^= of_byte[line & 0xffu];
    line >>= 8;
  }
  return set;
}

}  // namespace margay::profile
