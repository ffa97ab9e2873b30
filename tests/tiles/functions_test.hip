// Functions of real numbers, comparisons, select and apply, on register, shared and global-fed
// tiles and vectors of every kind; the functions' accuracy against double.
#include <cmath>

#include "device_test.h"

namespace {

using namespace kittens;
using namespace tile_test;

// --- accuracy ---

using Function = double (*)(double);
struct Reference {
  const char* name;
  Function f;
  double from, to;         // the range tried
  double relative, slope;  // error allowed: relative + slope |x|, of the result
  double absolute;
};
double rsqrt_of(double x) { return 1 / std::sqrt(x); }
double reciprocal_of(double x) { return 1 / x; }
double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
// As common/base_ops.cuh says.
const Reference kReferences[] = {
    {"sqrt", std::sqrt, 1e-30, 1e6, 0x1p-23, 0, 0},
    {"rsqrt", rsqrt_of, 1e-30, 1e6, 0x1p-23, 0, 0},
    {"reciprocal", reciprocal_of, -1e3, 1e3, 0x1p-23, 0, 0},
    {"tanh", std::tanh, -12, 12, 0x1p-20, 0, 0},
    {"sigmoid", sigmoid_of, -80, 80, 0x1p-22, 0x1p-22, 0},
    {"sin", std::sin, -1e5, 1e5, 0, 0, 0x1p-20},
    {"cos", std::cos, -1e5, 1e5, 0, 0, 0x1p-20},
};
constexpr int kFunctions = 7;

template <typename F>
__device__ void for_functions(F&& f) {
  f(0, [](auto& dst, const auto& src) { sqrt(dst, src); });
  f(1, [](auto& dst, const auto& src) { rsqrt(dst, src); });
  f(2, [](auto& dst, const auto& src) { reciprocal(dst, src); });
  f(3, [](auto& dst, const auto& src) { tanh(dst, src); });
  f(4, [](auto& dst, const auto& src) { sigmoid(dst, src); });
  f(5, [](auto& dst, const auto& src) { sin(dst, src); });
  f(6, [](auto& dst, const auto& src) { cos(dst, src); });
}

template <typename T>
using Plain = gl<T, 1, 1, -1, -1>;

/// Rows of 64 elements of x, one block of 16 rows per workgroup; y has a part for each function.
template <typename T>
__global__ void functions_of(Plain<T> x, Plain<T> y) {
  const int block = blockIdx.x, blocks = gridDim.x;
  rt<T, 16, 64> tile, result;
  for_functions([&](int n, auto function) {
    load(tile, x, {n * blocks + block, 0});
    function(result, tile);
    store(y, result, {n * blocks + block, 0});
  });
}

template <typename T>
void check_accuracy(int blocks, double unit) {
  const int per_function = blocks * 16 * 64;
  std::vector<T> x(static_cast<size_t>(kFunctions) * per_function);
  for (int n = 0; n < kFunctions; ++n) {
    const auto& r = kReferences[n];
    for (int i = 0; i < per_function; ++i) {
      const double part = (i + 0.5) / per_function;
      // Half of them evenly spread, half by magnitude.
      double value = r.from + (r.to - r.from) * part;
      if (i % 2 == 1) value = std::copysign(std::exp(-60 * part) * r.to, i % 4 == 1 ? 1 : r.from);
      x[static_cast<size_t>(n) * per_function + i] =
          base_types::convertor<T, double>::convert(value);
    }
  }
  Buffer<T> in(x), out(x.size());
  const int rows = kFunctions * blocks * 16;
  functions_of<T><<<blocks, 64>>>(Plain<T>(in.get(), nullptr, nullptr, rows, 64),
                                  Plain<T>(out.get(), nullptr, nullptr, rows, 64));
  const auto y = out.read();
  for (int n = 0; n < kFunctions; ++n) {
    const auto& r = kReferences[n];
    double worst = 0;
    for (int i = 0; i < per_function; ++i) {
      const size_t at = static_cast<size_t>(n) * per_function + i;
      const double value = base_types::convertor<double, T>::convert(x[at]);
      const double want = r.f(value), got = base_types::convertor<double, T>::convert(y[at]);
      if (std::isinf(want) || std::fabs(want) < 0x1p-126) continue;
      const double allowed =
          (r.relative + r.slope * std::fabs(value) + unit) * std::fabs(want) + r.absolute;
      ASSERT_LE(std::fabs(got - want), allowed) << r.name << "(" << value << ") is " << got;
      worst = std::fmax(worst, std::fabs(got - want) / std::fabs(want));
    }
    std::printf("             %s: largest relative error %.2g\n", r.name, worst);
  }
}
TEST(Functions, FloatAgainstDouble) { check_accuracy<float>(64, 0); }
TEST(Functions, Bf16AgainstDouble) { check_accuracy<bf16>(8, 0x1p-8); }
TEST(Functions, DoubleAgainstDouble) { check_accuracy<double>(8, 0x1p-50); }

/// Half has less range: its own values.
__global__ void half_functions(Plain<half> x, Plain<half> y) {
  rt_hf<16, 64> tile, result;
  for_functions([&](int n, auto function) {
    load(tile, x, {0, 0});
    function(result, tile);
    store(y, result, {n, 0});
  });
}
TEST(Functions, HalfAgainstDouble) {
  std::vector<half> x(16 * 64);
  for (int i = 0; i < 16 * 64; ++i) x[i] = as<half>(0.0625f + static_cast<float>(i) / 128);
  Buffer<half> in(x), out(x.size() * kFunctions);
  half_functions<<<1, 64>>>(Plain<half>(in.get(), nullptr, nullptr, 16, 64),
                            Plain<half>(out.get(), nullptr, nullptr, 16 * kFunctions, 64));
  const auto y = out.read();
  for (int n = 0; n < kFunctions; ++n) {
    for (int i = 0; i < 16 * 64; ++i) {
      const double want = kReferences[n].f(as_float(x[i]));
      ASSERT_NEAR(as_float(y[n * 16 * 64 + i]), want, 0x1p-11 * std::fabs(want) + 0x1p-20)
          << kReferences[n].name << "(" << as_float(x[i]) << ")";
    }
  }
}

TEST(Functions, AtTheEdges) {
  const float inf = INFINITY;
  std::vector<float> x(16 * 64, 1);
  const float edges[] = {0, -0.0f, inf, -inf, NAN, 1e-8f, -1e-8f, 88, -88};
  std::copy(std::begin(edges), std::end(edges), x.begin());
  std::vector<float> all;
  for (int n = 0; n < kFunctions; ++n) all.insert(all.end(), x.begin(), x.end());
  Buffer<float> in(all), out(all.size());
  functions_of<float><<<1, 64>>>(Plain<float>(in.get(), nullptr, nullptr, 16 * kFunctions, 64),
                                 Plain<float>(out.get(), nullptr, nullptr, 16 * kFunctions, 64));
  const auto y = out.read();
  const auto value = [&](int n, int i) { return y[n * 16 * 64 + i]; };
  EXPECT_EQ(value(0, 0), 0);
  EXPECT_EQ(value(0, 2), inf);
  EXPECT_TRUE(std::isnan(value(0, 3)));
  EXPECT_EQ(value(1, 0), inf);
  EXPECT_EQ(value(1, 2), 0);
  EXPECT_EQ(value(2, 0), inf);
  EXPECT_EQ(value(2, 1), -inf);
  EXPECT_EQ(value(2, 2), 0);
  EXPECT_EQ(value(3, 2), 1);
  EXPECT_EQ(value(3, 3), -1);
  EXPECT_EQ(value(3, 5), 1e-8f);
  EXPECT_EQ(value(3, 6), -1e-8f);
  EXPECT_TRUE(std::signbit(value(3, 1)));
  EXPECT_EQ(value(4, 2), 1);
  EXPECT_EQ(value(4, 3), 0);
  EXPECT_EQ(value(4, 0), 0.5f);
  for (int n = 0; n < kFunctions; ++n) EXPECT_TRUE(std::isnan(value(n, 4))) << kReferences[n].name;
  for (int n = 5; n < 7; ++n) EXPECT_TRUE(std::isnan(value(n, 2))) << kReferences[n].name;
}

// --- every kind of tile and vector ---

/// One operation on each kind; all must equal what the register tile gives.
template <typename T>
__global__ void kinds(Plain<T> x, Plain<T> y) {
  __shared__ st<T, 16, 64> shared;
  __shared__ sv<T, 64> shared_vec;
  int row = 0;
  const auto with_vector = [&](auto vec, auto function) {
    load(vec, x, {0, 0});
    function(vec, vec);
    store(y, vec, {row++, 0});
  };
  for_functions([&](int, auto function) {
    using RT = rt<T, 16, 64>;
    with_vector(typename RT::row_vec{}, function);
    with_vector(rv<T, 64>{}, function);
    with_vector(typename rt<T, 64, 16>::col_vec{}, function);
    load(shared_vec, x, {0, 0});
    __syncthreads();
    function(shared_vec, shared_vec);
    __syncthreads();
    store(y, shared_vec, {row++, 0});
    load(shared, x, {0, 0});
    __syncthreads();
    function(shared, shared);
    __syncthreads();
    RT tile;
    load(tile, shared);
    typename RT::row_vec first;
    col_max(first, tile);  // all rows are the same
    store(y, first, {row++, 0});
    __syncthreads();
  });
}
template <typename T>
void check_kinds() {
  std::vector<T> x(16 * 64);
  for (int i = 0; i < 16 * 64; ++i) x[i] = as<T>(0.25f + static_cast<float>(i % 64) / 16);
  constexpr int kKinds = 5;
  Buffer<T> in(x), out(size_t{kFunctions} * kKinds * 64);
  kinds<T><<<1, 64>>>(Plain<T>(in.get(), nullptr, nullptr, 16, 64),
                      Plain<T>(out.get(), nullptr, nullptr, kFunctions * kKinds, 64));
  const auto y = out.read();
  for (int n = 0; n < kFunctions; ++n) {
    for (int kind = 0; kind < kKinds; ++kind) {
      for (int i = 0; i < 64; ++i) {
        const double want = kReferences[n].f(as_float(x[i]));
        ASSERT_NEAR(as_float(y[(n * kKinds + kind) * 64 + i]), want,
                    (sizeof(T) == 2 ? 0x1p-8 : 0x1p-20) * std::fabs(want) + 0x1p-20)
            << kReferences[n].name << ", kind " << kind << ", element " << i;
      }
    }
  }
}
TEST(Functions, OnEveryKind) {
  check_kinds<float>();
  check_kinds<bf16>();
}

__global__ void group_functions(Plain<float> x, Plain<float> y) {
  using Four = group<4>;
  __shared__ st_fl<64, 64> tile;
  __shared__ sv_fl<64> vec;
  Four::load(tile, x, {0, 0});
  Four::load(vec, x, {0, 0});
  __syncthreads();
  Four::tanh(tile, tile);
  Four::rsqrt(vec, vec);
  __syncthreads();
  Four::store(y, tile, {0, 0});
  Four::store(y, vec, {64, 0});
}
TEST(Functions, OfGroups) {
  std::vector<float> x(64 * 64);
  for (int i = 0; i < 64 * 64; ++i) x[i] = 0.001f * static_cast<float>(i + 1);
  Buffer<float> in(x), out(65 * 64);
  group_functions<<<1, 256>>>(Plain<float>(in.get(), nullptr, nullptr, 64, 64),
                              Plain<float>(out.get(), nullptr, nullptr, 65, 64));
  const auto y = out.read();
  for (int i = 0; i < 64 * 64; ++i) ASSERT_NEAR(y[i], std::tanh(x[i]), 1e-6) << i;
  for (int i = 0; i < 64; ++i) ASSERT_NEAR(y[64 * 64 + i], 1 / std::sqrt(x[i]), 1e-5) << i;
}

// --- comparisons and select ---

template <typename T>
__global__ void compare_tiles(Plain<T> a, Plain<T> b, Plain<T> y) {
  rt<T, 16, 32> x, z, m;
  load(x, a, {0, 0});
  load(z, b, {0, 0});
  lt(m, x, z), store(y, m, {0, 0});
  le(m, x, z), store(y, m, {1, 0});
  gt(m, x, z), store(y, m, {2, 0});
  ge(m, x, z), store(y, m, {3, 0});
  eq(m, x, z), store(y, m, {4, 0});
  ne(m, x, z), store(y, m, {5, 0});
  gt(m, x, as<T>(1)), store(y, m, {6, 0});
  select(m, m, x, z), store(y, m, {7, 0});
  lt(m, x, z);
  select(m, m, 5, x), store(y, m, {8, 0});
}
template <typename T>
void check_comparisons() {
  constexpr int n = 16 * 32;
  std::vector<T> a(n), b(n);
  for (int i = 0; i < n; ++i) {
    a[i] = as<T>(static_cast<float>(i % 5 - 2));
    b[i] = as<T>(static_cast<float>(i % 7 - 3));
  }
  Buffer<T> a_data(a), b_data(b), y_data(9 * n);
  const auto plain = [](const Buffer<T>& data, int rows) {
    return Plain<T>(data.get(), nullptr, nullptr, rows, 32);
  };
  compare_tiles<T><<<1, 64>>>(plain(a_data, 16), plain(b_data, 16), plain(y_data, 9 * 16));
  const auto y = y_data.read();
  for (int i = 0; i < n; ++i) {
    const float p = as_float(a[i]), q = as_float(b[i]);
    const float want[] = {static_cast<float>(p < q),
                          static_cast<float>(p <= q),
                          static_cast<float>(p > q),
                          static_cast<float>(p >= q),
                          static_cast<float>(p == q),
                          static_cast<float>(p != q),
                          static_cast<float>(p > 1),
                          p > 1 ? p : q,
                          p < q ? 5 : p};
    for (int k = 0; k < 9; ++k) ASSERT_EQ(as_float(y[k * n + i]), want[k]) << k << " at " << i;
  }
}
TEST(Compare, TilesOfEveryElement) {
  check_comparisons<float>();
  check_comparisons<bf16>();
  check_comparisons<half>();
  check_comparisons<int>();
  check_comparisons<double>();
  check_comparisons<int8_t>();
}

__global__ void compare_others(Plain<float> x, Plain<float> y) {
  rv_fl<64> vec, mask;
  load(vec, x, {0, 0});
  lt(mask, vec, 8.0f);
  select(vec, mask, -1, vec);
  store(y, vec, {0, 0});
  rt_fl<16, 64>::row_vec row, row_mask;
  load(row, x, {0, 0});
  ge(row_mask, row, 60.0f);
  select(row, row_mask, row_mask, row);
  store(y, row, {1, 0});
  __shared__ sv_fl<64> shared, shared_mask;
  load(shared, x, {0, 0});
  __syncthreads();
  eq(shared_mask, shared, 3.0f);
  __syncthreads();
  select(shared, shared_mask, 100, shared);
  __syncthreads();
  store(y, shared, {2, 0});
  __shared__ st_fl<16, 64> tile;
  __shared__ st_i32<16, 64> condition;
  apply(condition, [](int r, int c) { return r == 3 && c % 2 == 1; });
  apply(tile, [](int, int c) { return c; });
  __syncthreads();
  select(tile, condition, 0.5f, tile);
  __syncthreads();
  rt_fl<16, 64> out;
  load(out, tile);
  rt_fl<16, 64>::row_vec least;
  col_min(least, out);
  store(y, least, {3, 0});
}
TEST(Compare, VectorsAndSharedTiles) {
  std::vector<float> x(64);
  for (int i = 0; i < 64; ++i) x[i] = static_cast<float>(i);
  Buffer<float> in(x), out(4 * 64);
  compare_others<<<1, 64>>>(Plain<float>(in.get(), nullptr, nullptr, 1, 64),
                            Plain<float>(out.get(), nullptr, nullptr, 4, 64));
  const auto y = out.read();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(y[i], i < 8 ? -1 : i);
    EXPECT_EQ(y[64 + i], i >= 60 ? 1 : i);
    EXPECT_EQ(y[2 * 64 + i], i == 3 ? 100 : i);
    EXPECT_EQ(y[3 * 64 + i], i % 2 == 1 ? 0.5f : i);
  }
}

