// Buffer accesses: 32-bit offsets against a resource that knows its size.
//
// A load outside the size gives 0 and a store there is dropped, lane by lane: edges cost a select,
// not a branch (CDNA3 ISA, section 9.1.5, "Buffer addressing" and range checking).
#pragma once

#include "memory.cuh"

namespace kittens {

typedef int32_t i32x4 __attribute__((ext_vector_type(4)));

namespace detail {
// The intrinsics under their LLVM names: older compilers have no builtins for them.
__device__ word<16> llvm_raw_buffer_load_b128(
    i32x4 resource, int32_t offset, int32_t uniform_offset,
    int32_t cache_policy) __asm("llvm.amdgcn.raw.buffer.load.v4i32");
__device__ uint16_t
llvm_raw_buffer_load_u16(i32x4 resource, int32_t offset, int32_t uniform_offset,
                         int32_t cache_policy) __asm("llvm.amdgcn.raw.buffer.load.i16");
}  // namespace detail

/// A raw resource of `range_bytes` from `start`, which must be the same in all lanes. Word 3 is a
/// 32-bit raw buffer without swizzle (LLVM AMDGPUUsage; CDNA3 ISA, table 36).
KITTENS_DEVICE i32x4 make_srsrc(const void* start, uint32_t range_bytes) {
  const auto address = reinterpret_cast<uint64_t>(start);
  return {static_cast<int32_t>(address), static_cast<int32_t>(address >> 32 & 0xffff),
          static_cast<int32_t>(range_bytes), 0x00020000};
}

}  // namespace kittens
