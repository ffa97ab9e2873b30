// The matrix instructions that Margay knows, as data: one row per instruction, dense ones and
// sparse ones. The kernels of src/mfma are made for all of them. Which of them a processor has, and
// how long each takes, is in its list (Architecture::matrix); users of a device look there.
//
// Sources: AMD Instinct MI300 ISA guide, chapter 7; element layout as printed by AMD's matrix
// instruction calculator for cdna3. Mnemonics as LLVM prints them, and as its opcode names and
// older assembly spell them.
#pragma once

#include <cstdint>
#include <string_view>

namespace margay {

enum class MfmaType : std::uint8_t { f64, f32, xf32, f16, bf16, fp8, bf8, i8 };

/// What the CBSZ, ABID and BLGP fields mean to an instruction.
enum class MfmaModifiers : std::uint8_t {
  none,            ///< All three fields must be zero.
  blgp,            ///< BLGP permutes B's lanes; there is one block, so CBSZ and ABID are zero.
  cbsz_abid_blgp,  ///< CBSZ and ABID choose which block of A is broadcast, BLGP permutes B.
  negate,          ///< BLGP bits 0, 1 and 2 negate A, B and C.
  index_set,       ///< CBSZ and ABID choose which of a lane's sets of sparse indices is used.
};

[[nodiscard]] constexpr int mfma_type_bytes(MfmaType type) {
  switch (type) {
    case MfmaType::f64:
      return 8;
    case MfmaType::f32:
    case MfmaType::xf32:
      return 4;
    case MfmaType::f16:
    case MfmaType::bf16:
      return 2;
    default:
      return 1;
  }
}

/// D[b] = A[b] B[b] + C[b] for each block b; A[b] is m x k, B[b] is k x m, C[b] and D[b] are m x m.
/// Sparse: two of each four consecutive k of a row of A are kept, and C is D.
struct MfmaShape {
  std::string_view mnemonic;
  std::string_view
      old_mnemonic;  ///< gfx908/gfx90a spelling, also LLVM's opcode name in lower case.
  MfmaType a;
  MfmaType b;
  std::uint8_t m, k, blocks;
  MfmaModifiers modifiers;
  std::uint8_t a_registers, b_registers, d_registers;  ///< VGPRs; C has as many as D.
  bool sparse = false;
};

consteval MfmaShape mfma_shape(std::string_view mnemonic, std::string_view old_mnemonic, MfmaType a,
                               MfmaType b, int m, int k, int blocks, MfmaModifiers modifiers) {
  const int lane_values = m * k * blocks / 64;
  const int result_bytes = a == MfmaType::f64 ? 8 : 4;
  return {mnemonic,
          old_mnemonic,
          a,
          b,
          static_cast<std::uint8_t>(m),
          static_cast<std::uint8_t>(k),
          static_cast<std::uint8_t>(blocks),
          modifiers,
          static_cast<std::uint8_t>(lane_values * mfma_type_bytes(a) / 4),
          static_cast<std::uint8_t>(lane_values * mfma_type_bytes(b) / 4),
          static_cast<std::uint8_t>(m * m * blocks / 64 * result_bytes / 4)};
}

// clang-format off
inline constexpr MfmaShape kMfmaShapes[] = {
    mfma_shape("v_mfma_f32_32x32x1_2b_f32",    "v_mfma_f32_32x32x1f32",       MfmaType::f32,  MfmaType::f32,  32,  1,  2, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_f32_16x16x1_4b_f32",    "v_mfma_f32_16x16x1f32",       MfmaType::f32,  MfmaType::f32,  16,  1,  4, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_f32_4x4x1_16b_f32",     "v_mfma_f32_4x4x1f32",         MfmaType::f32,  MfmaType::f32,   4,  1, 16, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_f32_32x32x2_f32",       "v_mfma_f32_32x32x2f32",       MfmaType::f32,  MfmaType::f32,  32,  2,  1, MfmaModifiers::blgp),
    mfma_shape("v_mfma_f32_16x16x4_f32",       "v_mfma_f32_16x16x4f32",       MfmaType::f32,  MfmaType::f32,  16,  4,  1, MfmaModifiers::blgp),
    mfma_shape("v_mfma_f32_32x32x4_2b_f16",    "v_mfma_f32_32x32x4f16",       MfmaType::f16,  MfmaType::f16,  32,  4,  2, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_f32_16x16x4_4b_f16",    "v_mfma_f32_16x16x4f16",       MfmaType::f16,  MfmaType::f16,  16,  4,  4, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_f32_4x4x4_16b_f16",     "v_mfma_f32_4x4x4f16",         MfmaType::f16,  MfmaType::f16,   4,  4, 16, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_f32_32x32x8_f16",       "v_mfma_f32_32x32x8f16",       MfmaType::f16,  MfmaType::f16,  32,  8,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_16x16x16_f16",      "v_mfma_f32_16x16x16f16",      MfmaType::f16,  MfmaType::f16,  16, 16,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_32x32x4_2b_bf16",   "v_mfma_f32_32x32x4bf16_1k",   MfmaType::bf16, MfmaType::bf16, 32,  4,  2, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_f32_16x16x4_4b_bf16",   "v_mfma_f32_16x16x4bf16_1k",   MfmaType::bf16, MfmaType::bf16, 16,  4,  4, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_f32_4x4x4_16b_bf16",    "v_mfma_f32_4x4x4bf16_1k",     MfmaType::bf16, MfmaType::bf16,  4,  4, 16, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_f32_32x32x8_bf16",      "v_mfma_f32_32x32x8bf16_1k",   MfmaType::bf16, MfmaType::bf16, 32,  8,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_16x16x16_bf16",     "v_mfma_f32_16x16x16bf16_1k",  MfmaType::bf16, MfmaType::bf16, 16, 16,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_16x16x8_xf32",      "v_mfma_f32_16x16x8xf32",      MfmaType::xf32, MfmaType::xf32, 16,  8,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_32x32x4_xf32",      "v_mfma_f32_32x32x4xf32",      MfmaType::xf32, MfmaType::xf32, 32,  4,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_16x16x32_bf8_bf8",  "v_mfma_f32_16x16x32_bf8_bf8", MfmaType::bf8,  MfmaType::bf8,  16, 32,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_16x16x32_bf8_fp8",  "v_mfma_f32_16x16x32_bf8_fp8", MfmaType::bf8,  MfmaType::fp8,  16, 32,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_16x16x32_fp8_bf8",  "v_mfma_f32_16x16x32_fp8_bf8", MfmaType::fp8,  MfmaType::bf8,  16, 32,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_16x16x32_fp8_fp8",  "v_mfma_f32_16x16x32_fp8_fp8", MfmaType::fp8,  MfmaType::fp8,  16, 32,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_32x32x16_bf8_bf8",  "v_mfma_f32_32x32x16_bf8_bf8", MfmaType::bf8,  MfmaType::bf8,  32, 16,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_32x32x16_bf8_fp8",  "v_mfma_f32_32x32x16_bf8_fp8", MfmaType::bf8,  MfmaType::fp8,  32, 16,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_32x32x16_fp8_bf8",  "v_mfma_f32_32x32x16_fp8_bf8", MfmaType::fp8,  MfmaType::bf8,  32, 16,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f32_32x32x16_fp8_fp8",  "v_mfma_f32_32x32x16_fp8_fp8", MfmaType::fp8,  MfmaType::fp8,  32, 16,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_i32_32x32x4_2b_i8",     "v_mfma_i32_32x32x4i8",        MfmaType::i8,   MfmaType::i8,   32,  4,  2, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_i32_16x16x4_4b_i8",     "v_mfma_i32_16x16x4i8",        MfmaType::i8,   MfmaType::i8,   16,  4,  4, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_i32_4x4x4_16b_i8",      "v_mfma_i32_4x4x4i8",          MfmaType::i8,   MfmaType::i8,    4,  4, 16, MfmaModifiers::cbsz_abid_blgp),
    mfma_shape("v_mfma_i32_32x32x16_i8",       "v_mfma_i32_32x32x16i8",       MfmaType::i8,   MfmaType::i8,   32, 16,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_i32_16x16x32_i8",       "v_mfma_i32_16x16x32i8",       MfmaType::i8,   MfmaType::i8,   16, 32,  1, MfmaModifiers::none),
    mfma_shape("v_mfma_f64_16x16x4_f64",       "v_mfma_f64_16x16x4f64",       MfmaType::f64,  MfmaType::f64,  16,  4,  1, MfmaModifiers::negate),
    mfma_shape("v_mfma_f64_4x4x4_4b_f64",      "v_mfma_f64_4x4x4f64",         MfmaType::f64,  MfmaType::f64,   4,  4,  4, MfmaModifiers::negate),
};
// clang-format on

inline constexpr std::size_t kMfmaShapeCount = std::size(kMfmaShapes);

/// Values of A that a lane of a sparse instruction holds, with two bits of index each.
[[nodiscard]] constexpr int smfmac_kept_per_lane(const MfmaShape& shape) {
  return shape.a_registers * 4 / mfma_type_bytes(shape.a);
}

consteval MfmaShape smfmac_shape(std::string_view mnemonic, MfmaType a, MfmaType b, int m, int k) {
  MfmaShape shape = mfma_shape(mnemonic, mnemonic, a, b, m, k, 1, MfmaModifiers::index_set);
  shape.a_registers /= 2;
  shape.sparse = true;
  return shape;
}

// clang-format off
inline constexpr MfmaShape kSmfmacShapes[] = {
    smfmac_shape("v_smfmac_f32_16x16x32_f16",     MfmaType::f16,  MfmaType::f16,  16, 32),
    smfmac_shape("v_smfmac_f32_32x32x16_f16",     MfmaType::f16,  MfmaType::f16,  32, 16),
    smfmac_shape("v_smfmac_f32_16x16x32_bf16",    MfmaType::bf16, MfmaType::bf16, 16, 32),
    smfmac_shape("v_smfmac_f32_32x32x16_bf16",    MfmaType::bf16, MfmaType::bf16, 32, 16),
    smfmac_shape("v_smfmac_i32_16x16x64_i8",      MfmaType::i8,   MfmaType::i8,   16, 64),
    smfmac_shape("v_smfmac_i32_32x32x32_i8",      MfmaType::i8,   MfmaType::i8,   32, 32),
    smfmac_shape("v_smfmac_f32_16x16x64_bf8_bf8", MfmaType::bf8,  MfmaType::bf8,  16, 64),
    smfmac_shape("v_smfmac_f32_16x16x64_bf8_fp8", MfmaType::bf8,  MfmaType::fp8,  16, 64),
    smfmac_shape("v_smfmac_f32_16x16x64_fp8_bf8", MfmaType::fp8,  MfmaType::bf8,  16, 64),
    smfmac_shape("v_smfmac_f32_16x16x64_fp8_fp8", MfmaType::fp8,  MfmaType::fp8,  16, 64),
    smfmac_shape("v_smfmac_f32_32x32x32_bf8_bf8", MfmaType::bf8,  MfmaType::bf8,  32, 32),
    smfmac_shape("v_smfmac_f32_32x32x32_bf8_fp8", MfmaType::bf8,  MfmaType::fp8,  32, 32),
    smfmac_shape("v_smfmac_f32_32x32x32_fp8_bf8", MfmaType::fp8,  MfmaType::bf8,  32, 32),
    smfmac_shape("v_smfmac_f32_32x32x32_fp8_fp8", MfmaType::fp8,  MfmaType::fp8,  32, 32),
};
// clang-format on

inline constexpr std::size_t kSmfmacShapeCount = std::size(kSmfmacShapes);

inline constexpr unsigned kCyclesPerPass = 4;

/// A matrix instruction of a processor.
struct MatrixInstruction {
  const MfmaShape* shape = nullptr;  ///< In one of the tables above.
  std::uint8_t passes = 0;           ///< How long the matrix unit of a SIMD is busy with it.
};

}  // namespace margay
