// The i8 instructions on AVX-512 VNNI, exactly. The unit multiplies unsigned bytes by signed ones:
// B is taken as b + 128, and 128 times the sum of A's row is taken off.
#include "mfma/fast/dot.h"
#include "mfma/kernels/table.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

[[nodiscard]] MARGAY_INLINE U32 dot_bytes(U32 sum, U32 of_unsigned, U32 of_signed) {
  return (U32)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)of_unsigned, (__m512i)of_signed);
}

template <int m, int k, int blocks>
[[gnu::flatten]] void run_quads(const MfmaOperands& op) {
  using Dwords = RegisterDwords<MfmaType::i8, m, k, blocks>;
  constexpr int chunks = m * blocks / 16;
  with_sources_apart<m, k, blocks, 1>(op, [&](const std::uint32_t* a, const std::uint32_t* b) {
    alignas(64) std::uint32_t excess[chunks * 16];  // 128 times the sum of each row of A
    for (int u = 0; u < chunks; ++u) {
      U32 sum{};
      unroll<Dwords::kSteps>([&](auto step) {
        constexpr int offset = Dwords::offset(decltype(step)::value);
        sum = dot_bytes(sum, splat(0x80808080u), load<U32>(a + offset + u * 16));
      });
      store(excess + u * 16, sum);
    }
    multiply_dwords<Dwords, m, chunks>(
        a, b, Addend{op.c, op.c_constant},
        [&](U32& sum, unsigned i, unsigned u) { sum -= row_dwords<m>(excess, u, i); },
        [](U32 sum, U32 column, U32 row) { return dot_bytes(sum, column ^ 0x80808080u, row); },
        [&](auto& sum, unsigned first, unsigned u) {
          constexpr int rows = m < 16 ? m : 16;
          unroll<rows>([&](auto r) { store(op.d + result_offset<m>(first + r, u), sum[r]); });
        });
  });
}

struct Kernels {
  template <std::size_t index>
  static consteval MfmaKernel of() {
    constexpr MfmaShape s = kMfmaShapes[index];
    if constexpr (s.a == MfmaType::i8)
      return kGuarded<run_quads<s.m, s.k, s.blocks>, index>;
    else
      return {};
  }
};

}  // namespace

extern const MfmaTable kIntegerTable;
constinit const MfmaTable kIntegerTable = table_of<Kernels>();

}  // namespace margay::MARGAY_HOST_LEVEL
