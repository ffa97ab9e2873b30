// Mode `exact` of the bf16 instructions on AVX-512 VNNI.
#include "mfma/kernels/exact_dot.h"
#include "mfma/kernels/table.h"

namespace margay::MARGAY_HOST_LEVEL {
namespace {

struct Kernels {
  template <std::size_t index>
  static consteval MfmaKernel of() {
    constexpr MfmaShape s = kMfmaShapes[index];
    if constexpr (s.a == MfmaType::bf16 && s.k % 8 == 0 && s.blocks == 1)
      return kInParts<ExactDot<s.m, s.k>, index>;
    else
      return {};
  }
};

}  // namespace

extern const MfmaTable kExactTable;
constinit const MfmaTable kExactTable = table_of<Kernels>();

}  // namespace margay::MARGAY_HOST_LEVEL
