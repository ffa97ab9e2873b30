#include "observe/check/lds/lds_definedness.h"

#include <algorithm>
#include <bit>

namespace margay::check {
namespace {

constexpr unsigned kWordBytes = 64;  // of LDS, in a word of the map

constexpr std::uint64_t low_bits(unsigned count) {
  return count >= 64 ? ~std::uint64_t{0} : (1ull << count) - 1;
}

}  // namespace

// One word more than needed, so that an access may read two words.
LdsDefinedness::LdsDefinedness(std::uint32_t bytes)
    : bytes_(bytes), unwritten_(bytes), written_(bytes / kWordBytes + 2) {}

void LdsDefinedness::begin_workgroup() {
  std::ranges::fill(written_, 0);
  unwritten_ = bytes_;
  partial_.clear();
}

bool LdsDefinedness::all_written(const std::uint64_t* at, std::uint64_t active,
                                 unsigned bytes) const {
  if (active == 0 || unwritten_ == 0) return true;
  // For all lanes if all are active: the compiler vectorises that.
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

bool LdsDefinedness::read(const std::uint64_t* at, std::uint64_t active, unsigned bytes,
                          LaneBits& undefined) const {
  undefined.lanes = 0;
  if (all_written(at, active, bytes)) return false;
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t word = at[lane] / kWordBytes;
    const auto shift = static_cast<unsigned>(at[lane] % kWordBytes);
    std::uint64_t missing = ~written_[word] >> shift;
    if (shift + bytes > kWordBytes) missing |= ~written_[word + 1] << (kWordBytes - shift);
    missing &= low_bits(bytes);
    if (missing == 0) continue;
    undefined.lanes |= 1ull << lane;
    for (unsigned n = 0; n < bytes; ++n)
      undefined.bytes[lane][n] =
          static_cast<std::uint8_t>(missing >> n & 1 ? partial_.of(at[lane] + n) : 0);
    for (unsigned n = bytes; n < 16; ++n) undefined.bytes[lane][n] = 0;
  }
  return undefined.lanes != 0;
}

void LdsDefinedness::write(const std::uint64_t* at, std::uint64_t active, unsigned bytes) {
  if (all_written(at, active, bytes)) return;
  const std::uint64_t mask = low_bits(bytes);
  for (std::uint64_t rest = active; rest != 0; rest &= rest - 1) {
    const std::uint64_t begin = at[std::countr_zero(rest)];
    const std::uint64_t word = begin / kWordBytes;
    const auto shift = static_cast<unsigned>(begin % kWordBytes);
    partial_.forget(begin, bytes);
    set(written_[word], mask << shift);
    if (shift + bytes > kWordBytes) set(written_[word + 1], mask >> (kWordBytes - shift));
  }
}

void LdsDefinedness::set(std::uint64_t& word, std::uint64_t bits) {
  unwritten_ -= static_cast<std::uint32_t>(std::popcount(bits & ~word));
  word |= bits;
}

void LdsDefinedness::write_undefined(const std::uint64_t* at, const LaneBits& undefined,
                                     unsigned bytes) {
  for (std::uint64_t rest = undefined.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    for (unsigned n = 0; n < bytes; ++n) {
      const std::uint8_t bits = undefined.bytes[lane][n];
      if (bits == 0) continue;
      const std::uint64_t byte = at[lane] + n;
      const std::uint64_t bit = 1ull << (byte % kWordBytes);
      unwritten_ += (written_[byte / kWordBytes] & bit) != 0 ? 1 : 0;
      written_[byte / kWordBytes] &= ~bit;
      partial_.set(byte, bits);
    }
  }
}

}  // namespace margay::check
