// Statements, loops and branches of source text.
#include "observe/source_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace margay {
namespace {

using Kind = SourceNode::Kind;
using testing::ElementsAre;

/// "loop 2-4 (statement 3)": kinds and lines of the nodes below a list.
std::string shape(const SourceNode& node) {
  constexpr const char* kNames[] = {"statement", "block", "loop", "branch", "arm"};
  std::string text;
  for (const SourceNode& child : node.children) {
    if (!text.empty()) text += ", ";
    text += kNames[static_cast<int>(child.kind)];
    text += ' ' + std::to_string(child.begin.line);
    if (child.end.line != child.begin.line) text += '-' + std::to_string(child.end.line);
    if (!child.children.empty()) text += " (" + shape(child) + ")";
  }
  return text;
}

TEST(SourceText, loops_branches_and_statements) {
  EXPECT_EQ(shape(parse_source("void f() {\n"
                               "  for (int i = 0; i < 4; ++i) {\n"
                               "    a(i);\n"
                               "  }\n"
                               "  if (x) b();\n"
                               "  else {\n"
                               "    c();\n"
                               "    d(\n"
                               "      e);\n"
                               "  }\n"
                               "  while (true) break;\n"
                               "  do { g(); } while (x);\n"
                               "}\n"
                               "int h;\n")),
            "statement 1-13 (block 1-13 (loop 2-4 (statement 3), branch 5-10 (arm 5 (statement 5), "
            "arm 6-10 (statement 7, statement 8-9)), loop 11 (statement 11), loop 12 (statement "
            "12))), statement 14");
}

TEST(SourceText, what_is_no_code_does_not_count) {
  EXPECT_EQ(shape(parse_source("#define BEGIN {\n"
                               "#define MORE \\\n"
                               "  {\n"
                               "/* for ( { */ int a; // {\n"
                               "const char* s = \"{ for (\" R\"x({)x\"; char c = '{';\n"
                               "int n = 1'000;\n")),
            "statement 4, statement 5, statement 5, statement 6");
}

TEST(SourceText, initialisers_are_no_bodies_and_lambdas_are) {
  EXPECT_EQ(shape(parse_source("int a[] = {1, 2};\n"
                               "T b{1};\n"
                               "auto f = [&](int x) {\n"
                               "  g(x);\n"
                               "};\n"
                               "run({0, 1}, [] { h(); });\n"
                               "return T{3};\n")),
            "statement 1, statement 2, statement 3-5 (block 3-5 (statement 4)), statement 6, "
            "statement 7");
}

TEST(SourceText, templates_classes_and_pragmas) {
  EXPECT_EQ(shape(parse_source("template <int N = 4, typename T = X<2>>\n"
                               "__global__ __launch_bounds__(256, 2) void k(T t) {\n"
                               "#pragma unroll\n"
                               "  for (int i = 0; i < N; ++i)\n"
                               "    if constexpr (N > 2) a();\n"
                               "}\n"
                               "struct S {\n"
                               "  int f() const { return 1; }\n"
                               "};\n")),
            "statement 1-6 (block 2-6 (loop 4-5 (branch 5 (arm 5 (statement 5))))), statement 7-9 "
            "(block 7-9 (statement 8 (block 8 (statement 8))))");
}

TEST(SourceText, damaged_text_ends) {
  for (const char* text :
       {"}", "{", "for (", "if (x", "a(b{c", "\"", "R\"(", "/*", "} } for", "do {"})
    (void)parse_source(text);
}

TEST(SourceText, the_statement_of_a_line) {
  const char* text = "void f() {\n  asm volatile(\n    \"s_waitcnt 0\");\n  if (x) g();\n}\n";
  const SourceText source{text, parse_source(text)};
  EXPECT_EQ(statement_at(source, 3), "  asm volatile(\n    \"s_waitcnt 0\");\n");
  EXPECT_EQ(statement_at(source, 4), "  if (x) g();\n");
  EXPECT_EQ(statement_at(source, 5), "");
}

}  // namespace
}  // namespace margay
