// Moves data between memory and rows of registers, one element of N dwords (or a byte or half) per
// lane. Registers are rows of 64 lanes, memory has each lane's dwords side by side: wide accesses
// are transpositions. Compiled once per host level.
//
// Accesses of a guest program may race with its other workgroups. These are races of the guest (the
// checker reports them); the tests exclude them from ThreadSanitizer
// (tests/support/tsan_suppressions.cpp).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "exec/rows/row_table.h"
#include "isa/lanes.h"

namespace margay::MARGAY_HOST_LEVEL {

/// Where lane l's data is: host addresses, or offsets from one base (LDS).
struct AddressPointers {
  const std::uint64_t* address;
  [[nodiscard]] std::uint8_t* operator()(int lane) const {
    return reinterpret_cast<std::uint8_t*>(
        address[lane]);  // NOLINT: guest addresses are host addresses
  }
};
struct OffsetPointers {
  std::uint8_t* base;
  const std::uint32_t* offset;
  [[nodiscard]] std::uint8_t* operator()(int lane) const { return base + offset[lane]; }
};

inline constexpr std::uint64_t kAllLanes = ~std::uint64_t{0};

template <typename T>
[[nodiscard]] inline T peek(const std::uint8_t* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
template <typename T>
inline void poke(std::uint8_t* to, T value) {
  __builtin_memcpy(to, &value, sizeof value);
}

/// One lane's value in a row of registers, or in two rows.
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

#if defined(__AVX512F__)
/// Four lanes' 16 bytes each, for lanes first, first + 4, first + 8, first + 12.
template <typename Pointers>
[[nodiscard]] inline __m512i load_quads(Pointers at, int first) {
  const auto quad = [&](int lane) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at(lane)));
  };
  __m512i out = _mm512_castsi128_si512(quad(first));
  out = _mm512_inserti32x4(out, quad(first + 4), 1);
  out = _mm512_inserti32x4(out, quad(first + 8), 2);
  return _mm512_inserti32x4(out, quad(first + 12), 3);
}
/// 4x4 transposition of dwords inside each 128-bit block.
inline void transpose_blocks(__m512i (&z)[4]) {
  const __m512i a = _mm512_unpacklo_epi32(z[0], z[1]), b = _mm512_unpackhi_epi32(z[0], z[1]);
  const __m512i c = _mm512_unpacklo_epi32(z[2], z[3]), d = _mm512_unpackhi_epi32(z[2], z[3]);
  z[0] = _mm512_unpacklo_epi64(a, c);
  z[1] = _mm512_unpackhi_epi64(a, c);
  z[2] = _mm512_unpacklo_epi64(b, d);
  z[3] = _mm512_unpackhi_epi64(b, d);
}
#endif

/// Whether the lanes' data is side by side in memory, in their order: what most programs do. The
/// ends are compared first, so that other patterns cost little.
[[nodiscard]] inline bool side_by_side(AddressPointers at, std::uint64_t bytes) {
  const std::uint64_t first = at.address[0];
  if (at.address[1] != first + bytes || at.address[63] != first + 63 * bytes) return false;
  bool same = true;
  for (std::uint64_t lane = 0; lane < kWaveLanes; ++lane)
    same &= at.address[lane] == first + lane * bytes;
  return same;
}
[[nodiscard]] inline bool side_by_side(OffsetPointers at, std::uint32_t bytes) {
  const std::uint32_t first = at.offset[0];
  if (at.offset[1] != first + bytes || at.offset[63] != first + 63 * bytes) return false;
  bool same = true;
  for (std::uint32_t lane = 0; lane < kWaveLanes; ++lane)
    same &= at.offset[lane] == first + lane * bytes;
  return same;
}

