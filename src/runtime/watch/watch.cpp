// See watch.h.
#include "runtime/watch/watch.h"

#include <cstdio>

#include "exec/stream/watcher.h"
#include "runtime/watch/checking.h"
#include "runtime/watch/profiling.h"

namespace margay::runtime {

Answer<Watch> Watch::create(const Settings& settings, IsRegistered is_registered) {
  Watch watch;
  if (settings.check.tools.any())
    watch.checking =
        MARGAY_TRY(Checking::create(settings.check, /*prints=*/true, std::move(is_registered)));
  if (settings.profile.enabled) watch.profiling = MARGAY_TRY(Profiling::create(settings.profile));
  return watch;
}

Result<LaunchReport> Watch::launch(Device& device, const LaunchRequest& request,
                                   const std::shared_ptr<check::Operation>& operation,
                                   LaunchObserver* beside) const {
  const auto profiled = [&](const LaunchRequest& wanted, LaunchObserver* others) {
    return profiling != nullptr ? profiling->launch(device, wanted, others)
                                : device.launch(wanted, others);
  };
  if (checking == nullptr) return profiled(request, beside);
  return checking->launch(device, request, operation,
                          [&](const LaunchRequest& wanted, LaunchObserver& checker) {
                            if (beside == nullptr) return profiled(wanted, &checker);
                            JointObserver both({&checker, beside});
                            return profiled(wanted, &both);
                          });
}

void Watch::finish(Memory* memory) const {
  if (checking != nullptr) checking->write(checking->finish(memory));
  if (profiling != nullptr) profiling->write(profiling->finish());
}

std::shared_ptr<Checking> Watchers::follower() const {
  auto checking = this->checking();
  return checking != nullptr && checking->follows_streams() ? checking : nullptr;
}

void Watchers::set(const Watch& watch) {
  if (watch.checking != nullptr) checking_ = watch.checking;
  if (watch.profiling != nullptr) profiling_ = watch.profiling;
}

Outcome Watchers::begin(std::shared_ptr<Checking> checking) {
  std::shared_ptr<Checking> none;
  if (checking_.compare_exchange_strong(none, std::move(checking))) return {};
  return refuse(hipErrorAlreadyAcquired, "This process is being checked already.",
                "End the other check first; under margay check there is no need for one.");
}

Outcome Watchers::begin(std::shared_ptr<Profiling> profiling) {
  std::shared_ptr<Profiling> none;
  if (profiling_.compare_exchange_strong(none, std::move(profiling))) return {};
  return refuse(hipErrorAlreadyAcquired, "This process is being profiled already.",
                "End the other profile first; under margay prof there is no need for one.");
}

void Watchers::begin_again() {
  const auto say = [](const Status& status) {
    if (!status) std::fputs(("margay: " + status.error().text() + "\n").c_str(), stderr);
  };
  if (const auto checking = this->checking()) say(checking->begin_again());
  if (const auto profiling = this->profiling()) say(profiling->begin_again());
}

}  // namespace margay::runtime
