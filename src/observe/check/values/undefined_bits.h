// Undefined bits of memory, as transferred between registers and memory. A set bit is undefined: it
// was never written, or was computed from such bits.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "isa/operand.h"

namespace margay::check {

/// The undefined bits of up to 16 bytes for each lane.
struct LaneBits {
  std::uint64_t lanes = 0;  ///< Lanes that have any; the bytes of the others are meaningless.
  std::array<std::array<std::uint8_t, 16>, kWaveLanes> bytes;
};

/// Memory is tracked by byte. A byte with only some undefined bits (a bit field, 0 or 1 by an
/// undefined condition) is an undefined byte with an entry here.
class PartialBytes {
 public:
  [[nodiscard]] bool empty() const { return bits_.empty(); }
  void clear() { bits_.clear(); }
  [[nodiscard]] std::uint8_t of(std::uint64_t at) const {
    if (bits_.empty()) return 0xff;
    const auto found = bits_.find(at);
    return found == bits_.end() ? 0xff : found->second;
  }
  void set(std::uint64_t at, std::uint8_t bits) {
    if (bits != 0xff)
      bits_[at] = bits;
    else if (!bits_.empty())
      bits_.erase(at);
  }
  struct Entry {
    std::uint64_t address = 0;
    std::uint8_t bits = 0;
  };
  [[nodiscard]] std::vector<Entry> all() const {
    std::vector<Entry> entries;
    for (const auto& [address, bits] : bits_) entries.push_back({address, bits});
    return entries;
  }
  void forget(std::uint64_t at, std::uint64_t bytes) {
    if (bits_.empty()) return;
    if (bytes > bits_.size()) {
      std::erase_if(bits_, [&](const auto& entry) { return entry.first - at < bytes; });
      return;
    }
    for (std::uint64_t n = 0; n < bytes; ++n) bits_.erase(at + n);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint8_t> bits_;
};

}  // namespace margay::check