#if defined(__AVX512F__)
/// Two lanes' 8 bytes each.
template <typename Pointers>
[[nodiscard]] inline __m128i load_pair(Pointers at, int lane) {
  const auto half = [&](int l) {
    return _mm_loadu_si64(
        static_cast<const void*>(at(l)));  // NOLINT(readability-redundant-casting)
  };
  return _mm_unpacklo_epi64(half(lane), half(lane + 1));
}
/// Eight lanes' 8 bytes each, in their order.
template <typename Pointers>
[[nodiscard]] inline __m512i load_pairs(Pointers at, int lane) {
  __m512i out = _mm512_castsi128_si512(load_pair(at, lane));
  out = _mm512_inserti32x4(out, load_pair(at, lane + 2), 1);
  out = _mm512_inserti32x4(out, load_pair(at, lane + 4), 2);
  return _mm512_inserti32x4(out, load_pair(at, lane + 6), 3);
}
/// Sixteen lanes' 8 bytes each, eight in `low` and eight in `high`, into two rows.
inline void store_pairs(__m512i low, __m512i high, std::uint32_t* dst) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  _mm512_storeu_si512(dst, _mm512_permutex2var_epi32(low, even, high));
  _mm512_storeu_si512(dst + kWaveLanes, _mm512_permutex2var_epi32(low, odd, high));
}
/// Four registers' rows of sixteen lanes out of four blocks of memory, four lanes' 16 bytes in
/// each.
inline void store_blocks(const __m512i (&block)[4], std::uint32_t* dst) {
  // Blocks are transposed as a 4x4 matrix of quads first.
  const __m512i a = _mm512_shuffle_i32x4(block[0], block[1], 0x44);
  const __m512i b = _mm512_shuffle_i32x4(block[0], block[1], 0xee);
  const __m512i c = _mm512_shuffle_i32x4(block[2], block[3], 0x44);
  const __m512i d = _mm512_shuffle_i32x4(block[2], block[3], 0xee);
  __m512i z[4] = {_mm512_shuffle_i32x4(a, c, 0x88), _mm512_shuffle_i32x4(a, c, 0xdd),
                  _mm512_shuffle_i32x4(b, d, 0x88), _mm512_shuffle_i32x4(b, d, 0xdd)};
  transpose_blocks(z);
  for (int row = 0; row < 4; ++row) _mm512_storeu_si512(dst + row * kWaveLanes, z[row]);
}
/// Rows of lanes that are side by side, 2 or 4 dwords each.
template <int dwords>
inline void load_adjacent_rows(const std::uint8_t* from, std::uint32_t* dst) {
  const auto block = [&](int n) { return _mm512_loadu_si512(from + n * 64); };
  for (int lane = 0; lane < kWaveLanes; lane += 16) {
    const int first = lane * dwords / 16;
    if constexpr (dwords == 2)
      store_pairs(block(first), block(first + 1), dst + lane);
    else
      store_blocks({block(first), block(first + 1), block(first + 2), block(first + 3)},
                   dst + lane);
  }
}
/// Whether each four lanes' 16 bytes are side by side: rows of a matrix, a few lanes each.
[[nodiscard]] inline bool in_blocks_of_four(AddressPointers at) {
  const __m512i step = _mm512_setr_epi64(0, 16, 32, 48, 0, 16, 32, 48);
  unsigned differ = 0;
  for (int lane = 0; lane < kWaveLanes; lane += 8) {
    const __m512i address = _mm512_loadu_si512(at.address + lane);
    const __m512i first = _mm512_permutex_epi64(address, 0);
    differ |= _mm512_cmpneq_epi64_mask(address, _mm512_add_epi64(first, step));
  }
  return differ == 0;
}
#endif

