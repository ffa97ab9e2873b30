// LDS: reads, writes, two-address forms, atomics, and the lane exchanges that use its crossbar.
// Compiled once per host level.
//
// An address beyond the workgroup's allocation reads 0 and drops writes, as on the hardware (MI300
// ISA guide, 3.6.5); the checker reports it. M0 is no limit: compilers for gfx9 never set it.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "exec/instructions/addresses.h"
#include "exec/instructions/all_rows.h"
#include "exec/instructions/atomics.h"
#include "exec/instructions/half_atomics.h"
#include "exec/instructions/lane_memory.h"
#include "exec/program/float_mode.h"
#include "exec/rows/row_table.h"
#include "exec/state/extra.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

/// Byte offsets of one access per lane, with the lanes that are inside LDS.
struct LdsLanes {
  alignas(64) std::uint32_t at[kWaveLanes];
  std::uint64_t active;
  std::uint64_t out_of_range;
};

/// `number`: which of the instruction's accesses.
template <std::uint32_t mask = ~0u>
[[nodiscard]] inline LdsLanes lds_lanes(Wave& wave, const Instruction& i, std::uint32_t offset,
                                        std::uint32_t bytes, unsigned number = 0) {
  LdsLanes lanes;
  if (wave.accesses != nullptr)
    known_ds_addresses(wave, number, lanes.at);
  else
    ds_addresses<mask>(wave, i, offset, lanes.at);
  std::uint32_t last = 0;
  for (const std::uint32_t at : lanes.at) last = at > last ? at : last;
  lanes.active = wave.exec();
  lanes.out_of_range = 0;
  const std::uint32_t size = wave.group->lds_bytes;
  if (fits(last, bytes, size)) return lanes;
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if (!fits(lanes.at[lane], bytes, size)) lanes.out_of_range |= 1ull << lane;
  }
  lanes.active &= ~lanes.out_of_range;
  return lanes;
}

[[nodiscard]] inline OffsetPointers pointers(Wave& wave, const LdsLanes& lanes) {
  return {wave.group->lds, lanes.at};
}

/// The address register of an access of all lanes, none of which is out of range at `last` bytes
/// behind its address: the usual case, for which no address has to be computed. Otherwise null.
[[nodiscard]] inline const std::uint32_t* usual_addresses(const Wave& wave, const Instruction& i,
                                                          std::uint32_t last) {
  if (wave.accesses != nullptr || wave.exec() != kAllLanes) return nullptr;
  const std::uint32_t* const address = row_of(wave, i.src[0].index());
  std::uint32_t highest = 0;
  for (int lane = 0; lane < kWaveLanes; ++lane)
    highest = address[lane] > highest ? address[lane] : highest;
  return std::uint64_t{highest} + last <= wave.group->lds_bytes ? address : nullptr;
}
/// The same for a load, which may overwrite its address register: then a copy of it.
struct ReadAddresses {
  alignas(64) std::uint32_t copy[kWaveLanes];
  [[nodiscard]] const std::uint32_t* of(const Wave& wave, const Instruction& i, std::uint32_t last,
                                        unsigned registers) {
    const std::uint32_t* const address = usual_addresses(wave, i, last);
    if (address == nullptr || i.src[0].index() - i.dst >= registers) return address;
    std::memcpy(copy, address, sizeof copy);
    return copy;
  }
};

template <Data data>
const Instruction* lds_read(Wave& wave, const Instruction& i) {
  constexpr std::uint32_t bytes = bytes_of(data);
  const auto offset = static_cast<std::uint32_t>(i.offset);
  ReadAddresses usual;
  if (const std::uint32_t* const at = usual.of(wave, i, offset + bytes, (bytes + 3) / 4)) {
    load_data<data>(OffsetPointers{wave.group->lds + offset, at}, kAllLanes, wave.row(i.dst));
    return following(i);
  }
  const LdsLanes lanes = lds_lanes(wave, i, static_cast<std::uint32_t>(i.offset), bytes_of(data));
  std::uint32_t* const dst = wave.row(i.dst);
  load_data<data>(pointers(wave, lanes), lanes.active, dst);
  zero_lanes<data>(lanes.out_of_range, dst);
  return following(i);
}
template <Data data>
const Instruction* lds_write(Wave& wave, const Instruction& i) {
  const auto offset = static_cast<std::uint32_t>(i.offset);
  if (const std::uint32_t* const at = usual_addresses(wave, i, offset + bytes_of(data))) {
    store_data<data>(OffsetPointers{wave.group->lds + offset, at}, kAllLanes,
                     wave.row(i.src[1].index()));
    return following(i);
  }
  const LdsLanes lanes = lds_lanes(wave, i, static_cast<std::uint32_t>(i.offset), bytes_of(data));
  store_data<data>(pointers(wave, lanes), lanes.active, wave.row(i.src[1].index()));
  return following(i);
}

