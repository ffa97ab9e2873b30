// Matrix multiply-accumulate on register rows, independent of the executor: dense (v_mfma_*) here,
// with A of structured sparsity (v_smfmac_*) at the end.
// Look an instruction up once, when decoding; then call the function it gives once per instruction,
// or prepare runs of the same instruction.
//
//   const MfmaShape* shape = find_mfma_shape("v_mfma_f32_16x16x16_bf16");
//   MfmaKernel kernel = mfma_kernel(*shape, MfmaMode::exact, "");
//   kernel.run({.d = rows(0), .a = rows(4), .b = rows(6), .c = rows(0)});
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "gpu/matrix_shapes.h"
#include "mfma/instructions/mode.h"
#include "mfma/instructions/operands.h"

namespace margay {

/// Where a step's operands are in a register file.
[[nodiscard]] MfmaOperands operands_of(const MfmaStep& step, std::uint32_t* rows);

/// `kernel` is one of `shape` and not null. Faster than single instructions where operands or
/// accumulators repeat.
[[nodiscard]] std::unique_ptr<const MfmaRun> prepare_mfma_run(const MfmaShape& shape,
                                                              const MfmaKernel& kernel,
                                                              std::span<const MfmaStep> steps);

/// Null when this is not a dense matrix instruction of gfx942. Accepts the gfx942 mnemonic and the
/// older spelling.
[[nodiscard]] const MfmaShape* find_mfma_shape(std::string_view mnemonic);

/// Whether the instruction is valid with these field values. The fields of an instruction that does
/// not use them must be zero; what hardware does otherwise is not documented.
[[nodiscard]] bool mfma_modifiers_valid(const MfmaShape& shape, unsigned cbsz, unsigned abid,
                                        unsigned blgp);

/// `level` is "generic", "x86-64-v3", "x86-64-v4", or empty for the best this host can run. The
/// functions are null when the host cannot run that level or its name is unknown. `exact` and
/// `fma` give the same bits on every level.
[[nodiscard]] MfmaKernel mfma_kernel(const MfmaShape& shape, MfmaMode mode, std::string_view level);

/// The levels this host can run, best first.
[[nodiscard]] std::vector<std::string_view> mfma_levels();

/// The method of `fast` for an instruction at a host level ("AMX bf16", "AVX-512 BF16", "as fma").
[[nodiscard]] std::string_view mfma_fast_method(const MfmaShape& shape, std::string_view level);

// ---- v_smfmac_*

/// Null when this is not a sparse matrix instruction of gfx942.
[[nodiscard]] const MfmaShape* find_smfmac_shape(std::string_view mnemonic);

/// The first bit of the set that CBSZ and ABID (valid ones) choose, out of a lane's index register.
[[nodiscard]] std::uint8_t smfmac_index_shift(const MfmaShape& shape, unsigned cbsz, unsigned abid);

/// The ISA requires the first index of each pair to be below the second. Returns the first lane
/// that violates this, or -1.
[[nodiscard]] int smfmac_bad_index_lane(const MfmaShape& shape, const SmfmacOperands& operands);

/// As mfma_kernel; `fast` is `fma`.
[[nodiscard]] SmfmacFunction smfmac_kernel(const MfmaShape& shape, MfmaMode mode,
                                           std::string_view level);

/// Brackets a host thread's use of `fast` kernels, which may keep per-thread host state (AMX tile
/// configuration). begin is needed only when other code on the thread may have changed that state;
/// end releases it.
void mfma_thread_begin();
void mfma_thread_end();

}  // namespace margay
