// Vector memory: GLOBAL, FLAT, SCRATCH and MUBUF loads, stores and atomics. Compiled once per host
// level.
#include <bit>
#include <span>
#include <string>

#include "exec/instructions/addresses.h"
#include "exec/instructions/all_rows.h"
#include "exec/instructions/atomics.h"
#include "exec/instructions/half_atomics.h"
#include "exec/instructions/lane_memory.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

// ---- Access rights --------------------------------------------------------------------------

/// Inactive lanes get the address of an active one, so that range checks need no mask.
void fill_inactive(LaneAddresses& lanes) {
  if (lanes.active == kAllLanes || lanes.active == 0) return;
  const std::uint64_t stand_in = lanes.at[std::countr_zero(lanes.active)];
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (!(lanes.active >> lane & 1)) lanes.at[lane] = stand_in;
}

/// Checks the whole wave at once against the recently found ranges; falls back to lane by lane.
[[nodiscard]] bool check_global(Wave& wave, const Instruction& i, const LaneAddresses& lanes,
                                int bytes) {
  std::uint64_t first = ~0ull, last = 0;
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    first = lanes.at[lane] < first ? lanes.at[lane] : first;
    last = lanes.at[lane] > last ? lanes.at[lane] : last;
  }
  const std::uint64_t size = last - first + static_cast<std::uint64_t>(bytes);
  if (wave.ranges[0].contains(first, size)) return true;
  for (const AddressRange& range : wave.ranges)
    if (range.contains(first, size)) return true;
  if (wave.read_only.contains(first, size) && !i.row->is_store && !i.row->is_atomic) return true;
  return check_global_slow(wave, i, lanes, static_cast<std::uint32_t>(bytes));
}

// ---- Loads in loops -------------------------------------------------------------------------

/// Steps further than this are taken for a change of array.
constexpr std::uint64_t kLongestStep = 1 << 20;

/// Fetches the lines that this load will read when it is executed next, if it moves on by as much
/// as it did since it was executed last. Lanes read many rows a few lines at a time, which the
/// host's own prefetchers do not follow.
template <int bytes>
inline void fetch_ahead(Wave& wave, const Instruction& i, const LaneAddresses& lanes) {
  LoadStream& stream = wave.load_streams[i.vaddr / 8 % wave.load_streams.size()];
  const std::uint64_t step = lanes.at[0] - stream.at;
  const bool in_loop = stream.vaddr == i.vaddr;
  stream = {i.vaddr, lanes.at[0]};
  if (!in_loop || step == 0 || step + kLongestStep > 2 * kLongestStep) return;
  constexpr int lanes_of_line = bytes < 4 ? 16 : 64 / bytes;
  for (int lane = 0; lane < kWaveLanes; lane += lanes_of_line)
    __builtin_prefetch(reinterpret_cast<const void*>(lanes.at[lane] + step), 0, 2);
}

// ---- Loads and stores -----------------------------------------------------------------------

template <Data data>
const Instruction* global_load(Wave& wave, const Instruction& i) {
  LaneAddresses own;
  LaneAddresses& lanes = global_lanes(wave, i, own);
  if (lanes.active == 0) return following(i);
  fill_inactive(lanes);
  if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  fetch_ahead<bytes_of(data)>(wave, i, lanes);
  load_data<data>(AddressPointers{lanes.at}, lanes.active, wave.row(i.dst));
  return following(i);
}
template <Data data>
const Instruction* global_store(Wave& wave, const Instruction& i) {
  LaneAddresses own;
  LaneAddresses& lanes = global_lanes(wave, i, own);
  if (lanes.active == 0) return following(i);
  fill_inactive(lanes);
  if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  store_data<data>(AddressPointers{lanes.at}, lanes.active, wave.row(i.src[1].index()));
  return following(i);
}

// ---- Scratch --------------------------------------------------------------------------------
// Per lane, and swizzled: copied in runs of bytes within a dword.

