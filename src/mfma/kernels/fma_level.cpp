// The kernels of mode `fma`, for one host level; f32, f64 and i8 have no other mode.
#include "mfma/kernels/chain_kernels.h"
#include "mfma/kernels/sparse_kernels.h"
#include "mfma/kernels/table.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

template <std::size_t index>
consteval MfmaKernel kernel() {
  constexpr MfmaShape s = kMfmaShapes[index];
  if constexpr (s.a == MfmaType::f64)
    return kGuarded<run_f64<s.m, s.blocks>, index>;
  else if constexpr (s.a == MfmaType::i8)
    return kGuarded<run_i8<s.m, s.k, s.blocks>, index>;
  else
    return kInParts<Fused<s.a, s.b, s.m, s.k, s.blocks>, index>;
}

template <std::size_t index>
consteval SmfmacFunction sparse_kernel() {
  constexpr MfmaShape s = kSmfmacShapes[index];
  if constexpr (s.a == MfmaType::i8)
    return run_sparse_i8<s.m, s.k>;
  else
    return run_sparse_fused<s.a, s.b, s.m, s.k>;
}

template <std::size_t... index, std::size_t... sparse>
consteval MfmaTable table(std::index_sequence<index...>, std::index_sequence<sparse...>) {
  return {{kernel<index>()...}, {sparse_kernel<sparse>()...}};
}

}  // namespace

extern const MfmaTable kFmaTable;
constinit const MfmaTable kFmaTable = table(std::make_index_sequence<kMfmaShapeCount>{},
                                            std::make_index_sequence<kSmfmacShapeCount>{});

}  // namespace margay::MARGAY_HOST_LEVEL