#if defined(__AVX512F__)
/// Where 8 bytes of each lane are parts of 32 in a row: lanes n, n + 16, n + 32 and n + 48 have the
/// pieces of row n, n = 0..15. An operand of a matrix instruction of 16 rows is such a one.
struct SixteenRows {
  std::uint32_t mask;  ///< Row n begins at the offset of lane n, less the bits that this clears.
  __m512i order;       ///< Lane n + 16 c has piece c ^ order[n].
};
/// Whether they do: the pieces in order, or in the order of an XOR swizzle of aligned rows.
[[nodiscard]] inline bool in_sixteen_rows(const std::uint32_t* offset, SixteenRows& rows) {
  const auto lanes = [&](int n) { return _mm512_loadu_si512(offset + n * 16); };
  const auto add = [](__m512i v, int n) { return _mm512_add_epi32(v, _mm512_set1_epi32(n)); };
  const auto flip = [](__m512i v, int n) { return _mm512_xor_epi32(v, _mm512_set1_epi32(n)); };
  const __m512i first = lanes(0), second = lanes(1);
  if (_mm512_cmpneq_epi32_mask(second, flip(first, 8)) == 0) {
    if ((_mm512_cmpneq_epi32_mask(lanes(2), flip(first, 16)) |
         _mm512_cmpneq_epi32_mask(lanes(3), flip(first, 24))) != 0)
      return false;
    rows.mask = ~24u;
    rows.order = _mm512_and_si512(_mm512_srli_epi32(first, 3), _mm512_set1_epi32(3));
    return true;
  }
  if ((_mm512_cmpneq_epi32_mask(second, add(first, 8)) |
       _mm512_cmpneq_epi32_mask(lanes(2), add(first, 16)) |
       _mm512_cmpneq_epi32_mask(lanes(3), add(first, 24))) != 0)
    return false;
  rows.mask = ~0u;
  rows.order = _mm512_setzero_si512();
  return true;
}
/// Two registers' rows of 64 lanes from 16 rows of 32 bytes: an 8x16 transposition of dwords.
inline void load_sixteen_rows(OffsetPointers at, const SixteenRows& rows, std::uint32_t* dst) {
  __m512i z[8];  // rows n and n + 8
  for (int n = 0; n < 8; ++n) {
    const auto half = [&](int row) {
      const std::uint32_t first = at.offset[row] & rows.mask;
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at.base + first));
    };
    z[n] = _mm512_inserti64x4(_mm512_castsi256_si512(half(n)), half(n + 8), 1);
  }
  __m512i quads[2][4];  // of rows 0 to 3 and 8 to 11, 4 to 7 and 12 to 15: dwords n, n + 4
  for (int n = 0; n < 2; ++n) {
    for (int row = 0; row < 4; ++row) quads[n][row] = z[4 * n + row];
    transpose_blocks(quads[n]);
  }
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
  const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  __m512i piece[4][2];  // [c][dword of the piece], rows in order
  for (int d = 0; d < 4; ++d) {
    piece[d / 2][d % 2] = _mm512_permutex2var_epi64(quads[0][d], low, quads[1][d]);
    piece[2 + d / 2][d % 2] = _mm512_permutex2var_epi64(quads[0][d], high, quads[1][d]);
  }
  const auto swap_where = [](__mmask16 which, __m512i& a, __m512i& b) {
    const __m512i was = a;
    a = _mm512_mask_mov_epi32(a, which, b);
    b = _mm512_mask_mov_epi32(b, which, was);
  };
  const __mmask16 by_one = _mm512_test_epi32_mask(rows.order, _mm512_set1_epi32(1));
  const __mmask16 by_two = _mm512_test_epi32_mask(rows.order, _mm512_set1_epi32(2));
  for (int d = 0; d < 2; ++d) {
    swap_where(by_one, piece[0][d], piece[1][d]);
    swap_where(by_one, piece[2][d], piece[3][d]);
    swap_where(by_two, piece[0][d], piece[2][d]);
    swap_where(by_two, piece[1][d], piece[3][d]);
  }
  for (int c = 0; c < 4; ++c)
    for (int d = 0; d < 2; ++d) _mm512_storeu_si512(dst + d * kWaveLanes + c * 16, piece[c][d]);
}
#endif

/// Loads `dwords` per lane into rows dst, dst + 64, ... for the lanes in `active`.
template <int dwords, typename Pointers>
inline void load_rows(Pointers at, std::uint64_t active, std::uint32_t* dst) {
  if (active == kAllLanes) {
    if constexpr (dwords == 1) {
      if (side_by_side(at, 4)) {
        __builtin_memcpy(dst, at(0), 4 * kWaveLanes);
        return;
      }
    }
#if defined(__AVX512F__)
    if constexpr (dwords == 2 || dwords == 4) {
      if (side_by_side(at, 4 * dwords)) {
        load_adjacent_rows<dwords>(at(0), dst);
        return;
      }
    }
    if constexpr (dwords == 4) {
      if constexpr (std::is_same_v<Pointers, AddressPointers>) {
        if (in_blocks_of_four(at)) {
          const auto block = [&](int lane) { return _mm512_loadu_si512(at(lane)); };
          for (int lane = 0; lane < kWaveLanes; lane += 16)
            store_blocks({block(lane), block(lane + 4), block(lane + 8), block(lane + 12)},
                         dst + lane);
          return;
        }
      }
      for (int lane = 0; lane < kWaveLanes; lane += 16) {
        __m512i z[4] = {load_quads(at, lane), load_quads(at, lane + 1), load_quads(at, lane + 2),
                        load_quads(at, lane + 3)};
        transpose_blocks(z);
        for (int d = 0; d < 4; ++d) _mm512_storeu_si512(dst + d * kWaveLanes + lane, z[d]);
      }
      return;
    }
    if constexpr (dwords == 2) {
      if constexpr (std::is_same_v<Pointers, OffsetPointers>) {
        if (SixteenRows rows; in_sixteen_rows(at.offset, rows)) {
          load_sixteen_rows(at, rows, dst);
          return;
        }
      }
      for (int lane = 0; lane < kWaveLanes; lane += 16)
        store_pairs(load_pairs(at, lane), load_pairs(at, lane + 8), dst + lane);
      return;
    }
#endif
  }
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    if (!(active >> lane & 1)) continue;
    for (int d = 0; d < dwords; ++d)
      dst[d * kWaveLanes + lane] = peek<std::uint32_t>(at(lane) + 4 * d);
  }
}

