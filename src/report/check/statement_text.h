// Statements in words: the last step. The words of a row are a sentence with marks for its values:
//
//   {0}          the value: a number, a string, the name of a role or kind, a clause, "1 x 1 x 4 x
//   8" {0:x}        a number as an address: 0x7f00 {0:lds}      a number as a byte of LDS: 0x0040
//   {0:at}       dimensions as a coordinate: (0, 0, 2, 1)
//   {0:row}      dimensions as a place: row 2, column 1
//   {0:place}    dimensions as a place: batch 0, depth 0, row 2, column 1
//   {0?yes|no}   a number that is not 0, a string that is not empty, dimensions that are not all 0
//   {0#one|many} a number that is 1
//
// The last two hold further marks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "report/check/statements.h"

namespace margay::check {

[[nodiscard]] std::string in_words(const Statement& statement);
/// The sentence with its marks.
[[nodiscard]] std::string_view sentence_of(Says says);
/// A clause: "it decides a branch".
[[nodiscard]] std::string_view decides_text(Decides decides);

/// A mark of a sentence, and its place in it.
struct Mark {
  std::size_t begin = 0, end = 0;
  std::size_t value = 0;
  char sign = '}';                 ///< '}', ':', '?' or '#'.
  std::string_view form;           ///< Behind ':'.
  std::string_view first, second;  ///< Behind '?' and '#'.
};
inline constexpr std::size_t kNoMark = ~std::size_t{0};

/// The first mark; begin is kNoMark if there is none. A mark that is not complete has value
/// kNoMark.
[[nodiscard]] constexpr Mark first_mark(std::string_view words) {
  Mark mark;
  mark.begin = words.find('{');
  if (mark.begin == std::string_view::npos) {
    mark.begin = kNoMark;
    return mark;
  }
  mark.value = kNoMark;
  std::size_t depth = 0, bar = 0;
  for (mark.end = mark.begin; mark.end < words.size(); ++mark.end) {
    const char c = words[mark.end];
    if (c == '{') ++depth;
    if (c == '|' && depth == 1) bar = mark.end;
    if (c == '}' && --depth == 0) break;
  }
  const std::size_t sign = mark.begin + 2;
  if (mark.end >= words.size() || sign > mark.end) return mark;
  mark.sign = words[sign];
  const auto between = [&](std::size_t from, std::size_t to) {
    return words.substr(from, to - from);
  };
  if (mark.sign == ':') {
    mark.form = between(sign + 1, mark.end);
  } else if (mark.sign == '?' || mark.sign == '#') {
    if (bar == 0) return mark;
    mark.first = between(sign + 1, bar);
    mark.second = between(bar + 1, mark.end);
  } else if (mark.sign != '}') {
    return mark;
  }
  ++mark.end;
  const char digit = words[mark.begin + 1];
  if (digit >= '0' && digit <= '9') mark.value = static_cast<std::size_t>(digit - '0');
  return mark;
}

namespace detail {
/// Adds the values that the marks name to `used`, a bit each.
[[nodiscard]] constexpr std::string_view fault_in_marks(std::string_view words,
                                                        std::string_view takes, unsigned& used) {
  for (;;) {
    const Mark mark = first_mark(words);
    const std::string_view plain = words.substr(0, mark.begin);
    if (plain.find('}') != std::string_view::npos) return "a brace that closes nothing";
    if (mark.begin == kNoMark) return {};
    if (mark.value == kNoMark) return "a mark that is not complete";
    if (mark.value >= takes.size()) return "a value that the row does not have";
    used |= 1u << mark.value;
    const char type = takes[mark.value];
    if (mark.sign == ':') {
      const bool of_number = mark.form == "x" || mark.form == "lds";
      const bool of_dimensions = mark.form == "at" || mark.form == "row" || mark.form == "place";
      if (!(type == 'n' && of_number) && !(type == 'd' && of_dimensions))
        return "a form that the value does not have";
    } else if (mark.sign != '}') {
      if (type != 'n' && (mark.sign == '#' || (type != 's' && type != 'd')))
        return "a choice by a value that does not decide";
      for (const std::string_view part : {mark.first, mark.second})
        if (const std::string_view fault = fault_in_marks(part, takes, used); !fault.empty())
          return fault;
    }
    words.remove_prefix(mark.end);
  }
}
}  // namespace detail

/// What is wrong with a sentence for values of these types (takes_of()); empty: nothing. Each value
/// must be named at least once.
[[nodiscard]] constexpr std::string_view fault_in(std::string_view sentence,
                                                  std::string_view takes) {
  unsigned used = 0;
  if (const std::string_view fault = detail::fault_in_marks(sentence, takes, used); !fault.empty())
    return fault;
  return used == (1u << takes.size()) - 1 ? std::string_view{} : "a value that is not named";
}

}  // namespace margay::check
