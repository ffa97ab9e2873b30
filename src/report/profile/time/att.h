// Modelled time in the columns of AMD's thread-trace statistics, which its viewers open.
#pragma once

#include <string>

#include "report/profile/profile.h"

namespace margay::profile {

/// CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source: a line for each instruction.
/// Cycles are sums over the waves of the compute units that were modelled. CodeObj counts kernels.
[[nodiscard]] std::string att_of(const Profile& profile);

}  // namespace margay::profile
