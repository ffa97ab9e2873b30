// Reports as files.
#pragma once

#include <string>

#include "base/error.h"

namespace margay::report {

/// Writes `text` to `path`, in which %p is replaced by the process's id. The file appears whole or
/// not at all; what is no regular file (a pipe, /dev/stdout) is written to. On failure errno says
/// why.
[[nodiscard]] Status write_text(const std::string& text, const std::string& path);

/// Whether write_text() could write there now, so that a long run does not end in a file that
/// cannot be written. An empty path is none. Nothing is left behind.
[[nodiscard]] Status check_writable(const std::string& path);

[[nodiscard]] Result<std::string> read_text(const std::string& path);

}  // namespace margay::report