/// Copies `bytes` between a lane's scratch and `value`; false when out of the lane's block.
template <bool is_store>
[[nodiscard]] bool scratch_access(Wave& wave, std::uint32_t offset, unsigned lane,
                                  std::uint8_t* value, int bytes) {
  if (!fits(offset, static_cast<std::uint32_t>(bytes), wave.group->scratch_bytes_per_lane))
    return false;
  for (int done = 0; done < bytes;) {
    const int in_dword = static_cast<int>(4 - (offset + static_cast<std::uint32_t>(done)) % 4);
    const int run = in_dword < bytes - done ? in_dword : bytes - done;
    std::uint8_t* const at =
        wave.scratch + scratch_offset(offset + static_cast<std::uint32_t>(done), lane);
    if constexpr (is_store)
      __builtin_memcpy(at, value + done, static_cast<std::size_t>(run));
    else
      __builtin_memcpy(value + done, at, static_cast<std::size_t>(run));
    done += run;
  }
  return true;
}

const Instruction* scratch_fault(Wave& wave, const Instruction& i, std::uint32_t offset,
                                 unsigned lane) {
  return wave.fault(
      i, {ErrorCode::illegal_address,
          "scratch access at byte " + std::to_string(offset) + " of lane " + std::to_string(lane) +
              ", which has " + std::to_string(wave.group->scratch_bytes_per_lane) +
              " bytes of scratch",
          {},
          "a local array index is out of range, or the stack overflowed"});
}

template <Data data, bool is_store>
const Instruction* scratch(Wave& wave, const Instruction& i) {
  constexpr int bytes = bytes_of(data);
  const std::uint64_t exec = wave.exec();
  const ScratchLanes offsets(wave, i);
  std::uint32_t* const dst = is_store ? nullptr : wave.row(i.dst);
  const std::uint32_t* const src = is_store ? wave.row(i.src[1].index()) : nullptr;

  if constexpr (data == Data::b32 || data == Data::b64 || data == Data::b96 || data == Data::b128) {
    // The usual case, a spill: one offset for all lanes, whole rows.
    const std::uint32_t first = offsets.at(0);
    if (offsets.are_uniform() && exec == kAllLanes && first % 4 == 0 &&
        fits(first, bytes, wave.group->scratch_bytes_per_lane)) {
      std::uint8_t* const at = wave.scratch + scratch_offset(first, 0);
      constexpr std::size_t size = std::size_t{bytes} * kWaveLanes;
      if constexpr (is_store)
        __builtin_memcpy(at, src, size);
      else
        __builtin_memcpy(dst, at, size);
      return following(i);
    }
  }
  for (std::uint64_t rest = exec; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t offset = offsets.at(lane);
    alignas(16) std::uint8_t value[16];
    // The lane's value passes through a buffer, so that all data forms share one code.
    alignas(64) std::uint64_t addresses[kWaveLanes];
    addresses[lane] = reinterpret_cast<std::uint64_t>(&value[0]);
    if constexpr (is_store) store_data<data>(AddressPointers{addresses}, 1ull << lane, src);
    if (!scratch_access<is_store>(wave, offset, lane, value, bytes))
      return scratch_fault(wave, i, offset, lane);
    if constexpr (!is_store) load_data<data>(AddressPointers{addresses}, 1ull << lane, dst);
  }
  return following(i);
}

// ---- Flat: global, LDS or scratch -----------------------------------------------------------

/// Replaces the offsets of lanes inside LDS by host addresses; returns which lanes are outside.
[[nodiscard]] std::uint64_t resolve_lds(const Wave& wave, std::uint32_t bytes,
                                        LaneAddresses& lanes) {
  std::uint64_t outside = 0;
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto offset = static_cast<std::uint32_t>(lanes.at[lane]);
    if (fits(offset, bytes, wave.group->lds_bytes))
      lanes.at[lane] = reinterpret_cast<std::uint64_t>(wave.group->lds + offset);
    else
      outside |= rest & -rest;
  }
  lanes.active &= ~outside;
  return outside;
}

