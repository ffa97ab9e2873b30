// The addresses of the lanes of a memory instruction, by path: the only place where they are
// computed, for the handlers and for the watchers of a run. Compiled once per host level.
//
// *_addresses() computes, *_accesses() does it for the stream of executed instructions
// (Row::memory.accesses), and *_lanes() is what handlers call: it takes what the stream has
// computed, and computes if the run is not watched.
#pragma once

#include <bit>

#include "exec/program/lane_access.h"
#include "exec/program/memory_model.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"

namespace margay::MARGAY_HOST_LEVEL {

[[nodiscard]] inline const std::uint32_t* row_of(const Wave& wave, unsigned index) {
  return wave.v + std::size_t{index} * kWaveLanes;
}

// ---- LDS ------------------------------------------------------------------------------------

/// Address + offset modulo 2^32; `mask`: the significant bits.
template <std::uint32_t mask = ~0u, typename T>
inline void ds_addresses(const Wave& wave, const Instruction& i, std::uint32_t offset,
                         T (&at)[kWaveLanes]) {
  const std::uint32_t* const address = row_of(wave, i.src[0].index());
  for (int lane = 0; lane < kWaveLanes; ++lane) at[lane] = (address[lane] + offset) & mask;
}
/// The same as the stream has computed it, access `number` of the instruction.
inline void known_ds_addresses(const Wave& wave, unsigned number, std::uint32_t (&at)[kWaveLanes]) {
  const std::uint64_t* const known = wave.accesses->access[number].at;
  for (int lane = 0; lane < kWaveLanes; ++lane) at[lane] = static_cast<std::uint32_t>(known[lane]);
}

template <std::uint32_t mask = ~0u>
inline void ds_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                        LaneAccesses& out) {
  LaneAccess& access = out.append(form, MemorySpace::lds);
  ds_addresses<mask>(wave, i, static_cast<std::uint32_t>(i.offset), access.at);
  access.active = wave.exec();
}
inline void ds_two_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                            LaneAccesses& out) {
  for (const std::uint32_t offset : {extra::ds_offset0(i.extra), extra::ds_offset1(i.extra)}) {
    LaneAccess& access = out.append(form, MemorySpace::lds);
    ds_addresses(wave, i, offset * form.offset_unit, access.at);
    access.active = wave.exec();
  }
}

/// Each lane's dword behind the address in M0.
inline void ds_by_lane_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                                LaneAccesses& out) {
  LaneAccess& access = out.append(form, MemorySpace::lds);
  const std::uint32_t base = m0_address(wave, i);
  for (std::uint32_t lane = 0; lane < kWaveLanes; ++lane) access.at[lane] = base + 4 * lane;
  access.active = wave.exec();
}
/// The counter of append and consume is accessed once for the wave.
inline void ds_counter_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                                LaneAccesses& out) {
  LaneAccess& access = out.append(form, MemorySpace::lds);
  const std::uint32_t at = m0_address(wave, i) & ~3u;
  for (std::uint64_t& lane : access.at) lane = at;
  access.active = wave.exec() & -wave.exec();
}
/// The first lane's address of these two.
template <std::uint32_t mask = ~0u>
[[nodiscard]] inline std::uint32_t m0_lane(const Wave& wave, const Instruction& i) {
  return wave.accesses != nullptr ? static_cast<std::uint32_t>(wave.accesses->access[0].at[0])
                                  : m0_address(wave, i) & mask;
}

// ---- Global and flat ------------------------------------------------------------------------

inline void global_addresses(const Wave& wave, const Instruction& i, LaneAddresses& out) {
  const std::uint32_t* const low = row_of(wave, i.src[0].index());
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
}

inline void global_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                            LaneAccesses& out) {
  global_addresses(wave, i, out.append(form, MemorySpace::global));
  if (form.to_lds) add_direct_access(wave, i, out);
}
[[nodiscard]] inline LaneAddresses& global_lanes(Wave& wave, const Instruction& i,
                                                 LaneAddresses& own) {
  if (wave.accesses != nullptr) return wave.accesses->access[0];
  global_addresses(wave, i, own);
  return own;
}

