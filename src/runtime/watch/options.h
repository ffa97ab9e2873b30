// The options that a program or a binding gives a checker or profiler it drives itself:
// "tools=all;adversarial=7".
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace margay::runtime {

struct WatchOption {
  /// The result for the value: accepted, rejected with a specific reason, or not a value of this
  /// option, which is rejected like an unknown option.
  enum class Taken : bool { no, yes };

  std::string_view name;
  std::function<Result<Taken>(const std::string& value)> take;
};

/// The names used in error messages.
struct WatchCall {
  std::string_view who;   ///< "the checker"
  std::string_view call;  ///< "margayCheckBegin"
  std::string_view hint;  ///< The available options.
};

/// Reads options separated by ;. Empty ones are skipped.
[[nodiscard]] Status read_watch_options(std::string_view text, std::span<const WatchOption> options,
                                        const WatchCall& call);

/// Sets `out` if the value is a decimal number.
[[nodiscard]] WatchOption::Taken take_number(const std::string& value, std::uint64_t& out);

}  // namespace margay::runtime
