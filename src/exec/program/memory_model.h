// The addresses that a vector memory instruction accesses, and whether it may: shared by the
// executor and its observers.
#pragma once

#include <cstdint>

#include "exec/program/bind.h"
#include "exec/state/wave.h"

namespace margay {

/// Each active lane's address in host memory. Lanes that are out of range of a buffer (or of LDS
/// and scratch through flat addresses) are not in `active` but in `out_of_range`.
struct LaneAddresses {
  alignas(64) std::uint64_t at[kWaveLanes];
  std::uint64_t active = 0;
  std::uint64_t out_of_range = 0;
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
/// buffers applied per lane.
void buffer_addresses(const Wave& wave, const Instruction& i, std::uint32_t bytes,
                      LaneAddresses& out);

}  // namespace margay
