// Instruction::extra: the fields of an instruction's encoding other than its operands, by format.
#pragma once

#include <cstdint>

namespace margay {

namespace extra {
// DS: the two 8-bit offsets, as encoded.
[[nodiscard]] constexpr std::uint32_t ds_offset0(std::uint32_t e) { return e & 0xff; }
[[nodiscard]] constexpr std::uint32_t ds_offset1(std::uint32_t e) { return e >> 8 & 0xff; }
// FLAT, GLOBAL, SCRATCH, MUBUF; SMEM: kSc0, which is its GLC.
inline constexpr std::uint32_t kSc0 = 1, kSc1 = 2, kNt = 4, kToLds = 8;
inline constexpr std::uint32_t kOffen = 16, kIdxen = 32;
inline constexpr std::uint32_t kScratchVaddr = 64;
// Buffer instructions that convert to and from a data format; MTBUF: which one.
inline constexpr std::uint32_t kFormatted = 128;
[[nodiscard]] constexpr std::uint8_t data_format(std::uint32_t e) { return e >> 8 & 15; }
[[nodiscard]] constexpr std::uint8_t number_format(std::uint32_t e) { return e >> 12 & 7; }
// VOP3P: op_sel 2:0, op_sel_hi 5:3, neg 8:6, neg_hi 11:9, clamp 12.
// MFMA: cbsz 2:0, abid 6:3, blgp 9:7.
[[nodiscard]] constexpr std::uint8_t cbsz(std::uint32_t e) { return e & 7; }
[[nodiscard]] constexpr std::uint8_t abid(std::uint32_t e) { return e >> 3 & 15; }
[[nodiscard]] constexpr std::uint8_t blgp(std::uint32_t e) { return e >> 7 & 7; }
// VOP1/VOP2/VOPC with SDWA or DPP: the second dword, as encoded.
}  // namespace extra

}  // namespace margay
