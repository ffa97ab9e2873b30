// Mode `exact` of the bf16 instructions on AVX-512 VNNI.
#include "mfma/kernels/exact_dot.h"
#include "mfma/kernels/table.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

template <std::size_t index>
consteval MfmaKernel kernel() {
  constexpr MfmaShape s = kMfmaShapes[index];
  if constexpr (s.a == MfmaType::bf16 && s.k % 8 == 0 && s.blocks == 1)
    return kInParts<ExactDot<s.m, s.k>, index>;
  else
    return {};
}

template <std::size_t... index>
consteval MfmaTable table(std::index_sequence<index...>) {
  return {{kernel<index>()...}};
}

}  // namespace

extern const MfmaTable kExactTable;
constinit const MfmaTable kExactTable = table(std::make_index_sequence<kMfmaShapeCount>{});

}  // namespace margay::MARGAY_HOST_LEVEL