/// read2 / write2: two accesses at offsets counted in elements (times 64 for the st64 forms).
template <Data data, int unit>
const Instruction* lds_read2(Wave& wave, const Instruction& i) {
  constexpr int registers = bytes_of(data) / 4;
  const std::uint32_t offsets[2] = {extra::ds_offset0(i.extra) * unit,
                                    extra::ds_offset1(i.extra) * unit};
  ReadAddresses usual;
  if (const std::uint32_t* const at =
          usual.of(wave, i, std::max(offsets[0], offsets[1]) + bytes_of(data), 2 * registers)) {
    for (int n = 0; n < 2; ++n)
      load_data<data>(OffsetPointers{wave.group->lds + offsets[n], at}, kAllLanes,
                      wave.row(i.dst) + n * registers * kWaveLanes);
    return following(i);
  }
  // The address register may be among the destinations: resolve both accesses first.
  const LdsLanes first = lds_lanes(wave, i, offsets[0], bytes_of(data));
  const LdsLanes second = lds_lanes(wave, i, offsets[1], bytes_of(data), 1);
  std::uint32_t* const dst = wave.row(i.dst);
  load_data<data>(pointers(wave, first), first.active, dst);
  zero_lanes<data>(first.out_of_range, dst);
  load_data<data>(pointers(wave, second), second.active, dst + registers * kWaveLanes);
  zero_lanes<data>(second.out_of_range, dst + registers * kWaveLanes);
  return following(i);
}
template <Data data, int unit>
const Instruction* lds_write2(Wave& wave, const Instruction& i) {
  const std::uint32_t offsets[2] = {extra::ds_offset0(i.extra) * unit,
                                    extra::ds_offset1(i.extra) * unit};
  if (const std::uint32_t* const at =
          usual_addresses(wave, i, std::max(offsets[0], offsets[1]) + bytes_of(data))) {
    for (unsigned n = 0; n < 2; ++n)
      store_data<data>(OffsetPointers{wave.group->lds + offsets[n], at}, kAllLanes,
                       wave.row(i.src[1 + n].index()));
    return following(i);
  }
  const LdsLanes first = lds_lanes(wave, i, offsets[0], bytes_of(data));
  const LdsLanes second = lds_lanes(wave, i, offsets[1], bytes_of(data), 1);
  store_data<data>(pointers(wave, first), first.active, wave.row(i.src[1].index()));
  store_data<data>(pointers(wave, second), second.active, wave.row(i.src[2].index()));
  return following(i);
}

// ---- Atomics --------------------------------------------------------------------------------
// One host thread runs all waves of a workgroup, but a flat atomic of the same workgroup may meet
// these: plain read-modify-write is enough.

template <typename Operation, typename T, bool returns>
const Instruction* lds_atomic(Wave& wave, const Instruction& i) {
  const LdsLanes lanes = lds_lanes(wave, i, static_cast<std::uint32_t>(i.offset), sizeof(T));
  const std::uint32_t* const data = wave.row(i.src[1].index());
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::uint8_t* const at = wave.group->lds + lanes.at[lane];
    const T old = peek<T>(at);
    const T value = lane_value<T>(data, lane);
    poke<T>(at, Operation::apply(old, value));
    if constexpr (returns) set_lane_value(wave.row(i.dst), lane, old);
  }
  return following(i);
}
/// Data0 is compared, data1 stored (the opposite order of global_atomic_cmpswap's tuple).
template <typename T, bool returns>
const Instruction* lds_compare_store(Wave& wave, const Instruction& i) {
  const LdsLanes lanes = lds_lanes(wave, i, static_cast<std::uint32_t>(i.offset), sizeof(T));
  const std::uint32_t* const compare = wave.row(i.src[1].index());
  const std::uint32_t* const data = wave.row(i.src[2].index());
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::uint8_t* const at = wave.group->lds + lanes.at[lane];
    const T old = peek<T>(at);
    if (old == lane_value<T>(compare, lane)) poke<T>(at, lane_value<T>(data, lane));
    if constexpr (returns) set_lane_value(wave.row(i.dst), lane, old);
  }
  return following(i);
}

