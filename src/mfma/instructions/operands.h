// The operands of matrix instructions on register rows, and the types of the functions that execute
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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
  /// One later step of the run reads D, as its C, if any, and nothing else: D's registers need not
  /// be written.
  bool only_next_reads_d = false;
};

/// A run of the same instruction, prepared once and executed often, on any wave's registers and
/// from several threads at a time.
class MfmaRun {
 public:
  virtual ~MfmaRun() = default;
  /// The same as MfmaFunction for each step in order, `rows` being register row 0.
  virtual void execute(std::uint32_t* rows) const = 0;
};
using MfmaPrepareFunction = std::unique_ptr<const MfmaRun> (*)(std::span<const MfmaStep> steps);

/// A kernel in parts, for runs whose instructions multiply the same A and B several times.
struct MfmaParts {
  static constexpr std::size_t kLargest = 1792;  ///< Dwords of a converted operand, at most.
  /// Convert A and B to what `multiply` needs, which does not read them in `operands`. Without
  /// `convert_b` it does read B, and gets none converted.
  void (*convert_a)(const std::uint32_t* rows, std::uint32_t* converted) = nullptr;
  void (*convert_b)(const std::uint32_t* rows, std::uint32_t* converted) = nullptr;
  void (*multiply)(const std::uint32_t* a, const std::uint32_t* b,
                   const MfmaOperands& operands) = nullptr;
  std::size_t b_dwords = 0;  ///< Of a converted B.
};

struct MfmaKernel {
  MfmaFunction run = nullptr;
  /// Null when instructions are best run one by one, or by `parts`, if there are any.
  MfmaPrepareFunction prepare = nullptr;
  /// For operands without modifiers whose C is D's rows or none of them.
  MfmaParts parts = {};
};

// ---- v_smfmac_*
// D += A B, where two of each four consecutive k of a row of A are kept: the first value of a pair
// is multiplied by B at the k that the pair's first index names, the second at the second's.

struct SmfmacOperands {
  std::uint32_t* d;        ///< Also C. May overlap the others in any way.
  const std::uint32_t* a;  ///< The kept values, in order of k.
  const std::uint32_t* b;
  const std::uint32_t* index;    ///< One row: two bits per kept value of the lane.
  std::uint8_t index_shift = 0;  ///< Where the chosen set of indices begins; smfmac_index_shift().
};
using SmfmacFunction = void (*)(const SmfmacOperands& operands);

}  // namespace margay