// --- apply, and operations of one's own ---

/// Every element's row and column, as passed to the function.
template <typename RT>
__global__ void told_places(float* lanes) {
  RT tile;
  apply(tile, [](int row, int col) { return row * 8 % 128 + col % 8; });
  dump(tile, lanes);
}
template <typename RT>
void check_places() {
  Buffer<float> lanes(RT::num_elements);
  told_places<RT><<<1, 64>>>(lanes.get());
  expect_tile<RT>(
      lanes.read(), [](int r, int c) { return static_cast<float>(r * 8 % 128 + c % 8); }, "places");
}
TEST(Apply, KnowsRowAndColumn) {
  check_places<rt_fl<32, 48>>();
  check_places<rt_fl<32, 48, col_l>>();
  check_places<rt_bf<64, 32>>();
  check_places<rt_bf<64, 32, col_l, rt_32x32_s>>();
  check_places<rt_i32<32, 64, row_l, rt_32x32_s>>();
  check_places<rt_i8<16, 64>>();
  check_places<rt_fd<32, 16>>();
}

/// Philox 4x32 with seven rounds (Salmon et al., 2011), whose counter is the element's place: the
/// same mask for any division of the matrix into tiles.
__host__ __device__ inline uint32_t philox(uint32_t seed, uint32_t row, uint32_t col) {
  uint32_t c0 = row, c1 = col, c2 = 0, c3 = 0, k0 = seed, k1 = 0;
  for (int round = 0; round < 7; ++round) {
    const uint64_t p0 = uint64_t{0xd2511f53} * c0, p1 = uint64_t{0xcd9e8d57} * c2;
    c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(p1);
    c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(p0);
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  return c0;
}
template <int rows, int cols>
__global__ void dropout(Plain<bf16> x, Plain<bf16> y, uint32_t seed, uint32_t limit, float scale) {
  rt_bf<rows, cols> tile;
  const int r = blockIdx.y, c = blockIdx.x;
  load(tile, x, {r, c});
  apply(tile, tile, [=](int row, int col, float value) {
    return philox(seed, r * rows + row, c * cols + col) < limit ? value * scale : 0.0f;
  });
  store(y, tile, {r, c});
}
TEST(Apply, DropoutDoesNotDependOnTheTiles) {
  constexpr int rows = 64, cols = 128;
  std::vector<bf16> x(rows * cols);
  for (int i = 0; i < rows * cols; ++i) x[i] = as<bf16>(static_cast<float>(i % 100 + 1));
  Buffer<bf16> in(x), a(x.size()), b(x.size());
  const auto plain = [](const Buffer<bf16>& data) {
    return Plain<bf16>(data.get(), nullptr, nullptr, rows, cols);
  };
  const auto limit = static_cast<uint32_t>(0.75 * 0x1p32);
  dropout<32, 64><<<dim3(2, 2), 64>>>(plain(in), plain(a), 42, limit, 2);
  dropout<16, 32><<<dim3(4, 4), 64>>>(plain(in), plain(b), 42, limit, 2);
  const auto got = a.read(), other = b.read();
  int kept = 0;
  for (int i = 0; i < rows * cols; ++i) {
    const bool keeps = philox(42, i / cols, i % cols) < limit;
    kept += keeps;
    ASSERT_EQ(as_float(got[i]), keeps ? 2 * as_float(x[i]) : 0) << i;
    ASSERT_EQ(as_float(other[i]), as_float(got[i])) << i;
  }
  EXPECT_NEAR(static_cast<double>(kept) / (rows * cols), 0.75, 0.02);
}

__global__ void several_sources(Plain<float> x, Plain<float> y) {
  rt_fl<16, 32> a, result;
  rt_bf<16, 32> b;
  load(a, x, {0, 0});
  copy(b, a);
  apply(result, a, b, [](float p, float q) { return p - q; });
  store(y, result, {0, 0});
  apply(result, a, b, a, [](int row, int, float p, float q, float s) { return row + p + q + s; });
  store(y, result, {1, 0});
  rt_fl<16, 32>::col_vec v;
  apply(v, [](int i) { return i; });
  apply(v, v, v, [](int i, float p, float q) { return i + p * q; });
  broadcast_row(result, v);
  store(y, result, {2, 0});
  __shared__ st_bf<16, 32> shared;
  __shared__ sv_fl<32> vec;
  store(shared, b);
  __syncthreads();
  group<1>::apply(shared, shared, [](int row, int col, float p) { return p + row * 2 + col; });
  group<1>::apply(vec, [](int i) { return i * i; });
  __syncthreads();
  load(result, shared);
  store(y, result, {3, 0});
  store(y, vec, {64, 0});
}
TEST(Apply, SeveralSourcesAndKinds) {
  constexpr int n = 16 * 32;
  std::vector<float> x(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i % 50) + 0.001f;
  Buffer<float> in(x), out(4 * n + 32);
  several_sources<<<1, 64>>>(Plain<float>(in.get(), nullptr, nullptr, 16, 32),
                             Plain<float>(out.get(), nullptr, nullptr, 65, 32));
  const auto y = out.read();
  for (int i = 0; i < n; ++i) {
    const float p = x[i], q = as_float(as<bf16>(p));
    const int row = i / 32, col = i % 32;
    ASSERT_EQ(y[i], p - q);
    ASSERT_EQ(y[n + i], static_cast<float>(row) + p + q + p);
    ASSERT_EQ(y[2 * n + i], row + row * row);
    ASSERT_EQ(y[3 * n + i], as_float(as<bf16>(q + row * 2 + col)));
  }
  for (int i = 0; i < 32; ++i) ASSERT_EQ(y[4 * n + i], i * i);
}

struct cube_of_element {
  static __device__ float op(float x) { return x * x * x; }
};
struct cube_of_any {
  template <typename T>
  static __device__ T op(const T& x) {
    return base_ops::mul::op(base_ops::mul::op(x, x), x);
  }
};
struct half_way {
  static __device__ float op(float x, float y) { return (x + y) / 2; }
};
template <typename T>
__global__ void own_operations(Plain<T> x, Plain<T> y) {
  rt<T, 16, 32> a, result;
  load(a, x, {0, 0});
  unary_map<cube_of_element>(result, a), store(y, result, {0, 0});
  unary_map<cube_of_any>(result, a), store(y, result, {1, 0});
  bin_map<half_way>(result, a, as<T>(3)), store(y, result, {2, 0});
  typename rt<T, 16, 32>::row_vec v;
  load(v, x, {0, 0});
  unary_op<cube_of_element>(v, v);
  col_map<half_way>(result, a, v), store(y, result, {3, 0});
}
template <typename T>
void check_own_operations() {
  constexpr int n = 16 * 32;
  std::vector<T> x(n);
  for (int i = 0; i < n; ++i) x[i] = as<T>(static_cast<float>(i % 9 - 4));
  Buffer<T> in(x), out(4 * n);
  own_operations<T><<<1, 64>>>(Plain<T>(in.get(), nullptr, nullptr, 16, 32),
                               Plain<T>(out.get(), nullptr, nullptr, 64, 32));
  const auto y = out.read();
  for (int i = 0; i < n; ++i) {
    const float p = as_float(x[i]), v = as_float(x[i % 32]);
    ASSERT_EQ(as_float(y[i]), p * p * p);
    ASSERT_EQ(as_float(y[n + i]), p * p * p);
    ASSERT_EQ(as_float(y[2 * n + i]), (p + 3) / 2);
    ASSERT_EQ(as_float(y[3 * n + i]), (p + v * v * v) / 2);
  }
}
TEST(Apply, OperationsOfOnesOwn) {
  check_own_operations<float>();
  check_own_operations<bf16>();
  check_own_operations<half>();
}

}  // namespace
