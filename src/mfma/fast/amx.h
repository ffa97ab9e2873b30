// v_mfma_f32_16x16x16_bf16, v_mfma_f32_16x16x16_f16, v_mfma_i32_16x16x32_i8,
// v_mfma_f32_16x16x32_fp8_fp8 and its like, and those of 32x32 that read as many registers, on the
// host's AMX unit. Bytes that are floating-point numbers are made bf16, with which one of their
// instructions is two; f16 are made sums of two bf16 (bfloats.h), with which one is four. Compiled
// with AMX enabled; call only if amx_usable() returns true.
#pragma once

#include "mfma/instructions/operands.h"

namespace margay::mfma_amx {

/// Loads this thread's tile configuration, or releases it.
void begin();
void end();

/// Of A's and B's elements.
enum class Type : std::uint8_t { bf16, i8, fp8, bf8, f16 };
struct Types {
  Type a, b;  ///< The same, unless they are of fp8 and bf8.
  [[nodiscard, gnu::always_inline]] constexpr bool are_converted() const {
    return a == Type::fp8 || a == Type::bf8 || are_split();
  }
  /// An instruction is two multiplications: by high and low parts of A side by side and of B one
  /// above the other, and by finite high and low parts of A and low and finite high ones of B. A
  /// and B take two slots each.
  [[nodiscard, gnu::always_inline]] constexpr bool are_split() const { return a == Type::f16; }
};
/// Of D: 16x16 is one tile of the unit's, 32x32 four.
enum class Size : std::uint8_t { one, four };

/// One instruction, but of f16. D may overlap C elsewhere: all of C is read before D is written.
void run(Types types, Size size, const MfmaOperands& operands);

/// One step of a run, for the unit: each has a tile number and a register row. A is transposed into
/// scratch slots of 1 KiB first: C and D rows are rows of the unit's tiles as they are, and so are
/// B's, but the unit takes A by row of A, and the register file has it by k.
struct TileOp {
  enum class Code : std::uint8_t {
    transpose,      ///< A of one instruction, rows `row`, to `slot`
    transpose_two,  ///< A of two side by side, rows numbers `row` and `row` + 1
    copy_two,       ///< B of two, one above the other, rows numbers `row` and `row` + 1, to `slot`
    load_c,         ///< tile <- C rows
    splat_c,        ///< tile <- 16x16 of number `row`
    multiply,       ///< tile += A B, for A in `slot` and B rows `row`, of one instruction,
    multiply_two,   ///< of two, B in adjacent registers,
    multiply_copied,      ///< and of two, or a converted one, with B in slot `row`;
    multiply_two_same_a,  ///< the same behind one with the same A,
    multiply_copied_same_a,
    multiply_same_b,  ///< or behind one with the same B, adjacent or in a slot;
    multiply_split,   ///< the second multiplication of f16, in the same ways
    multiply_split_same_a,
    multiply_split_same_b,
    convert_a,  ///< A or B of `type` of one instruction, rows `row`, to `slot` as those of two;
    convert_b,  ///< of f16 also to the next slot
    store,      ///< D rows <- tile
    // Of 32x32. Tile 2 i + j has rows 16 i and columns 16 j of D, and A and B are packed: up to
    // four instructions' side by side in two scratch slots each.
    clear_packed,  ///< slots `slot` and `slot` + 1 <- 0
    pack_a,        ///< A of one instruction, rows `row`, as number `tile` of slot `slot`
    pack_b,
    pack_converted_a,  ///< the same of `type`, as numbers `tile` and `tile` + 1; of f16, as all
                       ///< four
    pack_converted_b,
    load_wide,
    splat_wide,
    multiply_wide,  ///< tiles += A B, for A packed in `slot` and B in `tile`
    store_wide,
  };
  Code code;
  std::uint8_t tile = 0;
  std::uint8_t slot = 0;
  Type type = Type::bf16;  ///< Of what is converted.
  std::int32_t row = 0;    ///< Of the register file, from the run's base.
};

inline constexpr int kAccumulators = 4;              ///< Tiles for C and D.
inline constexpr int kOperands = 32;                 ///< A and B that scratch slots can have.
inline constexpr int kScratchSlots = 2 * kOperands;  ///< Of f16, an operand has two.
inline constexpr int kPacked = 4;  ///< Instructions of which A or B are packed side by side.

/// Executes a plan's ops; `numbers` are its constants and rows, `base` the register row that has
/// number 0. (Pointers rather than
/// spans: this header is compiled with AMX and AVX-512 on, where no inline function may be
/// emitted.)
void run_ops(Types types, const TileOp* ops, std::size_t count, const std::uint32_t* numbers,
             std::uint32_t* base);

}  // namespace margay::mfma_amx
