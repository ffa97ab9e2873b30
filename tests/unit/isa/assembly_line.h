// LLVM's printing of one instruction, taken apart into mnemonic, operands and modifiers. It knows
// nothing of Margay's own decoding, which is tested with it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/operand.h"

namespace margay::isa_test {

/// One operand as text says it.
struct PrintedOperand {
  enum class Kind : std::uint8_t { vgpr, agpr, scalar, number, word };
  Kind kind = Kind::word;
  unsigned index = 0;  ///< Registers: the first. Scalars: the encoding's number.
  unsigned count = 1;  ///< Registers.
  bool negative = false, absolute = false, sign_extended = false;
  std::string text;  ///< Without its modifiers.

  /// The bits in a source of `type`; nothing if the text is not a number.
  [[nodiscard]] std::optional<std::uint64_t> bits(OperandType type) const;
};

struct AssemblyLine {
  std::string mnemonic;
  std::vector<PrintedOperand> operands;
  std::map<std::string, std::string, std::less<>> modifiers;  ///< "clamp" -> "", "mul" -> "2"

  [[nodiscard]] bool has(std::string_view modifier) const { return modifiers.contains(modifier); }
  /// The number after "name:"; 0 without one.
  [[nodiscard]] std::int64_t number(std::string_view name) const;
  /// The bits of "name:[1,0,...]", first entry lowest; `otherwise` without one.
  [[nodiscard]] unsigned list(std::string_view name, unsigned otherwise) const;
  [[nodiscard]] std::size_t list_size(std::string_view name) const;
};

[[nodiscard]] AssemblyLine parse_line(std::string_view text);

}  // namespace margay::isa_test