template <Data data, bool is_store>
[[nodiscard]] bool flat_part(Wave& wave, const Instruction& i, LaneAccess& lanes,
                             std::uint32_t* row) {
  constexpr int bytes = bytes_of(data);
  std::uint64_t zero = 0;
  if (lanes.space == MemorySpace::scratch) {
    for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const auto offset = static_cast<std::uint32_t>(lanes.at[lane]);
      alignas(16) std::uint8_t value[16];
      lanes.at[lane] = reinterpret_cast<std::uint64_t>(&value[0]);
      if constexpr (is_store) store_data<data>(AddressPointers{lanes.at}, 1ull << lane, row);
      if (!scratch_access<is_store>(wave, offset, lane, value, bytes)) {
        (void)scratch_fault(wave, i, offset, lane);
        return false;
      }
      if constexpr (!is_store) load_data<data>(AddressPointers{lanes.at}, 1ull << lane, row);
    }
    return true;
  }
  if (lanes.space == MemorySpace::lds) {
    zero = resolve_lds(wave, bytes, lanes);
  } else {
    fill_inactive(lanes);
    if (!check_global(wave, i, lanes, bytes)) return false;
  }
  if constexpr (is_store) {
    store_data<data>(AddressPointers{lanes.at}, lanes.active, row);
  } else {
    load_data<data>(AddressPointers{lanes.at}, lanes.active, row);
    zero_lanes<data>(zero, row);
  }
  return true;
}

template <Data data, bool is_store>
const Instruction* flat(Wave& wave, const Instruction& i) {
  std::uint32_t* const row = is_store ? wave.row(i.src[1].index()) : wave.row(i.dst);
  LaneAccesses own;
  LaneAccesses& all = flat_lanes(wave, i, own);
  for (LaneAccess& part : std::span(all.access, all.count))
    if (part.active != 0 && !flat_part<data, is_store>(wave, i, part, row)) return nullptr;
  return following(i);
}

// ---- Buffers --------------------------------------------------------------------------------

/// The dwords of straddling lanes that are inside, one by one.
template <bool is_store>
[[nodiscard]] bool move_partial(Wave& wave, const Instruction& i, const LaneAddresses& lanes,
                                int dwords, std::uint32_t* row) {
  for (std::uint64_t rest = lanes.partial; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    for (int d = 0; d < dwords; ++d) {
      const std::uint64_t address = lanes.at[lane] + 4 * static_cast<std::uint64_t>(d);
      std::uint32_t& value = row[d * kWaveLanes + lane];
      const bool inside = address + 4 <= lanes.end;
      if (inside && !check_scalar_access(wave, i, address, 4)) return false;
      auto* const at = reinterpret_cast<std::uint8_t*>(address);
      if constexpr (is_store) {
        if (inside) poke(at, value);
      } else {
        value = inside ? peek<std::uint32_t>(at) : 0;
      }
    }
  }
  return true;
}

template <Data data>
const Instruction* buffer_load(Wave& wave, const Instruction& i) {
  LaneAddresses own;
  LaneAddresses* const found = buffer_lanes(wave, i, bytes_of(data), own);
  if (found == nullptr) return nullptr;
  LaneAddresses& lanes = *found;
  std::uint32_t* const dst = wave.row(i.dst);
  if (lanes.partial != 0 && !move_partial<false>(wave, i, lanes, bytes_of(data) / 4, dst))
    return nullptr;
  zero_lanes<data>(lanes.out_of_range, dst);
  if (lanes.active == 0) return following(i);
  fill_inactive(lanes);
  if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  fetch_ahead<bytes_of(data)>(wave, i, lanes);
  load_data<data>(AddressPointers{lanes.at}, lanes.active, dst);
  return following(i);
}
template <Data data>
const Instruction* buffer_store(Wave& wave, const Instruction& i) {
  LaneAddresses own;
  LaneAddresses* const found = buffer_lanes(wave, i, bytes_of(data), own);
  if (found == nullptr) return nullptr;
  LaneAddresses& lanes = *found;
  std::uint32_t* const src = wave.row(i.dst);
  if (lanes.partial != 0 && !move_partial<true>(wave, i, lanes, bytes_of(data) / 4, src))
    return nullptr;
  if (lanes.active == 0) return following(i);
  fill_inactive(lanes);
  if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  store_data<data>(AddressPointers{lanes.at}, lanes.active, src);
  return following(i);
}

