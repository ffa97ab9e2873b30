// Decodes bytes to instructions with LLVM's MC library: the only file that uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "gpu/architecture.h"
#include "isa/encoding.h"

namespace margay::isa {

/// One instruction as encoded in memory.
struct Encoded {
  std::string_view
      mnemonic;  ///< Without encoding suffix: "v_add_f32". Lives as long as the program.
  Format format = Format::unknown;
  std::uint8_t size_bytes = 0;  ///< 4, 8 or 12 (a literal included); on gfx950 also 16.
  std::uint64_t word = 0;       ///< The first 8 bytes (4-byte encodings: literal or zero above).
  std::uint32_t literal = 0;    ///< The literal, when the encoding has one.
  std::uint64_t second = 0;     ///< Bytes 8 to 15 of an instruction of 16.
};

/// Decodes the instructions of one architecture. Not thread-safe: one per thread, or guarded by its
/// owner.
class Decoder {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Decoder>> create(const Architecture& architecture);
  ~Decoder();

  /// The instruction at the start of `code`, whose address is `address`; illegal_instruction when
  /// the bytes are not an instruction.
  [[nodiscard]] Result<Encoded> decode(std::span<const std::byte> code, std::uint64_t address);
  /// The instruction as assembly text, as llvm-objdump prints it.
  [[nodiscard]] std::string disassemble(std::span<const std::byte> code, std::uint64_t address);

 private:
  struct Impl;
  explicit Decoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::isa
