// Problems as text, "m=256 beta=0.5", read into the members of a Problem.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace margay_kernels {

/// The names of an enumeration's values.
template <typename Enumeration>
using Words = std::vector<std::pair<std::string_view, Enumeration>>;

class Fields {
 public:
  explicit Fields(std::string_view text);

  /// Each takes the field's value, if the text has one. They are to name every field there is.
  void operator()(std::string_view name, const void*& member);
  void operator()(std::string_view name, void*& member);
  void operator()(std::string_view name, std::int64_t& member);
  void operator()(std::string_view name, int& member);
  void operator()(std::string_view name, bool& member);
  void operator()(std::string_view name, float& member);
  template <typename Enumeration>
  void operator()(std::string_view name, Enumeration& member, const Words<Enumeration>& words) {
    const std::string_view* const value = take(name);
    if (value == nullptr) return;
    for (const auto& [word, meant] : words) {
      if (word == *value) {
        member = meant;
        return;
      }
    }
    refuse(name, *value);
  }

  /// After all fields were named: empty, or what is wrong with the text.
  [[nodiscard]] std::string error(std::string_view operation) const;

 private:
  struct Field {
    std::string_view name, value;
    bool taken = false;
  };

  const std::string_view* take(std::string_view name);
  void refuse(std::string_view name, std::string_view value);
  template <typename Number>
  bool read(std::string_view name, Number& number);

  std::vector<Field> fields_;
  std::string known_, error_;
};

}  // namespace margay_kernels
