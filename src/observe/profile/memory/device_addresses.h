// Where the caches see a byte. The virtual device's addresses are the host's, so that an array may
// lie anywhere: NumPy's begin 16, 48 or 64 bytes behind a multiple of 128, an address space is laid
// out anew in each run. On a device memory comes from hipMalloc. Counters are therefore taken on
// addresses that depend on nothing but the program: each allocation, and each tensor in the host's
// memory, begins on a page of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "exec/state/memory.h"

namespace margay::profile {

class DeviceAddresses {
 public:
  /// A stretch of host addresses that stays in one piece: the caches see `shift` added to them.
  struct Piece {
    AddressRange range;
    std::uint64_t shift = 0;
    [[nodiscard]] bool contains(std::uint64_t address) const {
      return address - range.begin < range.end - range.begin;
    }
  };

  /// Host memory is cut where `tensors` begin; those that overlap stay together. A range without an
  /// end known is one all the same.
  DeviceAddresses(const Memory& memory, const std::vector<AddressRange>& tensors);

  /// The piece that holds `address`. Any thread; worth keeping, because it takes a lock.
  [[nodiscard]] Piece piece_of(std::uint64_t address);

  /// As the caches see it. Of one whose end is not known, to the end of its piece.
  [[nodiscard]] AddressRange seen(const AddressRange& range);

 private:
  struct Group {
    AddressRange range;
    std::uint64_t order = 0;  ///< Among the arguments.
  };
  /// What of host memory in `mapped` is one piece with `address`.
  [[nodiscard]] Piece host_piece(std::uint64_t address, const AddressRange& mapped) const;

  const Memory& memory_;
  std::vector<Group> groups_;  // by address
  std::mutex mutex_;
  std::vector<Piece> pieces_;  // by address
};

}  // namespace margay::profile
