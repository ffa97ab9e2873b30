// Buffer accesses: 32-bit offsets against a resource that knows its size.
//
// A load outside the size gives 0 and a store there is dropped, lane by lane: edges cost a select,
// not a branch (CDNA3 ISA, section 9.1.5, "Buffer addressing" and range checking).
#pragma once

#include "memory.cuh"

namespace kittens {

typedef int32_t i32x4 __attribute__((ext_vector_type(4)));

// The intrinsics under their LLVM names: older compilers have no builtins for them. Offsets are in
// bytes, the second one the same in all lanes; the last argument is the cache policy.
#define KITTENS_BUFFER_ACCESS(bits, type, llvm_type)                         \
  __device__ type llvm_amdgcn_raw_buffer_load_b##bits(                       \
      i32x4 resource, int32_t offset, int32_t uniform_offset,                \
      int32_t cache_policy) __asm("llvm.amdgcn.raw.buffer.load." llvm_type); \
  __device__ void llvm_amdgcn_raw_buffer_store_b##bits(                      \
      type value, i32x4 resource, int32_t offset, int32_t uniform_offset,    \
      int32_t cache_policy) __asm("llvm.amdgcn.raw.buffer.store." llvm_type);
KITTENS_BUFFER_ACCESS(8, uint8_t, "i8")
KITTENS_BUFFER_ACCESS(16, uint16_t, "i16")
KITTENS_BUFFER_ACCESS(32, uint32_t, "i32")
KITTENS_BUFFER_ACCESS(64, detail::word<8>, "v2i32")
KITTENS_BUFFER_ACCESS(128, detail::word<16>, "v4i32")
#undef KITTENS_BUFFER_ACCESS
/// Into LDS, see direct_to_shared.cuh; `size` is 4 bytes on gfx942.
__device__ void llvm_amdgcn_raw_buffer_load_lds(
    i32x4 resource, KITTENS_LDS void* to, int32_t size, int32_t offset, int32_t uniform_offset,
    int32_t constant_offset, int32_t cache_policy) __asm("llvm.amdgcn.raw.buffer.load.lds");

namespace detail {
/// The size of an unbounded resource.
constexpr uint32_t whole_address_space = 0xffffffff;

template <int bytes>
KITTENS_DEVICE word<bytes> buffer_load(i32x4 resource, uint32_t offset,
                                       uint32_t uniform_offset = 0) {
  if constexpr (bytes == 1)
    return llvm_amdgcn_raw_buffer_load_b8(resource, offset, uniform_offset, 0);
  if constexpr (bytes == 2)
    return llvm_amdgcn_raw_buffer_load_b16(resource, offset, uniform_offset, 0);
  if constexpr (bytes == 4)
    return llvm_amdgcn_raw_buffer_load_b32(resource, offset, uniform_offset, 0);
  if constexpr (bytes == 8)
    return llvm_amdgcn_raw_buffer_load_b64(resource, offset, uniform_offset, 0);
  if constexpr (bytes == 16)
    return llvm_amdgcn_raw_buffer_load_b128(resource, offset, uniform_offset, 0);
}
template <int bytes>
KITTENS_DEVICE void buffer_store(i32x4 resource, uint32_t offset, uint32_t uniform_offset,
                                 word<bytes> value) {
  if constexpr (bytes == 1)
    llvm_amdgcn_raw_buffer_store_b8(value, resource, offset, uniform_offset, 0);
  if constexpr (bytes == 2)
    llvm_amdgcn_raw_buffer_store_b16(value, resource, offset, uniform_offset, 0);
  if constexpr (bytes == 4)
    llvm_amdgcn_raw_buffer_store_b32(value, resource, offset, uniform_offset, 0);
  if constexpr (bytes == 8)
    llvm_amdgcn_raw_buffer_store_b64(value, resource, offset, uniform_offset, 0);
  if constexpr (bytes == 16)
    llvm_amdgcn_raw_buffer_store_b128(value, resource, offset, uniform_offset, 0);
}
}  // namespace detail

/// A resource of `range_bytes` from `start`, which must be the same in all lanes. Raw, or with a
/// stride, which only instructions with an index use. Word 3 is a 32-bit buffer without swizzle
/// (LLVM AMDGPUUsage; CDNA3 ISA, table 36).
KITTENS_DEVICE i32x4 make_srsrc(const void* start, uint32_t range_bytes,
                                uint32_t row_stride_bytes = 0) {
  const auto address = reinterpret_cast<uint64_t>(start);
  return {static_cast<int32_t>(address),
          static_cast<int32_t>((address >> 32 & 0xffff) | row_stride_bytes << 16),
          static_cast<int32_t>(range_bytes), 0x00020000};
}

}  // namespace kittens
