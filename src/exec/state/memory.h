// The device's memory: an arena of host memory, a map of what is allocated in it, and the rule for
// which other host memory a device program may access. Several devices share one arena, in which
// each block belongs to one of them.
//
// A device address is a host address. Allocations of hipMalloc are in one reserved arena, so that
// an address inside the arena is valid only inside a live allocation; an address outside is valid
// when the host process has mapped it (a NumPy array, a torch CPU tensor, pinned memory), and may
// be written when the host may write there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "exec/state/combine.h"

namespace margay {

/// Half-open range of device addresses.
struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] bool operator==(const AddressRange&) const = default;
  [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t size_bytes) const {
    return address >= begin && size_bytes <= end - begin &&
           address - begin <= end - begin - size_bytes;
  }
};

/// The owner of a block of memory.
struct Placement {
  unsigned device = 0;  ///< The device whose capacity it uses.
  bool shared = false;  ///< Every device may access it: managed and pinned memory.
  /// Programs may read on to the end of its last page: a code object, which is mapped in pages.
  bool whole_pages = false;
};

/// One block of device memory, live or freed.
struct Allocation {
  AddressRange range;        ///< Exactly the requested bytes.
  std::uint64_t serial = 0;  ///< 1 for the first allocation of the process, then counting.
  std::string label;         ///< Its origin, e.g. "hipMalloc" or "code object vadd".
  bool freed = false;
  Placement placement = {};
};

class Memory {
 public:
  /// Reserves address space for `devices` of `capacity_bytes` each; nothing is committed.
  /// `whole_pages`: device programs may read any block to the end of its last page.
  [[nodiscard]] static Result<std::unique_ptr<Memory>> create(std::uint64_t capacity_bytes,
                                                              unsigned devices = 1,
                                                              bool whole_pages = false);
  /// The memory of another process: `lookup` gives the widest range around an address that a device
  /// program may read, and write if that is asked for. Nothing can be allocated in it.
  /// `notes`, if any, is informed of atomics.
  using Lookup = std::function<AddressRange(std::uint64_t address, bool writable)>;
  [[nodiscard]] static std::unique_ptr<Memory> of_another_process(Lookup lookup,
                                                                  AtomicNotes* notes = nullptr);
  [[nodiscard]] AtomicNotes* atomic_notes() const { return atomic_notes_; }
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Allocates `size_bytes` (> 0), aligned to a page, zero-filled, followed by an unmapped gap.
  [[nodiscard]] Result<void*> allocate(std::uint64_t size_bytes, std::string label,
                                       Placement placement = {});
  /// Frees an allocation by its first address. Its addresses are not reused while the arena has
  /// room, so that a later access is recognised as use after free.
  [[nodiscard]] Status free(void* pointer);

  /// From now on programs that this host thread runs are on `device` and may access the memory of
  /// the devices in the mask `visible`; by default all memory.
  static void set_view(unsigned device, std::uint64_t visible);

  /// The live or freed allocation that holds `address`, if any.
  [[nodiscard]] std::optional<Allocation> find(std::uint64_t address) const;
  /// The allocation (live or freed) nearest below `address`, to report how far past its end an
  /// address is.
  [[nodiscard]] std::optional<Allocation> nearest_below(std::uint64_t address) const;
  /// True when `address` is in the arena, allocated or not.
  [[nodiscard]] bool in_arena(std::uint64_t address) const;
  [[nodiscard]] AddressRange arena() const { return {arena_begin_, arena_begin_ + arena_bytes_}; }

  /// The widest range around `address` that a device program may read and write, or an empty range.
  [[nodiscard]] AddressRange accessible_range(std::uint64_t address) const;
  /// The same for reading only: includes constants and files of the host.
  [[nodiscard]] AddressRange readable_range(std::uint64_t address) const;
  /// The block that `address` is in or just behind, to the end of its last page, which is zeros:
  /// what the hardware lets a program read. Empty if there is none.
  [[nodiscard]] AddressRange whole_pages_at(std::uint64_t address) const;
  /// The same where programs may: in a block with `whole_pages`, or everywhere by create().
  [[nodiscard]] AddressRange tolerated_range(std::uint64_t address) const;

  /// The message for an access that is not allowed: the nearest allocation and the distance from
  /// it. `access` is a word such as "read" or "write".
  [[nodiscard]] Error describe_fault(std::uint64_t address, std::uint64_t size_bytes,
                                     std::string access) const;

  [[nodiscard]] std::uint64_t capacity_bytes() const { return capacity_bytes_; }
  [[nodiscard]] std::uint64_t allocated_bytes(unsigned device = 0) const;
  /// Calls `visit` for each live allocation, by address.
  void for_each_live(const std::function<void(const Allocation&)>& visit) const;

 private:
  Memory(std::uint64_t arena_begin, std::uint64_t arena_bytes, std::uint64_t capacity_bytes,
         unsigned devices, bool whole_pages);
  [[nodiscard]] bool is_visible(const Allocation& allocation) const {
    return allocation.placement.shared || (view_.visible >> allocation.placement.device & 1) != 0;
  }
  [[nodiscard]] std::optional<std::uint64_t> take_address_space(std::uint64_t bytes);
  [[nodiscard]] AddressRange range_for(std::uint64_t address, bool writable) const;

  Lookup lookup_;
  AtomicNotes* atomic_notes_ = nullptr;
  std::uint64_t arena_begin_;
  std::uint64_t arena_bytes_;
  std::uint64_t capacity_bytes_;
  bool whole_pages_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Allocation> allocations_;  // by first address, including freed ones
  std::uint64_t next_address_;
  std::uint64_t next_serial_ = 1;
  std::vector<std::uint64_t> allocated_bytes_;  // by device
  /// The device whose view a host thread has.
  struct View {
    unsigned device = 0;
    std::uint64_t visible = ~0ull;
  };
  static thread_local View view_;
};

}  // namespace margay
