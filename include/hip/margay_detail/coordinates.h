// threadIdx, blockIdx, blockDim and gridDim whose members are plain unsigned integers. HIP 5's are
// objects that convert to one, which clang cannot pass to printf in device code.
// Part of hip/hip_runtime.h; do not include it alone.
#pragma once

// A member that is read through a function: __declspec(property) costs no storage and no code.
#define MARGAY_COORDINATE(name, index, function)                                             \
  __declspec(property(get = margay_get_##name)) unsigned int name;                           \
  static inline __device__ __attribute__((always_inline)) unsigned int margay_get_##name() { \
    return static_cast<unsigned int>(function(index));                                       \
  }
#define MARGAY_COORDINATES(variable, function)                   \
  struct margay_##variable {                                     \
    MARGAY_COORDINATE(x, 0, function)                            \
    MARGAY_COORDINATE(y, 1, function)                            \
    MARGAY_COORDINATE(z, 2, function)                            \
    __device__ operator dim3() const { return dim3(x, y, z); }   \
    __device__ operator uint3() const { return uint3{x, y, z}; } \
  };                                                             \
  extern const __device__ __attribute__((weak)) margay_##variable variable;

MARGAY_COORDINATES(threadIdx, __ockl_get_local_id)
MARGAY_COORDINATES(blockIdx, __ockl_get_group_id)
MARGAY_COORDINATES(blockDim, __ockl_get_local_size)
MARGAY_COORDINATES(gridDim, __ockl_get_num_groups)

#undef MARGAY_COORDINATES
#undef MARGAY_COORDINATE
