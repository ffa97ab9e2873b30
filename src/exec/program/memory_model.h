// The addresses of memory instructions, and whether they may be accessed: the rules that are
// compiled once. Those that go through all lanes at once are compiled per host level
// (instructions/addresses.h).
#pragma once

#include <cstdint>

#include "exec/program/bind.h"
#include "exec/state/extra.h"
#include "exec/state/wave.h"

namespace margay {

/// Each active lane's address: in host memory, or the byte offset in LDS or scratch.
struct LaneAddresses {
  alignas(64) std::uint64_t at[kWaveLanes];
  std::uint64_t active = 0;
  // Buffers. A lane out of range, or partly so, is not in `active`.
  std::uint64_t out_of_range = 0;
  std::uint64_t partial = 0;  ///< Its first dword is inside, its last one is not.
  std::uint64_t end = 0;      ///< If there are such lanes: the first address past the buffer.
};

/// Whether [offset, offset + bytes) is below `limit`; an offset near 2^32 must not wrap into it.
[[nodiscard]] constexpr bool fits(std::uint32_t offset, std::uint32_t bytes, std::uint32_t limit) {
  return bytes <= limit && offset <= limit - bytes;
}

// ---- LDS

/// M0[15:0] + offset. The guide documents this for the accesses by lane; for append and consume it
/// mentions M0's base, which LLVM puts there.
[[nodiscard]] inline std::uint32_t m0_address(const Wave& wave, const Instruction& i) {
  return (wave.s[kM0Index] & 0xffff) + static_cast<std::uint32_t>(i.offset);
}
/// Of accesses between memory and LDS: where lane 0's dword is in LDS; the other lanes' follow.
/// LDS address = M0 + instruction offset + 4 * lane; see cdna3 ISA 10.3.
[[nodiscard]] inline std::uint32_t direct_address(const Wave& wave, const Instruction& i) {
  return (wave.s[kM0Index] & 0x3fffcu) + static_cast<std::uint32_t>(i.offset);
}

// ---- Scratch

/// The byte in a lane's scratch that an instruction accesses.
struct ScratchOffsets {
  std::uint32_t uniform = 0;
  const std::uint32_t* by_lane = nullptr;  ///< Null: all lanes have the same.
  ScratchOffsets(const Wave& wave, const Instruction& i)
      : uniform(static_cast<std::uint32_t>(i.offset)) {
    if (i.src[2].kind() == Source::kScalar) uniform += wave.s[i.src[2].index()];
    if (i.extra & extra::kScratchVaddr)
      by_lane = wave.v + std::size_t{i.src[0].index()} * kWaveLanes;
  }
  [[nodiscard]] std::uint32_t at(unsigned lane) const {
    return uniform + (by_lane != nullptr ? by_lane[lane] : 0);
  }
};

/// Scratch is swizzled as on the hardware: a wave's block holds dword 0 of all lanes, then dword 1,
/// so that lanes which use the same offset touch one row.
[[nodiscard]] inline std::uint64_t scratch_offset(std::uint32_t byte_in_lane, unsigned lane) {
  return std::uint64_t{byte_in_lane / 4} * (4 * kWaveLanes) + 4 * lane + byte_in_lane % 4;
}

/// True when every active lane's [address, address + bytes) may be accessed. Otherwise sets the
/// wave's fault, naming the lane and the allocation that was missed.
[[nodiscard]] bool check_global_slow(Wave& wave, const Instruction& i, const LaneAddresses& lanes,
                                     std::uint32_t bytes);

/// The offset that a scalar memory instruction adds to its base: the immediate and the register, in
/// units of 64 bytes in s_scratch_*. Source: MI300 ISA guide, section 8.2.1.1.
[[nodiscard]] std::uint64_t scalar_offset(const Wave& wave, const Instruction& i);

/// The address of a scalar access; its low two bits are ignored.
struct ScalarAddress {
  std::uint64_t at = 0;
  std::uint64_t end = ~std::uint64_t{0};  ///< Of a buffer: nothing is accessed from here on.
  [[nodiscard]] bool has(std::uint64_t offset, std::uint64_t bytes) const {
    return at + offset + bytes <= end;
  }
};
[[nodiscard]] ScalarAddress scalar_address(const Wave& wave, const Instruction& i);

/// The same as check_global_slow for one scalar access.
[[nodiscard]] bool check_scalar_access(Wave& wave, const Instruction& i, std::uint64_t address,
                                       std::uint32_t bytes);

/// The fields of a buffer resource descriptor (four SGPRs) that addressing needs.
struct BufferResource {
  std::uint64_t base = 0;
  std::uint32_t stride = 0, num_records = 0, index_stride = 0, element_size = 0;
  std::uint8_t data_format = 0, type = 0;
  bool swizzle = false, add_tid = false;
};
/// `formatted`: for an instruction that converts to and from a data format. For others, the format
/// field is the upper part of the stride if the thread's number is added to the index.
[[nodiscard]] BufferResource buffer_resource(const std::uint32_t* sgprs, bool formatted = false);
/// The descriptor of a MUBUF or MTBUF instruction.
[[nodiscard]] BufferResource buffer_resource(const Wave& wave, const Instruction& i);

/// False, with the wave's fault set, if the hardware's behaviour for this descriptor is never
/// intended, or not documented. `bytes`: of one access.
[[nodiscard]] bool check_buffer_slow(Wave& wave, const Instruction& i, const BufferResource& r,
                                     std::uint32_t bytes);
[[nodiscard]] inline bool check_buffer(Wave& wave, const Instruction& i, const BufferResource& r,
                                       std::uint32_t bytes) {
  if (r.data_format != 0 && r.type == 0 && !r.swizzle) return true;
  return check_buffer_slow(wave, i, r, bytes);
}

/// Addresses of an access of `bytes` per lane, with the range rule of private, raw and structured
/// buffers applied per lane; no lane is `partial`.
void buffer_addresses(const Wave& wave, const Instruction& i, const BufferResource& r,
                      std::uint32_t bytes, LaneAddresses& out);

}  // namespace margay
