// Loads and stores that name the memory they access.
//
// Everything here is an ordinary access through an address-space pointer, or a builtin: the
// compiler knows the latency counters involved and puts the waits. Inline assembly would hide the
// access from it, and a load whose wait is missing reads registers too early.
#pragma once

#include "config.cuh"

namespace kittens {
namespace detail {

// Address spaces of the AMDGPU backend (LLVM AMDGPUUsage, "Address Spaces").
#define KITTENS_GLOBAL __attribute__((address_space(1)))
#define KITTENS_LDS __attribute__((address_space(3)))

template <int bytes>
struct word_of;
template <>
struct word_of<1> {
  using type = uint8_t;
};
template <>
struct word_of<2> {
  using type = uint16_t;
};
template <>
struct word_of<4> {
  using type = uint32_t;
};
template <>
struct word_of<8> {
  using type = uint32_t __attribute__((ext_vector_type(2)));
};
template <>
struct word_of<16> {
  using type = uint32_t __attribute__((ext_vector_type(4)));
};
/// Raw bits of 1, 2, 4, 8 or 16 bytes.
template <int bytes>
using word = typename word_of<bytes>::type;

/// The LDS byte address of an object in shared memory: the low half of its generic pointer (LLVM
/// AMDGPUUsage, "Address Space Mapping": the high half is the aperture).
KITTENS_DEVICE uint32_t lds_address(const void* pointer) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pointer));
}

/// `constant` stays apart from `address` so that it can go into the instruction's offset field.
template <int bytes>
KITTENS_DEVICE word<bytes> lds_load(uint32_t address, uint32_t constant = 0) {
  using W __attribute__((may_alias, aligned(bytes < 8 ? bytes : 8))) = word<bytes>;
  const auto* base = (const KITTENS_LDS char*)(address);
  return *(const KITTENS_LDS W*)(base + constant);
}
template <int bytes>
KITTENS_DEVICE void lds_store(uint32_t address, uint32_t constant, word<bytes> value) {
  using W __attribute__((may_alias, aligned(bytes < 8 ? bytes : 8))) = word<bytes>;
  auto* base = (KITTENS_LDS char*)(address);
  *(KITTENS_LDS W*)(base + constant) = value;
}

/// Global instructions can add a lane's unsigned 32-bit offset to a scalar base. The compiler picks
/// that form only if it sees the widening to 64 bits next to the access, so a loop must not carry
/// the widened value: the empty assembly keeps it from moving the widening out.
KITTENS_DEVICE uint32_t beside_access(uint32_t lane_offset) {
  asm volatile("" : "+v"(lane_offset));
  return lane_offset;
}
KITTENS_DEVICE uint64_t beside_access(uint64_t lane_offset) { return lane_offset; }

/// A global address as a base that is the same in all lanes and a lane's unsigned byte offset.
/// `alignment` is what the tensor guarantees; gfx942 does wide global accesses at any alignment
/// (LLVM: unaligned-access-mode, on for HSA).
template <int bytes, int alignment, typename Offset>
KITTENS_DEVICE word<bytes> global_load(const void* base, Offset lane_offset) {
  using W __attribute__((may_alias, aligned(alignment < bytes ? alignment : bytes))) = word<bytes>;
  const auto* start = (const KITTENS_GLOBAL char*)(base);
  return *(const KITTENS_GLOBAL W*)(start + beside_access(lane_offset));
}
template <int bytes, int alignment, typename Offset>
KITTENS_DEVICE void global_store(void* base, Offset lane_offset, word<bytes> value) {
  using W __attribute__((may_alias, aligned(alignment < bytes ? alignment : bytes))) = word<bytes>;
  auto* start = (KITTENS_GLOBAL char*)(base);
  *(KITTENS_GLOBAL W*)(start + beside_access(lane_offset)) = value;
}

/// Waits until this warp's LDS writes are done. Needed where a bare s_barrier may follow, which
/// waits for nothing; __syncthreads() has such a wait of its own.
KITTENS_DEVICE void lds_writes_done() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); }

}  // namespace detail
}  // namespace kittens
