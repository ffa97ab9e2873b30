// A profiled launch over several processes: each profiles the workgroups of whole XCDs, whose
// caches see nothing of each other, so that sums and caches are those of one process.
#pragma once

#include <memory>
#include <span>

#include "exec/workgroup/launch_parts.h"
#include "observe/profile/launch_profiler.h"

namespace margay::profile {

/// Here.
class SharedLaunchProfiler final : public LaunchProfiler {
 public:
  using LaunchProfiler::LaunchProfiler;
  [[nodiscard]] LaunchParts* parts(const LaunchRequest& request, Program& program) override;

 private:
  std::unique_ptr<LaunchParts> parts_;
};
/// There: for a LaunchParts::setup().
[[nodiscard]] std::unique_ptr<PartObserver> make_part_observer(Reader& setup,
                                                               const PartOfLaunch& part);

}  // namespace margay::profile
