// Operations on register tiles and vectors: mma, layout changes, conversions, maps; and vectors
// from and to memory.
#include <cmath>
#include <limits>

#include "device_test.h"

namespace {

using namespace kittens;
using namespace tile_test;

// --- mma ---

/// Operands with few significant bits, so that float sums are exact and any wrong element shows.
__host__ __device__ float a_at(int m, int k) {
  return static_cast<float>((m * 7 + k * 5) % 13 - 6);
}
__host__ __device__ float b_at(int k, int n) {
  return static_cast<float>((k * 3 + n * 11) % 17 - 8);
}
__host__ __device__ float c_at(int m, int n) { return static_cast<float>((m + 2 * n) % 29); }

enum class Form { kAB, kABt, kAtB, kAtBt };

template <Form form, typename T, int m, int n, int k>
struct Operands {
  static constexpr bool a_t = form == Form::kAtB || form == Form::kAtBt;
  static constexpr bool b_t = form == Form::kABt || form == Form::kAtBt;
  using A = rt<T, a_t ? k : m, a_t ? m : k, std::conditional_t<a_t, col_l, row_l>>;
  using B = rt<T, b_t ? n : k, b_t ? k : n, std::conditional_t<b_t, row_l, col_l>>;
  using C = rt_fl<m, n, col_l>;
};

template <Form form, typename T, int m, int n, int k, bool in_place>
__global__ void multiply(float* lanes) {
  using O = Operands<form, T, m, n, k>;
  typename O::A a;
  typename O::B b;
  typename O::C c, d;
  fill_with(a, [](int r, int col) { return O::a_t ? a_at(col, r) : a_at(r, col); });
  fill_with(b, [](int r, int col) { return O::b_t ? b_at(col, r) : b_at(r, col); });
  fill_with(c, [](int r, int col) { return c_at(r, col); });
  auto& result = in_place ? c : d;
  if constexpr (form == Form::kAB) mma_AB(result, a, b, c);
  if constexpr (form == Form::kABt) mma_ABt(result, a, b, c);
  if constexpr (form == Form::kAtB) mma_AtB(result, a, b, c);
  if constexpr (form == Form::kAtBt) mma_AtBt(result, a, b, c);
  dump(result, lanes);
}

template <Form form, typename T, int m, int n, int k, bool in_place = true>
void check_mma() {
  using C = rt_fl<m, n, col_l>;
  Buffer<float> lanes(C::num_elements);
  multiply<form, T, m, n, k, in_place><<<1, 64>>>(lanes.get());
  expect_tile<C>(
      lanes.read(),
      [](int row, int col) {
        double sum = c_at(row, col);
        for (int i = 0; i < k; ++i) sum += double{a_at(row, i)} * b_at(i, col);
        return static_cast<float>(sum);
      },
      "form " + std::to_string(static_cast<int>(form)) + ", " + std::to_string(m) + "x" +
          std::to_string(n) + "x" + std::to_string(k));
}

template <typename T>
void check_all_forms() {
  check_mma<Form::kAB, T, 16, 16, 16>();
  check_mma<Form::kABt, T, 16, 16, 16>();
  check_mma<Form::kAtB, T, 16, 16, 16>();
  check_mma<Form::kAtBt, T, 16, 16, 16>();
  check_mma<Form::kAB, T, 32, 48, 64>();
  check_mma<Form::kABt, T, 48, 32, 64>();
  check_mma<Form::kAtB, T, 64, 16, 32>();
  check_mma<Form::kAtBt, T, 16, 64, 48>();
  check_mma<Form::kAB, T, 32, 32, 32, false>();
  check_mma<Form::kABt, T, 32, 32, 32, false>();
}
TEST(Mma, Bf16) { check_all_forms<bf16>(); }
TEST(Mma, Half) { check_all_forms<half>(); }

// --- layouts ---

template <typename RT>
using Swapped = rt<typename RT::T, RT::rows, RT::cols,
                   typename ducks::rt_layout::transpose<typename RT::layout>::type>;

template <typename RT>
__global__ void swap_layouts(float* lanes, float* in_place) {
  RT tile;
  fill(tile);
  Swapped<RT> swapped;
  swap_layout(swapped, tile);
  dump(swapped, lanes);
  auto& same = swap_layout_inplace(tile);
  dump(same, in_place);
}
template <typename RT>
void check_swap() {
  Buffer<float> lanes(RT::num_elements), in_place(RT::num_elements);
  swap_layouts<RT><<<1, 64>>>(lanes.get(), in_place.get());
  expect_tile<Swapped<RT>>(lanes.read(), value_at, "swap_layout");
  expect_tile<Swapped<RT>>(in_place.read(), value_at, "swap_layout_inplace");
}
TEST(Layouts, Swap) {
  check_swap<rt_fl<16, 16>>();
  check_swap<rt_fl<32, 48, col_l>>();
  check_swap<rt_bf<48, 16>>();
  check_swap<rt_hf<16, 32, col_l>>();
}

template <typename RT>
__global__ void transpose(float* lanes, float* in_place) {
  RT tile;
  fill(tile);
  rt<typename RT::T, RT::cols, RT::rows, typename RT::layout> turned;
  transpose_sep(turned, tile);
  dump(turned, lanes);
  if constexpr (RT::rows == RT::cols) dump(transpose_inplace(tile), in_place);
}
template <typename RT>
void check_transpose() {
  using Turned = rt<typename RT::T, RT::cols, RT::rows, typename RT::layout>;
  const auto turned = [](int r, int c) { return value_at(c, r); };
  Buffer<float> lanes(RT::num_elements), in_place(RT::num_elements);
  transpose<RT><<<1, 64>>>(lanes.get(), in_place.get());
  expect_tile<Turned>(lanes.read(), turned, "transpose_sep");
  if (RT::rows == RT::cols) expect_tile<Turned>(in_place.read(), turned, "transpose_inplace");
}
TEST(Layouts, Transpose) {
  check_transpose<rt_fl<32, 32>>();
  check_transpose<rt_bf<16, 48>>();
  check_transpose<rt_bf<32, 32, col_l>>();
}

__global__ void band(float* lanes) {
  rt_fl<48, 16> tile;
  fill(tile);
  auto& middle = subtile_inplace<16>(tile, 1);
  dump(middle, lanes);
}
TEST(Layouts, BandOfARegisterTile) {
  Buffer<float> lanes(256);
  band<<<1, 64>>>(lanes.get());
  expect_tile<rt_fl<16, 16>>(
      lanes.read(), [](int r, int c) { return value_at(16 + r, c); }, "band 1");
}

// --- conversions ---

template <typename To>
__global__ void convert(const float* from, float* to, int count) {
  const int i = threadIdx.x;
  if (i < count) to[i] = as_float(base_types::convertor<To, float>::convert(from[i]));
}
template <typename To>
std::vector<float> converted(const std::vector<float>& values) {
  Buffer<float> from(values), to(values.size());
  convert<To><<<1, 64>>>(from.get(), to.get(), static_cast<int>(values.size()));
  return to.read();
}

TEST(Conversions, FloatToBf16RoundsToNearestEven) {
  const float tiny = 0x1p-8f;  // half a unit in the last place of 1.0
  const std::vector<float> values = {
      1 + tiny, 1 + 3 * tiny, 1 + tiny + 0x1p-20f, 1 + tiny - 0x1p-20f, -1 - 3 * tiny,
      3.4e38f,  -0.0f};
  const auto got = converted<bf16>(values);
  const std::vector<float> want = {1,    1 + 4 * tiny,  1 + 2 * tiny,
                                   1,    -1 - 4 * tiny, std::numeric_limits<float>::infinity(),
                                   -0.0f};
  EXPECT_EQ(got, want);
  EXPECT_TRUE(std::signbit(got[6]));
  // A NaN whose payload is only in the dropped half must not become an infinity.
  const auto low_nan = __builtin_bit_cast(float, 0x7f800001u);
  EXPECT_TRUE(std::isnan(converted<bf16>({low_nan})[0]));
  EXPECT_EQ(converted<bf16>({std::numeric_limits<float>::infinity()})[0],
            std::numeric_limits<float>::infinity());
}

TEST(Conversions, FloatToHalfRoundsToNearestEven) {
  const float tiny = 0x1p-11f;
  EXPECT_EQ(converted<half>({1 + tiny, 1 + 3 * tiny, 65504, 65520}),
            (std::vector<float>{1, 1 + 4 * tiny, 65504, std::numeric_limits<float>::infinity()}));
}

template <typename To, typename From>
__global__ void copy_tile(float* lanes) {
  From from;
  fill(from);
  To to;
  copy(to, from);
  dump(to, lanes);
}
TEST(Conversions, CopyOfATile) {
  Buffer<float> lanes(32 * 32);
  copy_tile<rt_bf<32, 32>, rt_fl<32, 32>><<<1, 64>>>(lanes.get());
  expect_tile<rt_bf<32, 32>>(lanes.read(), value_at, "float to bf16");
  copy_tile<rt_fl<32, 32, col_l>, rt_hf<32, 32, col_l>><<<1, 64>>>(lanes.get());
  expect_tile<rt_fl<32, 32, col_l>>(lanes.read(), value_at, "half to float");
  copy_tile<rt_hf<32, 32>, rt_bf<32, 32>><<<1, 64>>>(lanes.get());
  expect_tile<rt_hf<32, 32>>(lanes.read(), value_at, "bf16 to half");
}

TEST(Packing, KeepsTheBits) {
  const half one_and_half = as<half>(1.5f);
  const auto pair = base_types::packing<half>::pack(one_and_half);
  EXPECT_EQ(kittens::detail::bits_as<uint32_t>(pair), 0x3e003e00u);
  EXPECT_EQ(kittens::detail::bits_as<uint32_t>(base_types::packing<bf16>::pack(as<bf16>(-2))),
            0xc000c000u);
  static_assert(std::is_same_v<base_types::packing<bf16_2>::packed_type, bf16_2>);
  static_assert(base_types::packing<float4>::num() == 4 && base_types::packing<int2>::num() == 2);
}

// --- maps ---

template <typename T, typename F>
__global__ void map(float* lanes, F f) {
  rt<T, 16, 32> x, y;
  fill(x);
  one(y);
  f(x, y);
  dump(x, lanes);
}
template <typename T, typename F, typename W>
void check_map(F f, W want, const char* what) {
  Buffer<float> lanes(16 * 32);
  map<T><<<1, 64>>>(lanes.get(), f);
  expect_tile<rt<T, 16, 32>>(
      lanes.read(), [&](int r, int c) { return want(value_at(r, c)); }, what);
}

template <typename T>
void check_maps() {
  const auto rounded = [](float x) { return as_float(as<T>(x)); };
  check_map<T>([] __device__(auto& x, auto&) { zero(x); }, [](float) { return 0.0f; }, "zero");
  check_map<T>([] __device__(auto& x, auto&) { pos_infty(x); },
               [](float) { return std::numeric_limits<float>::infinity(); }, "pos_infty");
  check_map<T>([] __device__(auto& x, auto&) { neg_infty(x); },
               [](float) { return -std::numeric_limits<float>::infinity(); }, "neg_infty");
  check_map<T>([] __device__(auto& x, auto& y) { add(x, x, y); }, [](float v) { return v + 1; },
               "add of a tile");
  check_map<T>([] __device__(auto& x, auto& y) { sub(x, y, x); }, [](float v) { return 1 - v; },
               "sub");
  check_map<T>([] __device__(auto& x, auto&) { mul(x, x, as<T>(0.5f)); },
               [](float v) { return v * 0.5f; }, "mul by a scalar");
  check_map<T>([] __device__(auto& x, auto&) { div(x, x, as<T>(4)); },
               [](float v) { return v / 4; }, "div by a scalar");
  check_map<T>([] __device__(auto& x, auto& y) { max(x, x, y); },
               [](float v) { return std::max(v, 1.0f); }, "max");
  check_map<T>([] __device__(auto& x, auto& y) { min(x, x, y); },
               [](float v) { return std::min(v, 1.0f); }, "min");
  check_map<T>([] __device__(auto& x, auto&) { abs(x, x); }, [](float v) { return std::fabs(v); },
               "abs");
  check_map<T>([] __device__(auto& x, auto&) { relu(x, x); },
               [](float v) { return std::max(v, 0.0f); }, "relu");
  // 2^-3 .. 2^3: exact in every type and in the hardware's exp2.
  check_map<T>(
      [] __device__(auto& x, auto&) {
        mul(x, x, as<T>(0));
        add(x, x, as<T>(-3));
        exp2(x, x);
      },
      [&](float) { return rounded(0.125f); }, "exp2");
}
TEST(Maps, Float) { check_maps<float>(); }
TEST(Maps, Bf16) { check_maps<bf16>(); }
TEST(Maps, Half) { check_maps<half>(); }

// --- vectors ---

/// What lane L holds in data[i][j], element h of a pair, from the documentation.
template <typename RV>
int element_number(int lane, int i, int j, int h) {
  if (std::is_same_v<typename RV::layout, naive_l>) return 64 * i + lane;
  if (std::is_same_v<typename RV::layout, ortho_l>) return 16 * i + lane % 16;
  return 16 * i + 4 * (lane / 16) + 2 * j + h;
}

template <typename RV>
constexpr int held = RV::outer_dim * RV::inner_dim * (RV::is_align ? 2 : 1);

template <typename RV>
__device__ void dump_vector(RV& vec, float* lanes) {
  const auto* own = reinterpret_cast<typename RV::T*>(&vec.data[0][0]);
  for (int e = 0; e < held<RV>; ++e) lanes[threadIdx.x * held<RV> + e] = as_float(own[e]);
}

template <typename RV, typename U>
__global__ void vector_from_memory(Global<U> src, float* by_global, float* by_shared, Global<U> dst,
                                   Global<U> dst_shared) {
  __shared__ sv<U, RV::length> shared;
  RV vec;
  zero(vec);
  load(vec, src, {0, 0, 1, 2});
  dump_vector(vec, by_global);
  store(dst, vec, {0, 0, 1, 2});

  load(shared, src, {0, 0, 1, 2});
  __syncthreads();
  RV second;
  zero(second);
  load(second, shared);
  dump_vector(second, by_shared);
  __syncthreads();
  store(shared, vec);
  __syncthreads();
  store(dst_shared, shared, {0, 0, 1, 2});
}

template <typename RV, typename U>
void check_vector() {
  const int rows = 2, cols = 3 * RV::length;
  const auto host = matrix<U>(rows, cols);
  Buffer<U> data(host), out(std::vector<U>(host.size(), as<U>(-77))),
      out_shared(std::vector<U>(host.size(), as<U>(-77)));
  Buffer<float> by_global(64 * held<RV>), by_shared(64 * held<RV>);
  vector_from_memory<RV, U><<<1, 64>>>(tensor(data, rows, cols), by_global.get(), by_shared.get(),
                                       tensor(out, rows, cols), tensor(out_shared, rows, cols));
  const auto from_global = by_global.read(), from_shared = by_shared.read();
  const std::string what = "length " + std::to_string(RV::length);
  for (int lane = 0; lane < 64; ++lane) {
    for (int e = 0; e < held<RV>; ++e) {
      const int per_inner = RV::is_align ? 2 : 1;
      const int number = element_number<RV>(lane, e / (RV::inner_dim * per_inner),
                                            e / per_inner % RV::inner_dim, e % per_inner);
      const float want = number < RV::length ? value_at(1, 2 * RV::length + number) : 0;
      ASSERT_EQ(from_global[lane * held<RV> + e], want) << what << ", lane " << lane << " " << e;
      ASSERT_EQ(from_shared[lane * held<RV> + e], want) << what << ", lane " << lane << " " << e;
    }
  }
  for (const auto& written : {out.read(), out_shared.read()}) {
    for (int i = 0; i < rows * cols; ++i) {
      const bool inside = i >= cols + 2 * RV::length;
      ASSERT_EQ(as_float(written[i]), inside ? value_at(1, i - cols) : -77) << what << " " << i;
    }
  }
}

TEST(Vectors, Naive) {
  check_vector<rv_fl<64>, float>();
  check_vector<rv_bf<16>, bf16>();
  check_vector<rv_fl<144>, bf16>();
}
TEST(Vectors, Ortho) {
  check_vector<rv_fl<32, ortho_l>, float>();
  check_vector<rv_bf<48, ortho_l>, bf16>();
  check_vector<rv_hf<16, ortho_l>, float>();
}
TEST(Vectors, Align) {
  check_vector<rv_fl<32, align_l>, float>();
  check_vector<rv_bf<48, align_l>, bf16>();
  check_vector<rv_fl<16, align_l>, half>();
}
TEST(Vectors, OfATileMatchItsLayout) {
  static_assert(std::is_same_v<rt_fl<32, 64>::row_vec, rv_fl<64, align_l>>);
  static_assert(std::is_same_v<rt_fl<32, 64>::col_vec, rv_fl<32, ortho_l>>);
  static_assert(std::is_same_v<rt_bf<32, 64, col_l>::row_vec, rv_bf<64, ortho_l>>);
  static_assert(std::is_same_v<rt_bf<32, 64, col_l>::col_vec, rv_bf<32, align_l>>);
}

__global__ void shuffles(int* results) {
  const int lane = laneid();
  results[lane] = packed_shfl(MASK_ALL, lane * 3, 63 - lane);
  results[64 + lane] = packed_shfl_down(MASK_ALL, lane, 5);
  const float2 pair =
      packed_shfl(MASK_ALL, float2{static_cast<float>(lane), -1.0f * lane}, lane ^ 1);
  results[128 + lane] = static_cast<int>(pair.x) * 1000 - static_cast<int>(pair.y);
}
TEST(Shuffles, ReadOtherLanes) {
  Buffer<int> results(192);
  shuffles<<<1, 64>>>(results.get());
  const auto got = results.read();
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(got[lane], (63 - lane) * 3);
    EXPECT_EQ(got[64 + lane], lane + 5 > 63 ? lane : lane + 5);
    EXPECT_EQ(got[128 + lane], (lane ^ 1) * 1001);
  }
}

}  // namespace
