// <hip/amd_detail/device_library_decls.h> of the HIP installation. HIP 5's fences call a function
// of hip.bc, which clang 19 and earlier link and clang 22 does not: for clang 22 it is defined here
// as in hip.bc.
#pragma once

#include <hip/hip_version.h>

#include_next <hip/amd_detail/device_library_decls.h>

#if HIP_VERSION_MAJOR < 6 && __clang_major__ > 19 && __HIP_DEVICE_COMPILE__
extern "C" __device__ inline __attribute__((always_inline)) void __atomic_work_item_fence(
    __cl_mem_fence_flags, __memory_order order, __memory_scope scope) {
// The builtin takes only constants.
#define MARGAY_FENCE(scope_name)                                   \
  switch (order) {                                                 \
    case __memory_order_relaxed:                                   \
      return;                                                      \
    case __memory_order_acquire:                                   \
      return __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, scope_name); \
    case __memory_order_release:                                   \
      return __builtin_amdgcn_fence(__ATOMIC_RELEASE, scope_name); \
    case __memory_order_acq_rel:                                   \
      return __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, scope_name); \
    case __memory_order_seq_cst:                                   \
      return __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, scope_name); \
  }
  switch (scope) {
    case __memory_scope_work_item:
      return;
    case __memory_scope_sub_group:
      MARGAY_FENCE("wavefront")
    case __memory_scope_work_group:
      MARGAY_FENCE("workgroup")
    case __memory_scope_device:
      MARGAY_FENCE("agent")
    case __memory_scope_all_svm_devices:
      MARGAY_FENCE("")
  }
#undef MARGAY_FENCE
}
#endif
