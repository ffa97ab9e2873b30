// The binary encodings of gfx942: which format an instruction word has, and where its fields are.
//
// LLVM decides whether a word is an instruction, what its mnemonic is and how long it is (see
// decoder.h); the operand fields are read here, straight from the bits, because the positions of
// LLVM's operands differ from opcode to opcode while the hardware's fields do not.
// Source: AMD Instinct MI300 ISA guide, chapter 13 "Microcode formats".
#pragma once

#include <cstdint>

namespace margay::isa {

enum class Format : std::uint8_t {
  sop1,
  sop2,
  sopk,
  sopc,
  sopp,
  smem,
  vop1,
  vop2,
  vopc,
  vop3,
  vop3p,
  mfma,
  ds,
  flat,
  global,
  scratch,
  mubuf,
  mtbuf,
  unknown,
};

/// Bits [low, high] of `word`.
[[nodiscard]] constexpr std::uint32_t bits(std::uint64_t word, unsigned low, unsigned high) {
  return static_cast<std::uint32_t>((word >> low) & ((std::uint64_t{1} << (high - low + 1)) - 1));
}

/// `value`'s low `width` bits as a signed number.
[[nodiscard]] constexpr std::int32_t sign_extend(std::uint32_t value, unsigned width) {
  const unsigned shift = 32 - width;
  return static_cast<std::int32_t>(value << shift) >> shift;
}

[[nodiscard]] constexpr Format format_of(std::uint32_t word) {
  if (word >> 31 == 0) {
    switch (bits(word, 25, 30)) {
      case 0x3e:
        return Format::vopc;
      case 0x3f:
        return Format::vop1;
      default:
        return Format::vop2;
    }
  }
  if (bits(word, 30, 31) == 0b10) {
    switch (bits(word, 23, 31)) {
      case 0b101111101:
        return Format::sop1;
      case 0b101111110:
        return Format::sopc;
      case 0b101111111:
        return Format::sopp;
      default:
        return bits(word, 28, 31) == 0b1011 ? Format::sopk : Format::sop2;
    }
  }
  switch (bits(word, 26, 31)) {
    case 0b110000:
      return Format::smem;
    case 0b110100:
      if (bits(word, 23, 31) != 0b110100111) return Format::vop3;
      // Matrix instructions share VOP3P's prefix: the opcodes from 0x3e on, except 0x58 and 0x59,
      // which move single registers between the VGPR and AccVGPR files.
      return bits(word, 16, 22) >= 0x3e && bits(word, 16, 22) != 0x58 && bits(word, 16, 22) != 0x59
                 ? Format::mfma
                 : Format::vop3p;
    case 0b110110:
      return Format::ds;
    case 0b110111:
      switch (bits(word, 14, 15)) {
        case 0:
          return Format::flat;
        case 1:
          return Format::scratch;
        case 2:
          return Format::global;
        default:
          return Format::unknown;
      }
    case 0b111000:
      return Format::mubuf;
    case 0b111010:
      return Format::mtbuf;
    default:
      return Format::unknown;
  }
}

/// Values of the 9-bit source field (the 8-bit scalar source field is its lower half).
namespace source {
inline constexpr unsigned kVcc = 106;
inline constexpr unsigned kM0 = 124;
inline constexpr unsigned kExec = 126;
inline constexpr unsigned kIntegerZero = 128;      ///< 128..192: 0..64
inline constexpr unsigned kIntegerMinusOne = 193;  ///< 193..208: -1..-16
inline constexpr unsigned kSharedBase = 235;
inline constexpr unsigned kSharedLimit = 236;
inline constexpr unsigned kPrivateBase = 237;
inline constexpr unsigned kPrivateLimit = 238;
inline constexpr unsigned kFloatHalf = 240;  ///< 240..248: 0.5 -0.5 1 -1 2 -2 4 -4 1/(2 pi)
inline constexpr unsigned kInverseTwoPi = 248;
inline constexpr unsigned kSdwa = 249;
inline constexpr unsigned kDpp = 250;
inline constexpr unsigned kVccz = 251;
inline constexpr unsigned kExecz = 252;
inline constexpr unsigned kScc = 253;
inline constexpr unsigned kLiteral = 255;
inline constexpr unsigned kVgpr = 256;
}  // namespace source

/// What identifies an encoding in its first dword, and where its opcode is: for code that generates
/// instructions (tests, the page of instructions).
struct Encoding {
  std::uint32_t prefix;
  unsigned prefix_low;  ///< Lowest bit of the prefix; it reaches up to bit 31.
  unsigned opcode_low, opcode_bits;
  bool second_source_word;  ///< A second dword holds a literal, SDWA or DPP, depending on source 0.

  /// Prefix and opcode in their places.
  [[nodiscard]] constexpr std::uint64_t fixed(std::uint64_t opcode) const {
    return std::uint64_t{prefix} << prefix_low | opcode << opcode_low;
  }
  /// The bits of the first two dwords that are neither prefix nor opcode.
  [[nodiscard]] constexpr std::uint64_t free_bits() const {
    const std::uint64_t opcode_mask = ((std::uint64_t{1} << opcode_bits) - 1) << opcode_low;
    const std::uint64_t prefix_mask = 0xffff'ffffu & ~((std::uint64_t{1} << prefix_low) - 1);
    return ~(opcode_mask | prefix_mask);
  }
};
inline constexpr Encoding kEncodings[] = {
    {0b10, 30, 23, 7, true},          // SOP2, and with the highest opcodes SOPK
    {0b101111101, 23, 8, 8, true},    // SOP1
    {0b101111110, 23, 16, 7, true},   // SOPC
    {0b101111111, 23, 16, 7, false},  // SOPP
    {0b110000, 26, 18, 8, false},     // SMEM
    {0b0, 31, 25, 6, true},           // VOP2
    {0b0111111, 25, 9, 8, true},      // VOP1
    {0b0111110, 25, 17, 8, true},     // VOPC
    {0b110100, 26, 16, 10, false},    // VOP3, VOP3P, MFMA
    {0b110110, 26, 17, 8, false},     // DS
    {0b110111, 26, 18, 7, false},     // FLAT, GLOBAL, SCRATCH (by bits 14 and 15)
    {0b111000, 26, 18, 7, false},     // MUBUF
    {0b111010, 26, 15, 4, false},     // MTBUF
};

}  // namespace margay::isa
