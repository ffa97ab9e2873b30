// See settings.h.
#include "runtime/base/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdlib>
#include <ranges>

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

/// The whole of `text` as a number, with or without 0x when `base` is 16.
template <typename T>
std::optional<T> to_number(std::string_view text, int base = 10) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  T number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number, base);
  if (code != std::errc{} || stop != end) return std::nullopt;
  return number;
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

Result<EventTime> read_event_time(const Environment& environment) {
  constexpr std::string_view kName = "MARGAY_EVENT_TIME";
  const std::optional<std::string> value = environment(kName);
  if (!value || value->empty()) return Settings{}.event_time;
  if (const auto time = event_time_named(*value)) return *time;
  return bad_value(kName, *value, fmt::format("one of {}", fmt::join(kEventTimes, ", ")));
}

Result<const Gpu*> read_gpu(const Environment& environment) {
  constexpr std::string_view kName = "MARGAY_DEVICE";
  const std::string value = environment(kName).value_or("");
  if (const auto gpu = find_gpu(value)) return *gpu;
  auto error = bad_value(kName, value, fmt::format("one of {}", gpu_options()));
  // The number of devices is a different variable, which is easily confused with this one.
  if (to_number<unsigned>(value))
    error.error().hint += fmt::format(" MARGAY_DEVICES={} makes that number of devices.", value);
  return error;
}

/// Device::create checks whether this host can run the level. MARGAY_TARGET is the former name of
/// the variable.
Result<std::string> read_host_level(const Environment& environment) {
  constexpr std::string_view kName = "MARGAY_HOST_LEVEL", kFormerName = "MARGAY_TARGET";
  const bool has_former_name = !environment(kName);
  const std::optional<std::string> value = environment(has_former_name ? kFormerName : kName);
  if (!value) return std::string{};
  for (const std::string_view known : {"", "generic", "x86-64-v3", "x86-64-v4"}) {
    if (*value == known) return *value;
  }
  constexpr std::string_view kExpected = "one of generic, x86-64-v3 or x86-64-v4";
  auto error = bad_value(has_former_name ? kFormerName : kName, *value, kExpected);
  if (has_former_name)
    error.error().hint = fmt::format("Set {}, its present name, to {}.", kName, kExpected);
  return error;
}

/// A number from 1 to `most`, or `otherwise` when the variable is not set.
Result<unsigned> read_count(const Environment& environment, std::string_view name, unsigned most,
                            unsigned otherwise) {
  const std::optional<std::string> value = environment(name);
  if (!value || value->empty()) return otherwise;
  unsigned count = 0;
  const char* const end = value->data() + value->size();
  const auto [stop, code] = std::from_chars(value->data(), end, count);
  if (code != std::errc{} || stop != end || count == 0 || count > most) {
    return bad_value(name, *value, fmt::format("a number from 1 to {}", most));
  }
  return count;
}

Result<std::optional<std::uint64_t>> read_number(const Environment& environment,
                                                 std::string_view name) {
  const std::optional<std::string> value = environment(name);
  if (!value || value->empty()) return std::nullopt;
  const auto number = to_number<std::uint64_t>(*value);
  if (!number) return bad_value(name, *value, "a number from 0 to 2^64-1");
  return number;
}

Result<check::ToolSet> read_tools(const Environment& environment) {
  constexpr std::string_view kName = "MARGAY_CHECK";
  const std::optional<std::string> value = environment(kName);
  if (!value || value->empty()) return check::ToolSet{};
  const auto tools = check::parse_tools(*value);
  if (tools) return *tools;
  return bad_value(kName, *value,
                   fmt::format("all, or some of {} with commas between",
                               fmt::join(check::names_of(check::ToolSet{}.set()), ", ")));
}

Result<std::optional<Mutation>> read_mutation(const Environment& environment) {
  constexpr std::string_view kName = "MARGAY_MUTATE";
  const std::optional<std::string> value = environment(kName);
  if (!value || value->empty()) return std::nullopt;
  // Except for symbol versions, a mangled name contains neither sign; if it does, the last ones
  // count.
  const std::size_t equals = value->rfind('=');
  const std::size_t at = value->rfind('@', equals);
  const std::string_view text = *value;
  if (equals != std::string::npos && at != std::string::npos && at != 0) {
    const auto vaddr = to_number<std::uint64_t>(text.substr(at + 1, equals - at - 1), 16);
    Mutation mutation{
        .kernel = std::string(text.substr(0, at)), .vaddr = vaddr.value_or(0), .words = {}};
    bool is_right = vaddr.has_value();
    for (const auto part : std::views::split(text.substr(equals + 1), ',')) {
      const auto word = to_number<std::uint32_t>(std::string_view(part), 16);
      is_right = is_right && word.has_value();
      mutation.words.push_back(word.value_or(0));
    }
    // No instruction has more than two words.
    if (is_right && !mutation.words.empty() && mutation.words.size() <= 2) return mutation;
  }
  return bad_value(
      kName, *value,
      "of the form KERNEL@VADDR=WORD or KERNEL@VADDR=WORD,WORD with hexadecimal numbers");
}

