// See settings.h.
#include "runtime/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace margay::runtime {
namespace {

// More threads than this are a typing error, not a machine.
constexpr unsigned kMaxThreads = 4096;

std::unexpected<Error> bad_value(std::string_view name, std::string_view value,
                                 std::string_view expected) {
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("The environment variable {} is \"{}\", which is not {}.", name, value, expected),
      {}, fmt::format("Set {} to {}, or unset it.", name, expected));
}

Result<bool> read_switch(const Environment& environment, std::string_view name) {
  const std::optional<std::string> value = environment(name);
  if (!value || value->empty() || *value == "0") return false;
  if (*value == "1") return true;
  return bad_value(name, *value, "0 or 1");
}

Result<MfmaMode> read_mfma(const Environment& environment) {
  constexpr std::string_view kName = "MARGAY_MFMA";
  const std::optional<std::string> value = environment(kName);
  if (!value || value->empty()) return Settings{}.mfma;
  if (*value == "exact") return MfmaMode::exact;
  if (*value == "fma") return MfmaMode::fma;
  if (*value == "fast") return MfmaMode::fast;
  return bad_value(kName, *value, "one of exact, fma or fast");
}

/// Whether this host can run the level is for Device::create to say.
Result<std::string> read_target(const Environment& environment) {
  constexpr std::string_view kName = "MARGAY_TARGET";
  const std::optional<std::string> value = environment(kName);
  if (!value) return std::string{};
  for (const std::string_view known : {"", "generic", "x86-64-v3", "x86-64-v4"}) {
    if (*value == known) return *value;
  }
  return bad_value(kName, *value, "one of generic, x86-64-v3 or x86-64-v4");
}

Result<unsigned> read_threads(const Environment& environment) {
  constexpr std::string_view kName = "MARGAY_THREADS";
  const std::optional<std::string> value = environment(kName);
  if (!value || value->empty()) return 0U;
  unsigned threads = 0;
  const char* const end = value->data() + value->size();
  const auto [stop, code] = std::from_chars(value->data(), end, threads);
  if (code != std::errc{} || stop != end || threads == 0 || threads > kMaxThreads) {
    return bad_value(kName, *value, fmt::format("a number from 1 to {}", kMaxThreads));
  }
  return threads;
}

}  // namespace

Environment process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* const value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

Result<Settings> read_settings(const Environment& environment) {
  Settings settings;
  settings.mfma = MARGAY_TRY(read_mfma(environment));
  settings.threads = MARGAY_TRY(read_threads(environment));
  settings.target = MARGAY_TRY(read_target(environment));
  settings.stats = MARGAY_TRY(read_switch(environment, "MARGAY_STATS"));
  settings.progress = MARGAY_TRY(read_switch(environment, "MARGAY_PROGRESS"));
  settings.quiet = MARGAY_TRY(read_switch(environment, "MARGAY_QUIET"));
  return settings;
}

}  // namespace margay::runtime