/// Stores `dwords` per lane from rows src, src + 64, ... for the lanes in `active`, lowest first
/// (of lanes that write the same bytes, the highest wins).
template <int dwords, typename Pointers>
inline void store_rows(Pointers at, std::uint64_t active, const std::uint32_t* src) {
  if constexpr (dwords == 1) {
    if (active == kAllLanes && side_by_side(at, 4)) {
      __builtin_memcpy(at(0), src, 4 * kWaveLanes);
      return;
    }
  }
#if defined(__AVX512F__)
  if (active == kAllLanes) {
    if constexpr (dwords == 4) {
      for (int lane = 0; lane < kWaveLanes; lane += 16) {
        __m512i z[4];
        for (int d = 0; d < 4; ++d) z[d] = _mm512_loadu_si512(src + d * kWaveLanes + lane);
        transpose_blocks(z);  // z[k] block b now holds lane 4b + k
        const auto put = [&](int l, __m128i quad) {
          _mm_storeu_si128(reinterpret_cast<__m128i*>(at(lane + l)), quad);
        };
        for (int k = 0; k < 4; ++k) put(k, _mm512_castsi512_si128(z[k]));
        for (int k = 0; k < 4; ++k) put(4 + k, _mm512_extracti32x4_epi32(z[k], 1));
        for (int k = 0; k < 4; ++k) put(8 + k, _mm512_extracti32x4_epi32(z[k], 2));
        for (int k = 0; k < 4; ++k) put(12 + k, _mm512_extracti32x4_epi32(z[k], 3));
      }
      return;
    }
    if constexpr (dwords == 2) {
      const auto put = [&](int lane, __m128i two) {
        _mm_storeu_si64(at(lane), two);
        _mm_storeh_pd(reinterpret_cast<double*>(at(lane + 1)), _mm_castsi128_pd(two));
      };
      for (int lane = 0; lane < kWaveLanes; lane += 16) {
        const __m512i a = _mm512_loadu_si512(src + lane);
        const __m512i b = _mm512_loadu_si512(src + kWaveLanes + lane);
        // Lanes 0, 1, then 4, 5 and so on; lanes 2, 3, then 6, 7 and so on.
        const __m512i first = _mm512_unpacklo_epi32(a, b), second = _mm512_unpackhi_epi32(a, b);
        put(lane, _mm512_castsi512_si128(first));
        put(lane + 2, _mm512_castsi512_si128(second));
        put(lane + 4, _mm512_extracti32x4_epi32(first, 1));
        put(lane + 6, _mm512_extracti32x4_epi32(second, 1));
        put(lane + 8, _mm512_extracti32x4_epi32(first, 2));
        put(lane + 10, _mm512_extracti32x4_epi32(second, 2));
        put(lane + 12, _mm512_extracti32x4_epi32(first, 3));
        put(lane + 14, _mm512_extracti32x4_epi32(second, 3));
      }
      return;
    }
  }
#endif
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    if (!(active >> lane & 1)) continue;
    for (int d = 0; d < dwords; ++d) poke(at(lane) + 4 * d, src[d * kWaveLanes + lane]);
  }
}

/// The effect of a load of less than a dword on its register.
enum class Part : std::uint8_t { whole, low_half, high_half };

/// Loads one T per lane, widened to 32 bits, or into half of the register (d16 forms). The other
/// half becomes 0: "when ECC is enabled 16-bit memory loads write the full 32-bit VGPR. Unused bits
/// are set to zero" (MI300 ISA guide, section 9.1.6), and on an MI325X it is (its target id is
/// gfx942:sramecc+). LLVM does not assume either that any bit of such a register is kept.
template <typename T, Part part, typename Pointers>
inline void load_small(Pointers at, std::uint64_t active, std::uint32_t* dst) {
  for (int lane = 0; lane < kWaveLanes; ++lane) {
    if (!(active >> lane & 1)) continue;
    const auto value = static_cast<std::uint32_t>(static_cast<std::int32_t>(peek<T>(at(lane))));
    if constexpr (part == Part::whole) dst[lane] = value;
    if constexpr (part == Part::low_half) dst[lane] = value & 0xffffu;
    if constexpr (part == Part::high_half) dst[lane] = value << 16;
  }
}
/// Stores the low bits of each lane's register, or of its upper half.
template <typename T, Part part, typename Pointers>
inline void store_small(Pointers at, std::uint64_t active, const std::uint32_t* src) {
  for (int lane = 0; lane < kWaveLanes; ++lane)
    if (active >> lane & 1)
      poke<T>(at(lane), static_cast<T>(part == Part::high_half ? src[lane] >> 16 : src[lane]));
}

