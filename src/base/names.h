// Readable names of functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace margay {
namespace names {

inline constexpr std::size_t kLongName = 48;

/// Where the parameter list begins: the first parenthesis outside of template arguments that does
/// not open "(anonymous namespace)".
inline std::size_t parameter_list(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] != '(' || depth != 0) continue;
    if (!name.substr(i).starts_with(kAnonymous)) return i;
    i += kAnonymous.size() - 1;
  }
  return name.size();
}

/// Past the return type, which templates have: the last space outside of template arguments.
inline std::size_t past_return_type(std::string_view name) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '(') ++depth;
    if (name[i] == '>' || name[i] == ')') --depth;
    if (name[i] == ' ' && depth == 0) begin = i + 1;
  }
  return begin;
}

inline std::string without_template_arguments(std::string_view name) {
  std::string text;
  int depth = 0;
  for (const char c : name) {
    if (c == '<' && depth++ == 0) text += "<...>";
    if (depth == 0) text += c;
    if (c == '>') --depth;
  }
  return text;
}

}  // namespace names

/// A function's name without return type and parameters, and without template arguments where they
/// are long.
[[nodiscard]] inline std::string qualified_function(std::string_view name) {
  using namespace names;
  // An operator's name may contain any of the characters searched for.
  if (name.find("operator") != std::string_view::npos) return std::string(name);
  name = name.substr(0, parameter_list(name));
  name = name.substr(past_return_type(name));
  return name.size() <= kLongName ? std::string(name) : without_template_arguments(name);
}

/// The same as reports show it: without "(anonymous namespace)".
[[nodiscard]] inline std::string short_function(std::string_view name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string text(name);
  for (std::size_t at = text.find(kUnnamed); at != std::string::npos; at = text.find(kUnnamed, at))
    text.erase(at, kUnnamed.size());
  return qualified_function(text);
}

}  // namespace margay
