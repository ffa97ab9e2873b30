// Single accesses of a thread, under the names that kernels written for upstream use.
//
// Upstream's are inline assembly and wait, or (those called async) leave the wait to the caller.
// These are known to the compiler, which waits where the value is first used: both forms are the
// same, and a wait that a caller adds does no harm.
#pragma once

#include "buffer.cuh"

namespace kittens {

/// 8 bytes of LDS at a byte address.
KITTENS_DEVICE float2 load_shared_vec(uint32_t lds_address) {
  return detail::bits_as<float2>(detail::lds_load<8>(lds_address));
}
KITTENS_DEVICE float2 load_shared_vec_async(uint32_t lds_address) {
  return load_shared_vec(lds_address);
}
KITTENS_DEVICE void store_shared_vec(uint32_t lds_address, float2 value) {
  detail::lds_store<8>(lds_address, 0, detail::bits_as<detail::word<8>>(value));
}

/// 8 or 16 bytes of global memory.
KITTENS_DEVICE float2 load_global_vec2(const float2* from) {
  return detail::bits_as<float2>(detail::global_load<8, 8>(from, uint64_t{0}));
}
KITTENS_DEVICE float4 load_global_vec4(const float4* from) {
  return detail::bits_as<float4>(detail::global_load<16, 16>(from, uint64_t{0}));
}
KITTENS_DEVICE float2 load_global_vec2_async(const float2* from) { return load_global_vec2(from); }
KITTENS_DEVICE float4 load_global_vec4_async(const float4* from) { return load_global_vec4(from); }
KITTENS_DEVICE void store_global_b128_async(void* to, __uint128_t value) {
  detail::global_store<16, 16>(to, uint64_t{0}, detail::bits_as<detail::word<16>>(value));
}

/// A resource in the three parts that it is made of.
struct buffer_resource {
  uint64_t ptr;
  uint32_t range;
  uint32_t config;
};
KITTENS_DEVICE buffer_resource make_buffer_resource(uint64_t ptr, uint32_t range, uint32_t config) {
  return {ptr, range, config};
}

}  // namespace kittens