// ---- Loads straight into LDS ----------------------------------------------------------------

template <Data data>
const Instruction* load_to_lds(Wave& wave, const Instruction& i, const LaneAddresses& lanes) {
  alignas(64) std::uint32_t value[kWaveLanes] = {};
  fetch_ahead<bytes_of(data)>(wave, i, lanes);
  load_data<data>(AddressPointers{lanes.at}, lanes.active, value);
  const std::uint32_t base = direct_lane(wave, i);
  for (std::uint64_t rest = lanes.active | lanes.out_of_range; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint32_t at = base + 4 * static_cast<std::uint32_t>(lane);
    if (fits(at, 4, wave.group->lds_bytes)) poke(wave.group->lds + at, value[lane]);
  }
  return following(i);
}
template <Data data>
const Instruction* global_load_lds(Wave& wave, const Instruction& i) {
  LaneAddresses own;
  LaneAddresses& lanes = global_lanes(wave, i, own);
  if (lanes.active == 0) return following(i);
  fill_inactive(lanes);
  if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  return load_to_lds<data>(wave, i, lanes);
}
template <Data data>
const Instruction* buffer_load_or_lds(Wave& wave, const Instruction& i) {
  if (!(i.extra & extra::kToLds)) return buffer_load<data>(wave, i);
  LaneAddresses own;
  LaneAddresses* const found = buffer_lanes(wave, i, bytes_of(data), own);
  if (found == nullptr) return nullptr;
  LaneAddresses& lanes = *found;
  if (lanes.active != 0) {
    fill_inactive(lanes);
    if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  }
  return load_to_lds<data>(wave, i, lanes);
}

template <Data data>
const Instruction* scratch_load_lds(Wave& wave, const Instruction& i) {
  const ScratchLanes offsets(wave, i);
  LaneAddresses lanes;
  alignas(64) std::uint32_t values[kWaveLanes] = {};
  for (std::uint64_t rest = wave.exec(); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t offset = offsets.at(lane);
    auto* const value = reinterpret_cast<std::uint8_t*>(&values[lane]);
    if (!scratch_access<false>(wave, offset, lane, value, bytes_of(data)))
      return scratch_fault(wave, i, offset, lane);
    lanes.at[lane] = reinterpret_cast<std::uint64_t>(value);
  }
  lanes.active = wave.exec();
  return load_to_lds<data>(wave, i, lanes);
}

// ---- Atomics --------------------------------------------------------------------------------

enum class Space : std::uint8_t { global, flat, buffer };

/// Applies `apply(address, lane)` to lanes with host addresses, lowest first.
template <int bytes, typename F>
[[nodiscard]] bool apply_to_lanes(Wave& wave, const Instruction& i, const LaneAddresses& lanes,
                                  F&& apply) {
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t address = lanes.at[lane];
    if (address % bytes != 0) {
      (void)wave.fault(i, {ErrorCode::illegal_address,
                           "a misaligned atomic: lane " + std::to_string(lane) +
                               " uses an address that is no multiple of " + std::to_string(bytes)});
      return false;
    }
    apply(reinterpret_cast<std::uint8_t*>(address), lane);
  }
  return true;
}

