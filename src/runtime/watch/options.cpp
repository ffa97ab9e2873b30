// See options.h.
#include "runtime/watch/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace margay::runtime {

WatchOption::Taken take_number(const std::string& value, std::uint64_t& out) {
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || at != end) return WatchOption::Taken::no;
  out = number;
  return WatchOption::Taken::yes;
}

Status read_watch_options(std::string_view text, std::span<const WatchOption> options,
                          const WatchCall& call) {
  while (!text.empty()) {
    const auto end = std::min(text.find(';'), text.size());
    const std::string_view option = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (option.empty()) continue;
    const auto equals = option.find('=');
    const auto known = std::ranges::find(options, option.substr(0, equals), &WatchOption::name);
    auto taken = WatchOption::Taken::no;
    if (known != options.end())
      taken = MARGAY_TRY(
          known->take(std::string(equals == option.npos ? "" : option.substr(equals + 1))));
    if (taken == WatchOption::Taken::no)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} has no option \"{}\"", call.who, option), std::string(call.call),
                  std::string(call.hint));
  }
  return {};
}

}  // namespace margay::runtime
