// Launches the kernels of MGPUSim's benchmarks as its measuring programs (gpu_perf_scripts/*.cpp)
// launch them: the same sizes, the same data, the same order.
//   mgpusim_driver ITERATIONS BENCHMARK OBJECTS SIZE...     OBJECTS: code objects, separated by
//   commas
// Runs the loop that was measured ITERATIONS times. Prints `launches N` where only the first
// launches of an iteration of N are run. What a benchmark computes is compared with the host's
// result.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <queue>

#include "driver.h"

namespace {

using driver::array;
using driver::Kernel;

using Objects = std::vector<std::string>;
using Sizes = std::vector<unsigned>;

unsigned iterations = 1;

void iterate(const auto& once) {
  for (unsigned n = 0; n < iterations; ++n) once();
}

/// Beyond this many operations of the host a result is not computed again.
constexpr double kMostHostWork = 3e7;

void expect(bool holds, const char* what) {
  if (!holds) driver::fail(std::string("wrong result: ") + what);
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-3 * (1 + std::abs(b)); }

float random_hundredth(float scale) { return static_cast<float>(std::rand() % 100) / scale; }

/// hipMemset of 4-byte values, as a kernel.
__global__ void fill_kernel(float* out, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = 0;
}

/// hipMemcpy on the device: ROCm's runtime starts one workgroup of 512 for each CU, each work-item
/// copies 16 bytes at a time (clr, rocblit.cpp, KernelBlitManager::copyBuffer).
__global__ void copy_kernel(const float4* in, float4* out, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    out[i] = in[i];
}

void launched() {
  driver::check(hipGetLastError(), "launch");
  driver::check(hipDeviceSynchronize(), "hipDeviceSynchronize");
}

unsigned groups_of(unsigned count, unsigned size) { return (count + size - 1) / size; }

void vectoradd(const Objects& objects, const Sizes& sizes) {
  const unsigned n = sizes.at(0);
  auto a = array<float>(n), b = array<float>(n), c = array<float>(n);
  for (unsigned i = 0; i < n; ++i) b[i] = i, c[i] = i * 100.0f;
  Kernel kernel(objects.at(0), "_Z15vectoradd_floatPfPKfS1_ii");
  iterate([&] {
    kernel.launch(groups_of(n, 256), 256, 0, a.data(), b.data(), c.data(), static_cast<int>(n), 1);
  });
  for (unsigned i = 0; i < n; i += 1 + n / 4096) expect(a[i] == b[i] + c[i], "vectoradd");
}

void matrixtranspose(const Objects& objects, const Sizes& sizes) {
  const std::size_t n = sizes.at(0);
  auto out = array<float>(n * n), in = array<float>(n * n);
  for (std::size_t i = 0; i < n * n; ++i) in[i] = i;
  const unsigned width = n / 4, groups = width / 16;
  Kernel kernel(objects.at(0), "matrixTranspose");
  iterate([&] {
    kernel.launch({groups, groups}, {16, 16}, 16 * 16 * 16 * sizeof(float), out.data(), in.data(),
                  static_cast<float*>(nullptr), width, width, groups, 0u, 0u);
  });
  for (std::size_t i = 0; i < n; i += 1 + n / 64)
    for (std::size_t j = 0; j < n; j += 1 + n / 61)
      expect(out[i * n + j] == in[j * n + i], "matrixtranspose");
}

void matrixmultiplication(const Objects& objects, const Sizes& sizes) {
  const std::size_t n = sizes.at(0);
  auto a = array<float>(n * n), b = array<float>(n * n), c = array<float>(n * n);
  std::srand(42);
  for (float& x : a) x = random_hundredth(50) - 1;
  for (float& x : b) x = random_hundredth(50) - 1;
  const unsigned groups = n / 32;
  // Each workgroup uses the beginning of it; the measured program's kernel has this race.
  auto block = array<float>(std::size_t{groups} * groups * 8 * 8 * 4 * 4);
  Kernel kernel(objects.at(0), "mmmKernel_local");
  iterate([&] {
    kernel.launch({groups, groups}, {8, 8}, 0, a.data(), b.data(), c.data(), static_cast<int>(n),
                  block.data());
  });
  if (groups > 1) return;
  for (std::size_t i = 0; i < n * n; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < n; ++k) sum += a[i / n * n + k] * b[k * n + i % n];
    expect(near(c[i], sum), "matrixmultiplication");
  }
}

