// See launches.h.
#include "runtime/device/launches.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "base/fork.h"
#include "runtime/base/names.h"
#include "runtime/device/interrupts.h"

namespace margay::runtime {
namespace {

// One line of key=value pairs, so that scripts can read it; the kernel comes last because its name
// may hold blanks.
void print_stats(const LaunchRequest& request, const LaunchReport& report) {
  const Dim3& grid = request.grid;
  const Dim3& block = request.block;
  const std::string line = fmt::format(
      "margay: launch grid={}x{}x{} block={}x{}x{} seconds={:.6f} wave_instructions={} mfma={} "
      "{}kernel={}\n",
      grid.x, grid.y, grid.z, block.x, block.y, block.z, report.seconds, report.wave_instructions,
      report.mfma_instructions, report.ranks.empty() ? "" : report.ranks + " ",
      readable_name(request.kernel->name));
  std::fputs(line.c_str(), stderr);
}

Outcome refuse_while_ending() {
  if (!is_ending()) return {};
  return refuse_silently(hipErrorDeinitialized, "The process is being ended by a signal.");
}

}  // namespace

void Launches::begin_again() {
  begin_again_after_fork(mutex_);
  modelled_.begin_again();
  in_flight_ = 0;
}

void Launches::keep_failure(hipError_t code) {
  hipError_t none = hipSuccess;
  failure_.compare_exchange_strong(none, code);
}

void Launches::begin(const LaunchRequest& request) {
  interrupted_.store(hipSuccess);
  host_.launch_begins(request.kernel->name, /*alone=*/in_flight_ == 0);
}

Outcome Launches::ended(const LaunchRequest& request, const Result<LaunchReport>& report,
                        std::uint64_t interrupts_before) {
  const std::string failed_assert = host_.launch_ended();
  if (report) {
    if (devices_.prints_stats()) print_stats(request, *report);
    return {};
  }
  Refusal refusal(report.error());
  if (report.error().code == ErrorCode::device_trap && !failed_assert.empty()) {
    refusal.code = hipErrorAssert;
    refusal.error.what = "an assert failed: " + failed_assert;
  }
  // An interrupt does not affect the device: later launches and calls start without an error.
  const bool was_interrupted =
      report.error().code == ErrorCode::interrupted && interrupts() != interrupts_before;
  refusal.transient = was_interrupted;
  if (was_interrupted)
    interrupted_.store(refusal.code);
  else
    keep_failure(refusal.code);
  return std::unexpected(std::move(refusal));
}

Outcome Launches::run(const LaunchRequest& request,
                      const std::shared_ptr<check::Operation>& operation) {
  Outcome outcome = run_alone(request, operation);
  // The program must not end before the report is written.
  stay_if_ending();
  return outcome;
}

bool Launches::set_purpose(Purpose purpose) {
  const std::lock_guard lock(mutex_);
  if (purpose != Purpose::all && watchers_.all().any()) return false;
  purpose_ = purpose;
  return true;
}

Outcome Launches::model_only(Device& device, const LaunchRequest& request, Purpose purpose) {
  const bool warm = is_warm(devices_.event_time());
  if (modelled_.find(request, warm)) return {};
  if (purpose == Purpose::known_time)
    return refuse_silently(hipErrorNotReady, "The time of the launch is not known.");
  const Result<LaunchReport> report = modelled_.model_part(device, request, warm);
  host_.foreground_ends();
  std::ignore = host_.launch_ended();
  if (report) return {};
  // What a part does says nothing about the launch.
  Refusal refusal(report.error());
  refusal.silent = refusal.transient = true;
  return std::unexpected(std::move(refusal));
}

Outcome Launches::run_alone(const LaunchRequest& request,
                            const std::shared_ptr<check::Operation>& operation) {
  Device* const device = MARGAY_TRY(devices_.get());
  const std::lock_guard lock(mutex_);
  const StoppedByInterrupt stopped_by_interrupt;
  const std::uint64_t before = interrupts();
  MARGAY_CHECK(refuse_while_ending());
  begin(request);
  if (const Purpose purpose = purpose_; purpose == Purpose::known_time || purpose == Purpose::time)
    return model_only(*device, request, purpose);
  const Watch watch = watchers_.all();
  const ModelledTimes::Run watched = [&](LaunchObserver* model) {
    return watch.launch(*device, request, operation, model);
  };
  const Result<LaunchReport> report =
      must_be_modelled(request)
          ? modelled_.launch(*device, request, is_warm(devices_.event_time()), watched)
          : watched(nullptr);
  host_.foreground_ends();
  return ended(request, report, before);
}

Answer<Work> Launches::start(const LaunchRequest& request,
                             const std::shared_ptr<check::Operation>& operation) {
  Device* const device = MARGAY_TRY(devices_.get());
  if (watchers_.all().any() || must_be_modelled(request) || purpose_ != Purpose::all) {
    MARGAY_CHECK(run(request, operation));
    return Work{};
  }
  const std::lock_guard lock(mutex_);
  const StoppedByInterrupt stopped_by_interrupt;
  const std::uint64_t before = interrupts();
  begin(request);
  Result<StartedLaunch> started = device->start(request);
  host_.foreground_ends();
  if (!started) {
    MARGAY_CHECK(ended(request, std::unexpected(std::move(started).error()), before));
    return Work{};
  }
  if (const auto* const report = std::get_if<LaunchReport>(&*started)) {
    MARGAY_CHECK(ended(request, *report, before));
    return Work{};
  }
  ++in_flight_;
  std::shared_ptr<LaunchInFlight> left =
      std::get<std::unique_ptr<LaunchInFlight>>(*std::move(started));
  return [this, request, left, before]() -> Outcome {
    const Result<LaunchReport> report = left->finish();
    --in_flight_;
    return ended(request, report, before);
  };
}

}  // namespace margay::runtime
