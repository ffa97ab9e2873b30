// Kernels whose parameters hold pointers and integers in many ways; see parameters.h.
#include "hip_min.h"
#include "parameters.h"

extern "C" __global__ void everything(const Everything all, float* x, unsigned char n) {
  x[n] = all.a.address[n] + all.b.address[n] + *all.inner[1].table;
}

extern "C" __global__ void plain(int* out, const shapes::Tensor<int, 2>* by_address, int value) {
  *out = value + *by_address->address;
}
