// See enumerate.h.
#include "enumerate.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>

#include "isa/decoder.h"

namespace margay::isa_page {
namespace {

/// An encoding's first dword: the bits that identify it, and where its opcode is.
/// Source: AMD Instinct MI300 ISA guide, chapter 13 "Microcode formats".
struct Encoding {
  std::uint32_t prefix;
  unsigned prefix_low;  ///< Lowest bit of the prefix; it reaches up to bit 31.
  unsigned opcode_low, opcode_bits;
};
constexpr auto kEncodings = std::to_array<Encoding>({
    {0b10, 30, 23, 7},         // SOP2, and with the highest opcodes SOPK
    {0b101111101, 23, 8, 8},   // SOP1
    {0b101111110, 23, 16, 7},  // SOPC
    {0b101111111, 23, 16, 7},  // SOPP
    {0b110000, 26, 18, 8},     // SMEM
    {0b0, 31, 25, 6},          // VOP2
    {0b0111111, 25, 9, 8},     // VOP1
    {0b0111110, 25, 17, 8},    // VOPC
    {0b110100, 26, 16, 10},    // VOP3 and VOP3P
    {0b110110, 26, 17, 8},     // DS
    {0b110111, 26, 18, 7},     // FLAT, GLOBAL, SCRATCH (bits 14 and 15 tell)
    {0b111000, 26, 18, 7},     // MUBUF
    {0b111010, 26, 15, 4},     // MTBUF
});

/// Rests of the two dwords, opcode and prefix aside, that suit most instructions: zeros, aligned
/// VGPRs and SGPRs, immediate offsets, memory segments, no address register.
constexpr auto kOperands = std::to_array<std::uint64_t>({
    0,
    0x0000'0000'0000'8000,  // GLOBAL; SMEM's or VOP3's clamp bit
    0x0000'0000'0000'4000,  // SCRATCH
    0x007f'0000'0000'8000,  // GLOBAL without SADDR
    0x007f'0000'0000'4000,  // SCRATCH without SADDR
    0x0402'0100'0000'0000,  // VOP3: v0 in all three sources
    0x0442'2110'0000'0008,  // VOP3: aligned VGPRs
    0x0000'0000'0002'0000,  // SMEM: an immediate offset
    0x0000'0000'0001'0000,  // MUBUF: to LDS
    0x0000'0000'0000'0002,  // a register pair
});
constexpr unsigned kWindowBytes = 20;

void try_decoding(isa::Decoder& decoder, std::uint64_t word, std::uint32_t beyond,
                  InstructionList& found) {
  std::array<std::byte, kWindowBytes> code{};
  std::memcpy(code.data(), &word, sizeof word);
  std::memcpy(code.data() + sizeof word, &beyond, sizeof beyond);
  if (const auto encoded = decoder.decode(code, 0)) {
    found[std::string(encoded->mnemonic)].insert(encoded->format);
  }
}

}  // namespace

Result<InstructionList> list_instructions(int random_tries) {
  const auto decoder = MARGAY_TRY(isa::Decoder::create());
  InstructionList found;
  std::mt19937_64 random(942);  // the same list on every run
  for (const Encoding& encoding : kEncodings) {
    const std::uint64_t opcode_mask = ((std::uint64_t{1} << encoding.opcode_bits) - 1)
                                      << encoding.opcode_low;
    const std::uint64_t prefix_mask =
        0xffff'ffffu & ~((std::uint64_t{1} << encoding.prefix_low) - 1);
    const std::uint64_t free_bits = ~(opcode_mask | prefix_mask);
    for (std::uint64_t opcode = 0; opcode < std::uint64_t{1} << encoding.opcode_bits; ++opcode) {
      const std::uint64_t fixed =
          (std::uint64_t{encoding.prefix} << encoding.prefix_low | opcode << encoding.opcode_low);
      for (const std::uint64_t operands : kOperands) {
        try_decoding(*decoder, fixed | (operands & free_bits), 0, found);
      }
      for (int n = 0; n < random_tries; ++n) {
        // Few bits set: small register numbers, few flags.
        const std::uint64_t operands = random() & random();
        try_decoding(*decoder, fixed | (operands & free_bits), static_cast<std::uint32_t>(random()),
                     found);
      }
    }
  }
  return found;
}

}  // namespace margay::isa_page
