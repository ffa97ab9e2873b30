// What is at work in another process than the launch's: makes the observer of a tool there.
#pragma once

#include "exec/workgroup/launch_parts.h"

namespace margay {

/// MakePartObserver, of the checker and the profiler.
[[nodiscard]] std::unique_ptr<PartObserver> make_part_observer(std::span<const std::byte> setup,
                                                               const PartOfLaunch& part);

}  // namespace margay
