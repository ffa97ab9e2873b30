// See data.h.
#include "data.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace margay::isa_page {
namespace {

namespace fs = std::filesystem;

/// The lines of a data file, comments and empty ones left out.
Result<std::vector<std::string>> lines_of(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) {
    return fail(ErrorCode::not_found, "A data file of the page is missing.", file.string(),
                "Give the root of the source tree.");
  }
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  return lines;
}

}  // namespace

std::string TestedBy::text() const {
  if (programs.empty()) return "**no test**";
  std::string text = has_result ? "" : "runs in ";
  for (const std::string& name : programs) text += (&name == programs.data() ? "" : ", ") + name;
  return text;
}

Result<std::map<std::string, TestedBy>> read_tests(const fs::path& source_root) {
  constexpr std::size_t kShown = 2;
  std::map<std::string, TestedBy> tests;
  for (const std::string& line : MARGAY_TRY(lines_of(source_root / "tools/isa_page/kills.txt"))) {
    std::istringstream words(line);
    std::string mnemonic, part, word;
    words >> mnemonic >> part;
    TestedBy& by = tests[mnemonic];
    by.has_result = part != "nothing";
    while (words >> word) {
      if (word[0] == '-') continue;  // did not notice
      const std::string name = word.substr(1, word.find(':') - 1);
      if (by.programs.size() < kShown && std::ranges::find(by.programs, name) == by.programs.end())
        by.programs.push_back(name);
    }
  }
  return tests;
}

Result<std::vector<Measured>> read_measured(const fs::path& source_root) {
  const fs::path file = source_root / "tools/isa_page/measured.txt";
  std::vector<Measured> table;
  for (const std::string& line : MARGAY_TRY(lines_of(file))) {
    constexpr std::string_view kBetween = " | ";
    Measured columns;
    for (std::size_t begin = 0, end = 0; end != line.npos; begin = end + kBetween.size()) {
      end = line.find(kBetween, begin);
      columns.push_back(line.substr(begin, end == line.npos ? end : end - begin));
    }
    if (columns.size() != kMeasuredColumns) {
      return fail(ErrorCode::invalid_argument, "A line has too few or too many columns: " + line,
                  file.string());
    }
    table.push_back(std::move(columns));
  }
  return table;
}

}  // namespace margay::isa_page
