#include "mfma/fast/amx.h"

#include <immintrin.h>

#include "mfma/fast/bfloats.h"

namespace margay::mfma_amx {
namespace {

constexpr std::ptrdiff_t kRow = 64;  // dwords in a register row

/// Intel SDM, volume 1, section 18.2: the 64 bytes LDTILECFG reads. Palette 1 has eight tiles of 16
/// rows by 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t bytes_per_row[16] = {64, 64, 64, 64, 32, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 8, 16, 16};
};
// Tiles 0 to 3: C and D. 4: A of one instruction (16 rows of 8 dwords: bf16 pairs, or four bytes).
// 5: its B (8 rows of 16 dwords). 6 and 7: the same of two instructions.

thread_local bool configured = false;

/// g++ 12's tile intrinsics do not declare that they read and write memory.
[[gnu::always_inline]] inline void settle_memory(const void* at) {
  asm volatile("" : : "r"(at) : "memory");
}

/// A's eight rows of 16 dwords (row = register * 4 + lane / 16, column = i), transposed: row r of
/// the result is A's i in the order of C's register rows, r = i % 4 * 4 + i / 4, and its 8 dwords
/// are in the order of B's rows as they are. `stride` is in bytes.
[[gnu::always_inline]] inline void transpose(const std::uint32_t* a, char* to, std::size_t stride) {
  __m512i row[8], pairs[8], quads[8];
  for (int n = 0; n < 8; ++n) row[n] = _mm512_load_si512(a + n * 16);
  for (int n = 0; n < 8; n += 2) {
    pairs[n] = _mm512_unpacklo_epi32(row[n], row[n + 1]);
    pairs[n + 1] = _mm512_unpackhi_epi32(row[n], row[n + 1]);
  }
  // quads[h * 4 + c]: in 128-bit lane L, rows 4h to 4h + 3 of column i = 4L + c.
  for (int h = 0; h < 2; ++h) {
    quads[h * 4 + 0] = _mm512_unpacklo_epi64(pairs[h * 4], pairs[h * 4 + 2]);
    quads[h * 4 + 1] = _mm512_unpackhi_epi64(pairs[h * 4], pairs[h * 4 + 2]);
    quads[h * 4 + 2] = _mm512_unpacklo_epi64(pairs[h * 4 + 1], pairs[h * 4 + 3]);
    quads[h * 4 + 3] = _mm512_unpackhi_epi64(pairs[h * 4 + 1], pairs[h * 4 + 3]);
  }
  const __m512i lower = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
  const __m512i upper = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
  for (int c = 0; c < 4; ++c) {
    const __m512i first = _mm512_permutex2var_epi64(quads[c], lower, quads[c + 4]);
    const __m512i second = _mm512_permutex2var_epi64(quads[c], upper, quads[c + 4]);
    char* const at = to + static_cast<std::size_t>(c) * 4 * stride;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm512_castsi512_si256(first));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at + stride),
                        _mm512_extracti64x4_epi64(first, 1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at + 2 * stride),
                        _mm512_castsi512_si256(second));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at + 3 * stride),
                        _mm512_extracti64x4_epi64(second, 1));
  }
}

