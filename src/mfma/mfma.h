// Matrix multiply-accumulate on register rows, independent of the executor: dense (v_mfma_*) here,
// with A of structured sparsity (v_smfmac_*) at the end.
// Look an instruction up once, when decoding; then call the function it gives once per instruction,
// or make runs of the same instruction ready.
//
//   const MfmaShape* shape = find_mfma_shape("v_mfma_f32_16x16x16_bf16");
//   MfmaKernel kernel = mfma_kernel(*shape, MfmaMode::exact, "");
//   kernel.run({.d = rows(0), .a = rows(4), .b = rows(6), .c = rows(0)});
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "mfma/mode.h"
#include "mfma/shapes.h"

namespace margay {

/// The operands of one instruction. Each pointer is to register rows: [register][64 lanes] of 32
/// bits, 64-byte aligned. D may overlap A, B and C in any way; d == c is the usual case.
struct MfmaOperands {
  std::uint32_t* d;
  const std::uint32_t* a;
  const std::uint32_t* b;
  const std::uint32_t* c;        ///< Null: C is c_constant in every element.
  std::uint32_t c_constant = 0;  ///< Bits of an inline constant; for f64, of its upper half.
  std::uint8_t cbsz = 0, abid = 0, blgp = 0;
};

/// All functions need the host's floating-point state at its default: round to nearest even, no
/// flushing of denormals, exceptions masked. MODE does not reach the matrix unit's rounding.
using MfmaFunction = void (*)(const MfmaOperands& operands);

/// One instruction of a run, by the numbers of its operands' first register rows.
struct MfmaStep {
  std::int32_t d, a, b;
  std::int32_t c;  ///< Unused when C is a constant.
  bool c_is_constant = false;
  std::uint32_t c_constant = 0;
  std::uint8_t cbsz = 0, abid = 0, blgp = 0;
};
/// Where a step's operands are in a register file.
[[nodiscard]] MfmaOperands operands_of(const MfmaStep& step, std::uint32_t* rows);

/// A run of the same instruction, made ready once and executed often, on any wave's registers and
/// from several threads at a time.
class MfmaRun {
 public:
  virtual ~MfmaRun() = default;
  /// The same as MfmaFunction for each step in order, `rows` being register row 0.
  virtual void execute(std::uint32_t* rows) const = 0;
};
using MfmaPrepareFunction = std::unique_ptr<const MfmaRun> (*)(std::span<const MfmaStep> steps);

struct MfmaKernel {
  MfmaFunction run = nullptr;
  /// Null when a run is best done one by one.
  MfmaPrepareFunction prepare = nullptr;
};
/// For a kernel that is not null. Faster than one by one where operands or accumulators repeat.
[[nodiscard]] std::unique_ptr<const MfmaRun> prepare_mfma_run(const MfmaKernel& kernel,
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

/// What `fast` uses for an instruction at a host level, in words ("AMX bf16", "AVX-512 BF16", "as
/// fma").
[[nodiscard]] std::string_view mfma_fast_method(const MfmaShape& shape, std::string_view level);

// ---- v_smfmac_*
// D += A B, where of each four consecutive k of a row of A two are kept: the first value of a pair
// meets B at the k that the pair's first index names, the second at its second's.

struct SmfmacOperands {
  std::uint32_t* d;        ///< Also C. May overlap the others in any way.
  const std::uint32_t* a;  ///< The kept values, in order of k.
  const std::uint32_t* b;
  const std::uint32_t* index;    ///< One row: two bits per kept value of the lane.
  std::uint8_t index_shift = 0;  ///< Where the chosen set of indices begins; smfmac_index_shift().
};
using SmfmacFunction = void (*)(const SmfmacOperands& operands);

/// Null when this is not a sparse matrix instruction of gfx942.
[[nodiscard]] const MfmaShape* find_smfmac_shape(std::string_view mnemonic);

/// The first bit of the set that CBSZ and ABID (valid ones) choose, out of a lane's index register.
[[nodiscard]] std::uint8_t smfmac_index_shift(const MfmaShape& shape, unsigned cbsz, unsigned abid);

/// The ISA wants the first index of each pair below the second. The first lane for which that is
/// not so, or -1.
[[nodiscard]] int smfmac_bad_index_lane(const MfmaShape& shape, const SmfmacOperands& operands);

/// As mfma_kernel; `fast` is `fma`.
[[nodiscard]] SmfmacFunction smfmac_kernel(const MfmaShape& shape, MfmaMode mode,
                                           std::string_view level);

/// Brackets a host thread's use of `fast` kernels, which may keep per-thread host state (AMX tile
/// configuration). begin is needed only when other code on the thread may have changed that state;
/// end gives it back.
void mfma_thread_begin();
void mfma_thread_end();

}  // namespace margay
