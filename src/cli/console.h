// What the tool says to its user: errors, and guesses at a mistyped word.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace margay::cli {

/// Prints "margay SUBCOMMAND: error: ..." to stderr and returns the exit code that goes with it: 2
/// for an impossible argument, otherwise 1.
int report(std::string_view subcommand, const Error& error);

/// The candidate nearest to `word` in spelling, or an empty string when none is near enough to be
/// what was meant.
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace margay::cli
