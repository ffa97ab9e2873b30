// The nesting of statements of a C++ source file according to brackets and keywords: loops,
// branches, blocks. For hints that name a place between two statements; nothing is compiled, macros
// are not expanded.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace margay {

/// Lines and columns count from 1.
struct SourcePosition {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  friend auto operator<=>(const SourcePosition&, const SourcePosition&) = default;
};

/// A statement, or a list of statements.
struct SourceNode {
  enum class Kind : std::uint8_t {
    statement,  ///< Has children if it contains lambdas or bodies of functions.
    block,      ///< A list of statements in braces: a function's, a class's, a bare one.
    loop,       ///< The list of statements that is repeated.
    branch,     ///< Has an arm or two.
    arm,        ///< A list of statements that a condition guards.
  };
  /// How a statement jumps away from the statement after it.
  enum class Jump : std::uint8_t {
    none,
    out_of_function,  ///< return; of the innermost function or lambda.
    out_of_loop,      ///< break; not that of a switch.
    to_next_turn,     ///< continue
  };
  Kind kind = Kind::statement;
  SourcePosition begin;  ///< Of a loop or branch: its keyword.
  SourcePosition end;    ///< Its last character.
  /// The end of the list: the closing brace. Line 0 without braces: nothing can be inserted.
  SourcePosition close;
  std::vector<SourceNode> children;
  Jump jump = Jump::none;  ///< Of a statement.

  /// A list runs from its first child to its last.
  [[nodiscard]] bool is_list() const {
    return kind == Kind::block || kind == Kind::loop || kind == Kind::arm;
  }
  [[nodiscard]] bool contains(SourcePosition at) const { return begin <= at && at <= end; }
};

/// The file's statements, as a block.
[[nodiscard]] SourceNode parse_source(std::string_view text);

/// A file's text and its structure.
struct SourceText {
  std::string text;
  SourceNode root;
};
/// Empty if the file cannot be read.
[[nodiscard]] std::optional<SourceText> read_source(const std::string& path);
/// The text of the innermost statement, without children of its own, that holds the line; empty
/// when there is none.
[[nodiscard]] std::string statement_at(const SourceText& source, std::uint32_t line);

}  // namespace margay
