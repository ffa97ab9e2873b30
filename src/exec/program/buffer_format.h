// The data formats of buffers: the conversions of buffer_load_format_* and tbuffer_* between
// elements in memory and registers.
//
// Sources: MI300 ISA guide, sections 9.1.2 to 9.1.8 (formats, dst_sel, D16); order of components as
// Mesa's translation of PIPE_FORMAT_R11G11B10_FLOAT and R10G10B10A2; which pairs of data and number
// format exist as LLVM's list of merged formats (gfx10). The guide does not say how values are
// rounded: to smaller floats they are truncated, to normalised integers rounded to nearest even, as
// the Direct3D 11.3 functional specification (3.2.3) requires and the RDNA 3 guide (9.3.1)
// documents for D16.
#pragma once

#include <cstdint>
#include <string_view>

namespace margay {

struct BufferFormat {
  enum class Number : std::uint8_t {
    unorm,
    snorm,
    uscaled,
    sscaled,
    uint,
    sint,
    reserved,
    floating
  };
  std::uint8_t data = 0;
  Number number = Number::unorm;

  /// Whether the hardware supports this pair.
  [[nodiscard]] bool exists() const;
  /// Bytes of an element; 0 when the data format is INVALID or reserved.
  [[nodiscard]] unsigned bytes() const;
  [[nodiscard]] unsigned components() const;
  [[nodiscard]] bool is_integer() const { return number == Number::uint || number == Number::sint; }
};

/// The type of an element's components in registers: f32 or 32-bit integers, or, for D16, f16 or
/// 16-bit integers in the lower half.
struct FormatRegisters {
  std::uint32_t component[4] = {};
};

/// Why the result of a conversion is unknown; empty on success.
using FormatProblem = std::string_view;

/// An element's components; those that the format does not have are 0.
[[nodiscard]] FormatProblem decode_element(BufferFormat format, const std::uint8_t* element,
                                           bool d16, FormatRegisters& out);
/// Writes an element of components(); all of them must be in `in`.
[[nodiscard]] FormatProblem encode_element(BufferFormat format, const FormatRegisters& in, bool d16,
                                           std::uint8_t* element);
/// The value 1 of dst_sel.
[[nodiscard]] std::uint32_t format_one(BufferFormat format, bool d16);

}  // namespace margay
