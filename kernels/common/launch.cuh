// What the host sides of the kernels share: from a plan to a launch through HIP.
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kittens.cuh"
#include "plan.h"

namespace margay_kernels {

template <typename T>
kittens::gl<T, -1, -1, -1, -1> matrix(const Tensor& t) {
  return {static_cast<T*>(const_cast<void*>(t.data)), t.batch, t.depth, t.rows, t.cols};
}

/// A kernel, by the name that plans call it.
template <typename... Parameters>
struct Entry {
  const char* name;
  void (*kernel)(Parameters...);
};

/// Enqueues what a plan says that is no refusal and has something to launch.
template <std::size_t kCount, typename Arguments, typename... Parameters>
hipError_t launch(const Entry<Parameters...> (&entries)[kCount], const Plan<Arguments>& plan,
                  hipStream_t stream, const std::type_identity_t<Parameters>&... parameters) {
  for (const Entry<Parameters...>& entry : entries) {
    if (std::strcmp(entry.name, plan.kernel) != 0) continue;
    entry.kernel<<<dim3(plan.grid_x, plan.grid_y, plan.grid_z), dim3(plan.block_x),
                   plan.dynamic_lds, stream>>>(parameters...);
    return hipGetLastError();
  }
  return hipErrorInvalidDeviceFunction;
}

}  // namespace margay_kernels
