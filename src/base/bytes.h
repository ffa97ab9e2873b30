// Plain values behind each other, as they travel between processes of one build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
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

}  // namespace margay