/// The same for the lanes of an atomic; `miss(lane)` for those that are out of a buffer's range.
template <Space space, int bytes, typename F, typename Miss>
const Instruction* for_each_atomic_lane(Wave& wave, const Instruction& i, F&& apply, Miss&& miss) {
  const auto global = [&](LaneAddresses& lanes) {
    if (lanes.active == 0) return true;
    fill_inactive(lanes);
    if (!check_global(wave, i, lanes, bytes)) return false;
    if (AtomicNotes* const notes = wave.group->memory->atomic_notes())
      notes->note(i.extra & extra::kSc0 ? Combine::none : i.row->memory.combine, bytes, lanes.at,
                  lanes.active);
    return apply_to_lanes<bytes>(wave, i, lanes, apply);
  };
  if constexpr (space == Space::flat) {
    LaneAccesses own;
    LaneAccesses& all = flat_lanes(wave, i, own);
    const std::span parts(all.access, all.count);
    for (const LaneAccess& part : parts)
      if (part.space == MemorySpace::scratch && part.active != 0)
        return wave.fault(
            i, {ErrorCode::not_implemented, "an atomic on scratch memory is not implemented"});
    for (LaneAccess& part : parts) {
      if (part.space == MemorySpace::global) {
        if (!global(part)) return nullptr;
      } else {
        (void)resolve_lds(wave, bytes, part);
        if (!apply_to_lanes<bytes>(wave, i, part, apply)) return nullptr;
      }
    }
    return following(i);
  } else {
    LaneAddresses own;
    LaneAddresses* lanes = &own;
    if constexpr (space == Space::buffer) {
      lanes = buffer_lanes(wave, i, bytes, own);
      if (lanes == nullptr) return nullptr;
      // An atomic that straddles the end is not performed.
      for (std::uint64_t rest = lanes->out_of_range | lanes->partial; rest != 0; rest &= rest - 1)
        miss(std::countr_zero(rest));
    } else {
      lanes = &global_lanes(wave, i, own);
    }
    return global(*lanes) ? following(i) : nullptr;
  }
}

template <Space space, typename Operation, typename T>
const Instruction* global_atomic(Wave& wave, const Instruction& i) {
  std::uint32_t* const data = wave.row(space == Space::buffer ? i.dst : i.src[1].index());
  std::uint32_t* const dst = wave.row(i.dst);
  const bool returns = i.extra & extra::kSc0;
  const auto apply = [&](std::uint8_t* address, int lane) {
    const T old = atomic::exchange<Operation>(address, lane_value<T>(data, lane));
    if (returns) set_lane_value(dst, lane, old);
  };
  return for_each_atomic_lane<space, sizeof(T)>(wave, i, apply, [&](int lane) {
    if (returns) set_lane_value(dst, lane, T{});
  });
}
/// Data in the first register(s), the value to compare with in the following.
template <Space space, typename T>
const Instruction* global_compare_swap(Wave& wave, const Instruction& i) {
  std::uint32_t* const data = wave.row(space == Space::buffer ? i.dst : i.src[1].index());
  std::uint32_t* const dst = wave.row(i.dst);
  const bool returns = i.extra & extra::kSc0;
  const auto apply = [&](std::uint8_t* address, int lane) {
    const T compare = lane_value<T>(data + sizeof(T) / 4 * kWaveLanes, lane);
    const T old = atomic::compare_exchange(address, compare, lane_value<T>(data, lane));
    if (returns) set_lane_value(dst, lane, old);
  };
  return for_each_atomic_lane<space, sizeof(T)>(wave, i, apply, [&](int lane) {
    if (returns) set_lane_value(dst, lane, T{});
  });
}

// ---- The list -------------------------------------------------------------------------------

enum class Direction : std::uint8_t { load, store, atomic };

class VmemRows {
 public:
  explicit VmemRows(RowTable& table) : table_(table) {}