// In another MODE operands and results are flushed; rounding is always to nearest even. Source:
// MI300 ISA guide, chapter 11. It does not mention bf16: MODE has no field for it, and denormals
// are kept.

template <typename T>
[[nodiscard]] T flushed(T x) {
  if constexpr (std::is_same_v<T, std::uint32_t>) {  // two f16
    if ((x & 0x7c00u) == 0) x &= ~0x3ffu;
    if ((x & 0x7c00'0000u) == 0) x &= ~0x3ff'0000u;
    return x;
  } else {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    constexpr Bits exponent = sizeof(T) == 8 ? Bits(0x7ff0'0000'0000'0000) : Bits(0x7f80'0000);
    const auto bits = std::bit_cast<Bits>(x);
    return bits & exponent ? x : std::bit_cast<T>(bits & sign);
  }
}
/// T: a number, or two f16.
template <typename Operation, typename T, bool returns>
const Instruction* lds_atomic_in_mode(Wave& wave, const Instruction& i) {
  constexpr bool single = std::is_same_v<T, float>;
  const bool keeps_in = keeps_denormal_inputs(wave.mode, single),
             keeps_out = keeps_denormal_results(wave.mode, single);
  const LdsLanes lanes = lds_lanes(wave, i, static_cast<std::uint32_t>(i.offset), sizeof(T));
  const std::uint32_t* const data = wave.row(i.src[1].index());
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::uint8_t* const at = wave.group->lds + lanes.at[lane];
    const T old = peek<T>(at), value = lane_value<T>(data, lane);
    const T result =
        keeps_in ? Operation::apply(old, value) : Operation::apply(flushed(old), flushed(value));
    poke<T>(at, keeps_out ? result : flushed(result));
    if constexpr (returns) set_lane_value(wave.row(i.dst), lane, old);
  }
  return following(i);
}
template <typename T, bool returns>
const Instruction* lds_compare_store_in_mode(Wave& wave, const Instruction& i) {
  if (keeps_denormal_inputs(wave.mode, std::is_same_v<T, float>))
    return lds_compare_store<T, returns>(wave, i);
  const LdsLanes lanes = lds_lanes(wave, i, static_cast<std::uint32_t>(i.offset), sizeof(T));
  const std::uint32_t* const compare = wave.row(i.src[1].index());
  const std::uint32_t* const data = wave.row(i.src[2].index());
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::uint8_t* const at = wave.group->lds + lanes.at[lane];
    const T old = peek<T>(at);
    if (flushed(old) == flushed(lane_value<T>(compare, lane)))
      poke<T>(at, lane_value<T>(data, lane));
    if constexpr (returns) set_lane_value(wave.row(i.dst), lane, old);
  }
  return following(i);
}

