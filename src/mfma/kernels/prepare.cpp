#include "mfma/kernels/prepare.h"

#include <cstring>

#include "mfma/kernels/reference.h"

namespace margay {
namespace {

constexpr int kLanes = 64;
constexpr std::size_t kRowBytes = kLanes * sizeof(std::uint32_t);
constexpr int kMaxSourceRows = 2, kMaxResultRows = 32;

bool overlaps(const std::uint32_t* a, const std::uint32_t* b, int rows) {
  return a < b + rows * kLanes && b < a + rows * kLanes;
}

/// rows[r][lane] of `from` at source(lane), into `to`.
template <typename F>
void permute_lanes(std::uint32_t* to, const std::uint32_t* from, int rows, F&& source) {
  for (int r = 0; r < rows; ++r)
    for (int lane = 0; lane < kLanes; ++lane)
      to[r * kLanes + lane] = from[r * kLanes + source(lane)];
}

}  // namespace

void run_mfma_prepared(MfmaFunction kernel, const MfmaShape& shape, const MfmaOperands& operands) {
  alignas(64) std::uint32_t a[kMaxSourceRows * kLanes], b[kMaxSourceRows * kLanes],
      c[kMaxResultRows * kLanes];
  MfmaOperands copy = operands;
  if (shape.modifiers != MfmaModifiers::negate) {
    if (operands.cbsz != 0) {
      // Lanes hold the rows of a block one after another, the blocks one after another.
      permute_lanes(a, operands.a, shape.a_registers, [&](int lane) {
        const int block = lane / shape.m;
        return ((block >> operands.cbsz << operands.cbsz) + operands.abid) * shape.m +
               lane % shape.m;
      });
      copy.a = a;
      copy.cbsz = copy.abid = 0;
    }
    if (operands.blgp != 0) {
      permute_lanes(b, operands.b, shape.b_registers,
                    [&](int lane) { return mfma_blgp_lane(operands.blgp, lane); });
      copy.b = b;
      copy.blgp = 0;
    }
  }
  if (operands.c && operands.c != operands.d &&
      overlaps(operands.c, operands.d, shape.d_registers)) {
    std::memcpy(c, operands.c, shape.d_registers * kRowBytes);
    copy.c = c;
  }
  kernel(copy);
}

}  // namespace margay
