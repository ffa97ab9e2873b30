// See data.h.
#include "data.h"

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

Result<std::map<std::string, std::string>> read_judges(const fs::path& source_root) {
  std::map<std::string, std::string> judges;
  for (const std::string& line : MARGAY_TRY(lines_of(source_root / "tools/isa_page/judges.txt"))) {
    std::istringstream words(line);
    std::string mnemonic, name, names;
    words >> mnemonic;
    while (words >> name) {
      if (name != "-") names += (names.empty() ? "" : ", ") + name;
    }
    judges.emplace(mnemonic, names);
  }
  return judges;
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