/// Compare-and-store-like forms with two data registers: the new value from the old one and both.
template <typename Operation, typename T, bool returns>
const Instruction* lds_atomic_two(Wave& wave, const Instruction& i) {
  const LdsLanes lanes = lds_lanes(wave, i, static_cast<std::uint32_t>(i.offset), sizeof(T));
  const std::uint32_t* const first = wave.row(i.src[1].index());
  const std::uint32_t* const second = wave.row(i.src[2].index());
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::uint8_t* const at = wave.group->lds + lanes.at[lane];
    const T old = peek<T>(at);
    poke<T>(at, Operation::apply(old, lane_value<T>(first, lane), lane_value<T>(second, lane)));
    if constexpr (returns) set_lane_value(wave.row(i.dst), lane, old);
  }
  return following(i);
}
/// Clears the bits of the first, sets those of the second.
struct MaskOr {
  template <typename T>
  static T apply(T old, T mask, T data) {
    return (old & ~mask) | data;
  }
};
/// The position in a ring: minus the first operand if it is at least that large, else plus the
/// second.
struct Wrap {
  static std::uint32_t apply(std::uint32_t old, std::uint32_t back, std::uint32_t on) {
    return old >= back ? old - back : old + on;
  }
};
/// Two exchanges, at offsets counted in elements.
template <typename T, int unit>
const Instruction* lds_exchange2(Wave& wave, const Instruction& i) {
  const LdsLanes lanes[2] = {lds_lanes(wave, i, extra::ds_offset0(i.extra) * unit, sizeof(T)),
                             lds_lanes(wave, i, extra::ds_offset1(i.extra) * unit, sizeof(T), 1)};
  // The destination may overlap the data: both results are collected first.
  T data[2][kWaveLanes], old[2][kWaveLanes];
  for (unsigned n = 0; n < 2; ++n)
    for (int lane = 0; lane < kWaveLanes; ++lane)
      data[n][lane] = lane_value<T>(wave.row(i.src[1 + n].index()), lane);
  for (unsigned n = 0; n < 2; ++n)
    for (std::uint64_t rest = lanes[n].active; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      std::uint8_t* const at = wave.group->lds + lanes[n].at[lane];
      old[n][lane] = peek<T>(at);
      poke<T>(at, data[n][lane]);
    }
  for (unsigned n = 0; n < 2; ++n)
    for (std::uint64_t rest = lanes[n].active; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      set_lane_value(wave.row(i.dst + n * sizeof(T) / 4), lane, old[n][lane]);
    }
  return following(i);
}
/// Each dword of an aligned pair is replaced, without bit 31, where bit 31 of its data is set.
/// Source: MI300 ISA guide, DS_CONDXCHG32_RTN_B64, which keeps 16 bits of the address.
constexpr std::uint32_t kConditionalExchangeBits = 0xfff8;
const Instruction* lds_conditional_exchange(Wave& wave, const Instruction& i) {
  const LdsLanes lanes =
      lds_lanes<kConditionalExchangeBits>(wave, i, static_cast<std::uint32_t>(i.offset), 8);
  std::uint32_t data[2][kWaveLanes], old[2][kWaveLanes];
  for (unsigned n = 0; n < 2; ++n)
    std::memcpy(data[n], wave.row(i.src[1].index() + n), sizeof data[n]);
  for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    for (unsigned n = 0; n < 2; ++n) {
      std::uint8_t* const cell = wave.group->lds + lanes.at[lane] + 4 * n;
      old[n][lane] = peek<std::uint32_t>(cell);
      if (data[n][lane] >> 31) poke<std::uint32_t>(cell, data[n][lane] & 0x7fffffff);
    }
  }
  for (unsigned n = 0; n < 2; ++n)
    for (std::uint64_t rest = lanes.active; rest != 0; rest &= rest - 1)
      wave.row(i.dst + n)[std::countr_zero(rest)] = old[n][std::countr_zero(rest)];
  return following(i);
}

// ---- Addresses from M0 ----------------------------------------------------------------------

template <bool store>
const Instruction* lds_by_lane(Wave& wave, const Instruction& i) {
  std::uint32_t* const row = wave.row(store ? i.src[1].index() : i.dst);
  const std::uint32_t first = m0_lane(wave, i);
  for (std::uint64_t rest = wave.exec(); rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    const std::uint32_t at = first + 4 * static_cast<std::uint32_t>(lane);
    const bool inside = fits(at, 4, wave.group->lds_bytes);
    if constexpr (store) {
      if (inside) poke<std::uint32_t>(wave.group->lds + at, row[lane]);
    } else {
      row[lane] = inside ? peek<std::uint32_t>(wave.group->lds + at) : 0;
    }
  }
  return following(i);
}
/// Adds or subtracts the number of active lanes; each of them gets the old value.
template <bool append>
const Instruction* lds_count(Wave& wave, const Instruction& i) {
  const std::uint64_t exec = wave.exec();
  const std::uint32_t at = m0_lane<~3u>(wave, i);
  std::uint32_t old = 0;
  if (fits(at, 4, wave.group->lds_bytes)) {
    old = peek<std::uint32_t>(wave.group->lds + at);
    const auto lanes = static_cast<std::uint32_t>(std::popcount(exec));
    poke<std::uint32_t>(wave.group->lds + at, append ? old + lanes : old - lanes);
  }
  std::uint32_t* const dst = wave.row(i.dst);
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (exec >> lane & 1) dst[lane] = old;
  return following(i);
}