/// Flat: the lanes whose address is in an aperture are an access of their own, of LDS or scratch.
inline void flat_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                          LaneAccesses& out) {
  LaneAccess& global = out.append(form, MemorySpace::global);
  global_addresses(wave, i, global);
  constexpr std::uint32_t kApertures[] = {kSharedApertureHigh, kPrivateApertureHigh};
  bool any = false;
  for (const std::uint64_t at : global.at)
    any |= at >> 32 == kApertures[0] || at >> 32 == kApertures[1];
  if (any) {
    const std::uint64_t active = global.active;
    for (const std::uint32_t aperture : kApertures) {
      std::uint64_t inside = 0;
      for (std::uint64_t rest = active; rest != 0; rest &= rest - 1)
        if (global.at[std::countr_zero(rest)] >> 32 == aperture) inside |= rest & -rest;
      if (inside == 0) continue;
      const bool is_lds = aperture == kSharedApertureHigh;
      LaneAccess& part = out.append(form, is_lds ? MemorySpace::lds : MemorySpace::scratch);
      for (int lane = 0; lane < kWaveLanes; ++lane) part.at[lane] = global.at[lane] & 0xffff'ffff;
      part.active = inside;
      global.active &= ~inside;
    }
  }
  if (global.active != 0) return;
  for (std::uint32_t n = 1; n < out.count; ++n) out.access[n - 1] = out.access[n];
  --out.count;
}
[[nodiscard]] inline LaneAccesses& flat_lanes(Wave& wave, const Instruction& i, LaneAccesses& own) {
  if (wave.accesses != nullptr) return *wave.accesses;
  flat_accesses(wave, i, {}, own);
  return own;
}

// ---- Scratch --------------------------------------------------------------------------------

inline void scratch_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                             LaneAccesses& out) {
  LaneAccess& access = out.append(form, MemorySpace::scratch);
  const ScratchOffsets offsets(wave, i);
  for (unsigned lane = 0; lane < kWaveLanes; ++lane) access.at[lane] = offsets.at(lane);
  access.active = wave.exec();
  if (form.to_lds) add_direct_access(wave, i, out);
}
class ScratchLanes {
 public:
  ScratchLanes(const Wave& wave, const Instruction& i)
      : known_(wave.accesses != nullptr ? wave.accesses->access[0].at : nullptr), own_(wave, i) {}
  [[nodiscard]] bool are_uniform() const { return own_.by_lane == nullptr; }
  [[nodiscard]] std::uint32_t at(unsigned lane) const {
    return known_ != nullptr ? static_cast<std::uint32_t>(known_[lane]) : own_.at(lane);
  }

 private:
  const std::uint64_t* const known_;
  const ScratchOffsets own_;
};

// ---- Buffers --------------------------------------------------------------------------------

/// Raw buffers, the usual case, a whole wave at a time: byte offsets against num_records. (LLVM
/// merges neighbouring raw loads under strict bounds, which is right only because the hardware
/// checks dword by dword: hence LaneAddresses::partial.)
inline void raw_or_other_buffer_addresses(const Wave& wave, const Instruction& i,
                                          const BufferResource& r, std::uint32_t bytes,
                                          LaneAddresses& out) {
  const bool idxen = i.extra & extra::kIdxen;
  if ((r.add_tid && !idxen) || (r.stride != 0 && idxen))
    return buffer_addresses(wave, i, r, bytes, out);
  const std::uint32_t soffset = scalar_source(wave, i, 2);
  const std::uint64_t limit = r.num_records > soffset ? r.num_records - soffset : 0;
  const std::uint64_t base = r.base + soffset;
  const auto immediate = static_cast<std::uint32_t>(i.offset);
  const std::uint32_t* const row = row_of(wave, i.src[0].index() + (idxen ? 1 : 0));
  std::uint64_t last = 0;
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    const std::uint64_t offset =
        (i.extra & extra::kOffen ? std::uint64_t{row[lane]} : 0) + immediate;
    out.at[lane] = base + offset;
    last = offset > last ? offset : last;
  }
  out.active = wave.exec();
  out.out_of_range = out.partial = 0;
  out.end = base + limit;
  if (last + bytes <= limit) return;
  for (std::uint64_t rest = out.active; rest != 0; rest &= rest - 1) {
    const std::uint64_t offset = out.at[std::countr_zero(rest)] - base, bit = rest & -rest;
    if (offset + bytes <= limit) continue;
    out.active &= ~bit;
    (bytes > 4 && offset + 4 <= limit ? out.partial : out.out_of_range) |= bit;
  }
}

inline void buffer_accesses(const Wave& wave, const Instruction& i, const MemoryForm& form,
                            LaneAccesses& out) {
  LaneAccess& access = out.append(form, MemorySpace::global);
  raw_or_other_buffer_addresses(wave, i, buffer_resource(wave, i), form.bytes, access);
  if (form.to_lds) add_direct_access(wave, i, out);
}
/// Null if the descriptor is unusable; the wave has stopped then.
[[nodiscard]] inline LaneAddresses* buffer_lanes(Wave& wave, const Instruction& i,
                                                 std::uint32_t bytes, LaneAddresses& own) {
  const BufferResource r = buffer_resource(wave, i);
  if (!check_buffer(wave, i, r, bytes)) return nullptr;
  if (wave.accesses != nullptr) return &wave.accesses->access[0];
  raw_or_other_buffer_addresses(wave, i, r, bytes, own);
  return &own;
}

}  // namespace margay::MARGAY_HOST_LEVEL