/// The same of two instructions' A, side by side, in rows of 64 bytes. Most of the work are loads
/// into parts of registers, which the port of the shuffles is not needed for.
[[gnu::always_inline]] inline void transpose_two(const std::uint32_t* first,
                                                 const std::uint32_t* second, char* to) {
  for (int group = 0; group < 4; ++group) {
    __m512i row[4];
    for (int n = 0; n < 4; ++n) {
      const auto four = [&](const std::uint32_t* a, int k) __attribute__((always_inline)) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(a + k * 16 + group * 4));
      };
      row[n] = _mm512_castsi128_si512(four(first, n));
      row[n] = _mm512_mask_broadcast_i32x4(row[n], 0x00f0, four(first, n + 4));
      row[n] = _mm512_mask_broadcast_i32x4(row[n], 0x0f00, four(second, n));
      row[n] = _mm512_mask_broadcast_i32x4(row[n], 0xf000, four(second, n + 4));
    }
    const __m512i low[] = {_mm512_unpacklo_epi32(row[0], row[1]),
                           _mm512_unpacklo_epi32(row[2], row[3])};
    const __m512i high[] = {_mm512_unpackhi_epi32(row[0], row[1]),
                            _mm512_unpackhi_epi32(row[2], row[3])};
    // Column c of the group, i = 4 group + c, is row 4 c + group.
    const auto put = [&](int c, __m512i column) __attribute__((always_inline)) {
      _mm512_store_si512(to + (c * 4 + group) * 64, column);
    };
    put(0, _mm512_unpacklo_epi64(low[0], low[1]));
    put(1, _mm512_unpackhi_epi64(low[0], low[1]));
    put(2, _mm512_unpacklo_epi64(high[0], high[1]));
    put(3, _mm512_unpackhi_epi64(high[0], high[1]));
  }
}
/// B's eight rows of 16 dwords.
[[gnu::always_inline]] inline void copy_b(const std::uint32_t* b, char* to) {
  for (int n = 0; n < 8; ++n) _mm512_store_si512(to + n * 64, _mm512_load_si512(b + n * 16));
}

/// A or B of fp8 or bf8, two registers, as those of two bf16 instructions, of two registers each:
/// the bytes of each register are one of them.
[[gnu::always_inline]] inline void convert(Type type, const std::uint32_t* from, char* to) {
  using mfma_x86_amx::load, mfma_x86_amx::U32;
  const auto as = [&](auto pairs_of) __attribute__((always_inline)) {
    for (int reg = 0; reg < 2; ++reg)
      for (int lane = 0; lane < 64; lane += 16) {
        const auto pairs = pairs_of(load<U32>(from + reg * 64 + lane));
        char* const at = to + reg * 512 + lane * 4;
        _mm512_store_si512(at, (__m512i)pairs.low);
        _mm512_store_si512(at + 256, (__m512i)pairs.high);
      }
  };
  if (type == Type::fp8)
    as([](U32 four)
           __attribute__((always_inline)) { return mfma_x86_amx::bfloats<MfmaType::fp8>(four); });
  else
    as([](U32 four)
           __attribute__((always_inline)) { return mfma_x86_amx::bfloats<MfmaType::bf8>(four); });
}
/// Converted operands, before they are transposed or packed.
struct Converted {
  alignas(64) char bytes[1024];
  [[gnu::always_inline]] Converted(Type type, const std::uint32_t* from) {
    convert(type, from, bytes);
  }
  [[nodiscard, gnu::always_inline]] const std::uint32_t* of(int n) const {
    return reinterpret_cast<const std::uint32_t*>(bytes) + n * 128;
  }
};

/// A or B of f16 as sums of two bf16. `finite_high` is `high` without infinities and NaNs, so that
/// of the four products only high * high has one as a factor.
struct Split {
  alignas(64) std::uint32_t high[128], low[128], finite_high[128];
  bool is_finite;  ///< Then `finite_high` is not written.

  [[gnu::always_inline]] explicit Split(const std::uint32_t* from) {
    using mfma_x86_amx::load, mfma_x86_amx::U16, mfma_x86_amx::max, mfma_x86_amx::min;
    U16 largest{}, smallest = mfma_x86_amx::splat(std::uint16_t{0xffff});
    for (int n = 0; n < 128; n += 16) {
      const U16 halves = load<U16>(from + n), magnitude = halves & 0x7fffu;
      largest = max(largest, magnitude);
      smallest = min(smallest, magnitude - 1);  // zero becomes the largest
      put(n, mfma_x86_amx::split_usual(halves));
    }
    is_finite = true;
    if (__builtin_expect(
            (_mm512_cmpge_epu16_mask((__m512i)largest, _mm512_set1_epi16(0x7c00)) |
             _mm512_cmplt_epu16_mask((__m512i)smallest, _mm512_set1_epi16(0x3ff))) != 0,
            0))
      split_extremes(from);
  }

