#include "apps/fuzz/programs/types.h"

#include <bit>

namespace margay::fuzz {

namespace {

constexpr std::uint64_t mask(unsigned bits) { return bits == 64 ? ~0ull : (1ull << bits) - 1; }

std::uint64_t integer(unsigned bits, Random& random) {
  const std::uint64_t power = 1ull << random.below(bits);
  switch (random.below(9)) {
    case 0:
      return random.below(4);
    case 1:
      return -static_cast<std::uint64_t>(random.below(4));
    case 2:
      return 1ull << (bits - 1);  // the least signed value
    case 3:
      return mask(bits - 1);
    case 4:
      return power;
    case 5:
      return power - 1;
    case 6:
      return -power;
    case 7:
      return random.next() & (power - 1);  // any length
    default:
      return random.next();
  }
}

struct Format {
  unsigned fraction, exponent;
};

constexpr Format format_of(unsigned bits) {
  return bits == 16 ? Format{10, 5} : bits == 32 ? Format{23, 8} : Format{52, 11};
}

/// The float of `format` nearest to 0 that is not nearer than a small number of quarters.
std::uint64_t quarters(Format format, Random& random) {
  const std::uint64_t n = random.below(1u << (2 + random.below(8)));
  if (n == 0) return 0;
  const auto top = static_cast<unsigned>(std::bit_width(n)) - 1;
  const std::uint64_t bias = mask(format.exponent - 1);
  const std::uint64_t fraction = (n ^ (1ull << top)) << (format.fraction - top);
  return (bias + top - 2) << format.fraction | fraction;
}

std::uint64_t floating(unsigned bits, Random& random) {
  const Format format = format_of(bits);
  const std::uint64_t one = mask(format.exponent - 1) << format.fraction;
  const std::uint64_t infinity = mask(format.exponent) << format.fraction;
  const std::uint64_t sign = (random.next() & 1) << (bits - 1);
  const std::uint64_t fraction = random.next() & mask(format.fraction);
  const std::uint64_t quiet = 1ull << (format.fraction - 1);
  switch (random.below(16)) {
    case 0:
      return sign;
    case 1:
      return sign | one;
    case 2:
      return sign | infinity;
    case 3:
      return sign | infinity | quiet | (random.chance(50) ? fraction : 0);  // never signalling
    case 4:
      return sign | fraction;  // denormal
    case 5:
      return sign | 1;
    case 6:
      return sign | (infinity - 1);  // the largest
    case 7:
      return sign | 1ull << format.fraction;  // the smallest normal
    case 8:
    case 9:
    case 10:
      return sign | quarters(format, random);
    case 11:  // near the widths of integers
      return sign |
             (one + (static_cast<std::uint64_t>(7 + random.below(58) % (bits == 16 ? 9 : 58))
                     << format.fraction)) |
             (random.chance(50) ? fraction : 0);
    case 12:
    case 13:  // near one
      return sign | (one + (std::uint64_t{random.below(9)} << format.fraction) -
                     (4ull << format.fraction) + fraction);
    default: {
      const std::uint64_t any = random.next() & mask(bits);
      return (any & infinity) == infinity ? any | quiet : any;
    }
  }
}

}  // namespace

std::uint64_t interesting_value(Type type, Random& random) {
  const TypeInfo& t = info(type);
  if (t.kind == TypeKind::boolean) return random.next() & 1;
  if (t.kind == TypeKind::floating) return floating(t.bits, random);
  return integer(t.bits, random) & mask(t.bits);
}

}  // namespace margay::fuzz
