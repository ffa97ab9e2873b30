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

struct typed {
  gl<fp8e4m3, 1, 1, 1, -1> e4m3;
  gl<fp8e5m2, 1, 1, 1, -1> e5m2;
  gl<int8_t, 1, 1, 1, -1> bytes;
  gl<double, 1, 1, 1, -1> doubles;
  gl<int, 1, 1, 1, -1> sums;
  dim3 grid() { return dim3(1); }
  dim3 block() { return dim3(sums.cols()); }
};

__device__ int bits_of(auto value) { return *reinterpret_cast<const unsigned char*>(&value); }
__global__ void add_all(const typed g) {
  const int i = threadIdx.x;
  g.sums.raw_ptr[i] += bits_of(g.e4m3.raw_ptr[i]) + 1000 * bits_of(g.e5m2.raw_ptr[i]) +
                       1000000 * g.bytes.raw_ptr[i] + static_cast<int>(g.doubles.raw_ptr[i]);
}

struct masked {
  gl<uint8_t, 1, 1, 1, -1> mask;
  gl<float, 1, 1, 1, -1> values;
  dim3 grid() { return dim3(1); }
  dim3 block() { return dim3(64); }
};
__global__ void keep_masked(const masked g) {
  rv_fl<64> values, mask;
  load(values, g.values, {0, 0});
  load(mask, g.mask, {0, 0});
  select(values, mask, values, -1);
  store(g.values, values, {0, 0});
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
  py::bind_kernel<add_all>(m, "add_all", &typed::e4m3, &typed::e5m2, &typed::bytes, &typed::doubles,
                           &typed::sums);
  py::bind_kernel<keep_masked>(m, "keep_masked", &masked::mask, &masked::values);
  m.def("bind_out_of_order", [](pybind11::module_ module) {
    py::bind_function<ignore>(module, "wrong", &three::second, &three::first);
  });
  m.def("bind_with_a_gap", [](pybind11::module_ module) {
    py::bind_function<ignore>(module, "wrong", &three::first, &three::third);
  });
}
