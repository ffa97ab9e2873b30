// A kernel as users bind it: a bf16 GEMM of one wave per 32x32 tile, with its host dispatch.
// Compiled by margay.load in test_load.py; EXTENT and FACTOR are defined there.
#include "kittens.cuh"
#include "pyutils/pyutils.cuh"

#ifdef __HIP_DEVICE_COMPILE__
#include "factor.h"
#endif

using namespace kittens;

constexpr int kTile = 32;

struct globals {
  gl<bf16, -1, -1, EXTENT, EXTENT> a, b;
  gl<float, -1, -1, EXTENT, EXTENT> c;
  dim3 grid() { return dim3(EXTENT / kTile, EXTENT / kTile); }
  dim3 block() { return dim3(64); }
  size_t dynamic_shared_memory() { return 0; }
};

__global__ void micro_tk(const globals g) {
  rt_bf<kTile, kTile> a, b;
  rt_fl<kTile, kTile, ducks::rt_layout::col> c;
  zero(c);
  for (int k = 0; k < EXTENT / kTile; ++k) {
    load(a, g.a, {0, 0, static_cast<int>(blockIdx.y), k});
    load(b, g.b, {0, 0, static_cast<int>(blockIdx.x), k});
    mma_ABt(c, a, b, c);
  }
#ifdef __HIP_DEVICE_COMPILE__
  mul(c, c, FACTOR);
#endif
  store(g.c, c, {0, 0, static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.x)});
}

void dispatch_micro(globals g) {
  micro_tk<<<g.grid(), g.block(), g.dynamic_shared_memory()>>>(g);
  (void)hipDeviceSynchronize();
}

struct endless {
  int workgroups;
  dim3 grid() { return dim3(workgroups); }
  dim3 block() { return dim3(64); }
};

/// For more workgroups than any timeout allows.
__global__ void go_on(const endless) {
  for (int n = 0; n < 10000; ++n) __builtin_amdgcn_s_sleep(0);
}

PYBIND11_MODULE(tk_kernel, m) {
  m.doc() = "tk_kernel python module";
  py::bind_kernel<micro_tk>(m, "micro_tk", &globals::a, &globals::b, &globals::c);
  py::bind_function<dispatch_micro>(m, "dispatch_micro", &globals::a, &globals::b, &globals::c);
  py::bind_kernel<go_on>(m, "go_on", &endless::workgroups);
}
