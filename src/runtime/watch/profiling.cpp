// See profiling.h.
#include "runtime/watch/profiling.h"

#include "report/profile/json/json.h"
#include "runtime/base/names.h"
#include "runtime/watch/options.h"

namespace margay::runtime {

Profiling::Profiling(const ProfileSettings& settings)
    : settings_(settings),
      session_({settings.kernel, settings.traced_workgroups, settings.launches, settings.workgroups,
                settings.timed, settings.time}) {}

Result<ProfileSettings> parse_profile_options(std::string_view text) {
  ProfileSettings settings;
  settings.enabled = true;
  const WatchOption options[] = {
      {"kernel",
       [&](const std::string& value) -> Result<WatchOption::Taken> {
         settings.kernel = value;
         return WatchOption::Taken::yes;
       }},
      {"launches",
       [&](const std::string& value) -> Result<WatchOption::Taken> {
         settings.launches = MARGAY_TRY(profile::parse_numbers(value, 1));
         return WatchOption::Taken::yes;
       }},
      {"workgroups",
       [&](const std::string& value) -> Result<WatchOption::Taken> {
         settings.workgroups = MARGAY_TRY(profile::parse_sample(value));
         return WatchOption::Taken::yes;
       }},
      {"trace",
       [&](const std::string& value) -> Result<WatchOption::Taken> {
         return take_number(value, settings.traced_workgroups);
       }},
      {"time",
       [&](const std::string& value) -> Result<WatchOption::Taken> {
         settings.timed = value == "1";
         return value == "0" || value == "1" ? WatchOption::Taken::yes : WatchOption::Taken::no;
       }},
  };
  MARGAY_CHECK(read_watch_options(
      text, options,
      {"the profiler", "margayProfileBegin",
       "give kernel=NAME, launches=LIST, workgroups=SAMPLE, trace=WORKGROUPS and time=1, with ; "
       "between"}));
  return settings;
}

Answer<std::shared_ptr<Profiling>> Profiling::create(const ProfileSettings& settings) {
  std::shared_ptr<Profiling> profiling(new Profiling(settings));
  if (!settings.json.empty() || !settings.table.empty())
    profiling->kept_ = MARGAY_TRY(KeptReport::create(settings.json, settings.table));
  return profiling;
}

Result<LaunchReport> Profiling::launch(Device& device, const LaunchRequest& request,
                                       LaunchObserver* beside) {
  if (!kept_) return session_.launch(device, request, beside);
  kept_->launch_begins(readable_name(request.kernel->name));
  Result<LaunchReport> result = session_.launch(device, request, beside);
  kept_->launch_ended(0);
  kept_->keep(false, [this] { return profile::json_of(session_.profile()); });
  return result;
}

void Profiling::write(const profile::Profile& profile) {
  if (kept_) kept_->end([&] { return profile::json_of(profile); });
}

Status Profiling::begin_again() {
  session_.begin_again();
  return kept_ ? kept_->begin_again() : Status{};
}

}  // namespace margay::runtime
