// A Python module with one kernel and one host function, for binding_test.py.
#include "kittens.cuh"
#include "pyutils/pyutils.cuh"

using namespace kittens;

struct globals {
  gl<bf16, -1, -1, -1, 64> in;
  gl<float, -1, -1, -1, -1> out;
  float scale;
  dim3 grid() { return dim3(in.rows() / 16); }
  dim3 block() { return dim3(64); }
  size_t dynamic_shared_memory() { return 2048; }
};

__global__ void scaled(const globals g) {
  extern __shared__ alignment_dummy shm[];
  shared_allocator al((int*)&shm[0]);
  st_bf<16, 64>& shared = al.allocate<st_bf<16, 64>>();
  const int row = blockIdx.x;
  load(shared, g.in, {0, 0, row, 0});
  __syncthreads();
  rt_fl<16, 64> tile;
  load(tile, shared);
  mul(tile, tile, g.scale);
  store(g.out, tile, {0, 0, row, 0});
}

void dispatch(globals g) { scaled<<<g.grid(), g.block(), g.dynamic_shared_memory()>>>(g); }
void dispatch_with_bad_grid(globals g) { scaled<<<dim3(0), g.block(), 2048>>>(g); }
void dispatch_past_the_end(globals g) {
  const gl<float, -1, -1, -1, -1> beyond(g.out.raw_ptr + (int64_t{1} << 40), 1, 1, 16, 64);
  scaled<<<1, 64, 2048>>>(globals{g.in, beyond, 1.0f});
}

struct three {
  float first, second, third;
};
void ignore(three) {}

PYBIND11_MODULE(binding, m) {
  py::bind_kernel<scaled>(m, "scaled", &globals::in, &globals::out, &globals::scale);
  py::bind_kernel<scaled>(m, "without_scale", &globals::in, &globals::out);
  py::bind_function<dispatch>(m, "dispatch", &globals::in, &globals::out, &globals::scale);
  py::bind_function<dispatch_with_bad_grid>(m, "bad_grid", &globals::in, &globals::out);
  py::bind_function<dispatch_past_the_end>(m, "past_the_end", &globals::in, &globals::out);
  m.def("bind_out_of_order", [](pybind11::module_ module) {
    py::bind_function<ignore>(module, "wrong", &three::second, &three::first);
  });
  m.def("bind_with_a_gap", [](pybind11::module_ module) {
    py::bind_function<ignore>(module, "wrong", &three::first, &three::third);
  });
}
