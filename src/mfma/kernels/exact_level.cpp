// The kernels of mode `exact` that differ from mode `fma`, for one host level; the others are
// null.
#include "mfma/kernels/exact_kernels.h"
#include "mfma/kernels/sparse_kernels.h"
#include "mfma/kernels/table.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

template <std::size_t index>
consteval MfmaKernel kernel() {
  constexpr MfmaShape s = kMfmaShapes[index];
  if constexpr (s.a == MfmaType::f64 || s.a == MfmaType::f32 || s.a == MfmaType::i8)
    return {};
  else
    return kGuarded<run_exact<s.a, s.b, s.m, s.k, s.blocks>, index>;
}

template <std::size_t index>
consteval SmfmacFunction sparse_kernel() {
  constexpr MfmaShape s = kSmfmacShapes[index];
  if constexpr (s.a == MfmaType::i8)
    return nullptr;
  else
    return run_sparse_exact<s.a, s.b, s.m, s.k>;
}

template <std::size_t... index, std::size_t... sparse>
consteval MfmaTable table(std::index_sequence<index...>, std::index_sequence<sparse...>) {
  return {{kernel<index>()...}, {sparse_kernel<sparse>()...}};
}

}  // namespace

extern const MfmaTable kExactTable;
constinit const MfmaTable kExactTable = table(std::make_index_sequence<kMfmaShapeCount>{},
                                              std::make_index_sequence<kSmfmacShapeCount>{});

}  // namespace margay::MARGAY_HOST_LEVEL
