// The addresses that the caches use. The virtual device's addresses are the host's, so that an
// array may be anywhere: NumPy's begin 16, 48 or 64 bytes after a multiple of 128, and the address
// space differs from run to run. On a device memory comes from hipMalloc. Counters therefore use
// addresses that depend only on the program: each allocation, and each tensor in the host's memory,
// begins on its own page.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "exec/state/memory.h"

namespace margay::profile {

class DeviceAddresses {
 public:
  /// A range of host addresses that stays contiguous: the caches use them plus `shift`.
  struct Piece {
    AddressRange range;
    std::uint64_t shift = 0;
    [[nodiscard]] bool contains(std::uint64_t address) const {
      return address - range.begin < range.end - range.begin;
    }
  };

  /// Host memory is split where `tensors` begin; overlapping ones stay together, including those
  /// whose end is not known.
  DeviceAddresses(const Memory& memory, const std::vector<AddressRange>& tensors);
  /// Those of another process, which is asked.
  using Ask = std::function<Piece(std::uint64_t address)>;
  explicit DeviceAddresses(Ask ask) : ask_(std::move(ask)) {}

  /// The piece that holds `address`. Thread-safe; callers should keep the result, because this
  /// takes a lock.
  [[nodiscard]] Piece piece_of(std::uint64_t address);

  /// The tensor in cache addresses; if its end is not known, up to the end of its piece.
  [[nodiscard]] AddressRange seen(const AddressRange& range);

 private:
  struct Group {
    AddressRange range;
    std::uint64_t order = 0;  ///< Among the arguments.
  };
  /// The part of the host memory `mapped` that is one piece with `address`.
  [[nodiscard]] Piece host_piece(std::uint64_t address, const AddressRange& mapped) const;

  [[nodiscard]] Piece make_piece(std::uint64_t address) const;

  const Memory* memory_ = nullptr;
  const Ask ask_;
  std::vector<Group> groups_;  // by address
  std::mutex mutex_;
  std::vector<Piece> pieces_;  // by address
};

}  // namespace margay::profile
