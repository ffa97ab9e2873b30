// The data files next to this one that the page shows: kills.txt and measured.txt.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace margay::isa_page {

/// The test programs that check an instruction, as tools/isa_page/kills.txt has them.
struct TestedBy {
  std::vector<std::string> programs;  ///< Fail when its results are broken: the first two.
  bool has_result = true;             ///< Otherwise they execute it.
  [[nodiscard]] std::string text() const;
};
/// By mnemonic.
[[nodiscard]] Result<std::map<std::string, TestedBy>> read_tests(
    const std::filesystem::path& source_root);

/// A line of tools/isa_page/measured.txt: its columns, separated by " | ".
using Measured = std::vector<std::string>;
inline constexpr std::size_t kMeasuredColumns = 4;
[[nodiscard]] Result<std::vector<Measured>> read_measured(const std::filesystem::path& source_root);

}  // namespace margay::isa_page
