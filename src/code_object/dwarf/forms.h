// Attribute forms: how DWARF encodes one value (DWARF 5, section 7.5.6).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "code_object/elf/byte_reader.h"

namespace margay::code_object {

/// What the encoding of a value depends on.
struct FormParameters {
  std::uint16_t version = 0;
  std::uint8_t offset_bytes = 4;  ///< 4 in 32-bit DWARF, 8 in 64-bit DWARF.
};

struct FormValue {
  std::uint16_t form = 0;   ///< DW_FORM_*; 0 when the attribute is absent.
  std::uint64_t value = 0;  ///< The number, offset, index or address.
  std::string_view text{};  ///< For DW_FORM_string, which holds its text in place.

  [[nodiscard]] bool present() const { return form != 0; }
  [[nodiscard]] bool is_address() const;
  [[nodiscard]] bool is_address_index() const;
  [[nodiscard]] bool is_string_index() const;
  /// True when `value` is the attribute's number, and not a block, an expression or a reference.
  [[nodiscard]] bool is_constant() const;
};

/// Reads one value, or skips it when it is a block. Empty when the form is unknown or the bytes
/// end.
[[nodiscard]] std::optional<FormValue> read_form(ByteReader& reader, std::uint16_t form,
                                                 std::int64_t implicit_value,
                                                 FormParameters parameters);

}  // namespace margay::code_object
