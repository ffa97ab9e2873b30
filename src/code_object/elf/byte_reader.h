// A cursor over untrusted little-endian bytes. Reading past the end yields zeros and sets a sticky
// failure that the caller checks once, at the end of a record, instead of after every field.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace margay::code_object {

using Bytes = std::span<const std::byte>;

/// The sub-range [offset, offset + size), or an empty span when it is not inside `bytes`.
[[nodiscard]] inline Bytes slice(Bytes bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.subspan(offset, size);
}

[[nodiscard]] inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ByteReader {
 public:
  explicit ByteReader(Bytes bytes, std::uint64_t offset = 0) : bytes_(bytes) { seek(offset); }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t remaining() const { return bytes_.size() - offset_; }
  [[nodiscard]] bool at_end() const { return !ok_ || remaining() == 0; }

  void seek(std::uint64_t offset) {
    if (offset > bytes_.size()) return fail();
    offset_ = offset;
  }
  void skip(std::uint64_t count) { static_cast<void>(take(count)); }

  [[nodiscard]] Bytes take(std::uint64_t count) {
    if (!ok_ || count > remaining()) {
      fail();
      return {};
    }
    const Bytes taken = bytes_.subspan(offset_, count);
    offset_ += count;
    return taken;
  }

  template <std::integral T>
  [[nodiscard]] T read() {
    T value{};
    if (const Bytes raw = take(sizeof(T)); !raw.empty()) std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }

  /// An unsigned integer of 1 to 8 bytes.
  [[nodiscard]] std::uint64_t read_uint(unsigned size) {
    std::uint64_t value = 0;
    if (const Bytes raw = take(size); !raw.empty()) std::memcpy(&value, raw.data(), raw.size());
    return value;
  }

  /// LEB128, as DWARF 5 section 7.6 defines it. Bits beyond the 64th are dropped.
  [[nodiscard]] std::uint64_t read_uleb() { return read_leb().value; }
  [[nodiscard]] std::int64_t read_sleb() {
    const Leb leb = read_leb();
    std::uint64_t value = leb.value;
    if (leb.sign && leb.bits < 64) value |= ~std::uint64_t{0} << leb.bits;
    return static_cast<std::int64_t>(value);
  }

  /// A string that ends with a zero byte; without one inside the bytes this is a failure.
  [[nodiscard]] std::string_view read_c_string() {
    const std::string_view rest = as_text(bytes_.subspan(offset_));
    const std::size_t length = ok_ ? rest.find('\0') : std::string_view::npos;
    if (length == std::string_view::npos) {
      fail();
      return {};
    }
    offset_ += length + 1;
    return rest.substr(0, length);
  }

 private:
  struct Leb {
    std::uint64_t value = 0;
    unsigned bits = 0;
    bool sign = false;
  };
  Leb read_leb() {
    Leb leb;
    for (bool more = true; more && ok_;) {
      const auto byte = read<std::uint8_t>();
      if (leb.bits < 64) leb.value |= std::uint64_t{byte & 0x7fu} << leb.bits;
      leb.bits = leb.bits < 64 ? leb.bits + 7 : leb.bits;
      leb.sign = (byte & 0x40) != 0;
      more = (byte & 0x80) != 0;
    }
    return ok_ ? leb : Leb{};
  }
  void fail() {
    ok_ = false;
    offset_ = bytes_.size();
  }

  Bytes bytes_;
  std::uint64_t offset_ = 0;
  bool ok_ = true;
};

}  // namespace margay::code_object