Result<CheckSettings> read_check(const Environment& environment) {
  CheckSettings check;
  check.tools = MARGAY_TRY(read_tools(environment));
  check.json = environment("MARGAY_CHECK_JSON").value_or("");
  check.max_findings =
      MARGAY_TRY(read_number(environment, "MARGAY_CHECK_MAX")).value_or(check.max_findings);
  check.full = MARGAY_TRY(read_switch(environment, "MARGAY_CHECK_FULL"));
  check.suppressions = environment("MARGAY_CHECK_SUPPRESSIONS").value_or("");
  check.adversarial = MARGAY_TRY(read_number(environment, "MARGAY_CHECK_ADVERSARIAL"));
  check.leaks = MARGAY_TRY(read_switch(environment, "MARGAY_CHECK_LEAKS"));
  check.mutation = MARGAY_TRY(read_mutation(environment));
  check.table = environment("MARGAY_WATCH_TABLE").value_or("");
  return check;
}

Result<ProfileSettings> read_profile(const Environment& environment) {
  ProfileSettings profile;
  profile.enabled = MARGAY_TRY(read_switch(environment, "MARGAY_PROFILE"));
  profile.json = environment("MARGAY_PROFILE_JSON").value_or("");
  profile.kernel = environment("MARGAY_PROFILE_KERNEL").value_or("");
  profile.timed = MARGAY_TRY(read_switch(environment, "MARGAY_PROFILE_TIME"));
  const auto mhz = MARGAY_TRY(read_number(environment, "MARGAY_PROFILE_CLOCK"));
  profile.time.clock_ghz = 1e-3 * static_cast<double>(mhz.value_or(0));
  profile.time.all_workgroups =
      MARGAY_TRY(read_switch(environment, "MARGAY_PROFILE_ALL_WORKGROUPS"));
  profile.time.warm = MARGAY_TRY(read_switch(environment, "MARGAY_PROFILE_WARM"));
  // As ROCm's runtime has it; gfx942's default is the device's memory.
  profile.time.host_arguments = environment("HIP_FORCE_DEV_KERNARG").value_or("") == "0";
  profile.traced_workgroups =
      MARGAY_TRY(read_number(environment, "MARGAY_PROFILE_TRACE")).value_or(0);
  if (const auto launches = environment("MARGAY_PROFILE_LAUNCHES"); launches && !launches->empty())
    profile.launches = MARGAY_TRY(profile::parse_numbers(*launches, 1));
  if (const auto sample = environment("MARGAY_PROFILE_WORKGROUPS"); sample && !sample->empty())
    profile.workgroups = MARGAY_TRY(profile::parse_sample(*sample));
  profile.table = environment("MARGAY_WATCH_TABLE").value_or("");
  return profile;
}

Result<RankSettings> read_ranks(const Environment& environment) {
  RankSettings ranks;
  std::string addresses = environment("MARGAY_RANKS").value_or("");
  if (addresses == "off") addresses.clear();
  for (const auto part : std::views::split(addresses, std::string_view(",")))
    if (!part.empty()) ranks.addresses.emplace_back(std::string_view(part));
  ranks.key = environment("MARGAY_RANKS_KEY").value_or("");
  constexpr std::uint64_t kLongest = 3'600'000;
  const auto patience = MARGAY_TRY(read_number(environment, "MARGAY_RANKS_AFTER"));
  if (patience && *patience > kLongest)
    return bad_value("MARGAY_RANKS_AFTER", std::to_string(*patience), "milliseconds of an hour");
  ranks.patience_ms = static_cast<unsigned>(patience.value_or(ranks.patience_ms));
  const auto silence = MARGAY_TRY(read_number(environment, "MARGAY_RANKS_SILENCE"));
  if (silence && (*silence == 0 || *silence > 3600))
    return bad_value("MARGAY_RANKS_SILENCE", std::to_string(*silence), "1 to 3600 seconds");
  ranks.silence_s = static_cast<unsigned>(silence.value_or(ranks.silence_s));
  return ranks;
}

}  // namespace

Environment process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* const value = std::getenv(std::string(name).c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

std::optional<EventTime> event_time_named(std::string_view name) {
  const auto found = std::ranges::find(kEventTimes, name);
  if (found == kEventTimes.end()) return std::nullopt;
  return static_cast<EventTime>(found - kEventTimes.begin());
}

Result<Settings> read_settings(const Environment& environment) {
  Settings settings;
  settings.mfma = MARGAY_TRY(read_mfma(environment));
  settings.gpu = MARGAY_TRY(read_gpu(environment));
  settings.devices = MARGAY_TRY(read_count(environment, "MARGAY_DEVICES", kMaxDevices, 1));
  settings.threads = MARGAY_TRY(read_count(environment, "MARGAY_THREADS", kMaxThreads, 0));
  settings.host_level = MARGAY_TRY(read_host_level(environment));
  settings.event_time = MARGAY_TRY(read_event_time(environment));
  settings.whole_pages = MARGAY_TRY(read_switch(environment, "MARGAY_WHOLE_PAGES"));
  settings.stats = MARGAY_TRY(read_switch(environment, "MARGAY_STATS"));
  settings.progress = MARGAY_TRY(read_switch(environment, "MARGAY_PROGRESS"));
  settings.quiet = MARGAY_TRY(read_switch(environment, "MARGAY_QUIET"));
  settings.ranks = MARGAY_TRY(read_ranks(environment));
  settings.check = MARGAY_TRY(read_check(environment));
  settings.profile = MARGAY_TRY(read_profile(environment));
  // A process has one entry in the table of watched processes; if both watch, the checker owns it.
  if (settings.check.tools.any() && settings.profile.enabled) settings.profile.table.clear();
  return settings;
}

}  // namespace margay::runtime