  /// Loads of one data form in all four spaces; `lds` adds global_load_lds_* and
  /// scratch_load_lds_*.
  template <Data data>
  void loads(std::string_view name, std::string_view lds = {}) {
    constexpr auto kLoad = Direction::load;
    add_data<data>(MemoryPath::global, "load_", name, global_load<data>, kLoad);
    add_data<data>(MemoryPath::flat, "load_", name, flat<data, false>, kLoad);
    add_data<data>(MemoryPath::scratch, "load_", name, scratch<data, false>, kLoad);
    add_data<data>(MemoryPath::buffer, "load_", name, buffer_load_or_lds<data>, kLoad);
    if (lds.empty()) return;
    add_data<data>(MemoryPath::global, "load_lds_", lds, global_load_lds<data>, kLoad, true);
    add_data<data>(MemoryPath::scratch, "load_lds_", lds, scratch_load_lds<data>, kLoad, true);
  }
  template <Data data>
  void stores(std::string_view name) {
    constexpr auto kStore = Direction::store;
    add_data<data>(MemoryPath::global, "store_", name, global_store<data>, kStore);
    add_data<data>(MemoryPath::flat, "store_", name, flat<data, true>, kStore);
    add_data<data>(MemoryPath::scratch, "store_", name, scratch<data, true>, kStore);
    add_data<data>(MemoryPath::buffer, "store_", name, buffer_store<data>, kStore);
  }
  template <typename Operation, typename T>
  void atomics(std::string_view name) {
    constexpr auto kind = std::is_same_v<Operation, atomic::Swap> ? Atomic::swap : Atomic::computes;
    constexpr Combine how = combine_of<Operation, T>();
    add_atomic<T>(MemoryPath::global, name, global_atomic<Space::global, Operation, T>, kind, how);
    add_atomic<T>(MemoryPath::flat, name, global_atomic<Space::flat, Operation, T>, kind, how);
    add_atomic<T>(MemoryPath::buffer, name, global_atomic<Space::buffer, Operation, T>, kind, how);
  }
  template <typename Operation, typename Narrow, typename Wide>
  void atomics_both_widths(const std::string& name) {
    atomics<Operation, Narrow>(name);
    atomics<Operation, Wide>(name + "_x2");
  }
  template <typename T>
  void compare_swap(std::string_view name) {
    add_atomic<T>(MemoryPath::global, name, global_compare_swap<Space::global, T>,
                  Atomic::compare_swap);
    add_atomic<T>(MemoryPath::flat, name, global_compare_swap<Space::flat, T>,
                  Atomic::compare_swap);
    add_atomic<T>(MemoryPath::buffer, name, global_compare_swap<Space::buffer, T>,
                  Atomic::compare_swap);
  }

 private:
  static std::string_view space_of(MemoryPath path) {
    switch (path) {
      case MemoryPath::global:
        return "global_";
      case MemoryPath::flat:
        return "flat_";
      case MemoryPath::scratch:
        return "scratch_";
      default:
        return "buffer_";
    }
  }
  static AccessFunction accesses_of(MemoryPath path) {
    switch (path) {
      case MemoryPath::global:
        return global_accesses;
      case MemoryPath::flat:
        return flat_accesses;
      case MemoryPath::scratch:
        return scratch_accesses;
      default:
        return buffer_accesses;
    }
  }
  static Row row(MemoryPath path, std::string_view operation, std::string_view name,
                 Handler handler, int bytes, Direction direction, int values = 1) {
    Row row;
    row.mnemonic =
        interned(std::string(space_of(path)) + std::string(operation) + std::string(name));
    row.instruction_class = InstructionClass::vmem;
    row.plain = handler;
    row.memory.path = path;
    row.memory.accesses = accesses_of(path);
    row.memory.bytes = static_cast<std::uint16_t>(bytes);
    row.registers = static_cast<std::uint8_t>((bytes < 4 ? 1 : bytes / 4) * values);
    row.is_load = direction == Direction::load;
    row.is_store = direction == Direction::store;
    row.is_atomic = direction == Direction::atomic;
    return row;
  }
  template <Data data>
  void add_data(MemoryPath path, std::string_view operation, std::string_view name, Handler handler,
                Direction direction, bool to_lds = false) {
    Row one = row(path, operation, name, handler, bytes_of(data), direction);
    one.memory.part = part_of(data);
    one.memory.to_lds = to_lds;
    table_.add(one);
  }
  enum class Atomic : std::uint8_t { computes, swap, compare_swap };
  template <typename Operation, typename T>
  static consteval Combine combine_of() {
    if constexpr (!std::is_integral_v<T>) return Combine::none;
    const auto is = [](auto operation) { return std::is_same_v<Operation, decltype(operation)>; };
    if (is(atomic::Add{}) || is(atomic::Sub{})) return Combine::sum;
    if (is(atomic::And{})) return Combine::bit_and;
    if (is(atomic::Or{})) return Combine::bit_or;
    if (is(atomic::Xor{})) return Combine::bit_xor;
    if (is(atomic::Min{})) return std::is_signed_v<T> ? Combine::signed_min : Combine::unsigned_min;
    if (is(atomic::Max{})) return std::is_signed_v<T> ? Combine::signed_max : Combine::unsigned_max;
    return Combine::none;
  }
  template <typename T>
  void add_atomic(MemoryPath path, std::string_view name, Handler handler, Atomic kind,
                  Combine combine = Combine::none) {
    const bool compares = kind == Atomic::compare_swap;  // and is given two values
    Row one = row(path, "atomic_", name, handler, sizeof(T), Direction::atomic, compares ? 2 : 1);
    one.memory.compares_bits = compares;
    one.memory.swaps = kind == Atomic::swap;
    one.memory.combine = combine;
    table_.add(one);
  }
  RowTable& table_;
};

}  // namespace