const Instruction* no_global_wave_sync(Wave& wave, const Instruction& i) {
  return wave.fault(i, {ErrorCode::not_implemented,
                        std::string(i.row->mnemonic) +
                            ": the virtual device has no global wave sync (GWS), which the driver "
                            "would have to allocate",
                        {},
                        "a cooperative launch waits for the whole grid in memory instead"});
}

// ---- Lane exchange --------------------------------------------------------------------------
// These use LDS hardware but no LDS memory. The lane number is bits 7:2 of address + offset.

/// Pull: each lane reads the data of the lane it names; an inactive source lane gives 0.
const Instruction* ds_bpermute(Wave& wave, const Instruction& i) {
  const std::uint64_t exec = wave.exec();
  alignas(64) std::uint32_t result[kWaveLanes];
  const std::uint32_t* const address = wave.row(i.src[0].index());
  const std::uint32_t* const data = wave.row(i.src[1].index());
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    const std::uint32_t from = (address[lane] + static_cast<std::uint32_t>(i.offset)) >> 2 & 63;
    result[lane] = exec >> from & 1 ? data[from] : 0;
  }
  std::uint32_t* const dst = wave.row(i.dst);
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (exec >> lane & 1) dst[lane] = result[lane];
  return following(i);
}
/// Push: each lane sends to the lane it names; the highest sender wins, lanes that no lane names
/// get 0.
const Instruction* ds_permute(Wave& wave, const Instruction& i) {
  const std::uint64_t exec = wave.exec();
  alignas(64) std::uint32_t result[kWaveLanes] = {};
  const std::uint32_t* const address = wave.row(i.src[0].index());
  const std::uint32_t* const data = wave.row(i.src[1].index());
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (exec >> lane & 1)
      result[(address[lane] + static_cast<std::uint32_t>(i.offset)) >> 2 & 63] = data[lane];
  std::uint32_t* const dst = wave.row(i.dst);
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (exec >> lane & 1) dst[lane] = result[lane];
  return following(i);
}
/// The pattern is in the offset. Source: MI300 ISA guide, DS_SWIZZLE_B32.
const Instruction* ds_swizzle(Wave& wave, const Instruction& i) {
  const std::uint64_t exec = wave.exec();
  const auto pattern = static_cast<unsigned>(i.offset);
  alignas(64) std::uint32_t result[kWaveLanes];
  const std::uint32_t* const data = wave.row(i.src[0].index());
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) {
    unsigned from;
    if (pattern >= 0xe000) {  // decomposition of an FFT: reversed bits, above those kept in place
      const unsigned mask = pattern & 31;
      unsigned reversed = 0;
      for (unsigned bit = 0; bit < 5; ++bit) reversed |= (lane >> bit & 1) << (4 - bit);
      from = reversed >> std::popcount(mask) | (lane & mask) | (lane & 32);
    } else if (pattern >= 0xc000) {  // rotation of the bits outside a mask
      const unsigned mask = pattern & 31, amount = pattern >> 5 & 31;
      const unsigned moved = pattern & 0x400 ? lane - amount : lane + amount;
      from = ((lane & mask) | (moved & ~mask)) & 31;
      from |= lane & 32;
    } else if (pattern & 0x8000) {
      from = (lane & ~3u) | (pattern >> (2 * (lane & 3)) & 3);
    } else {
      const unsigned and_mask = pattern & 31, or_mask = pattern >> 5 & 31,
                     xor_mask = pattern >> 10 & 31;
      from = (lane & 32) | ((((lane & 31) & and_mask) | or_mask) ^ xor_mask);
    }
    result[lane] = exec >> from & 1 ? data[from] : 0;
  }
  std::uint32_t* const dst = wave.row(i.dst);
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (exec >> lane & 1) dst[lane] = result[lane];
  return following(i);
}

