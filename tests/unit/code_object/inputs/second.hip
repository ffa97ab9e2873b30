// A second translation unit with device code, so that a program holds two fat binaries.
#include "hip_min.h"

extern "C" __global__ void second_kernel(int* out) { out[__builtin_amdgcn_workitem_id_x()] = 2; }