void add_vmem_rows(RowTable& table) {
  VmemRows rows(table);
  rows.loads<Data::u8>("ubyte", "ubyte");
  rows.loads<Data::i8>("sbyte", "sbyte");
  rows.loads<Data::u16>("ushort", "ushort");
  rows.loads<Data::i16>("sshort", "sshort");
  rows.loads<Data::b32>("dword", "dword");
  rows.loads<Data::b64>("dwordx2");
  rows.loads<Data::b96>("dwordx3");
  rows.loads<Data::b128>("dwordx4");
  rows.loads<Data::u8_d16>("ubyte_d16");
  rows.loads<Data::u8_d16_hi>("ubyte_d16_hi");
  rows.loads<Data::i8_d16>("sbyte_d16");
  rows.loads<Data::i8_d16_hi>("sbyte_d16_hi");
  rows.loads<Data::b16_d16>("short_d16");
  rows.loads<Data::b16_d16_hi>("short_d16_hi");
  rows.stores<Data::b8>("byte");
  rows.stores<Data::b16>("short");
  rows.stores<Data::b8_d16_hi_store>("byte_d16_hi");
  rows.stores<Data::b16_d16_hi_store>("short_d16_hi");
  rows.stores<Data::b32>("dword");
  rows.stores<Data::b64>("dwordx2");
  rows.stores<Data::b96>("dwordx3");
  rows.stores<Data::b128>("dwordx4");

  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  using i32 = std::int32_t;
  using i64 = std::int64_t;
  rows.atomics_both_widths<atomic::Swap, u32, u64>("swap");
  rows.atomics_both_widths<atomic::Add, u32, u64>("add");
  rows.atomics_both_widths<atomic::Sub, u32, u64>("sub");
  rows.atomics_both_widths<atomic::Min, i32, i64>("smin");
  rows.atomics_both_widths<atomic::Min, u32, u64>("umin");
  rows.atomics_both_widths<atomic::Max, i32, i64>("smax");
  rows.atomics_both_widths<atomic::Max, u32, u64>("umax");
  rows.atomics_both_widths<atomic::And, u32, u64>("and");
  rows.atomics_both_widths<atomic::Or, u32, u64>("or");
  rows.atomics_both_widths<atomic::Xor, u32, u64>("xor");
  rows.atomics_both_widths<atomic::Increment, u32, u64>("inc");
  rows.atomics_both_widths<atomic::Decrement, u32, u64>("dec");
  rows.compare_swap<u32>("cmpswap");
  rows.compare_swap<u64>("cmpswap_x2");
  rows.atomics<atomic::Add, float>("add_f32");
  rows.atomics<atomic::Add, double>("add_f64");
  rows.atomics<atomic::Min, double>("min_f64");
  rows.atomics<atomic::Max, double>("max_f64");
  rows.atomics<atomic::PackedAdd<half_bits_to_float, float_to_half_bits>, u32>("pk_add_f16");
  rows.atomics<atomic::PackedAdd<bfloat_to_float, float_to_bfloat>, u32>("pk_add_bf16");
}

}  // namespace margay::MARGAY_HOST_LEVEL
