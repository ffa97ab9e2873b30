// A checked launch over several processes. What is known of a workgroup depends on no other one, so
// that each process checks its own; what workgroups did to global memory comes back as runs of
// bytes and is compared here. Launches whose workgroups synchronise stay.
#pragma once

#include <memory>
#include <span>

#include "exec/workgroup/launch_parts.h"
#include "observe/check/launch_checker.h"

namespace margay::check {

/// Here.
class SharedLaunchChecker final : public LaunchChecker {
 public:
  using LaunchChecker::LaunchChecker;
  [[nodiscard]] LaunchParts* parts(const LaunchRequest& request, Program& program) override;

 private:
  class Parts;
  std::shared_ptr<LaunchParts> parts_;  // deleted where Parts is known
};
/// There: for a LaunchParts::setup().
[[nodiscard]] std::unique_ptr<PartObserver> make_part_observer(Reader& setup,
                                                               const PartOfLaunch& part);

}  // namespace margay::check
