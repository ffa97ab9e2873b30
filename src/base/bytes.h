// Plain values behind each other, as they travel between processes of one build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace margay {

using Bytes = std::vector<std::byte>;

/// Puts plain values behind each other.
class Writer {
 public:
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void put(const T& value) {
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  void put_bytes(std::span<const std::byte> bytes) {
    data_.insert(data_.end(), bytes.begin(), bytes.end());
  }
  /// With its length before it.
  void put_text(std::string_view text) { put_all(std::span(text)); }
  /// With their number before them.
  template <typename Values>
  void put_all(const Values& values) {
    const std::span all(values);
    static_assert(std::is_trivially_copyable_v<typename decltype(all)::value_type>);
    put(static_cast<std::uint64_t>(all.size()));
    put_bytes(std::as_bytes(all));
  }
  [[nodiscard]] const Bytes& data() const { return data_; }

 private:
  Bytes data_;
};

/// Takes them out again. What is missing reads as zero, and ok() is false then.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> data) : left_(data) {}
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T get() {
    if constexpr (std::is_same_v<T, bool>) {
      // A bool of any other bits would be undefined behaviour.
      const auto bits = get<std::uint8_t>();
      if (bits > 1) ok_ = false;
      return bits == 1;
    } else {
      T value{};
      const auto bytes = get_bytes(sizeof(T));
      if (bytes.size() == sizeof(T)) std::memcpy(&value, bytes.data(), sizeof(T));
      return value;
    }
  }
  [[nodiscard]] std::span<const std::byte> get_bytes(std::size_t size) {
    if (size > left_.size()) {
      ok_ = false;
      left_ = {};
      return {};
    }
    const auto taken = left_.first(size);
    left_ = left_.subspan(size);
    return taken;
  }
  [[nodiscard]] std::string get_text() {
    const auto bytes = get_bytes(get<std::uint64_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// What put_all() has put.
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::vector<T> get_all() {
    const auto count = get_count(sizeof(T));
    const auto bytes = get_bytes(count * sizeof(T));
    std::vector<T> values(count);
    if (count != 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  /// The number of values that follow, each of at least `bytes` bytes; 0 if there are fewer.
  [[nodiscard]] std::uint64_t get_count(std::size_t bytes = 1) {
    const auto count = get<std::uint64_t>();
    if (count <= left_.size() / bytes) return count;
    ok_ = false;
    return 0;
  }
  [[nodiscard]] bool at_end() const { return left_.empty(); }
  [[nodiscard]] std::size_t left() const { return left_.size(); }
  [[nodiscard]] bool ok() const { return ok_; }
  /// What was read is invalid.
  void fail() { ok_ = false; }

 private:
  std::span<const std::byte> left_;
  bool ok_ = true;
};

// ---- Structures ------------------------------------------------------------------------------
//
// A structure says in its namespace which of its members travel, and in which order:
//
//   auto members(Is<Error> auto& error) { return std::tie(error.code, error.what, error.hint); }
//
// A type for which that does not do has an encode() and a decode() of its own.

template <typename T, typename Type>
concept Is = std::is_same_v<std::remove_const_t<T>, Type>;

template <typename T>
concept HasMembers = requires(T& value) { members(value); };

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsPlainVector = false;
template <typename T>
inline constexpr bool kIsPlainVector<std::vector<T>> =
    std::is_trivially_copyable_v<T> && !HasMembers<T>;
template <typename T>
inline constexpr bool kIsPair = false;
template <typename A, typename B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// Each of a tuple.
template <typename Tuple>
void encode_each(Writer& out, const Tuple& values) {
  std::apply([&out](const auto&... each) { (encode(out, each), ...); }, values);
}
template <typename... T>
void decode_each(Reader& in, const std::tuple<T&...>& values) {
  std::apply([&in](auto&... each) { (decode(in, each), ...); }, values);
}

template <typename T>
void encode(Writer& out, const T& value) {
  if constexpr (HasMembers<const T>) {
    encode_each(out, members(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    out.put_text(value);
  } else if constexpr (kIsPair<T>) {
    encode_each(out, std::tie(value.first, value.second));
  } else if constexpr (kIsOptional<T>) {
    out.put(value.has_value());
    if (value) encode(out, *value);
  } else if constexpr (kIsPlainVector<T>) {
    out.put_all(value);
  } else if constexpr (kIsVector<T>) {
    out.put(static_cast<std::uint64_t>(value.size()));
    for (const auto& each : value) encode(out, each);
  } else {
    out.put(value);
  }
}

template <typename T>
void decode(Reader& in, T& value) {
  if constexpr (HasMembers<T>) {
    decode_each(in, members(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = in.get_text();
  } else if constexpr (kIsPair<T>) {
    decode_each(in, std::tie(value.first, value.second));
  } else if constexpr (kIsOptional<T>) {
    value.reset();
    if (in.get<bool>()) decode(in, value.emplace());
  } else if constexpr (kIsPlainVector<T>) {
    value = in.get_all<typename T::value_type>();
  } else if constexpr (kIsVector<T>) {
    value.clear();
    for (std::uint64_t left = in.get_count(); left > 0 && in.ok(); --left)
      decode(in, value.emplace_back());
  } else {
    value = in.get<T>();
  }
}

template <typename T>
[[nodiscard]] T decode(Reader& in) {
  T value{};
  decode(in, value);
  return value;
}

}  // namespace margay