void fir(const Objects& objects, const Sizes& sizes) {
  const unsigned n = sizes.at(0), taps = sizes.at(1);
  auto in = array<float>(n), out = array<float>(n);
  auto coefficients = array<float>(taps), history = array<float>(taps);
  for (unsigned i = 0; i < n; ++i) in[i] = i;
  for (unsigned i = 0; i < taps; ++i) coefficients[i] = i, history[i] = 0;
  Kernel kernel(objects.at(0), "FIR");
  iterate([&] {
    kernel.launch(n / 256, 256, 0, out.data(), coefficients.data(), in.data(), history.data(),
                  taps);
  });
  for (unsigned i = 0; i < n; i += 7) {
    double sum = 0;
    for (unsigned t = 0; t < taps && t <= i; ++t) sum += coefficients[t] * in[i - t];
    expect(near(out[i], sum), "fir");
  }
}

void atax(const Objects& objects, const Sizes& sizes) {
  const std::size_t n = sizes.at(0);
  const int size = static_cast<int>(n);
  auto a = array<float>(n * n), x = array<float>(n), tmp = array<float>(n), y = array<float>(n);
  std::srand(42);
  for (float& value : a) value = random_hundredth(10);
  for (float& value : x) value = random_hundredth(10);
  const unsigned groups = groups_of(n, 256), count = n;
  Kernel first(objects.at(0), "atax_kernel1"), second(objects.at(0), "atax_kernel2");
  iterate([&] {
    fill_kernel<<<groups, 256, driver::told_apart(0)>>>(tmp.data(), count);
    fill_kernel<<<groups, 256, driver::told_apart(1)>>>(y.data(), count);
    launched();
    first.launch(groups, 256, 0, a.data(), x.data(), tmp.data(), size, size);
    second.launch(groups, 256, 0, a.data(), y.data(), tmp.data(), size, size);
  });
  if (2.0 * n * n > kMostHostWork) return;
  std::vector<double> sums(n, 0.0), result(n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) sums[i] += a[i * n + j] * x[j];
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) result[j] += a[i * n + j] * sums[i];
  for (std::size_t j = 0; j < n; ++j) expect(near(y[j], result[j]), "atax");
}

void fft(const Objects& objects, const Sizes& sizes) {
  const std::size_t n = sizes.at(0);
  auto data = array<float>(2 * n);
  std::srand(42);
  for (float& x : data) x = static_cast<float>(std::rand() % 1000) / 500.0f - 1.0f;
  std::vector<float> before(data.begin(), data.begin() + 1024);
  Kernel kernel(objects.at(0), "fft1D_512");
  iterate([&] { kernel.launch(n / 512, 64, 0, data.data()); });
  if (iterations > 1) return;  // it works in place
  double in = 0, out = 0;      // Parseval
  for (std::size_t i = 0; i < 1024; ++i) in += before[i] * before[i], out += data[i] * data[i];
  expect(near(out / 512, in), "fft1D_512");
}

void spmv(const Objects& objects, const Sizes& sizes) {
  const std::size_t rows = sizes.at(0), each = sizes.at(1);
  auto value = array<float>(rows * each), vector = array<float>(rows), out = array<float>(rows);
  auto column = array<int>(rows * each), begin = array<int>(rows + 1);
  for (std::size_t i = 0; i <= rows; ++i) begin[i] = static_cast<int>(i * each);
  std::srand(42);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t j = 0; j < each; ++j) {
      column[r * each + j] = static_cast<int>((r + j) % rows);
      value[r * each + j] = random_hundredth(50);
    }
  for (float& x : vector) x = random_hundredth(100);
  Kernel kernel(objects.at(0), "spmv_csr_scalar_kernel");
  iterate([&] {
    kernel.launch(groups_of(rows, 256), 256, 0, value.data(), vector.data(), column.data(),
                  begin.data(), static_cast<int>(rows), out.data());
  });
  for (std::size_t r = 0; r < rows; r += 13) {
    double sum = 0;
    for (std::size_t j = 0; j < each; ++j)
      sum += value[r * each + j] * vector[static_cast<std::size_t>(column[r * each + j])];
    expect(near(out[r], sum), "spmv");
  }
}

/// The graph that MGPUSim's bfs.cpp makes: a random tree, then random edges.
void make_graph(unsigned nodes, unsigned degree, std::vector<unsigned>& begin,
                std::vector<unsigned>& neighbours) {
  std::srand(42);
  std::vector<std::vector<unsigned>> adjacent(nodes);
  const auto connect = [&](unsigned u, unsigned v) {
    adjacent[u].push_back(v);
    adjacent[v].push_back(u);
  };
  for (unsigned i = 1; i < nodes; ++i) connect(static_cast<unsigned>(std::rand()) % i, i);
  for (unsigned edges = nodes - 1; edges < nodes * degree / 2;) {
    const unsigned u = static_cast<unsigned>(std::rand()) % nodes;
    const unsigned v = static_cast<unsigned>(std::rand()) % nodes;
    if (u == v) continue;
    connect(u, v);
    ++edges;
  }
  for (const auto& list : adjacent) {
    begin.push_back(static_cast<unsigned>(neighbours.size()));
    neighbours.insert(neighbours.end(), list.begin(), list.end());
  }
  begin.push_back(static_cast<unsigned>(neighbours.size()));
}

