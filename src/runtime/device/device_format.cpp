// See device_format.h.
#include "runtime/device/device_format.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

namespace margay::runtime {
namespace {

/// Reads a message sequentially; missing bytes at its end read as 0.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::uint64_t> message) : rest_(message) {}

  std::uint64_t number() {
    if (rest_.empty()) return 0;
    const std::uint64_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  std::string_view string() {
    const char* const begin = reinterpret_cast<const char*>(rest_.data());
    const std::size_t length = strnlen(begin, rest_.size_bytes());
    rest_ = rest_.subspan(std::min(rest_.size(), length / 8 + 1));
    return {begin, length};
  }

 private:
  std::span<const std::uint64_t> rest_;
};

/// "%-8.3lld": everything between the percent sign and the conversion's letter.
struct Conversion {
  std::string flags;
  std::optional<int> width, precision;
  std::string length;
  char letter = 0;  ///< 0 when the format ends before it.
};

constexpr std::string_view kIntegers = "diouxXc";
constexpr std::string_view kFloats = "aAeEfFgG";

std::string_view take_while(std::string_view& text, std::string_view set) {
  const std::string_view taken = text.substr(0, text.find_first_not_of(set));
  text.remove_prefix(taken.size());
  return taken;
}

std::optional<int> take_size(std::string_view& text, MessageReader& arguments) {
  if (text.starts_with('*')) {
    text.remove_prefix(1);
    return static_cast<int>(arguments.number());
  }
  const std::string_view digits = take_while(text, "0123456789");
  if (digits.empty()) return std::nullopt;
  return std::atoi(std::string(digits).c_str());
}

Conversion take_conversion(std::string_view& text, MessageReader& arguments) {
  Conversion c;
  c.flags = take_while(text, "-+ #0'");
  c.width = take_size(text, arguments);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    c.precision = take_size(text, arguments).value_or(0);
  }
  c.length = take_while(text, "hlLqjzt");
  if (!text.empty()) {
    c.letter = text.front();
    text.remove_prefix(1);
  }
  return c;
}

/// An integer argument as its declared type: the compiler sends the bits, without a sign.
long long sized_integer(std::uint64_t bits, const Conversion& c) {
  const bool is_signed = c.letter == 'd' || c.letter == 'i';
  if (c.length == "hh") return is_signed ? static_cast<std::int8_t>(bits) : bits & 0xff;
  if (c.length == "h") return is_signed ? static_cast<std::int16_t>(bits) : bits & 0xffff;
  if (c.length.empty())
    return is_signed ? static_cast<std::int32_t>(bits) : static_cast<long long>(bits & 0xffff'ffff);
  return static_cast<long long>(bits);
}

template <typename T>
std::string print(const Conversion& c, const char* length, T value) {
  std::string format = "%" + c.flags;
  // A negative width is the flag '-', a negative precision means none.
  if (c.width) format += std::to_string(*c.width);
  if (c.precision && *c.precision >= 0) format += "." + std::to_string(*c.precision);
  format += length;
  format += c.letter;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  const int size = std::snprintf(nullptr, 0, format.c_str(), value);
  std::string text(static_cast<std::size_t>(std::max(size, 0)) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), value);
#pragma GCC diagnostic pop
  text.pop_back();
  return text;
}

/// Nothing when the conversion is not supported.
std::optional<std::string> converted(const Conversion& c, MessageReader& arguments) {
  if (c.letter == 's') {
    const std::string text(arguments.string());
    if (!c.length.empty()) return std::nullopt;  // wide characters
    return print(c, "", text.c_str());
  }
  const std::uint64_t bits = arguments.number();
  if (c.letter == 'c')
    return c.length.empty() ? std::optional(print(c, "", static_cast<int>(bits))) : std::nullopt;
  if (c.letter == 'p') return print(c, "", reinterpret_cast<void*>(bits));
  if (kFloats.contains(c.letter)) return print(c, "", std::bit_cast<double>(bits));
  if (kIntegers.contains(c.letter)) return print(c, "ll", sized_integer(bits, c));
  return std::nullopt;
}

}  // namespace

FormattedText format_device_message(std::span<const std::uint64_t> message) {
  MessageReader arguments(message);
  std::string_view format = arguments.string();
  FormattedText out;
  while (!format.empty()) {
    const std::size_t percent = std::min(format.find('%'), format.size());
    out.text += format.substr(0, percent);
    format.remove_prefix(percent);
    if (format.empty()) break;
    if (format.starts_with("%%")) {
      out.text += '%';
      format.remove_prefix(2);
      continue;
    }
    const std::string_view whole = format;
    format.remove_prefix(1);
    const Conversion conversion = take_conversion(format, arguments);
    const std::string_view written = whole.substr(0, whole.size() - format.size());
    if (auto text = converted(conversion, arguments)) {
      out.text += *text;
    } else {
      out.text += written;
      out.refused += (out.refused.empty() ? "" : ", ") + std::string(written);
    }
  }
  return out;
}

}  // namespace margay::runtime
