// How matrix instructions round.
#pragma once

#include <cstdint>

namespace margay {

/// exact: the published bit-level model of the hardware. fma: a chain of fp32 fused multiply-adds
/// in ascending k. fast: the fastest method of this host.
enum class MfmaMode : std::uint8_t { exact, fma, fast };

}  // namespace margay
