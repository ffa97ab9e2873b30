// The bf16, fp8 and bf8 instructions on AVX-512 BF16, which multiplies pairs of k, flushes
// denormals and rounds each pair's sum to nearest even. Bytes are numbers of bf16 exactly.
#include "mfma/fast/bfloats.h"
#include "mfma/fast/dot.h"
#include "mfma/kernels/table.h"

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
      const auto [low, high] = bfloats<t>(load<U32>(rows + Bytes::offset(n) + u * 16));
      store(to + Pairs::offset(2 * n) + u * 16, low);
      store(to + Pairs::offset(2 * n + 1) + u * 16, high);
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
