// What is known of global memory over the whole process: the tensors that the program described,
// and which bytes of hipMalloc's memory somebody has written.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/memory.h"
#include "observe/described_tensors.h"

namespace margay::check {

/// An allocation whose bytes are followed from the start. One bit per byte, set once written.
class WrittenMap {
 public:
  explicit WrittenMap(AddressRange range)
      : range_(range), bits_((range.end - range.begin + 7) / 8) {}
  [[nodiscard]] const AddressRange& range() const { return range_; }
  /// Bit n: byte n of [address, address + bytes) lies in the range and has not been written;
  /// bytes <= 64.
  [[nodiscard]] std::uint64_t unwritten(std::uint64_t address, unsigned bytes) const;
  [[nodiscard]] bool all_written(std::uint64_t address, std::uint64_t bytes) const;
  /// True when the whole allocation is known to be written: nobody need ask about a part of it.
  [[nodiscard]] bool complete() const { return complete_.load(std::memory_order_relaxed); }
  /// Safe from several threads at once.
  void set(std::uint64_t address, std::uint64_t bytes, bool written = true);

 private:
  AddressRange range_;
  std::vector<std::atomic<std::uint8_t>> bits_;
  std::atomic<bool> complete_ = false;
};

class GlobalMemory {
 public:
  /// hipMalloc gave this out; nothing in it is written yet.
  void allocated(std::uint64_t address, std::uint64_t bytes);
  void freed(std::uint64_t address);
  /// The host has written here (hipMemcpy, hipMemset).
  void written(std::uint64_t address, std::uint64_t bytes);
  /// The host has copied: what was unwritten stays so.
  void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);

  /// The followed allocation that holds `address`, or null. Stable until it is freed.
  [[nodiscard]] WrittenMap* find(std::uint64_t address) const;
  [[nodiscard]] DescribedTensors& tensors() { return tensors_; }
  [[nodiscard]] const DescribedTensors& tensors() const { return tensors_; }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<WrittenMap>> maps_;  // by first address
  DescribedTensors tensors_;
};

}  // namespace margay::check
