// State of global memory over the whole process: the tensors that the program described, which
// bytes of hipMalloc's memory have been written, and the origins of undefined values.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/bytes.h"
#include "exec/state/memory.h"
#include "observe/check/values/undefined_bits.h"
#include "observe/described_tensors.h"
#include "report/check/finding.h"

namespace margay::check {

/// An allocation whose bytes are tracked from the start. One bit per byte, set once a defined value
/// was written.
class WrittenMap {
 public:
  explicit WrittenMap(AddressRange range)
      : range_(range), bits_((range.end - range.begin + 7) / 8) {}
  [[nodiscard]] const AddressRange& range() const { return range_; }
  /// Bit n: byte n of [address, address + bytes) is in the range and has not been written; bytes <=
  /// 64.
  [[nodiscard]] std::uint64_t unwritten(std::uint64_t address, unsigned bytes) const;
  [[nodiscard]] bool all_written(std::uint64_t address, std::uint64_t bytes) const;
  /// True when the whole allocation is known to be written, so that no part needs a check.
  [[nodiscard]] bool complete() const { return complete_.load(std::memory_order_relaxed); }
  /// Safe from several threads at once.
  void set(std::uint64_t address, std::uint64_t bytes, bool written = true);

  // ---- Values that were written, and that are undefined ----

  /// A store of `bytes`, of which `undefined` says the undefined bits. Like set().
  void store(std::uint64_t address, const std::uint8_t* undefined, unsigned bytes);
  /// The undefined bits of one byte that is not written.
  [[nodiscard]] std::uint8_t undefined_bits(std::uint64_t address) const;
  /// An atomic stores to bytes that were never written.
  void changed_unwritten() { holds_undefined_.store(true); }
  /// The first byte that no kernel and no HIP call has written and that is no longer 0: the host
  /// has written it through the pointer. Checks once per launch; 0 if there is none.
  [[nodiscard]] std::uint64_t written_by_host(std::uint64_t launch);

  // ---- Another process's copy of the map, for a launch
  // (observe/check/global/written_map_bytes.cpp) ----

  void put(Writer& out) const;
  /// Null if the bytes are not a map.
  [[nodiscard]] static std::unique_ptr<WrittenMap> get(Reader& in);
  /// There: written_by_host() asks instead of looking.
  void set_ask_host(std::function<std::uint64_t()> ask) { ask_host_ = std::move(ask); }
  /// What has changed since get().
  void put_changes(Writer& out) const;
  /// Here: false if they are not changes of this map. Makes them if that is asked for.
  [[nodiscard]] bool change(Reader& in, bool writes);

  /// Bytes in [address, address + bytes) that are not written.
  struct Missing {
    std::uint64_t count = 0, first = 0;
  };
  [[nodiscard]] Missing missing(std::uint64_t address, std::uint64_t bytes) const;

 private:
  AddressRange range_;
  std::vector<std::atomic<std::uint8_t>> bits_;
  std::atomic<bool> complete_ = false;
  std::atomic<bool> holds_undefined_ = false;  // unwritten bytes may be other than 0
  std::mutex host_mutex_;
  std::uint64_t looked_in_launch_ = 0, found_in_launch_ = 0;
  std::atomic<bool> has_partial_ = false;
  mutable std::mutex partial_mutex_;
  PartialBytes partial_;
  // Of a copy: what it was.
  std::vector<std::uint8_t> before_;
  PartialBytes partial_before_;
  std::function<std::uint64_t()> ask_host_;
};

/// An instruction that stored undefined values, and the range that contains the stores of all its
/// lanes.
struct UndefinedStore {
  AddressRange range;
  bool told = false;      ///< The store was a finding.
  bool computed = false;  ///< The stored values were computed from undefined values, not copied.
  std::uint64_t launch = 0;
  std::string kernel;
  Access read;  ///< The load that the values came from; without an address: registers that were
                ///< never written.
  Access access;
};

/// Whether an access is of an earlier workgroup.
[[nodiscard]] inline bool is_earlier(const Access& a, const Access& b) {
  return std::tie(a.workgroup[2], a.workgroup[1], a.workgroup[0]) <
         std::tie(b.workgroup[2], b.workgroup[1], b.workgroup[0]);
}

/// Bytes that were never written, copied to memory that is not tracked.
struct UndefinedCopy {
  std::uint64_t bytes = 0;    ///< Copied in all.
  std::uint64_t missing = 0;  ///< Of them.
  std::uint64_t from = 0;     ///< Start and length of the copy,
  std::uint64_t span = 0;
  std::uint64_t first = 0;  ///< and the first byte that is missing.
};

class GlobalMemory {
 public:
  /// hipMalloc returned this range; nothing in it is written yet.
  void allocated(std::uint64_t address, std::uint64_t bytes);
  void freed(std::uint64_t address);
  /// The host has written here (hipMemcpy, hipMemset).
  void written(std::uint64_t address, std::uint64_t bytes);
  /// The host has copied: unwritten bytes remain unwritten. If the destination is not tracked, they
  /// are added to `out`.
  void copied(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, UndefinedCopy& out);

  /// Called at the end of a launch with the instructions that stored undefined values.
  void stored(std::vector<UndefinedStore> stores);
  /// The latest of those whose values may be in [address, address + bytes); computed ones take
  /// precedence.
  [[nodiscard]] std::optional<UndefinedStore> store_into(std::uint64_t address,
                                                         std::uint64_t bytes) const;

  /// Knows the host memory that the program has registered for the device (hipHostRegister).
  void set_registered(std::function<bool(std::uint64_t)> is_registered) {
    is_registered_ = std::move(is_registered);
  }
  [[nodiscard]] bool is_registered(std::uint64_t address) const {
    return is_registered_ != nullptr && is_registered_(address);
  }

  /// In another process: a map that is not known yet; null for memory that is not tracked.
  using FetchMap = std::function<std::unique_ptr<WrittenMap>(std::uint64_t address)>;
  void set_fetch(FetchMap fetch) { fetch_ = std::move(fetch); }
  template <typename Visit>
  void for_each_map(Visit&& visit) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [begin, map] : maps_) visit(*map);
  }

  /// The tracked allocation that holds `address`, or null. Stable until it is freed.
  [[nodiscard]] WrittenMap* find(std::uint64_t address) const;
  [[nodiscard]] DescribedTensors& tensors() { return tensors_; }
  [[nodiscard]] const DescribedTensors& tensors() const { return tensors_; }

 private:
  mutable std::mutex mutex_;
  // By first address; fetched maps come while others are looked for.
  mutable std::map<std::uint64_t, std::unique_ptr<WrittenMap>> maps_;
  FetchMap fetch_;
  std::vector<UndefinedStore> stores_;
  std::function<bool(std::uint64_t)> is_registered_;
  DescribedTensors tensors_;
};

}  // namespace margay::check
