// See names.h. Works on the demangled text: its grammar is simple once brackets are matched.
#include "apps/asm/names.h"

#include "code_object/demangle.h"

namespace margay::assembly {
namespace {

constexpr std::string_view kUnnamed = "(anonymous namespace)";

/// The position of `stop` outside of all brackets, from `from` on; npos if none.
template <typename Stop>
std::size_t find_outside(std::string_view text, std::size_t from, Stop&& stop) {
  int depth = 0;
  for (std::size_t at = from; at < text.size(); ++at) {
    if (text.substr(at).starts_with(kUnnamed)) {
      at += kUnnamed.size() - 1;
      continue;
    }
    const char c = text[at];
    if (depth == 0 && stop(c)) return at;
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if ((c == '>' || c == ')' || c == ']' || c == '}') && depth > 0) --depth;
  }
  return std::string_view::npos;
}

}  // namespace

FunctionName split_function_name(std::string_view symbol) {
  FunctionName name;
  name.full = code_object::demangled(symbol);
  const std::string_view full = name.full;
  if (full.contains("operator")) {  // its brackets and spaces are part of the name
    name.signature = name.qualified = name.unqualified = name.plain = name.full;
    return name;
  }
  // Templates print their return type.
  const std::size_t parameters = find_outside(full, 0, [](char c) { return c == '('; });
  std::size_t begin = 0;
  for (std::size_t space = 0; space < parameters;) {
    space = find_outside(full, begin, [](char c) { return c == ' '; });
    if (space >= parameters) break;
    begin = space + 1;
  }
  name.signature = full.substr(begin);
  name.qualified =
      full.substr(begin, parameters == std::string_view::npos ? parameters : parameters - begin);
  std::size_t last = 0;
  while (true) {
    const std::size_t colon = find_outside(name.qualified, last, [](char c) { return c == ':'; });
    if (colon == std::string_view::npos) break;
    last = colon + 1;
  }
  name.unqualified = name.qualified.substr(last);
  name.plain = name.unqualified.substr(
      0, find_outside(name.unqualified, 0, [](char c) { return c == '<'; }));
  return name;
}

std::vector<std::string> parameter_types(const FunctionName& name) {
  std::vector<std::string> types;
  if (name.signature.size() < name.qualified.size() + 2) return types;
  const std::string_view list =
      std::string_view(name.signature)
          .substr(name.qualified.size() + 1, name.signature.size() - name.qualified.size() - 2);
  if (list.empty()) return types;
  for (std::size_t begin = 0; begin != std::string_view::npos;) {
    const std::size_t comma = find_outside(list, begin, [](char c) { return c == ','; });
    std::string_view type =
        list.substr(begin, comma == std::string_view::npos ? comma : comma - begin);
    while (type.starts_with(' ')) type.remove_prefix(1);
    types.emplace_back(type);
    begin = comma == std::string_view::npos ? comma : comma + 1;
  }
  return types;
}

bool is_called(std::string_view symbol, std::string_view word) {
  if (symbol == word) return true;
  const FunctionName name = split_function_name(symbol);
  return name.full == word || name.signature == word || name.qualified == word ||
         name.unqualified == word || name.plain == word;
}

}  // namespace margay::assembly