// ---- The list -------------------------------------------------------------------------------

class LdsRows {
 public:
  explicit LdsRows(RowTable& table) : table_(table) {}

  template <Data data>
  void read(std::string_view name) {
    add_data<data>(name, lds_read<data>, true);
  }
  template <Data data>
  void write(std::string_view name) {
    add_data<data>(name, lds_write<data>, false);
  }
  template <Data data>
  void pairs(const std::string& suffix) {
    constexpr int bytes = bytes_of(data);
    add_pair("ds_read2_" + suffix, lds_read2<data, bytes>, bytes, bytes, true);
    add_pair("ds_read2st64_" + suffix, lds_read2<data, 64 * bytes>, bytes, 64 * bytes, true);
    add_pair("ds_write2_" + suffix, lds_write2<data, bytes>, bytes, bytes, false);
    add_pair("ds_write2st64_" + suffix, lds_write2<data, 64 * bytes>, bytes, 64 * bytes, false);
  }
  /// ds_OP_TYPE and ds_OP_rtn_TYPE.
  template <typename Operation, typename T, bool half_pair = false>
  void atomics(const std::string& operation, const std::string& type) {
    Handler in_mode[2] = {};
    if constexpr (half_pair || std::is_floating_point_v<T>) {
      in_mode[0] = lds_atomic_in_mode<Operation, T, false>;
      in_mode[1] = lds_atomic_in_mode<Operation, T, true>;
    }
    add_atomic(interned("ds_" + operation + "_" + type), lds_atomic<Operation, T, false>, sizeof(T),
               false, in_mode[0]);
    add_atomic(interned("ds_" + operation + "_rtn_" + type), lds_atomic<Operation, T, true>,
               sizeof(T), true, in_mode[1]);
  }
  template <typename Operation, typename Narrow, typename Wide>
  void integer_atomics(const std::string& operation, char sign) {
    atomics<Operation, Narrow>(operation, std::string(1, sign) + "32");
    atomics<Operation, Wide>(operation, std::string(1, sign) + "64");
  }
  template <typename T>
  void compare_store(const std::string& type) {
    Handler in_mode[2] = {};
    if constexpr (std::is_floating_point_v<T>) {
      in_mode[0] = lds_compare_store_in_mode<T, false>;
      in_mode[1] = lds_compare_store_in_mode<T, true>;
    }
    add_atomic(interned("ds_cmpst_" + type), lds_compare_store<T, false>, sizeof(T), false,
               in_mode[0], 2, !std::is_floating_point_v<T>);
    add_atomic(interned("ds_cmpst_rtn_" + type), lds_compare_store<T, true>, sizeof(T), true,
               in_mode[1], 2, !std::is_floating_point_v<T>);
  }
  template <typename T>
  void swap(const std::string& type) {
    Row row =
        base(interned("ds_wrxchg_rtn_" + type), lds_atomic<atomic::Swap, T, true>, sizeof(T), 1);
    row.is_atomic = row.returns_value = row.memory.swaps = true;
    table_.add(row);
  }
  /// ds_OP_TYPE and ds_OP_rtn_TYPE with two data operands.
  template <typename T>
  void mask_or(const std::string& type) {
    add_atomic(interned("ds_mskor_" + type), lds_atomic_two<MaskOr, T, false>, sizeof(T), false,
               nullptr, 2);
    add_atomic(interned("ds_mskor_rtn_" + type), lds_atomic_two<MaskOr, T, true>, sizeof(T), true,
               nullptr, 2);
  }
  void wrap() {
    add_atomic("ds_wrap_rtn_b32", lds_atomic_two<Wrap, std::uint32_t, true>, 4, true, nullptr, 2);
  }
  template <typename T>
  void exchange2(const std::string& type) {
    constexpr int bytes = sizeof(T);
    for (const bool far : {false, true}) {
      Row row = base(interned(std::string(far ? "ds_wrxchg2st64_rtn_" : "ds_wrxchg2_rtn_") + type),
                     far ? lds_exchange2<T, 64 * bytes> : lds_exchange2<T, bytes>, bytes, 2);
      row.is_atomic = row.returns_value = row.memory.swaps = true;
      row.memory.path = MemoryPath::ds_two;
      row.memory.accesses = ds_two_accesses;
      row.memory.offset_unit = (far ? 64 : 1) * bytes;
      row.memory.data_operands = 2;
      table_.add(row);
    }
  }
  void conditional_exchange() {
    Row row = base("ds_condxchg32_rtn_b64", lds_conditional_exchange, 8, 1);
    row.is_atomic = row.returns_value = true;
    row.memory.accesses = ds_accesses<kConditionalExchangeBits>;
    table_.add(row);
  }
  /// Each lane's dword behind the address in M0.
  void by_lane() {
    for (const bool store : {false, true}) {
      Row row = base(store ? "ds_write_addtid_b32" : "ds_read_addtid_b32",
                     store ? lds_by_lane<true> : lds_by_lane<false>, 4, 1);
      row.is_load = !store;
      row.is_store = store;
      row.address_from_m0 = true;
      row.memory.accesses = ds_by_lane_accesses;
      table_.add(row);
    }
  }
  /// One counter for the wave at the address in M0.
  void counter() {
    for (const bool append : {false, true}) {
      Row row = base(append ? "ds_append" : "ds_consume",
                     append ? lds_count<true> : lds_count<false>, 4, 1);
      row.is_atomic = row.returns_value = row.address_from_m0 = true;
      row.memory.accesses = ds_counter_accesses;
      table_.add(row);
    }
  }
  void global_wave_sync() {
    const auto add = [&](std::string_view name, Flow flow = Flow::next) {
      Row row = base(name, no_global_wave_sync, 0, 1);
      row.instruction_class = InstructionClass::other;
      row.memory = {};
      row.flow = flow;
      table_.add(row);
    };
    add("ds_gws_init");
    add("ds_gws_barrier", Flow::grid_barrier);
    add("ds_gws_sema_br");
    add("ds_gws_sema_p");
    add("ds_gws_sema_v");
    add("ds_gws_sema_release_all");
  }
  void exchange(std::string_view name, Handler handler, LaneExchange how) {
    Row row = base(name, handler, 4, 1);
    row.memory = {};
    row.memory.exchange = how;
    row.is_store = true;  // has a data operand
    row.returns_value = true;
    table_.add(row);
  }

