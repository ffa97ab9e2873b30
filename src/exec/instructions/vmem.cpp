// Vector memory: GLOBAL, FLAT, SCRATCH and MUBUF loads, stores and atomics. Compiled once per host
// level.
#include <bit>
#include <string>

#include "exec/instructions/all_rows.h"
#include "exec/instructions/atomics.h"
#include "exec/instructions/half_atomics.h"
#include "exec/instructions/lane_memory.h"
#include "exec/program/memory_model.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

/// Whether [offset, offset + bytes) is below `limit`; an offset near 2^32 must not wrap into it.
[[nodiscard]] constexpr bool fits(std::uint32_t offset, int bytes, std::uint32_t limit) {
  return static_cast<std::uint32_t>(bytes) <= limit &&
         offset <= limit - static_cast<std::uint32_t>(bytes);
}

// ---- Addresses ------------------------------------------------------------------------------

/// Inactive lanes get the address of an active one, so that range checks need no mask.
void fill_inactive(LaneAddresses& lanes) {
  if (lanes.active == kAllLanes || lanes.active == 0) return;
  const std::uint64_t stand_in = lanes.at[std::countr_zero(lanes.active)];
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (!(lanes.active >> lane & 1)) lanes.at[lane] = stand_in;
}

void global_addresses(Wave& wave, const Instruction& i, LaneAddresses& out) {
  const std::uint32_t* const low = wave.row(i.src[0].index());
  const auto offset = static_cast<std::uint64_t>(std::int64_t{i.offset});
  if (i.src[2].kind() == margay::Source::kScalar) {
    const std::uint64_t base = wave.scalar64(i.src[2].index()) + offset;
    for (int lane = 0; lane < kWaveLanes; ++lane) out.at[lane] = base + low[lane];
  } else {
    const std::uint32_t* const high = low + kWaveLanes;
    for (int lane = 0; lane < kWaveLanes; ++lane)
      out.at[lane] = (low[lane] | std::uint64_t{high[lane]} << 32) + offset;
  }
  out.active = wave.exec();
  out.out_of_range = 0;
  fill_inactive(out);
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

// ---- Loads and stores -----------------------------------------------------------------------

template <Data data>
[[nodiscard]] bool consecutive(const LaneAddresses& lanes) {
  bool same = true;
  for (int lane = 0; lane < kWaveLanes; ++lane)
    same &= lanes.at[lane] == lanes.at[0] + static_cast<std::uint64_t>(lane) * bytes_of(data);
  return same;
}

template <Data data>
void load_global_lanes(Wave& wave, const Instruction& i, const LaneAddresses& lanes) {
  std::uint32_t* const dst = wave.row(i.dst);
  if constexpr (data == Data::b32) {
    if (lanes.active == kAllLanes && consecutive<data>(lanes)) {
      __builtin_memcpy(dst, AddressPointers{lanes.at}(0), 4 * kWaveLanes);
      return;
    }
  }
  load_data<data>(AddressPointers{lanes.at}, lanes.active, dst);
}

template <Data data>
const Instruction* global_load(Wave& wave, const Instruction& i) {
  LaneAddresses lanes;
  global_addresses(wave, i, lanes);
  if (lanes.active == 0) return following(i);
  if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  load_global_lanes<data>(wave, i, lanes);
  return following(i);
}
template <Data data>
const Instruction* global_store(Wave& wave, const Instruction& i) {
  LaneAddresses lanes;
  global_addresses(wave, i, lanes);
  if (lanes.active == 0) return following(i);
  if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  const std::uint32_t* const src = wave.row(i.src[1].index());
  if constexpr (data == Data::b32) {
    if (lanes.active == kAllLanes && consecutive<data>(lanes)) {
      __builtin_memcpy(AddressPointers{lanes.at}(0), src, 4 * kWaveLanes);
      return following(i);
    }
  }
  store_data<data>(AddressPointers{lanes.at}, lanes.active, src);
  return following(i);
}

// ---- Scratch --------------------------------------------------------------------------------
// Per lane, and swizzled: copied in runs of bytes within a dword.

/// Copies `bytes` between a lane's scratch and `value`; false when out of the lane's block.
template <bool is_store>
[[nodiscard]] bool scratch_access(Wave& wave, std::uint32_t offset, unsigned lane,
                                  std::uint8_t* value, int bytes) {
  if (!fits(offset, bytes, wave.group->scratch_bytes_per_lane)) return false;
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
  std::uint32_t uniform = static_cast<std::uint32_t>(i.offset);
  if (i.src[2].kind() == margay::Source::kScalar) uniform += wave.s[i.src[2].index()];
  const bool per_lane_offset = i.extra & extra::kScratchVaddr;
  const std::uint32_t* const offsets = wave.row(i.src[0].index());
  std::uint32_t* const dst = is_store ? nullptr : wave.row(i.dst);
  const std::uint32_t* const src = is_store ? wave.row(i.src[1].index()) : nullptr;

  if constexpr (data == Data::b32 || data == Data::b64 || data == Data::b96 || data == Data::b128) {
    // The usual case, a spill: one offset for all lanes, whole rows.
    if (!per_lane_offset && exec == kAllLanes && uniform % 4 == 0 &&
        fits(uniform, bytes, wave.group->scratch_bytes_per_lane)) {
      std::uint8_t* const at = wave.scratch + scratch_offset(uniform, 0);
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
    const std::uint32_t offset = uniform + (per_lane_offset ? offsets[lane] : 0);
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

// ---- Flat: global, LDS or scratch, lane by lane ---------------------------------------------

/// Redirects lanes whose address is in the LDS aperture; returns which are in the scratch aperture.
struct FlatLanes {
  std::uint64_t global = 0, lds = 0, scratch = 0;
};
FlatLanes classify(const LaneAddresses& lanes) {
  FlatLanes out;
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto high = static_cast<std::uint32_t>(lanes.at[lane] >> 32);
    const std::uint64_t bit = 1ull << lane;
    if (high == kSharedApertureHigh)
      out.lds |= bit;
    else if (high == kPrivateApertureHigh)
      out.scratch |= bit;
    else
      out.global |= bit;
  }
  return out;
}

template <Data data, bool is_store>
const Instruction* flat(Wave& wave, const Instruction& i) {
  constexpr int bytes = bytes_of(data);
  LaneAddresses lanes;
  global_addresses(wave, i, lanes);
  if (lanes.active == 0) return following(i);
  const FlatLanes kinds = classify(lanes);
  std::uint32_t* const row = is_store ? wave.row(i.src[1].index()) : wave.row(i.dst);

  std::uint64_t direct = kinds.global, zero = 0;
  if (kinds.global != 0) {
    LaneAddresses global = lanes;
    global.active = kinds.global;
    fill_inactive(global);
    if (!check_global(wave, i, global, bytes)) return nullptr;
  }
  for (std::uint64_t rest = kinds.lds; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const auto offset = static_cast<std::uint32_t>(lanes.at[lane]);
    if (!fits(offset, bytes, wave.group->lds_bytes)) {
      zero |= 1ull << lane;
      continue;
    }
    lanes.at[lane] = reinterpret_cast<std::uint64_t>(wave.group->lds + offset);
    direct |= 1ull << lane;
  }
  if constexpr (is_store) {
    store_data<data>(AddressPointers{lanes.at}, direct, row);
  } else {
    load_data<data>(AddressPointers{lanes.at}, direct, row);
    zero_lanes<data>(zero, row);
  }
  for (std::uint64_t rest = kinds.scratch; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const auto offset = static_cast<std::uint32_t>(lanes.at[lane]);
    alignas(16) std::uint8_t value[16];
    lanes.at[lane] = reinterpret_cast<std::uint64_t>(&value[0]);
    if constexpr (is_store) store_data<data>(AddressPointers{lanes.at}, 1ull << lane, row);
    if (!scratch_access<is_store>(wave, offset, lane, value, bytes))
      return scratch_fault(wave, i, offset, lane);
    if constexpr (!is_store) load_data<data>(AddressPointers{lanes.at}, 1ull << lane, row);
  }
  return following(i);
}

// ---- Buffers --------------------------------------------------------------------------------

/// Raw buffers, the usual case, a whole wave at a time: byte offsets against num_records. A lane
/// that straddles the end is in `partial`: its leading dwords are inside. (LLVM merges neighbouring
/// raw loads under strict bounds, which is right only because the hardware checks dword by dword.)
struct BufferLanes : LaneAddresses {
  std::uint64_t partial = 0;
  std::uint64_t end = 0;  ///< First address past the buffer.
};

/// False if the descriptor is unusable.
[[nodiscard]] bool buffer_lanes(Wave& wave, const Instruction& i, std::uint32_t bytes,
                                BufferLanes& out) {
  const BufferResource r = buffer_resource(wave, i);
  if (!check_buffer(wave, i, r, bytes)) return false;
  const bool idxen = i.extra & extra::kIdxen;
  if ((r.add_tid && !idxen) || (r.stride != 0 && idxen)) {
    buffer_addresses(wave, i, bytes, out);
    return true;
  }
  const std::uint32_t soffset = scalar_source(wave, i, 2);
  const std::uint64_t limit = r.num_records > soffset ? r.num_records - soffset : 0;
  const std::uint64_t base = r.base + soffset;
  const auto immediate = static_cast<std::uint32_t>(i.offset);
  const std::uint32_t* const row = wave.row(i.src[0].index() + (idxen ? 1 : 0));
  const std::uint64_t exec = wave.exec();
  std::uint64_t last = 0;
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    const std::uint64_t offset =
        (i.extra & extra::kOffen ? std::uint64_t{row[lane]} : 0) + immediate;
    out.at[lane] = base + offset;
    last = offset > last ? offset : last;
  }
  out.active = exec;
  out.end = base + limit;
  if (last + bytes <= limit) return true;
  for (std::uint64_t rest = exec; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint64_t offset = out.at[lane] - base, bit = 1ull << lane;
    if (offset + bytes <= limit) continue;
    out.active &= ~bit;
    (bytes > 4 && offset + 4 <= limit ? out.partial : out.out_of_range) |= bit;
  }
  return true;
}

/// The dwords of straddling lanes that are inside, one by one.
template <bool is_store>
[[nodiscard]] bool move_partial(Wave& wave, const Instruction& i, const BufferLanes& lanes,
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
  BufferLanes lanes;
  if (!buffer_lanes(wave, i, bytes_of(data), lanes)) return nullptr;
  std::uint32_t* const dst = wave.row(i.dst);
  if (lanes.partial != 0 && !move_partial<false>(wave, i, lanes, bytes_of(data) / 4, dst))
    return nullptr;
  zero_lanes<data>(lanes.out_of_range, dst);
  if (lanes.active == 0) return following(i);
  fill_inactive(lanes);
  if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  load_global_lanes<data>(wave, i, lanes);
  return following(i);
}
template <Data data>
const Instruction* buffer_store(Wave& wave, const Instruction& i) {
  BufferLanes lanes;
  if (!buffer_lanes(wave, i, bytes_of(data), lanes)) return nullptr;
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
// LDS address = M0 + instruction offset + 4 * lane; see cdna3 ISA 10.3.

template <Data data>
const Instruction* load_to_lds(Wave& wave, const Instruction& i, const LaneAddresses& lanes) {
  alignas(64) std::uint32_t value[kWaveLanes] = {};
  load_data<data>(AddressPointers{lanes.at}, lanes.active, value);
  const std::uint32_t base = (wave.s[kM0Index] & 0x3fffcu) + static_cast<std::uint32_t>(i.offset);
  for (std::uint64_t rest = lanes.active | lanes.out_of_range; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint32_t at = base + 4 * static_cast<std::uint32_t>(lane);
    if (fits(at, 4, wave.group->lds_bytes)) poke(wave.group->lds + at, value[lane]);
  }
  return following(i);
}
template <Data data>
const Instruction* global_load_lds(Wave& wave, const Instruction& i) {
  LaneAddresses lanes;
  global_addresses(wave, i, lanes);
  if (lanes.active == 0) return following(i);
  if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  return load_to_lds<data>(wave, i, lanes);
}
template <Data data>
const Instruction* buffer_load_or_lds(Wave& wave, const Instruction& i) {
  if (!(i.extra & extra::kToLds)) return buffer_load<data>(wave, i);
  LaneAddresses lanes;
  if (!check_buffer(wave, i, buffer_resource(wave, i), bytes_of(data))) return nullptr;
  buffer_addresses(wave, i, bytes_of(data), lanes);
  if (lanes.active != 0) {
    fill_inactive(lanes);
    if (!check_global(wave, i, lanes, bytes_of(data))) return nullptr;
  }
  return load_to_lds<data>(wave, i, lanes);
}

template <Data data>
const Instruction* scratch_load_lds(Wave& wave, const Instruction& i) {
  std::uint32_t uniform = static_cast<std::uint32_t>(i.offset);
  if (i.src[2].kind() == margay::Source::kScalar) uniform += wave.s[i.src[2].index()];
  const bool per_lane_offset = i.extra & extra::kScratchVaddr;
  const std::uint32_t* const offsets = wave.row(i.src[0].index());
  LaneAddresses lanes;
  alignas(64) std::uint32_t values[kWaveLanes] = {};
  for (std::uint64_t rest = wave.exec(); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint32_t offset = uniform + (per_lane_offset ? offsets[lane] : 0);
    auto* const value = reinterpret_cast<std::uint8_t*>(&values[lane]);
    if (!scratch_access<false>(wave, offset, lane, value, bytes_of(data)))
      return scratch_fault(wave, i, offset, lane);
    lanes.at[lane] = reinterpret_cast<std::uint64_t>(value);
  }
  lanes.active = wave.exec();
  return load_to_lds<data>(wave, i, lanes);
}

/// The reverse: a dword per lane from where a load would put it.
const Instruction* buffer_store_lds(Wave& wave, const Instruction& i) {
  LaneAddresses lanes;
  if (!check_buffer(wave, i, buffer_resource(wave, i), 4)) return nullptr;
  buffer_addresses(wave, i, 4, lanes);
  if (lanes.active == 0) return following(i);
  fill_inactive(lanes);
  if (!check_global(wave, i, lanes, 4)) return nullptr;
  const std::uint32_t base = (wave.s[kM0Index] & 0x3fffcu) + static_cast<std::uint32_t>(i.offset);
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint32_t at = base + 4 * static_cast<std::uint32_t>(lane);
    const bool inside = fits(at, 4, wave.group->lds_bytes);
    poke(AddressPointers{lanes.at}(lane), inside ? peek<std::uint32_t>(wave.group->lds + at) : 0);
  }
  return following(i);
}

// ---- Atomics --------------------------------------------------------------------------------

enum class Space : std::uint8_t { global, flat, buffer };

/// Resolves addresses and applies `apply(address, lane)` to each lane, lowest first; `miss(lane)`
/// to those that are out of a buffer's range.
template <Space space, int bytes, typename F, typename Miss>
const Instruction* for_each_atomic_lane(Wave& wave, const Instruction& i, F&& apply, Miss&& miss) {
  LaneAddresses lanes;
  if constexpr (space == Space::buffer) {
    if (!check_buffer(wave, i, buffer_resource(wave, i), bytes)) return nullptr;
    buffer_addresses(wave, i, bytes, lanes);
  } else {
    global_addresses(wave, i, lanes);
  }
  for (std::uint64_t rest = lanes.out_of_range; rest != 0; rest &= rest - 1)
    miss(std::countr_zero(rest));
  if (lanes.active == 0) return following(i);
  FlatLanes kinds{lanes.active, 0, 0};
  if constexpr (space == Space::flat) kinds = classify(lanes);
  if (kinds.scratch != 0)
    return wave.fault(
        i, {ErrorCode::not_implemented, "an atomic on scratch memory is not implemented"});
  if (kinds.global != 0) {
    LaneAddresses global = lanes;
    global.active = kinds.global;
    fill_inactive(global);
    if (!check_global(wave, i, global, bytes)) return nullptr;
  }
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::uint64_t address = lanes.at[lane];
    if (kinds.lds >> lane & 1) {
      const auto offset = static_cast<std::uint32_t>(address);
      if (!fits(offset, bytes, wave.group->lds_bytes)) continue;
      address = reinterpret_cast<std::uint64_t>(wave.group->lds + offset);
    }
    if (address % bytes != 0)
      return wave.fault(
          i, {ErrorCode::illegal_address, "a misaligned atomic: lane " + std::to_string(lane) +
                                              " uses an address that is no multiple of " +
                                              std::to_string(bytes)});
    apply(reinterpret_cast<std::uint8_t*>(address), lane);
  }
  return following(i);
}

template <typename T>
[[nodiscard]] T lane_value(const std::uint32_t* row, int lane) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(row[lane] | std::uint64_t{row[kWaveLanes + lane]} << 32);
  else
    return std::bit_cast<T>(row[lane]);
}
template <typename T>
void set_lane_value(std::uint32_t* row, int lane, T value) {
  if constexpr (sizeof(T) == 8) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    row[lane] = static_cast<std::uint32_t>(bits);
    row[kWaveLanes + lane] = static_cast<std::uint32_t>(bits >> 32);
  } else {
    row[lane] = std::bit_cast<std::uint32_t>(value);
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
  void store_from_lds() {
    table_.add(
        row(MemoryPath::buffer, "store_", "lds_dword", buffer_store_lds, 4, Direction::store));
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
    add_atomic<T>(MemoryPath::global, name, global_atomic<Space::global, Operation, T>, kind);
    add_atomic<T>(MemoryPath::flat, name, global_atomic<Space::flat, Operation, T>, kind);
    add_atomic<T>(MemoryPath::buffer, name, global_atomic<Space::buffer, Operation, T>, kind);
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
  static Row row(MemoryPath path, std::string_view operation, std::string_view name,
                 Handler handler, int bytes, Direction direction, int values = 1) {
    Row row;
    row.mnemonic =
        interned(std::string(space_of(path)) + std::string(operation) + std::string(name));
    row.instruction_class = InstructionClass::vmem;
    row.plain = handler;
    row.memory.path = path;
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
  template <typename T>
  void add_atomic(MemoryPath path, std::string_view name, Handler handler, Atomic kind) {
    const bool compares = kind == Atomic::compare_swap;  // and is given two values
    Row one = row(path, "atomic_", name, handler, sizeof(T), Direction::atomic, compares ? 2 : 1);
    one.memory.compares_bits = compares;
    one.memory.swaps = kind == Atomic::swap;
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

  rows.store_from_lds();

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