void memcopy(const Objects&, const Sizes& sizes) {
  const std::size_t count = std::size_t{sizes.at(0)} << 16;  // of 16 bytes
  auto in = array<float4>(count), out = array<float4>(count);
  for (std::size_t i = 0; i < count; ++i) in[i] = float4{float(i), 0, 0, 1};
  hipDeviceProp_t properties{};
  driver::check(hipGetDeviceProperties(&properties, 0), "hipGetDeviceProperties");
  iterate([&] {
    copy_kernel<<<properties.multiProcessorCount, 512>>>(in.data(), out.data(), count);
    launched();
  });
  expect(std::memcmp(in.data(), out.data(), in.size_bytes()) == 0, "memcopy_d2d");
}

void bfs(const Objects& objects, const Sizes& sizes) {
  const unsigned nodes = sizes.at(0);
  std::vector<unsigned> host_begin, host_neighbours;
  make_graph(nodes, sizes.at(1), host_begin, host_neighbours);
  auto begin = array<unsigned>(host_begin.size());
  auto neighbours = array<unsigned>(host_neighbours.size());
  auto levels = array<unsigned>(nodes);
  auto flag = array<int>(1);
  std::ranges::copy(host_begin, begin.begin());
  std::ranges::copy(host_neighbours, neighbours.begin());
  Kernel kernel(objects.at(0), "BFS_kernel_warp");
  const unsigned groups = groups_of(groups_of(nodes, 32) * 32, 256);
  iterate([&] {
    std::ranges::fill(levels, UINT_MAX);
    levels[0] = 0;
    int level = 0;
    for (flag[0] = 1; flag[0] != 0; ++level) {
      flag[0] = 0;
      kernel.launch(groups, 256, driver::told_apart(level), levels.data(), begin.data(),
                    neighbours.data(), 32, 32, nodes, level, flag.data());
    }
  });
  std::vector<unsigned> expected(nodes, UINT_MAX);
  std::queue<unsigned> queue({0});
  for (expected[0] = 0; !queue.empty(); queue.pop()) {
    const unsigned u = queue.front();
    for (unsigned e = begin[u]; e < begin[u + 1]; ++e) {
      if (expected[neighbours[e]] != UINT_MAX) continue;
      expected[neighbours[e]] = expected[u] + 1;
      queue.push(neighbours[e]);
    }
  }
  expect(std::ranges::equal(levels, expected), "bfs");
}

void conv2d(const Objects& objects, const Sizes& sizes) {
  const unsigned size = sizes.at(0), mask = sizes.at(1), field = size - mask + 1;
  const int m = 3, n = static_cast<int>(field * field), k = static_cast<int>(mask * mask);
  auto in = array<float>(size * size), columns = array<float>(field * field * mask * mask);
  // The kernel writes 0 for rows of the tile beyond m.
  auto weight = array<float>(3 * mask * mask), bias = array<float>(16 * field * field + 16);
  auto out = array<float>(16 * field * field + 16);
  std::srand(42);
  for (float& x : in) x = static_cast<float>(std::rand() % 1000) / 500.0f - 1.0f;
  for (float& x : weight) x = static_cast<float>(std::rand() % 1000) / 500.0f - 1.0f;
  std::ranges::fill(bias, 0.0f);
  struct Pair {
    unsigned x, y;
  };
  Kernel im2col(objects.at(0), "im2col"), gemm(objects.at(1), "gemm");
  iterate([&] {
    im2col.launch(groups_of(field * field, 256), 256, 0, in.data(), columns.data(),
                  Pair{size, size}, Pair{mask, mask}, Pair{1, 1}, Pair{0, 0}, Pair{1, 1}, 1u, 1u);
    gemm.launch({groups_of(field * field, 16), 1}, {16, 16}, 0, m, n, k, 1.0f, 0.0f, weight.data(),
                columns.data(), bias.data(), out.data());
  });
  // Else a workgroup at the right edge zeroes results of another one, in either order.
  if (n % 16 != 0) return;
  for (unsigned c = 0; c < 3; ++c)
    for (unsigned p = 0; p < field * field; ++p) {
      double sum = 0;
      for (unsigned t = 0; t < mask * mask; ++t)
        sum +=
            weight[c * mask * mask + t] * in[(p / field + t / mask) * size + p % field + t % mask];
      expect(near(out[c * field * field + p], sum), "conv2d");
    }
}

