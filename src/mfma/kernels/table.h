// Builds a level's table of kernels from kMfmaShapes and one template per kind of kernel.
#pragma once

#include "gpu/matrix_shapes.h"
#include "mfma/instructions/operands.h"
#include "mfma/kernels/lanes.h"
#include "mfma/kernels/prepare.h"

namespace margay::MARGAY_HOST_LEVEL {

/// Runs kernel, after preparing the operands if necessary.
template <MfmaFunction kernel, std::size_t index>
void run_guarded(const MfmaOperands& op) {
  constexpr const MfmaShape& shape = kMfmaShapes[index];
  constexpr std::ptrdiff_t size = shape.d_registers * 64;
  const bool modified = shape.modifiers != MfmaModifiers::negate && (op.cbsz | op.blgp) != 0;
  const bool shifted = op.c && op.c != op.d && op.c < op.d + size && op.d < op.c + size;
  if (__builtin_expect(modified || shifted, 0))
    run_mfma_prepared(kernel, shape, op);
  else
    kernel(op);
}

template <MfmaFunction kernel, std::size_t index>
inline constexpr MfmaKernel kGuarded = {.run = run_guarded<kernel, index>};

/// A kernel in parts.
template <typename Kernel, std::size_t index>
inline constexpr MfmaKernel kInParts = {.run = run_guarded<Kernel::run, index>,
                                        .parts = {.convert_a = Kernel::convert_a,
                                                  .convert_b = Kernel::convert_b,
                                                  .multiply = Kernel::multiply,
                                                  .b_dwords = Kernel::kBDwords}};

/// The table of what `Kernels::of<index>()` gives for each of kMfmaShapes, without sparse kernels.
template <typename Kernels>
consteval MfmaTable table_of() {
  return []<std::size_t... index>(std::index_sequence<index...>) {
    return MfmaTable{{Kernels::template of<index>()...}};
  }(std::make_index_sequence<kMfmaShapeCount>{});
}

}  // namespace margay::MARGAY_HOST_LEVEL
