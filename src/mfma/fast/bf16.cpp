// The bf16, fp8 and bf8 instructions on AVX-512 BF16, which multiplies pairs of k, flushes
// denormals and rounds each pair's sum to nearest even. Bytes are numbers of bf16 exactly.
#include "mfma/fast/dot.h"
#include "mfma/kernels/table.h"

#include <bit>

namespace margay::MARGAY_HOST_LEVEL {
namespace {

template <typename Dwords, int m, int chunks>
MARGAY_INLINE void multiply_pairs(const std::uint32_t* a, const std::uint32_t* b, Addend c,
                                  std::uint32_t* d) {
  multiply_dwords<Dwords, m, chunks>(
      a, b, c, [](U32&, unsigned, unsigned) {},
      [](U32 sum, U32 column, U32 row) {
        return (U32)_mm512_dpbf16_ps((__m512)sum, (__m512bh)column, (__m512bh)row);
      },
      [&](auto& sum, unsigned first, unsigned u) {
        constexpr int rows = m < 16 ? m : 16;
        unroll<rows>([&](auto r) { store(d + result_offset<m>(first + r, u), sum[r]); });
      });
}

template <int m, int k, int blocks>
[[gnu::flatten]] void run_pairs(const MfmaOperands& op) {
  using Dwords = RegisterDwords<MfmaType::bf16, m, k, blocks>;
  with_sources_apart<m, k, blocks, 2>(op, [&](const std::uint32_t* a, const std::uint32_t* b) {
    multiply_pairs<Dwords, m, m * blocks / 16>(a, b, Addend{op.c, op.c_constant}, op.d);
  });
}

// ---- fp8, bf8 -------------------------------------------------------------------------------

/// The bf16 of 32 bytes, each of which is the lower half of a word.
template <MfmaType t>
[[nodiscard]] MARGAY_INLINE U16 bfloats(U16 bytes) {
  constexpr int mantissa_bits = t == MfmaType::fp8 ? 3 : 2;
  constexpr std::uint16_t bias = t == MfmaType::fp8 ? 8 : 16;
  // As to_f32 (expand.h), but that bf16 has no arithmetic: the denormals are looked up.
  static constexpr auto kDenormals = [] {
    struct {
      alignas(64) std::uint16_t values[32];
    } table{};
    for (std::uint16_t n = 1; n < 1 << mantissa_bits; ++n) {
      const auto top = static_cast<std::uint16_t>(std::bit_width(n) - 1);  // n = 2^top * 1.xxx
      const auto exponent = static_cast<std::uint16_t>(127 + 1 - bias - mantissa_bits + top);
      const auto fraction = static_cast<std::uint16_t>((n << (7 - top)) & 0x7f);
      table.values[n] = static_cast<std::uint16_t>(exponent << 7 | fraction);
    }
    return table;
  }();
  const U16 magnitude = bytes & 0x7fu;
  const U16 normal = (magnitude << (7 - mantissa_bits)) + std::uint16_t{(127 - bias) << 7};
  const U16 denormal =
      (U16)_mm512_permutexvar_epi16((__m512i)magnitude, _mm512_load_si512(&kDenormals.values[0]));
  const U16 finite =
      (magnitude < std::uint16_t{1 << mantissa_bits} ? denormal : normal) | (bytes & 0x80u) << 8;
  return bytes == std::uint16_t{0x80} ? U16{} + std::uint16_t{0x7fc0} : finite;
}

/// The dwords of a converted operand: two for each register's dword, one after the other.
template <int m, int k, int blocks>
struct ConvertedDwords {
  static constexpr int kChunks = m * blocks / 16, kSteps = k / 2;
  static consteval int offset(int step) { return step * kChunks * 16; }
};

template <MfmaType t, int m, int k, int blocks>
MARGAY_INLINE void convert(const std::uint32_t* rows, std::uint32_t* to) {
  using Bytes = RegisterDwords<t, m, k, blocks>;
  using Pairs = ConvertedDwords<m, k, blocks>;
  unroll<Bytes::kSteps>([&](auto step) {
    constexpr int n = decltype(step)::value;
    for (int u = 0; u < Pairs::kChunks; ++u) {
      const U32 four = load<U32>(rows + Bytes::offset(n) + u * 16);
      // Two bytes of each dword to the lower halves of its words.
      const auto words = [&](U32 x) { return (U16)((x & 0xffu) | (x & 0xff00u) << 8); };
      store(to + Pairs::offset(2 * n) + u * 16, bfloats<t>(words(four)));
      store(to + Pairs::offset(2 * n + 1) + u * 16, bfloats<t>(words(four >> 16)));
    }
  });
}

template <MfmaType ta, MfmaType tb, int m, int k, int blocks>
struct Bytes {
  using Dwords = ConvertedDwords<m, k, blocks>;
  static constexpr std::size_t kBDwords = Dwords::kSteps * Dwords::kChunks * 16;

  [[gnu::flatten]] static void convert_a(const std::uint32_t* rows, std::uint32_t* converted) {
    static_assert(kBDwords <= MfmaParts::kLargest);
    convert<ta, m, k, blocks>(rows, converted);
  }
  [[gnu::flatten]] static void convert_b(const std::uint32_t* rows, std::uint32_t* converted) {
    convert<tb, m, k, blocks>(rows, converted);
  }
  [[gnu::flatten]] static void multiply(const std::uint32_t* a, const std::uint32_t* b,
                                        const MfmaOperands& op) {
    multiply_pairs<Dwords, m, Dwords::kChunks>(a, b, Addend{op.c, op.c_constant}, op.d);
  }
  static void run(const MfmaOperands& op) {
    alignas(64) std::uint32_t a[kBDwords], b[kBDwords];
    convert_a(op.a, a);
    convert_b(op.b, b);
    multiply(a, b, op);
  }
};

struct Kernels {
  template <std::size_t index>
  static consteval MfmaKernel of() {
    constexpr MfmaShape s = kMfmaShapes[index];
    if constexpr (s.a == MfmaType::bf16)
      return kGuarded<run_pairs<s.m, s.k, s.blocks>, index>;
    else if constexpr (s.a == MfmaType::fp8 || s.a == MfmaType::bf8)
      return kInParts<Bytes<s.a, s.b, s.m, s.k, s.blocks>, index>;
    else
      return {};
  }
};

}  // namespace

extern const MfmaTable kFastTable;
constinit const MfmaTable kFastTable = table_of<Kernels>();

}  // namespace margay::MARGAY_HOST_LEVEL
