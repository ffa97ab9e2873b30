#include "runtime/watch/watch.h"

namespace margay::runtime {

Answer<Watch> Watch::create(const Settings& settings) {
  Watch watch;
  if (settings.check.tools.any())
    watch.checking = MARGAY_TRY(Checking::create(settings.check, /*prints=*/true));
  if (settings.profile.enabled) watch.profiling = MARGAY_TRY(Profiling::create(settings.profile));
  return watch;
}

Result<LaunchReport> Watch::launch(Device& device, const LaunchRequest& request) const {
  if (checking != nullptr && profiling != nullptr)
    return checking->launch(device, request,
                            [&](const LaunchRequest& wanted, LaunchObserver& checker) {
                              return profiling->launch(device, wanted, &checker);
                            });
  if (checking != nullptr) return checking->launch(device, request);
  if (profiling != nullptr) return profiling->launch(device, request);
  return device.launch(request);
}

void Watch::finish(Memory* memory) const {
  if (checking != nullptr) checking->write(checking->finish(memory));
  if (profiling != nullptr) profiling->write(profiling->finish());
}

}  // namespace margay::runtime