 private:
  [[gnu::always_inline]] void put(int n, mfma_x86_amx::SplitHalves halves) {
    _mm512_store_si512(high + n, (__m512i)halves.high);
    _mm512_store_si512(low + n, (__m512i)halves.low);
  }
  [[gnu::noinline]] void split_extremes(const std::uint32_t* from) {
    is_finite = false;
    for (int n = 0; n < 128; n += 16) {
      const auto halves = mfma_x86_amx::load<mfma_x86_amx::U16>(from + n);
      const auto parts = mfma_x86_amx::split_any(halves);
      put(n, parts);
      const auto is_number = (mfma_x86_amx::U16)((halves & 0x7fffu) < std::uint16_t{0x7c00});
      _mm512_store_si512(finite_high + n, (__m512i)(parts.high & is_number));
    }
  }
};
/// A to a slot, high and low parts side by side, and if there are infinities or NaNs with finite
/// high parts to the next one. Returns the bytes from the slot to the one with finite parts.
[[gnu::always_inline]] inline int split_a(const std::uint32_t* a, char* slots) {
  const Split parts(a);
  transpose_two(parts.high, parts.low, slots);
  if (__builtin_expect(parts.is_finite, 1)) return 0;
  transpose_two(parts.finite_high, parts.low, slots + 1024);
  return 1024;
}
/// B to one and a half slots: high, low and finite high parts one above the other, so that the rows
/// of low and finite high ones begin kLowOfB bytes on.
constexpr int kLowOfB = 512;
[[gnu::always_inline]] inline void split_b(const std::uint32_t* b, char* slots) {
  const Split parts(b);
  copy_b(parts.high, slots);
  copy_b(parts.low, slots + kLowOfB);
  copy_b(parts.is_finite ? parts.high : parts.finite_high, slots + 2 * kLowOfB);
}

// ---- 32x32: register rows of 64 lanes are two of 32 columns -------------------------------------

constexpr std::ptrdiff_t kWideStride = 128;  // bytes from one row of 32 columns to the next

/// The 16x16 of D's rows in `base`: rows 16 i, columns 16 j.
[[gnu::always_inline]] inline std::uint32_t* wide_tile(std::uint32_t* base, int i, int j) {
  return base + i * 16 * 32 + j * 16;
}

/// A's four dwords of each of 32 rows, as number n of the four in tiles' rows of 64 bytes; rows
/// in the order of D's: register r of D has rows 8 (r / 4) + r % 4 and, in its upper half, four on.
[[gnu::always_inline]] inline void pack_a(const std::uint32_t* a, char* to, int n) {
  for (int i = 0; i < 2; ++i) {
    __m512i row[4];
    for (int k = 0; k < 4; ++k) row[k] = _mm512_load_si512(a + k * 32 + i * 16);
    const __m512i low[] = {_mm512_unpacklo_epi32(row[0], row[1]),
                           _mm512_unpacklo_epi32(row[2], row[3])};
    const __m512i high[] = {_mm512_unpackhi_epi32(row[0], row[1]),
                            _mm512_unpackhi_epi32(row[2], row[3])};
    // quads[c]: in 128-bit lane L, the dwords of row 4 L + c.
    const __m512i quads[] = {
        _mm512_unpacklo_epi64(low[0], low[1]), _mm512_unpackhi_epi64(low[0], low[1]),
        _mm512_unpacklo_epi64(high[0], high[1]), _mm512_unpackhi_epi64(high[0], high[1])};
    const auto put = [&](int place, __m128i quad) __attribute__((always_inline)) {
      _mm_store_si128(reinterpret_cast<__m128i*>(to + i * 1024 + place * 64 + n * 16), quad);
    };
    for (int c = 0; c < 4; ++c) {
      put(2 * c, _mm512_castsi512_si128(quads[c]));
      put(2 * c + 1, _mm512_extracti32x4_epi32(quads[c], 1));
      put(8 + 2 * c, _mm512_extracti32x4_epi32(quads[c], 2));
      put(8 + 2 * c + 1, _mm512_extracti32x4_epi32(quads[c], 3));
    }
  }
}
/// B's four rows of 32 columns, as number n of the four.
[[gnu::always_inline]] inline void pack_b(const std::uint32_t* b, char* to, int n) {
  for (int j = 0; j < 2; ++j)
    for (int k = 0; k < 4; ++k)
      _mm512_store_si512(to + j * 1024 + (n * 4 + k) * 64, _mm512_load_si512(b + k * 32 + j * 16));
}
/// Converted A or B as numbers n and n + 1.
[[gnu::always_inline]] inline void pack_converted_a(Type type, const std::uint32_t* a, char* to,
                                                    int n) {
  if (type == Type::f16) {
    const Split parts(a);
    pack_a(parts.high, to, 0);
    pack_a(parts.low, to, 1);
    pack_a(parts.is_finite ? parts.high : parts.finite_high, to, 2);
    pack_a(parts.low, to, 3);
    return;
  }
  const Converted two(type, a);
  pack_a(two.of(0), to, n);
  pack_a(two.of(1), to, n + 1);
}
[[gnu::always_inline]] inline void pack_converted_b(Type type, const std::uint32_t* b, char* to,
                                                    int n) {
  if (type == Type::f16) {
    const Split parts(b);
    pack_b(parts.high, to, 0);
    pack_b(parts.low, to, 1);
    pack_b(parts.low, to, 2);
    pack_b(parts.is_finite ? parts.high : parts.finite_high, to, 3);
    return;
  }
  const Converted two(type, b);
  pack_b(two.of(0), to, n);
  pack_b(two.of(1), to, n + 1);
}
[[gnu::always_inline]] inline void clear_packed(char* slot) {
  for (int n = 0; n < 2048; n += 64) _mm512_store_si512(slot + n, _mm512_setzero_si512());
}

