// Which observers may be at work in several processes (exec/workgroup/launch_parts.h).
#pragma once

#include <cstdint>

namespace margay {

/// With what LaunchParts::setup() begins.
enum class ObserverKind : std::uint8_t { profiler, checker };

}  // namespace margay
