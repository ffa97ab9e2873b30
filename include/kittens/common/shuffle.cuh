// Exchange of values between the lanes of a warp.
#pragma once

#include "base_types.cuh"
#include "memory.cuh"

namespace kittens {

namespace detail {
/// Applies f, which moves 32 bits of every lane, to a value of 1, 2, 4 or 8 bytes.
template <typename T, typename F>
KITTENS_DEVICE T move_words(const T& value, F&& f) {
  if constexpr (sizeof(T) == 8) {
    auto bits = bits_as<elements<int, 2>>(value);
    bits.e[0] = f(bits.e[0]);
    bits.e[1] = f(bits.e[1]);
    return bits_as<T>(bits);
  } else {
    static_assert(sizeof(T) <= 4, "kittens: shuffles move 1, 2, 4 or 8 bytes per lane");
    const int bits = static_cast<int>(bits_as<word<sizeof(T)>>(value));
    return bits_as<T>(static_cast<word<sizeof(T)>>(f(bits)));
  }
}

template <typename T>
KITTENS_DEVICE T read_lane(const T& value, int source_lane) {
  return move_words(value,
                    [&](int bits) { return __builtin_amdgcn_ds_bpermute(source_lane << 2, bits); });
}

/// The value of lane L ^ 16 or L ^ 32.
template <int mask, typename T>
KITTENS_DEVICE T read_lane_xor(const T& value) {
  static_assert(mask == 16 || mask == 32);
  if constexpr (mask == 16) {
    // Bit-mask mode of ds_swizzle: and 0x1f, or 0, xor 0x10 (CDNA3 ISA, DS_SWIZZLE_B32).
    constexpr int pattern = 0x10 << 10 | 0x1f;
    return move_words(value, [](int bits) { return __builtin_amdgcn_ds_swizzle(bits, pattern); });
  } else {
    return read_lane(value, laneid() ^ 32);
  }
}

/// The value of the lane `count` further on in the same row of 16 lanes, cyclically: a DPP move,
/// which costs a VALU instruction and not an LDS one (CDNA3 ISA, section 6, DPP_ROW_RR).
template <int count, typename T>
KITTENS_DEVICE T rotate_row(const T& value) {
  constexpr int row_ror = 0x120;
  return move_words(value, [](int bits) {
    return __builtin_amdgcn_update_dpp(0, bits, row_ror + count, 0xf, 0xf, false);
  });
}

/// op over the 16 lanes of a row. They end with the same bits: op is commutative, and after each
/// step the values repeat with half the period, so every step pairs lane L with L ^ distance.
template <typename op, typename T>
KITTENS_DEVICE T reduce_row_of_lanes(T value) {
  value = op::op(value, rotate_row<8>(value));
  value = op::op(value, rotate_row<4>(value));
  value = op::op(value, rotate_row<2>(value));
  return op::op(value, rotate_row<1>(value));
}

/// op over the `lead` neighbouring lanes that share L / lead; over all 64 if lead is 64.
template <typename op, int lead, typename T>
KITTENS_DEVICE T reduce_lanes(T value) {
  value = reduce_row_of_lanes<op>(value);
  if constexpr (lead >= 32) value = op::op(value, read_lane_xor<16>(value));
  if constexpr (lead >= 64) value = op::op(value, read_lane_xor<32>(value));
  return value;
}
/// op over the lanes that share L % lead.
template <typename op, int lead, typename T>
KITTENS_DEVICE T reduce_groups(T value) {
  if constexpr (lead <= 16) value = op::op(value, read_lane_xor<16>(value));
  return op::op(value, read_lane_xor<32>(value));
}
}  // namespace detail

/// The value of lane `source`. The mask exists for source compatibility; all lanes take part.
template <typename T>
KITTENS_DEVICE T packed_shfl(uint64_t /*mask*/, const T& value, int source) {
  return detail::read_lane(value, source & 63);
}

/// The value of the lane `delta` above; a lane without one keeps its own.
template <typename T>
KITTENS_DEVICE T packed_shfl_down(uint64_t /*mask*/, const T& value, int delta) {
  const int source = laneid() + delta;
  return detail::read_lane(value, source > 63 ? laneid() : source);
}

}  // namespace kittens