void fastwalshtransform(const Objects& objects, const Sizes& sizes) {
  const unsigned n = sizes.at(0);
  auto data = array<float>(n);
  std::srand(123);
  for (float& x : data)
    x = static_cast<float>(std::rand() % 256) +
        static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX);
  const std::vector<float> before(data.begin(), data.end());
  Kernel kernel(objects.at(0), "fastWalshTransform");
  iterate([&] {
    std::ranges::copy(before, data.begin());
    unsigned launches = 0;
    for (unsigned step = 1; step < n; step *= 2)
      kernel.launch(groups_of(n / 2, 256), 256, driver::told_apart(launches++), data.data(),
                    static_cast<int>(step));
  });
  if (n > 1 << 16) return;
  std::vector<double> expected(before.begin(), before.end());
  for (unsigned step = 1; step < n; step *= 2)
    for (unsigned i = 0; i < n; ++i)
      if ((i & step) == 0) {
        const double one = expected[i], two = expected[i + step];
        expected[i] = one + two;
        expected[i + step] = one - two;
      }
  for (unsigned i = 0; i < n; ++i) expect(std::abs(data[i] - expected[i]) < 64, "fwt");
}

void floydwarshall(const Objects& objects, const Sizes& sizes) {
  const unsigned n = sizes.at(0);
  // Of many passes, which are alike, the first are run.
  const unsigned passes = n <= 32 ? n : 4;
  auto distance = array<unsigned>(std::size_t{n} * n), path = array<unsigned>(std::size_t{n} * n);
  std::srand(1);
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j) {
      distance[std::size_t{i} * n + j] = i == j ? 0u : static_cast<unsigned>(std::rand() % 100 + 1);
      path[std::size_t{i} * n + j] = i;
    }
  std::vector<unsigned> expected(distance.begin(), distance.end());
  Kernel kernel(objects.at(0), "floydWarshallPass");
  std::printf("launches %u\n", n);
  iterate([&] {
    std::ranges::copy(expected, distance.begin());
    for (unsigned k = 0; k < passes; ++k)
      kernel.launch({n / 8, n / 8}, {8, 8}, driver::told_apart(k), distance.data(), path.data(), n,
                    k);
  });
  for (std::size_t k = 0; k < passes; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        expected[i * n + j] =
            std::min(expected[i * n + j], expected[i * n + k] + expected[k * n + j]);
  expect(std::ranges::equal(distance, expected), "floydwarshall");
}

/// What hipMemcpy() of so many bytes between host and device takes, in the time of events.
void copies(hipMemcpyKind kind, const Sizes& sizes) {
  hipEvent_t start = nullptr, stop = nullptr;
  driver::check(hipEventCreate(&start), "hipEventCreate");
  driver::check(hipEventCreate(&stop), "hipEventCreate");
  for (const unsigned bytes : sizes) {
    std::vector<char> host(bytes);
    auto device = array<char>(bytes);
    const bool up = kind == hipMemcpyHostToDevice;
    driver::check(hipEventRecord(start), "hipEventRecord");
    driver::check(
        hipMemcpy(up ? device.data() : host.data(), up ? host.data() : device.data(), bytes, kind),
        "hipMemcpy");
    driver::check(hipEventRecord(stop), "hipEventRecord");
    float ms = 0;
    driver::check(hipEventElapsedTime(&ms, start, stop), "hipEventElapsedTime");
    std::printf("%u %.3f\n", bytes, 1000 * ms);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, std::function<void(const Objects&, const Sizes&)>> benchmarks = {
      {"vectoradd", vectoradd},
      {"matrixtranspose", matrixtranspose},
      {"matrixmultiplication", matrixmultiplication},
      {"fir", fir},
      {"atax", atax},
      {"fft1D_512", fft},
      {"spmv_csr_scalar", spmv},
      {"memcopy_d2d", memcopy},
      {"bfs", bfs},
      {"conv2d", conv2d},
      {"fastwalshtransform", fastwalshtransform},
      {"floydwarshall", floydwarshall},
      {"memcopy_h2d", [](const Objects&, const Sizes& s) { copies(hipMemcpyHostToDevice, s); }},
      {"memcopy_d2h", [](const Objects&, const Sizes& s) { copies(hipMemcpyDeviceToHost, s); }},
  };
  if (count < 5 || !benchmarks.contains(arguments[2]))
    driver::fail("usage: mgpusim_driver ITERATIONS BENCHMARK OBJECT[,OBJECT] SIZE...");
  iterations = static_cast<unsigned>(std::atoll(arguments[1]));
  Objects objects(1);
  for (const char* c = arguments[3]; *c != 0; ++c) {
    if (*c == ',')
      objects.emplace_back();
    else
      objects.back() += *c;
  }
  Sizes sizes;
  for (int n = 4; n < count; ++n) sizes.push_back(static_cast<unsigned>(std::atoll(arguments[n])));
  benchmarks.at(arguments[2])(objects, sizes);
}
