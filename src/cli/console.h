// Messages of the tool: errors, and suggestions for a mistyped word.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace margay::cli {

/// Prints "margay SUBCOMMAND: error: ..." to stderr and returns the exit code: 2 for an invalid
/// argument, otherwise 1.
int report(std::string_view subcommand, const Error& error);

/// The candidate nearest to `word` in spelling, or an empty string if none is near enough.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace margay::cli
