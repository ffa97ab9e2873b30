#include "observe/check/lds_definedness.h"

#include <algorithm>
#include <bit>

namespace margay::check {
namespace {

constexpr unsigned kWordBytes = 64;  // of LDS, in a word of the map

constexpr std::uint64_t low_bits(unsigned count) {
  return count >= 64 ? ~std::uint64_t{0} : (1ull << count) - 1;
}

}  // namespace

// One word more than there are bytes for, so that an access may look at two words.
LdsDefinedness::LdsDefinedness(std::uint32_t bytes) : written_(bytes / kWordBytes + 2) {}

void LdsDefinedness::begin_workgroup() { std::ranges::fill(written_, 0); }

bool LdsDefinedness::all_written(const std::uint64_t* at, std::uint64_t active,
                                 unsigned bytes) const {
  if (active == 0) return true;
  // Of all lanes where all are active: the compiler makes vector code of that.
  std::uint64_t first = ~0ull, last = 0;
  if (active == ~0ull) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      first = std::min(first, at[lane]);
      last = std::max(last, at[lane]);
    }
  } else {
    for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
      first = std::min(first, at[std::countr_zero(rest)]);
      last = std::max(last, at[std::countr_zero(rest)]);
    }
  }
  last += bytes - 1;
  const std::uint64_t first_word = first / kWordBytes, last_word = last / kWordBytes;
  const std::uint64_t head = ~low_bits(first % kWordBytes);
  const std::uint64_t tail = low_bits(last % kWordBytes + 1);
  if (first_word == last_word) return (~written_[first_word] & head & tail) == 0;
  std::uint64_t missing = (~written_[first_word] & head) | (~written_[last_word] & tail);
  for (std::uint64_t word = first_word + 1; word < last_word; ++word) missing |= ~written_[word];
  return missing == 0;
}

void LdsDefinedness::read(const std::uint64_t* at, std::uint64_t active, unsigned bytes,
                          UnwrittenLanes& unwritten) const {
  if (all_written(at, active, bytes)) return;
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t word = at[lane] / kWordBytes;
    const auto shift = static_cast<unsigned>(at[lane] % kWordBytes);
    std::uint64_t missing = ~written_[word] >> shift;
    if (shift + bytes > kWordBytes) missing |= ~written_[word + 1] << (kWordBytes - shift);
    missing &= low_bits(bytes);
    for (unsigned d = 0; missing != 0 && d < unwritten.size(); ++d)
      if (missing >> (4 * d) & 15) unwritten[d] |= 1ull << lane;
  }
}

void LdsDefinedness::write(const std::uint64_t* at, std::uint64_t active, unsigned bytes) {
  if (all_written(at, active, bytes)) return;
  const std::uint64_t mask = low_bits(bytes);
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const std::uint64_t begin = at[std::countr_zero(rest)];
    const std::uint64_t word = begin / kWordBytes;
    const auto shift = static_cast<unsigned>(begin % kWordBytes);
    written_[word] |= mask << shift;
    if (shift + bytes > kWordBytes) written_[word + 1] |= mask >> (kWordBytes - shift);
  }
}

void LdsDefinedness::unwrite(std::uint32_t at, unsigned bytes) {
  const std::uint64_t mask = low_bits(bytes);
  const std::uint32_t word = at / kWordBytes;
  const unsigned shift = at % kWordBytes;
  written_[word] &= ~(mask << shift);
  if (shift + bytes > kWordBytes) written_[word + 1] &= ~(mask >> (kWordBytes - shift));
}

}  // namespace margay::check
