#include "observe/source_text.h"

#include <cctype>
#include <fstream>
#include <sstream>
#include <utility>

namespace margay {
namespace {

struct Token {
  std::string_view text;  ///< A word, or one character.
  SourcePosition at;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Words and signs; without comments and preprocessor lines, literals as `"`.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  [[nodiscard]] std::vector<Token> tokens() {
    std::vector<Token> all;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        step();
        line_is_empty_ = true;
      } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        step();
      } else if (c == '#' && line_is_empty_) {
        preprocessor_line();
      } else if (starts("//")) {
        while (at_ < text_.size() && text_[at_] != '\n') step();
      } else if (starts("/*")) {
        while (at_ < text_.size() && !starts("*/")) step();
        step(2);
      } else {
        line_is_empty_ = false;
        all.push_back(token());
      }
    }
    return all;
  }

 private:
  [[nodiscard]] bool starts(std::string_view with) const {
    return text_.substr(at_).starts_with(with);
  }
  void step(std::size_t count = 1) {
    for (; count != 0 && at_ < text_.size(); --count, ++at_) {
      if (text_[at_] == '\n')
        position_ = {position_.line + 1, 1};
      else
        ++position_.column;
    }
  }
  void preprocessor_line() {
    while (at_ < text_.size() && text_[at_] != '\n') step(text_[at_] == '\\' ? 2 : 1);
  }
  Token token() {
    const SourcePosition at = position_;
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (starts("R\"")) {
      const std::size_t open = text_.find('(', at_);
      if (open != text_.npos) {
        const std::string end = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
        const std::size_t close = text_.find(end, open);
        step((close == text_.npos ? text_.size() : close + end.size()) - at_);
        return {"\"", at};
      }
    }
    if (c == '"' || c == '\'') {
      step();
      while (at_ < text_.size() && text_[at_] != c && text_[at_] != '\n')
        step(text_[at_] == '\\' ? 2 : 1);
      step();
      return {"\"", at};
    }
    if (is_word(c)) {
      // 1'000 is one word.
      while (at_ < text_.size() &&
             (is_word(text_[at_]) ||
              (text_[at_] == '\'' && std::isdigit(static_cast<unsigned char>(c)) != 0)))
        step();
    } else {
      step();
    }
    return {text_.substr(begin, at_ - begin), at};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  SourcePosition position_{1, 1};
  bool line_is_empty_ = true;
};

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  [[nodiscard]] SourceNode file() {
    SourceNode node{
        .kind = SourceNode::Kind::block, .begin = {1, 1}, .end = {}, .close = {}, .children = {}};
    while (!at_end()) {
      if (is("}"))
        ++next_;  // one too many
      else
        node.children.push_back(statement());
    }
    node.end = {~0u, ~0u};
    return node;
  }

 private:
  using Kind = SourceNode::Kind;

  [[nodiscard]] bool at_end() const { return next_ >= tokens_.size(); }
  [[nodiscard]] bool is(std::string_view text) const {
    return !at_end() && tokens_[next_].text == text;
  }
  [[nodiscard]] SourcePosition here() const {
    return at_end() ? tokens_.empty() ? SourcePosition{1, 1} : tokens_.back().at
                    : tokens_[next_].at;
  }
  [[nodiscard]] SourcePosition last() const {
    return next_ == 0 ? SourcePosition{1, 1} : tokens_[next_ - 1].at;
  }

  /// Past the contents of the bracket here.
  void skip_brackets() {
    int depth = 0;
    while (!at_end()) {
      const std::string_view text = tokens_[next_++].text;
      if (text == "(" || text == "[" || text == "{") ++depth;
      if ((text == ")" || text == "]" || text == "}") && --depth == 0) return;
    }
  }

  /// A list in braces, or one statement alone.
  SourceNode list(Kind kind, SourcePosition begin) {
    SourceNode node{.kind = kind, .begin = begin, .end = {}, .close = {}, .children = {}};
    if (is("{")) {
      ++next_;
      while (!at_end() && !is("}")) node.children.push_back(statement());
      node.close = here();
      if (!at_end()) ++next_;
    } else {
      node.children.push_back(statement());
    }
    node.end = last();
    return node;
  }

  SourceNode branch() {
    SourceNode node{.kind = Kind::branch, .begin = here(), .end = {}, .close = {}, .children = {}};
    const bool was_in_switch = std::exchange(in_switch_, in_switch_ || is("switch"));
    ++next_;
    while (is("constexpr")) ++next_;
    if (is("(")) skip_brackets();
    node.children.push_back(list(Kind::arm, here()));
    if (is("else")) {
      ++next_;
      node.children.push_back(list(Kind::arm, here()));
    }
    in_switch_ = was_in_switch;
    node.end = last();
    return node;
  }

  SourceNode loop() {
    const SourcePosition begin = here();
    const bool was_in_switch = std::exchange(in_switch_, false);
    const bool is_do = is("do");
    ++next_;
    if (!is_do && is("(")) skip_brackets();
    SourceNode node = list(Kind::loop, begin);
    in_switch_ = was_in_switch;
    if (!is_do) return node;
    if (is("while")) ++next_;
    if (is("(")) skip_brackets();
    if (is(";")) ++next_;
    node.end = last();
    return node;
  }

  /// template <...>: its angle brackets may hold "=".
  void skip_template_head() {
    ++next_;
    int depth = 0;
    while (!at_end()) {
      if (is("(") || is("{")) {
        skip_brackets();
        continue;
      }
      if (is("<")) ++depth;
      if (is(">") && --depth == 0) {
        ++next_;
        return;
      }
      if (is(";")) return;
      ++next_;
    }
  }

  [[nodiscard]] SourceNode::Jump jump() const {
    using Jump = SourceNode::Jump;
    if (is("return")) return Jump::out_of_function;
    if (is("continue")) return Jump::to_next_turn;
    return is("break") && !in_switch_ ? Jump::out_of_loop : Jump::none;
  }

  SourceNode statement() {
    if (is("for") || is("while") || is("do")) return loop();
    if (is("if") || is("switch")) return branch();
    if (is("{")) return list(Kind::block, here());
    SourceNode node{
        .kind = Kind::statement, .begin = here(), .end = {}, .close = {}, .children = {}};
    node.jump = jump();
    while (is("template")) skip_template_head();
    const bool has_name_only =
        is("namespace") || is("struct") || is("class") || is("union") || is("enum") || is("extern");
    bool has_value = is("return");
    int depth = 0;
    while (!at_end()) {
      if (is(";") && depth == 0) {
        ++next_;
        break;
      }
      if (is("}")) break;
      if (is("{")) {
        const std::string_view before = next_ == 0 ? std::string_view{} : tokens_[next_ - 1].text;
        const bool is_body = before == ")" || before == "const" || before == "noexcept" ||
                             before == "mutable" || before == "override" || before == "}" ||
                             (before == "]" && has_value) ||
                             (has_name_only && depth == 0 && !has_value);
        if (!is_body) {
          skip_brackets();
          continue;
        }
        node.children.push_back(list(Kind::block, here()));
        if (depth == 0 && !has_value) {
          if (is(";")) ++next_;
          break;
        }
        continue;
      }
      if (is("(") || is("[")) ++depth;
      if (is(")") || is("]")) --depth;
      if (is("=") && depth == 0) has_value = true;
      ++next_;
    }
    node.end = last();
    return node;
  }

  std::vector<Token> tokens_;
  std::size_t next_ = 0;
  bool in_switch_ = false;  ///< The innermost breakable statement is a switch.
};

}  // namespace

SourceNode parse_source(std::string_view text) { return Parser(Lexer(text).tokens()).file(); }

std::optional<SourceText> read_source(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream stream;
  stream << file.rdbuf();
  SourceText source{stream.str(), {}};
  source.root = parse_source(source.text);
  return source;
}

std::string statement_at(const SourceText& source, std::uint32_t line) {
  const SourceNode* node = &source.root;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const SourceNode& child : node->children) {
      if (line < child.begin.line || child.end.line < line) continue;
      node = &child;
      deeper = true;
      break;
    }
  }
  if (node->kind != SourceNode::Kind::statement || !node->children.empty()) return {};
  std::istringstream lines(source.text);
  std::string text, one;
  for (std::uint32_t n = 1; std::getline(lines, one) && n <= node->end.line; ++n)
    if (n >= node->begin.line) text += one + '\n';
  return text;
}

}  // namespace margay
