// See profiling.h; and the C functions by which a program or a binding drives the profiler itself.
#include "runtime/watch/profiling.h"

#include <mutex>

#include <fmt/format.h>

#include "report/profile/analysis/metrics.h"
#include "report/profile/json/json.h"
#include "report/words.h"
#include "runtime/process/runtime.h"

namespace margay::runtime {

Profiling::Profiling(const ProfileSettings& settings)
    : settings_(settings),
      session_(
          {settings.kernel, settings.traced_workgroups, settings.launches, settings.workgroups}) {}

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

using namespace margay;           // NOLINT: the exported functions below are its C face
using namespace margay::runtime;  // NOLINT

namespace {

/// What the last margayProfile call has to say; one stretch at a time, so one of each is enough.
struct Answers {
  std::mutex mutex;
  std::string error, json;
  profile::Profile profile;
};
Answers& answers() {
  static auto* const all = new Answers();  // outlives every thread
  return *all;
}

/// "kernel=gemm;trace=2"
Result<ProfileSettings> parse_options(std::string_view options) {
  ProfileSettings settings;
  settings.enabled = true;
  while (!options.empty()) {
    const auto end = std::min(options.find(';'), options.size());
    const std::string_view option = options.substr(0, end);
    options.remove_prefix(std::min(end + 1, options.size()));
    const auto equals = option.find('=');
    const std::string_view name = option.substr(0, equals);
    const std::string value(equals == option.npos ? "" : option.substr(equals + 1));
    if (name == "kernel") {
      settings.kernel = value;
    } else if (name == "launches") {
      settings.launches = MARGAY_TRY(profile::parse_numbers(value, 1));
    } else if (name == "workgroups") {
      settings.workgroups = MARGAY_TRY(profile::parse_sample(value));
    } else if (name == "trace" && !value.empty() &&
               value.find_first_not_of("0123456789") == value.npos && value.size() < 20) {
      settings.traced_workgroups = std::stoull(value);
    } else if (!option.empty()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("the profiler has no option \"{}\"", option), "margayProfileBegin",
                  "give kernel=NAME, launches=LIST, workgroups=SAMPLE and trace=WORKGROUPS, with ; "
                  "between");
    }
  }
  return settings;
}

/// `name` of the kernel that has `kernel` in its name; exactly one has to.
Result<double> value_in(const profile::Profile& profile, std::string_view kernel,
                        std::string_view name) {
  const profile::KernelProfile* found = nullptr;
  std::string names;
  for (const profile::KernelProfile& k : profile.kernels) {
    names += (names.empty() ? "" : ", ") + k.name;
    if (!report::is_in_name(kernel, k.name)) continue;
    if (found != nullptr)
      return fail(ErrorCode::invalid_argument,
                  fmt::format("several kernels or launch sizes have \"{}\" in their name", kernel),
                  {}, "give more of the name, or profile one size at a time; there are: " + names);
    found = &k;
  }
  if (found == nullptr)
    return fail(ErrorCode::not_found,
                fmt::format("no kernel that ran has \"{}\" in its name", kernel), {},
                names.empty() ? "no kernel ran" : "there are: " + names);
  return profile::value_of(*found, name);
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

int margayProfileBegin(const char* options) {
  const std::lock_guard lock(answers().mutex);
  auto begun = [&]() -> Outcome {
    const ProfileSettings settings = MARGAY_TRY(parse_options(options == nullptr ? "" : options));
    return Runtime::instance().begin_profiling(MARGAY_TRY(Profiling::create(settings)));
  }();
  answers().error = begun ? std::string{} : begun.error().error.text();
  return begun ? 0 : 1;
}

const char* margayProfileError(void) { return answers().error.c_str(); }

/// The profile as JSON; valid until the next call. Null when none was begun.
const char* margayProfileEnd(void) {
  const std::lock_guard lock(answers().mutex);
  const std::shared_ptr<Profiling> profiling = Runtime::instance().end_profiling();
  if (profiling == nullptr) {
    answers().error = "no profile has been begun";
    return nullptr;
  }
  answers().profile = profiling->finish();
  answers().json = profile::json_of(answers().profile);
  return answers().json.c_str();
}

/// A counter or metric of the profile that ended last; 0 on success, otherwise margayProfileError()
/// says what is wrong.
int margayProfileValue(const char* kernel, const char* name, double* value) {
  const std::lock_guard lock(answers().mutex);
  const Result<double> found =
      value_in(answers().profile, kernel == nullptr ? "" : kernel, name == nullptr ? "" : name);
  answers().error = found ? std::string{} : found.error().text();
  if (!found) return 1;
  if (value != nullptr) *value = *found;
  return 0;
}

#pragma GCC visibility pop

}  // extern "C"
