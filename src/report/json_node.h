// Reads JSON that may be damaged: every type is checked before a value is used, and errors name the
// place. nlohmann-json throws; the checks here avoid that.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "code_object/code_object.h"

namespace margay::report {

using Json = nlohmann::ordered_json;

/// One value and its path, for messages: "findings[3].accesses[0].wave".
struct Node {
  const Json* json;
  std::string path;

  [[nodiscard]] std::unexpected<Error> wrong(std::string_view expected) const {
    return fail(ErrorCode::invalid_argument,
                fmt::format("The report is malformed: {} is {}, not {}.",
                            path.empty() ? "the document" : path, json->type_name(), expected));
  }
  [[nodiscard]] Result<Node> field(std::string_view name) const {
    if (!json->is_object()) return wrong("an object");
    const std::string full = path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
    const auto found = json->find(std::string(name));
    if (found == json->end()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("The report is malformed: {} is missing.", full));
    }
    return Node{&*found, full};
  }
  [[nodiscard]] Node at(std::size_t index) const {
    return {&(*json)[index], fmt::format("{}[{}]", path, index)};
  }
};

inline Result<std::string> text(const Node& parent, std::string_view name) {
  const Node node = MARGAY_TRY(parent.field(name));
  if (!node.json->is_string()) return node.wrong("a string");
  return node.json->get<std::string>();
}

template <typename T>
Result<T> as_number(const Node& node) {
  if (!node.json->is_number_integer()) return node.wrong("an integer");
  // Values from 2^63 up exist only as unsigned, and negative ones are never valid here.
  const bool fits =
      node.json->is_number_unsigned()
          ? node.json->get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<T>::max()}
          : node.json->get<std::int64_t>() >= 0;
  if (!fits) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("The report is malformed: {} is {}, which is out of range.", node.path,
                            node.json->dump()));
  }
  return node.json->get<T>();
}

template <typename T>
Result<T> number(const Node& parent, std::string_view name) {
  return as_number<T>(MARGAY_TRY(parent.field(name)));
}

template <typename T>
Result<T> number_or(const Node& parent, std::string_view name, T when_null) {
  const Node node = MARGAY_TRY(parent.field(name));
  if (node.json->is_null()) return when_null;
  return as_number<T>(node);
}

inline Result<bool> flag(const Node& parent, std::string_view name) {
  const Node node = MARGAY_TRY(parent.field(name));
  if (!node.json->is_boolean()) return node.wrong("true or false");
  return node.json->get<bool>();
}

/// Applies `read` to each element of an array.
template <typename T, typename Read>
Result<std::vector<T>> elements(const Node& node, Read read) {
  if (!node.json->is_array()) return node.wrong("an array");
  std::vector<T> values;
  values.reserve(node.json->size());
  for (std::size_t i = 0; i < node.json->size(); ++i) {
    values.push_back(MARGAY_TRY(read(node.at(i))));
  }
  return values;
}

/// The same of the array `name`.
template <typename T, typename Read>
Result<std::vector<T>> list(const Node& parent, std::string_view name, Read read) {
  return elements<T>(MARGAY_TRY(parent.field(name)), read);
}

inline Result<std::string> as_text(const Node& node) {
  if (!node.json->is_string()) return node.wrong("a string");
  return node.json->get<std::string>();
}

inline Result<SourceFrame> as_frame(const Node& node) {
  SourceFrame frame;
  frame.function = MARGAY_TRY(text(node, "function"));
  frame.file = MARGAY_TRY(text(node, "file"));
  frame.line = MARGAY_TRY(number<std::uint32_t>(node, "line"));
  frame.column = MARGAY_TRY(number<std::uint32_t>(node, "column"));
  return frame;
}

inline Result<std::array<std::uint32_t, 3>> triple(const Node& parent, std::string_view name) {
  const auto values = MARGAY_TRY(list<std::uint32_t>(parent, name, as_number<std::uint32_t>));
  if (values.size() != 3) {
    return MARGAY_TRY(parent.field(name)).wrong("an array of three numbers");
  }
  return std::array{values[0], values[1], values[2]};
}

/// An enumerator by its name: the first `count` ones are tried.
template <typename Enum, typename NameOf>
Result<Enum> named(const Node& parent, std::string_view field, std::size_t count, NameOf name_of) {
  const Node node = MARGAY_TRY(parent.field(field));
  const std::string name = MARGAY_TRY(as_text(node));
  for (std::size_t i = 0; i < count; ++i) {
    if (name_of(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("The report is malformed: {} is \"{}\", which is no {}.", node.path, name,
                          field));
}

/// Source positions, as in all our JSON documents.
[[nodiscard]] inline Json frame_json(const SourceFrame& frame) {
  return {{"function", frame.function},
          {"file", frame.file},
          {"line", frame.line},
          {"column", frame.column}};
}

}  // namespace margay::report