 private:
  [[nodiscard]] static Row base(std::string_view name, Handler handler, std::size_t bytes,
                                int values) {
    Row row;
    row.mnemonic = name;
    row.instruction_class = InstructionClass::lds;
    row.plain = handler;
    row.memory.path = MemoryPath::ds;
    row.memory.accesses = ds_accesses<>;
    row.memory.bytes = static_cast<std::uint16_t>(bytes);
    row.registers =
        static_cast<std::uint8_t>((bytes < 4 ? 1 : bytes / 4) * static_cast<unsigned>(values));
    return row;
  }
  template <Data data>
  void add_data(std::string_view name, Handler handler, bool load) {
    Row row = base(name, handler, bytes_of(data), 1);
    row.is_load = load;
    row.is_store = !load;
    row.memory.part = part_of(data);
    table_.add(row);
  }
  /// A load has both values in one destination, a store in an operand each.
  void add_pair(std::string name, Handler handler, std::size_t bytes, int offset_unit, bool load) {
    Row row = base(interned(std::move(name)), handler, bytes, load ? 2 : 1);
    row.is_load = load;
    row.is_store = !load;
    row.memory.path = MemoryPath::ds_two;
    row.memory.accesses = ds_two_accesses;
    row.memory.offset_unit = static_cast<std::uint16_t>(offset_unit);
    row.memory.data_operands = load ? 1 : 2;
    table_.add(row);
  }
  void add_atomic(std::string_view name, Handler handler, std::size_t bytes, bool returns,
                  Handler in_float_mode = nullptr, int data_operands = 1,
                  bool compares_bits = false) {
    Row row = base(name, handler, bytes, 1);
    row.memory.compares_bits = compares_bits;
    row.memory.data_operands = static_cast<std::uint8_t>(data_operands);
    row.in_float_mode = in_float_mode;
    row.is_atomic = true;
    row.returns_value = returns;
    table_.add(row);
  }
  RowTable& table_;
};

}  // namespace