/// D += A B of tiles, for signed bytes or pairs of bf16.
#define MARGAY_MULTIPLY(sum, rows, columns) \
  if constexpr (is_integer)                 \
    _tile_dpbssd(sum, rows, columns);       \
  else                                      \
    _tile_dpbf16ps(sum, rows, columns)

/// Tile numbers are part of the instruction: one copy of `op` for each accumulator.
#define MARGAY_FOR_TILE(number, op) \
  switch (number) {                 \
    case 0:                         \
      op(0);                        \
      break;                        \
    case 1:                         \
      op(1);                        \
      break;                        \
    case 2:                         \
      op(2);                        \
      break;                        \
    default:                        \
      op(3);                        \
      break;                        \
  }

}  // namespace

void begin() {
  static constexpr TileConfig kConfig;
  settle_memory(&kConfig);
  _tile_loadconfig(&kConfig);
  configured = true;
}

void end() {
  _tile_release();
  configured = false;
}

namespace {

template <bool is_integer>
void run_one(Types types, const MfmaOperands& op) {
  if (!configured) begin();
  alignas(64) char a[1024], b[1024];
  if (types.are_converted()) {
    const Converted two(types.a, op.a);
    transpose_two(two.of(0), two.of(1), a);
    convert(types.b, op.b, b);
  } else {
    transpose(op.a, a, 32);
  }
  settle_memory(a);
  settle_memory(b);
  if (op.c) {
    _tile_loadd(0, op.c, 64);
  } else if (op.c_constant == 0) {
    _tile_zero(0);
  } else {
    alignas(64) std::uint32_t value[16];
    _mm512_store_si512(value, _mm512_set1_epi32(static_cast<int>(op.c_constant)));
    settle_memory(value);
    _tile_loadd(0, value, 0);
  }
  if (types.are_converted()) {
    _tile_loadd(6, a, 64);
    _tile_loadd(7, b, 64);
    MARGAY_MULTIPLY(0, 6, 7);
  } else {
    _tile_loadd(4, a, 32);
    _tile_loadd(5, op.b, 64);
    MARGAY_MULTIPLY(0, 4, 5);
  }
  _tile_stored(0, op.d, 64);
  settle_memory(op.d);
}

/// The tiles of D += A B, from their packed slots.
#define MARGAY_MULTIPLY_WIDE(a, b) \
  _tile_loadd(6, a, 64);           \
  _tile_loadd(7, b, 64);           \
  MARGAY_MULTIPLY(0, 6, 7);        \
  _tile_loadd(7, (b) + 1024, 64);  \
  MARGAY_MULTIPLY(1, 6, 7);        \
  _tile_loadd(6, (a) + 1024, 64);  \
  MARGAY_MULTIPLY(3, 6, 7);        \
  _tile_loadd(7, b, 64);           \
  MARGAY_MULTIPLY(2, 6, 7)
#define MARGAY_LOAD_WIDE(at)                        \
  _tile_loadd(0, wide_tile(at, 0, 0), kWideStride); \
  _tile_loadd(1, wide_tile(at, 0, 1), kWideStride); \
  _tile_loadd(2, wide_tile(at, 1, 0), kWideStride); \
  _tile_loadd(3, wide_tile(at, 1, 1), kWideStride)
#define MARGAY_STORE_WIDE(at)                        \
  _tile_stored(0, wide_tile(at, 0, 0), kWideStride); \
  _tile_stored(1, wide_tile(at, 0, 1), kWideStride); \
  _tile_stored(2, wide_tile(at, 1, 0), kWideStride); \
  _tile_stored(3, wide_tile(at, 1, 1), kWideStride)
#define MARGAY_SPLAT_WIDE(value) \
  _tile_loadd(0, value, 0);      \
  _tile_loadd(1, value, 0);      \
  _tile_loadd(2, value, 0);      \
  _tile_loadd(3, value, 0)

template <bool is_integer>
void run_one_wide(Types types, const MfmaOperands& op) {
  if (!configured) begin();
  alignas(64) char a[2048], b[2048];
  clear_packed(a);
  clear_packed(b);
  if (types.are_converted()) {
    pack_converted_a(types.a, op.a, a, 0);
    pack_converted_b(types.b, op.b, b, 0);
  } else {
    pack_a(op.a, a, 0);
    pack_b(op.b, b, 0);
  }
  alignas(64) std::uint32_t value[16];
  _mm512_store_si512(value, _mm512_set1_epi32(static_cast<int>(op.c_constant)));
  settle_memory(value);
  settle_memory(a);
  settle_memory(b);
  std::uint32_t* const c = const_cast<std::uint32_t*>(op.c);
  if (c) {
    MARGAY_LOAD_WIDE(c);
  } else {
    MARGAY_SPLAT_WIDE(value);
  }
  MARGAY_MULTIPLY_WIDE(a, b);
  MARGAY_STORE_WIDE(op.d);
  settle_memory(op.d);
}

template <bool is_integer>
void run_all(const TileOp* ops, std::size_t count, const std::uint32_t* numbers,
             std::uint32_t* base) {
  if (!configured) begin();
  alignas(64) char scratch[kScratchSlots * 1024];
  int finite_a[kScratchSlots];
  for (const TileOp* next = ops; next != ops + count; ++next) {
    const TileOp op = *next;
    settle_memory(scratch);
    std::uint32_t* const at = base + op.row * kRow;
    char* const slot = scratch + op.slot * 1024;
    const auto numbered = [&](int tile) __attribute__((always_inline)) {
      return base + static_cast<std::ptrdiff_t>(numbers[op.row + tile]) * kRow;
    };
    const auto multiply = [](int tile) __attribute__((always_inline)) {
#define MARGAY_OP(number) MARGAY_MULTIPLY(number, 6, 7)
      MARGAY_FOR_TILE(tile, MARGAY_OP)
#undef MARGAY_OP
    };
    switch (op.code) {
      case TileOp::Code::transpose:
        transpose(at, slot, 64);
        break;
      case TileOp::Code::transpose_two:
        transpose_two(numbered(0), numbered(1), slot);
        break;
      case TileOp::Code::copy_two:
        copy_b(numbered(0), slot);
        copy_b(numbered(1), slot + 512);
        break;
      case TileOp::Code::convert_a: {
        if (op.type == Type::f16) {
          finite_a[op.slot] = split_a(at, slot);
          break;
        }
        const Converted two(op.type, at);
        transpose_two(two.of(0), two.of(1), slot);
        break;
      }
      case TileOp::Code::convert_b:
        if (op.type == Type::f16)
          split_b(at, slot);
        else
          convert(op.type, at, slot);
        break;
      case TileOp::Code::load_c:
#define MARGAY_OP(tile) _tile_loadd(tile, at, 64)
        MARGAY_FOR_TILE(op.tile, MARGAY_OP)
#undef MARGAY_OP
        break;
      case TileOp::Code::splat_c: {
        alignas(64) std::uint32_t value[16];
        _mm512_store_si512(value, _mm512_set1_epi32(static_cast<int>(numbers[op.row])));
        settle_memory(value);
#define MARGAY_OP(tile) _tile_loadd(tile, value, 0)
        MARGAY_FOR_TILE(op.tile, MARGAY_OP)
#undef MARGAY_OP
        break;
      }
      case TileOp::Code::multiply:
        _tile_loadd(4, slot, 64);
        _tile_loadd(5, at, 64);
#define MARGAY_OP(tile) MARGAY_MULTIPLY(tile, 4, 5)
        MARGAY_FOR_TILE(op.tile, MARGAY_OP)
#undef MARGAY_OP
        break;
      case TileOp::Code::multiply_two:
        _tile_loadd(6, slot, 64);
        _tile_loadd(7, at, 64);
        multiply(op.tile);
        break;
      case TileOp::Code::multiply_copied:
        _tile_loadd(6, slot, 64);
        _tile_loadd(7, scratch + op.row * 1024, 64);
        multiply(op.tile);
        break;
      case TileOp::Code::multiply_two_same_a:
        _tile_loadd(7, at, 64);
        multiply(op.tile);
        break;
      case TileOp::Code::multiply_copied_same_a:
        _tile_loadd(7, scratch + op.row * 1024, 64);
        multiply(op.tile);
        break;
      case TileOp::Code::multiply_split:
        _tile_loadd(6, slot + finite_a[op.slot], 64);
        _tile_loadd(7, scratch + op.row * 1024 + kLowOfB, 64);
        multiply(op.tile);
        break;
      case TileOp::Code::multiply_split_same_a:
        _tile_loadd(7, scratch + op.row * 1024 + kLowOfB, 64);
        multiply(op.tile);
        break;
      case TileOp::Code::multiply_split_same_b:
        _tile_loadd(6, slot + finite_a[op.slot], 64);
        multiply(op.tile);
        break;
      case TileOp::Code::multiply_same_b:
        _tile_loadd(6, slot, 64);
        multiply(op.tile);
        break;
      case TileOp::Code::store:
#define MARGAY_OP(tile) _tile_stored(tile, at, 64)
        MARGAY_FOR_TILE(op.tile, MARGAY_OP)
#undef MARGAY_OP
        break;
      case TileOp::Code::clear_packed:
        clear_packed(slot);
        break;
      case TileOp::Code::pack_a:
        pack_a(at, slot, op.tile);
        break;
      case TileOp::Code::pack_b:
        pack_b(at, slot, op.tile);
        break;
      case TileOp::Code::pack_converted_a:
        pack_converted_a(op.type, at, slot, op.tile);
        break;
      case TileOp::Code::pack_converted_b:
        pack_converted_b(op.type, at, slot, op.tile);
        break;
      case TileOp::Code::load_wide:
        MARGAY_LOAD_WIDE(at);
        break;
      case TileOp::Code::splat_wide: {
        alignas(64) std::uint32_t value[16];
        _mm512_store_si512(value, _mm512_set1_epi32(static_cast<int>(numbers[op.row])));
        settle_memory(value);
        MARGAY_SPLAT_WIDE(value);
        break;
      }
      case TileOp::Code::multiply_wide: {
        char* const b = scratch + op.tile * 1024;
        MARGAY_MULTIPLY_WIDE(slot, b);
        break;
      }
      case TileOp::Code::store_wide:
        MARGAY_STORE_WIDE(at);
        break;
    }
  }
  settle_memory(base);
}

}  // namespace

void run(Types types, Size size, const MfmaOperands& op) {
  const bool is_integer = types.a == Type::i8;
  if (size == Size::one)
    is_integer ? run_one<true>(types, op) : run_one<false>(types, op);
  else
    is_integer ? run_one_wide<true>(types, op) : run_one_wide<false>(types, op);
}
void run_ops(Types types, const TileOp* ops, std::size_t count, const std::uint32_t* numbers,
             std::uint32_t* base) {
  types.a == Type::i8 ? run_all<true>(ops, count, numbers, base)
                      : run_all<false>(ops, count, numbers, base);
}

}  // namespace margay::mfma_amx
