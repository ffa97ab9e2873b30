// The C functions by which a program or a binding drives the checker and the profiler itself, and
// describes its tensors to them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "report/check/json.h"
#include "report/profile/analysis/metrics.h"
#include "report/profile/json/json.h"
#include "report/profile/time/time_values.h"
#include "report/words.h"
#include "runtime/launch/launch.h"
#include "runtime/process/process.h"
#include "runtime/watch/checking.h"
#include "runtime/watch/profiling.h"

using namespace margay;           // NOLINT: the exported functions below are its C face
using namespace margay::runtime;  // NOLINT

namespace {

CheckAnswers& checks() { return process().check_answers; }
ProfileAnswers& profiles() { return process().profile_answers; }

/// `name` of the only kernel whose name contains `kernel`.
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
  constexpr std::string_view kOfTime = "time.";
  return name.starts_with(kOfTime) ? profile::time_value_of(*found, name.substr(kOfTime.size()))
                                   : profile::value_of(*found, name);
}

}  // namespace

extern "C" {

#pragma GCC visibility push(default)

int margayCheckBegin(const char* options) {
  const std::lock_guard lock(checks().mutex);
  auto begun = [&]() -> Outcome {
    const auto settings = MARGAY_TRY(parse_check_options(options == nullptr ? "" : options));
    return process().launches.begin_watching(
        MARGAY_TRY(Checking::create(settings, /*prints=*/false, process().is_registered())));
  }();
  checks().error = begun ? std::string{} : begun.error().error.text();
  return begun ? 0 : 1;
}

const char* margayCheckError(void) { return checks().error.c_str(); }

const char* margayCheckEnd(void) {
  const std::lock_guard lock(checks().mutex);
  const std::shared_ptr<Checking> checking = process().watchers.end_checking();
  if (checking == nullptr) {
    checks().error = "no check has been begun";
    return nullptr;
  }
  checks().report = check::json_of(checking->finish(nullptr));
  return checks().report.c_str();
}

int margayProfileBegin(const char* options) {
  const std::lock_guard lock(profiles().mutex);
  auto begun = [&]() -> Outcome {
    const auto settings = MARGAY_TRY(parse_profile_options(options == nullptr ? "" : options));
    return process().launches.begin_watching(MARGAY_TRY(Profiling::create(settings)));
  }();
  profiles().error = begun ? std::string{} : begun.error().error.text();
  return begun ? 0 : 1;
}

const char* margayProfileError(void) { return profiles().error.c_str(); }

/// The profile as JSON; valid until the next call. Null when none was begun.
const char* margayProfileEnd(void) {
  const std::lock_guard lock(profiles().mutex);
  const std::shared_ptr<Profiling> profiling = process().watchers.end_profiling();
  if (profiling == nullptr) {
    profiles().error = "no profile has been begun";
    return nullptr;
  }
  profiles().profile = std::make_shared<const profile::Profile>(profiling->finish());
  profiles().json = profile::json_of(*profiles().profile);
  return profiles().json.c_str();
}

/// For autotuners: with 1, launches from now on are left out of the profile, until a call with 0.
/// Waits for the work before, which belongs to the other side. Calls nest.
void margayProfileLeaveOut(int begins) {
  static_cast<void>(hipDeviceSynchronize());
  const auto paused = process().launches.paused();
  if (begins != 0)
    process().watchers.begin_to_leave_out();
  else
    process().watchers.end_to_leave_out();
}

/// For benchmarks: what launches from now on are for. 0: their effect on memory and their time. 1:
/// their time alone, if it is known; else they are refused with hipErrorNotReady. 2: their time
/// alone; where it is not known a part of their workgroups runs, and the caller restores the memory
/// that they write. 3: their effect on memory alone, after 1 or 2. Waits for the work before.
/// Returns 0; 1 where launches are watched, which are complete.
int margayLaunchPurpose(int purpose) {
  using enum Launches::Purpose;
  constexpr Launches::Purpose kPurposes[] = {all, known_time, time, memory};
  if (purpose < 0 || purpose >= static_cast<int>(std::size(kPurposes))) return 1;
  process().in_flight.wait_for_all();  // not as the host: that would be in the modelled time
  return process().launches.set_purpose(kPurposes[purpose]) ? 0 : 1;
}

/// For benchmarks: a digest of the memory that decides what the launches of this thread do, from
/// now on. One launch of each is modelled; 0 of all for which none was given.
void margayLaunchData(std::uint64_t digest) { LaunchCall::data_of_thread() = digest; }

/// A counter, a metric or ("time.us_boost") a figure of the modelled time of the profile that ended
/// last; 0 on success, otherwise margayProfileError()
/// says what is wrong.
int margayProfileValue(const char* kernel, const char* name, double* value) {
  const std::lock_guard lock(profiles().mutex);
  const profile::Profile none;
  const profile::Profile& ended = profiles().profile != nullptr ? *profiles().profile : none;
  const Result<double> found =
      value_in(ended, kernel == nullptr ? "" : kernel, name == nullptr ? "" : name);
  profiles().error = found ? std::string{} : found.error().text();
  if (!found) return 1;
  if (value != nullptr) *value = *found;
  return 0;
}

/// Registers the host address and shape of a tensor: called by the constructor of kittens::gl.
void margayDescribeTensor(const void* data, std::size_t batch, std::size_t depth, std::size_t rows,
                          std::size_t columns, std::size_t element_bytes) {
  if (data == nullptr) return;
  // A check begins with the device, and the first tensor may be created before the device is used.
  // An error in creating the device is reported by the call that needs it.
  static_cast<void>(process().devices.get());
  const std::shared_ptr<Checking> checking = process().watchers.checking();
  const std::shared_ptr<Profiling> profiling = process().watchers.profiling();
  const bool modelled = process().devices.event_time() != EventTime::host;
  if (checking == nullptr && profiling == nullptr && !modelled) return;
  Tensor tensor;
  tensor.range.begin = reinterpret_cast<std::uint64_t>(data);
  tensor.range.end = tensor.range.begin + batch * depth * rows * columns * element_bytes;
  tensor.shape = {batch, depth, rows, columns};
  tensor.element_bytes = static_cast<std::uint32_t>(element_bytes);
  if (tensor.range.end <= tensor.range.begin) return;
  if (checking != nullptr) checking->memory().tensors().describe(tensor);
  if (profiling != nullptr) profiling->tensors().describe(tensor);
  if (modelled) process().launches.modelled().describe(tensor);
}

/// Says what reports call a loaded kernel and its arguments, for compilers that record only a
/// symbol: `title`, `variant` (what distinguishes kernels of that title) and the arguments' names,
/// in the order of its metadata. Before the kernel's first launch; what comes later is ignored.
/// 0 on success, 1 if `function` is no hipFunction_t.
int margayDescribeKernel(const void* function, const char* title, const char* variant,
                         const char* const* names, std::size_t count) {
  const std::shared_ptr<Function> found = process().functions.find(function);
  if (found == nullptr) return 1;
  if (found->described) return 0;
  Kernel kernel = *found->kernel;
  if (title != nullptr) kernel.title = title;
  if (variant != nullptr) kernel.variant = variant;
  for (std::size_t n = 0; n < std::min(count, kernel.arguments.size()); ++n)
    if (names != nullptr && names[n] != nullptr) kernel.arguments[n].name = names[n];
  found->described = std::move(kernel);
  found->kernel = &*found->described;
  return 0;
}

/// Says what the kernels are that the program loads from now on, until the next call; null:
/// nothing. A compiler of graphs (XLA) gives kernels of many modules one name, and no source lines.
/// `json`: see runtime/module/described_kernels.h. 0 on success, 1 if it is malformed.
int margayDescribeLoads(const char* json) {
  const Status done = process().described.set(json == nullptr ? std::string_view{} : json);
  if (!done) fmt::print(stderr, "margay: {}\n", done.error().text());
  return done ? 0 : 1;
}

#pragma GCC visibility pop

}  // extern "C"
