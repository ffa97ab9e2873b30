// cooperative_groups::memcpy_async of HIP 7: the threads of a group copy memory together. It is
// complete for each thread after the next barrier of the group, as HIP asks of programs; here the
// copy is done at the call. An installation that has the header gives its own.
//
// Source: ROCm/rocm-examples, HIP-Basic/cooperative_groups_double_buffered_tile (its use).
#pragma once

#include <hip/hip_runtime.h>

#if defined(__HIP__) && HIP_VERSION_MAJOR < 6
#include <hip/hip_cooperative_groups.h>

namespace cooperative_groups {

namespace margay_groups {
/// Each thread of the group takes every size()-th unit.
template <typename Unit, typename Group>
__device__ void copy_units(const Group& group, void* to, const void* from, size_t bytes) {
  for (size_t i = group.thread_rank(); i < bytes / sizeof(Unit); i += group.size())
    static_cast<Unit*>(to)[i] = static_cast<const Unit*>(from)[i];
}
}  // namespace margay_groups

/// All threads of the group call it, with the same arguments.
template <typename Group>
__device__ void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
  const size_t ends = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
  if (ends % sizeof(unsigned) == 0)
    margay_groups::copy_units<unsigned>(group, to, from, bytes);
  else
    margay_groups::copy_units<unsigned char>(group, to, from, bytes);
}

}  // namespace cooperative_groups
#else
#include_next <hip/cooperative_groups/memcpy_async.h>
#endif
