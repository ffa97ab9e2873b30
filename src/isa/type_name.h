// The name of a type as text, at compile time: an instruction's mnemonic is its struct's name, so
// that it is written once.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace margay {

template <typename T>
[[nodiscard]] constexpr std::string_view type_name() {
  std::string_view name = __PRETTY_FUNCTION__;
  // g++: "... [with T = margay::x::v_add_f32; std::string_view = ...]", clang: "... [T = ...]"
  name.remove_prefix(name.find("T = ") + 4);
  name = name.substr(0, name.find_first_of(";]"));
  if (const auto colon = name.rfind(':'); colon != std::string_view::npos)
    name.remove_prefix(colon + 1);
  return name;
}

/// Whether all names are distinct.
template <std::size_t size>
[[nodiscard]] consteval bool all_different(std::array<std::string_view, size> names) {
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) == names.end();
}

/// The same for rows of any kind, by their mnemonics.
template <typename Row, std::size_t size>
[[nodiscard]] consteval bool all_different(const Row (&rows)[size]) {
  std::array<std::string_view, size> names;
  std::ranges::transform(rows, names.begin(), &Row::mnemonic);
  return all_different(names);
}

}  // namespace margay