/// The forms of memory data, as the mnemonics name them.
enum class Data : std::uint8_t {
  u8,
  i8,
  u16,
  i16,
  b8,
  b16,
  u8_d16,
  u8_d16_hi,
  i8_d16,
  i8_d16_hi,
  b16_d16,
  b16_d16_hi,
  b8_d16_hi_store,
  b16_d16_hi_store,
  b32,
  b64,
  b96,
  b128,
};
[[nodiscard]] constexpr int bytes_of(Data data) {
  switch (data) {
    case Data::u8:
    case Data::i8:
    case Data::b8:
    case Data::u8_d16:
    case Data::u8_d16_hi:
    case Data::i8_d16:
    case Data::i8_d16_hi:
    case Data::b8_d16_hi_store:
      return 1;
    case Data::u16:
    case Data::i16:
    case Data::b16:
    case Data::b16_d16:
    case Data::b16_d16_hi:
    case Data::b16_d16_hi_store:
      return 2;
    case Data::b32:
      return 4;
    case Data::b64:
      return 8;
    case Data::b96:
      return 12;
    case Data::b128:
      return 16;
  }
  return 0;
}

[[nodiscard]] constexpr RegisterPart part_of(Data data) {
  switch (data) {
    case Data::i8:
    case Data::i16:
      return {.is_signed = true};
    case Data::u8_d16:
    case Data::b16_d16:
      return {.half = true};
    case Data::i8_d16:
      return {.is_signed = true, .half = true};
    case Data::u8_d16_hi:
    case Data::b16_d16_hi:
    case Data::b8_d16_hi_store:
    case Data::b16_d16_hi_store:
      return {.half = true, .upper = true};
    case Data::i8_d16_hi:
      return {.is_signed = true, .half = true, .upper = true};
    default:
      return {};
  }
}

template <Data data, typename Pointers>
inline void load_data(Pointers at, std::uint64_t active, std::uint32_t* dst) {
  if constexpr (data == Data::u8)
    load_small<std::uint8_t, Part::whole>(at, active, dst);
  else if constexpr (data == Data::i8)
    load_small<std::int8_t, Part::whole>(at, active, dst);
  else if constexpr (data == Data::u16)
    load_small<std::uint16_t, Part::whole>(at, active, dst);
  else if constexpr (data == Data::i16)
    load_small<std::int16_t, Part::whole>(at, active, dst);
  else if constexpr (data == Data::u8_d16)
    load_small<std::uint8_t, Part::low_half>(at, active, dst);
  else if constexpr (data == Data::u8_d16_hi)
    load_small<std::uint8_t, Part::high_half>(at, active, dst);
  else if constexpr (data == Data::i8_d16)
    load_small<std::int8_t, Part::low_half>(at, active, dst);
  else if constexpr (data == Data::i8_d16_hi)
    load_small<std::int8_t, Part::high_half>(at, active, dst);
  else if constexpr (data == Data::b16_d16)
    load_small<std::uint16_t, Part::low_half>(at, active, dst);
  else if constexpr (data == Data::b16_d16_hi)
    load_small<std::uint16_t, Part::high_half>(at, active, dst);
  else
    load_rows<bytes_of(data) / 4>(at, active, dst);
}
template <Data data, typename Pointers>
inline void store_data(Pointers at, std::uint64_t active, const std::uint32_t* src) {
  if constexpr (data == Data::b8)
    store_small<std::uint8_t, Part::whole>(at, active, src);
  else if constexpr (data == Data::b16)
    store_small<std::uint16_t, Part::whole>(at, active, src);
  else if constexpr (data == Data::b8_d16_hi_store)
    store_small<std::uint8_t, Part::high_half>(at, active, src);
  else if constexpr (data == Data::b16_d16_hi_store)
    store_small<std::uint16_t, Part::high_half>(at, active, src);
  else
    store_rows<bytes_of(data) / 4>(at, active, src);
}

/// Zeroes the lanes of a load that were out of range (buffers, LDS): the hardware returns 0.
template <Data data>
inline void zero_lanes(std::uint64_t lanes, std::uint32_t* dst) {
  if (lanes == 0) return;
  static constexpr std::uint8_t kZeros[16] = {};
  const std::uint64_t address = reinterpret_cast<std::uint64_t>(&kZeros[0]);
  alignas(64) std::uint64_t addresses[kWaveLanes];
  for (std::uint64_t& a : addresses) a = address;
  load_data<data>(AddressPointers{addresses}, lanes, dst);
}

}  // namespace margay::MARGAY_HOST_LEVEL