void add_lds_rows(RowTable& table) {
  LdsRows rows(table);
  rows.read<Data::u8>("ds_read_u8");
  rows.read<Data::i8>("ds_read_i8");
  rows.read<Data::u16>("ds_read_u16");
  rows.read<Data::i16>("ds_read_i16");
  rows.read<Data::u8_d16>("ds_read_u8_d16");
  rows.read<Data::u8_d16_hi>("ds_read_u8_d16_hi");
  rows.read<Data::i8_d16>("ds_read_i8_d16");
  rows.read<Data::i8_d16_hi>("ds_read_i8_d16_hi");
  rows.read<Data::b16_d16>("ds_read_u16_d16");
  rows.read<Data::b16_d16_hi>("ds_read_u16_d16_hi");
  rows.read<Data::b32>("ds_read_b32");
  rows.read<Data::b64>("ds_read_b64");
  rows.read<Data::b96>("ds_read_b96");
  rows.read<Data::b128>("ds_read_b128");
  rows.write<Data::b8>("ds_write_b8");
  rows.write<Data::b16>("ds_write_b16");
  rows.write<Data::b8_d16_hi_store>("ds_write_b8_d16_hi");
  rows.write<Data::b16_d16_hi_store>("ds_write_b16_d16_hi");
  rows.write<Data::b32>("ds_write_b32");
  rows.write<Data::b64>("ds_write_b64");
  rows.write<Data::b96>("ds_write_b96");
  rows.write<Data::b128>("ds_write_b128");
  rows.pairs<Data::b32>("b32");
  rows.pairs<Data::b64>("b64");

  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  rows.integer_atomics<atomic::Add, u32, u64>("add", 'u');
  rows.integer_atomics<atomic::Sub, u32, u64>("sub", 'u');
  rows.integer_atomics<atomic::ReverseSub, u32, u64>("rsub", 'u');
  rows.integer_atomics<atomic::Increment, u32, u64>("inc", 'u');
  rows.integer_atomics<atomic::Decrement, u32, u64>("dec", 'u');
  rows.integer_atomics<atomic::Min, std::int32_t, std::int64_t>("min", 'i');
  rows.integer_atomics<atomic::Max, std::int32_t, std::int64_t>("max", 'i');
  rows.integer_atomics<atomic::Min, u32, u64>("min", 'u');
  rows.integer_atomics<atomic::Max, u32, u64>("max", 'u');
  rows.integer_atomics<atomic::And, u32, u64>("and", 'b');
  rows.integer_atomics<atomic::Or, u32, u64>("or", 'b');
  rows.integer_atomics<atomic::Xor, u32, u64>("xor", 'b');
  rows.atomics<atomic::Add, float>("add", "f32");
  rows.atomics<atomic::Add, double>("add", "f64");
  rows.atomics<atomic::Min, float>("min", "f32");
  rows.atomics<atomic::Max, float>("max", "f32");
  rows.atomics<atomic::Min, double>("min", "f64");
  rows.atomics<atomic::Max, double>("max", "f64");
  rows.compare_store<u32>("b32");
  rows.compare_store<u64>("b64");
  rows.compare_store<float>("f32");
  rows.compare_store<double>("f64");
  rows.swap<u32>("b32");
  rows.swap<u64>("b64");
  rows.exchange2<u32>("b32");
  rows.exchange2<u64>("b64");
  rows.mask_or<u32>("b32");
  rows.mask_or<u64>("b64");
  rows.wrap();
  rows.conditional_exchange();
  rows.atomics<atomic::PackedAdd<half_bits_to_float, float_to_half_bits>, u32, true>("pk_add",
                                                                                     "f16");
  rows.atomics<atomic::PackedAdd<bfloat_to_float, float_to_bfloat>, u32>("pk_add", "bf16");
  rows.by_lane();
  rows.counter();
  rows.global_wave_sync();
  rows.exchange("ds_bpermute_b32", ds_bpermute, LaneExchange::pull);
  rows.exchange("ds_permute_b32", ds_permute, LaneExchange::push);
  rows.exchange("ds_swizzle_b32", ds_swizzle, LaneExchange::swizzle);
}

}  // namespace margay::MARGAY_HOST_LEVEL
