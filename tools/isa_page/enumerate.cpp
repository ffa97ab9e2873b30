// See enumerate.h.
#include "enumerate.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>

#include "gpu/gfx942/gfx942.h"
#include "isa/decoder.h"

namespace margay::isa_page {
namespace {

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
  const auto decoder = MARGAY_TRY(isa::Decoder::create(kGfx942));
  InstructionList found;
  std::mt19937_64 random(942);  // the same list on every run
  for (const isa::Encoding& encoding : isa::kEncodings) {
    const std::uint64_t free_bits = encoding.free_bits();
    for (std::uint64_t opcode = 0; opcode < std::uint64_t{1} << encoding.opcode_bits; ++opcode) {
      const std::uint64_t fixed = encoding.fixed(opcode);
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
