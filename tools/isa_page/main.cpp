// isa_page SOURCE_ROOT [--check]: writes docs/isa-coverage.md of that source tree, or holds that it
// is up to date. isa_page --rows: prints the mnemonics that the virtual device has.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "enumerate.h"
#include "page.h"

namespace margay::isa_page {

static int complain(const Error& error) {
  fmt::print(stderr, "isa_page: error: {}\n", error.text());
  return 1;
}

/// Reports the first line that differs.
static int check(const std::string& file, const std::string& wanted) {
  std::ifstream stream(file);
  std::istringstream text(wanted);
  std::string line, wanted_line;
  for (std::size_t number = 1;; ++number) {
    const bool there = static_cast<bool>(std::getline(stream, line));
    const bool expected = static_cast<bool>(std::getline(text, wanted_line));
    if (!there && !expected) return 0;
    if (there && expected && line == wanted_line) continue;
    return complain({ErrorCode::invalid_argument, "The page is not what the executor's table says.",
                     fmt::format("{}:{}, which should be: {}", file, number,
                                 expected ? wanted_line : "the end of the file"),
                     "Run isa_page SOURCE_ROOT and commit docs/isa-coverage.md."});
  }
}

static int run(int argc, char** argv) {
  const bool checks = argc == 3 && std::string_view(argv[2]) == "--check";
  if (argc != 2 && !checks) {
    fmt::print(stderr, "usage: isa_page SOURCE_ROOT [--check]\n       isa_page --rows\n");
    return 2;
  }
  const auto instructions = list_instructions();
  if (!instructions) return complain(instructions.error());
  if (std::string_view(argv[1]) == "--rows") {
    for (const auto& [mnemonic, formats] : *instructions) {
      if (is_there(mnemonic)) fmt::print("{}\n", mnemonic);
    }
    return 0;
  }
  const auto page = page_text(*instructions, argv[1]);
  if (!page) return complain(page.error());
  const std::string file = std::string(argv[1]) + "/docs/isa-coverage.md";
  if (checks) return check(file, *page);
  std::ofstream stream(file, std::ios::binary);
  stream << *page;
  stream.close();
  return stream ? 0 : complain({ErrorCode::system, "The page cannot be written.", file});
}

}  // namespace margay::isa_page

int main(int argc, char** argv) { return margay::isa_page::run(argc, argv); }
