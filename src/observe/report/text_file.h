// Reports as files.
#pragma once

#include <string>

#include "base/error.h"

namespace margay::report {

/// Writes `text` to `path`, in which %p stands for the process's id. The file appears whole or not
/// at all.
[[nodiscard]] Status write_text(const std::string& text, const std::string& path);

[[nodiscard]] Result<std::string> read_text(const std::string& path);

}  // namespace margay::report
