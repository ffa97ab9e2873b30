// The little of HIP these inputs need, so that they compile without any HIP installation: the
// attributes, and what clang's generated host stubs call.
#pragma once

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))

struct dim3 {
  unsigned x, y, z;
};
typedef struct ihipStream_t* hipStream_t;
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, __SIZE_TYPE__, hipStream_t);
extern "C" int __hipPopCallConfiguration(dim3*, dim3*, __SIZE_TYPE__*, hipStream_t*);
extern "C" int __hipPushCallConfiguration(dim3, dim3, __SIZE_TYPE__, hipStream_t);
