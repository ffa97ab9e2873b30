// <hip/amd_detail/amd_hip_vector_types.h> of the HIP installation, or ours where that is older than
// HIP 6. In C++ HIP 5.2's has members that are proxy objects (unless other headers were included
// first), whose x++ gives the new value, and is not trivially copyable.
#pragma once

#include <hip/hip_version.h>

#if defined(__cplusplus) && HIP_VERSION_MAJOR < 6
// HIP 5.2's own headers include theirs by its relative name: it is empty after this.
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H
#include <hip/margay_detail/vector_types.h>  // IWYU pragma: export
#else
#include_next <hip/amd_detail/amd_hip_vector_types.h>
#endif
