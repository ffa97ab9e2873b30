// The data files beside this one that the page shows: judges.txt and measured.txt.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace margay::isa_page {

/// Which test programs judge each instruction, as tools/isa_page/judges.txt says; "" for one that
/// is there and that no test judges.
[[nodiscard]] Result<std::map<std::string, std::string>> read_judges(
    const std::filesystem::path& source_root);

/// A line of tools/isa_page/measured.txt: its columns, separated by " | ".
using Measured = std::vector<std::string>;
inline constexpr std::size_t kMeasuredColumns = 4;
[[nodiscard]] Result<std::vector<Measured>> read_measured(const std::filesystem::path& source_root);

}  // namespace margay::isa_page
