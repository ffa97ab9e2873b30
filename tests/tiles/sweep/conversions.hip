// Register tiles in another element type, the other layout, or transposed; and what a value
// becomes.
#include <algorithm>

#include "support.h"

namespace {

using namespace tile_test;

double value_of(int r, int c) { return (r * 7 + c * 3) % 15 - 7; }

// --- element types ---

template <typename From, typename To>
__global__ void converted(Global<typename From::T> src, Global<typename To::T> out) {
  From a;
  To b;
  load(a, src, {0, 0});
  copy(b, a);
  store(out, b, {0, 0});
}

template <typename From, typename To>
void check_copy(Cases& cases) {
  using T = typename From::T;
  using U = typename To::T;
  const auto host = filled<T>(From::rows, From::cols, value_of);
  Buffer<T> src(host);
  Buffer<U> out(host.size());
  converted<From, To>
      <<<1, 64>>>(tensor(src, From::rows, From::cols), tensor(out, To::rows, To::cols));
  cases.expect<U>(out.read(), 0, To::rows, To::cols, value_of,
                  tile_name<From>() + " to " + name_of<U>());
}
template <typename T, typename U, typename L, typename S>
void check_copies(Cases& cases) {
  check_copy<rt<T, 32, 64, L, S>, rt<U, 32, 64, L, S>>(cases);
  if constexpr (std::is_same_v<S, rt_16x16_s>) {
    check_copy<rt<T, 16, 48, L, S>, rt<U, 16, 48, L, S>>(cases);
  }
}
template <typename T, typename U, typename S>
void check_layouts(Cases& cases) {
  check_copies<T, U, row_l, S>(cases);
  check_copies<T, U, col_l, S>(cases);
}
template <typename T>
void check_from(Cases& cases) {
  check_layouts<T, float, rt_16x16_s>(cases);
  check_layouts<T, bf16, rt_16x16_s>(cases);
  check_layouts<T, half, rt_16x16_s>(cases);
  check_layouts<T, int, rt_16x16_s>(cases);
  check_layouts<T, float, rt_32x32_s>(cases);
  check_layouts<T, bf16, rt_32x32_s>(cases);
  check_layouts<T, half, rt_32x32_s>(cases);
  check_layouts<T, int, rt_32x32_s>(cases);
}
TEST(ConversionSweep, ElementTypes) {
  Cases cases(98);
  check_from<float>(cases);
  check_from<bf16>(cases);
  check_from<half>(cases);
  check_from<int>(cases);
  check_copy<rt_fp8e4m3<16, 64>, rt_fp8e5m2<16, 64>>(cases);
  check_copy<rt_fp8e5m2<32, 32, col_l, rt_32x32_s>, rt_fp8e4m3<32, 32, col_l, rt_32x32_s>>(cases);
}

// --- layouts and transposes ---

template <typename RT>
__global__ void exchanged(Global<typename RT::T> src, Global<typename RT::T> same,
                          Global<typename RT::T> turned) {
  using other =
      rt<typename RT::T, RT::rows, RT::cols,
         typename ducks::rt_layout::transpose<typename RT::layout>::type, typename RT::shape>;
  using across = rt<typename RT::T, RT::cols, RT::rows, typename RT::layout, typename RT::shape>;
  RT a;
  load(a, src, {0, 0});
  other b;
  swap_layout(b, a);
  store(same, b, {0, 0, 0, 0});
  RT back;
  swap_layout(back, b);
  store(same, back, {1, 0, 0, 0});
  across c;
  transpose_sep(c, a);
  store(turned, c, {0, 0, 0, 0});
  transpose_sep(back, c);
  store(same, back, {2, 0, 0, 0});
  if constexpr (RT::rows == RT::cols) {
    store(turned, transpose_inplace(back), {1, 0, 0, 0});
  }
  store(same, swap_layout_inplace(a), {3, 0, 0, 0});
}

template <typename RT>
void check_exchange(Cases& cases) {
  using T = typename RT::T;
  constexpr int rows = RT::rows, cols = RT::cols;
  constexpr size_t size = size_t{rows} * cols;
  Buffer<T> src(filled<T>(rows, cols, value_of)), same(4 * size), turned(2 * size);
  exchanged<RT><<<1, 64>>>(tensor(src, rows, cols), tensor(same, rows, cols, 1, 4),
                           tensor(turned, cols, rows, 1, 2));
  const auto kept = same.read(), transposed = turned.read();
  const char* const names[] = {"swap", "swap twice", "transpose twice", "swap in place"};
  for (int n = 0; n < 4; ++n) {
    cases.expect<T>(kept, n * size, rows, cols, value_of, tile_name<RT>() + " " + names[n]);
  }
  for (int n = 0; n < (rows == cols ? 2 : 1); ++n) {
    cases.expect<T>(
        transposed, n * size, cols, rows, [](int r, int c) { return value_of(c, r); },
        tile_name<RT>() + " transposed");
  }
}
TEST(ConversionSweep, Layouts) {
  Cases cases(200);
  const auto check = [&]<typename RT>() { check_exchange<RT>(cases); };
  for_tiles<float>(check);
  for_tiles<bf16>(check);
  for_tiles<half>(check);
  for_tiles<double>(check);
  for_sizes<int, row_l, rt_32x32_s>(check);
  for_sizes<fp8e4m3, row_l, rt_32x32_s>(check);
  for_sizes<int8_t, col_l, rt_32x32_s>(check);
}

// --- what a value becomes: the device's conversions against the host's, over all codes ---

template <typename T>
__global__ void decode(float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = as_float(detail::bits_as<T>(static_cast<detail::word<sizeof(T)>>(i)));
}
template <typename T>
__global__ void encode(const float* in, T* out, int count) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < count) out[i] = as<T>(in[i]);
}
/// The value of a code of an 8-bit float, from the format's definition.
double float8_value(int code, int exponent_bits, int fraction_bits) {
  if (code == 0x80) return NAN;
  const int exponent = code >> fraction_bits & ((1 << exponent_bits) - 1);
  const double fraction = (code & ((1 << fraction_bits) - 1)) / std::ldexp(1, fraction_bits);
  const int bias = 1 << (exponent_bits - 1);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return code & 0x80 ? -magnitude : magnitude;
}
template <typename T>
void check_float8(int exponent_bits, int fraction_bits, double largest) {
  Buffer<float> values(256);
  decode<T><<<4, 64>>>(values.get());
  const auto on_device = values.read();
  std::vector<double> grid;
  for (int code = 0; code < 256; ++code) {
    const double want = float8_value(code, exponent_bits, fraction_bits);
    const float on_host = as_float(detail::bits_as<T>(static_cast<uint8_t>(code)));
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(on_device[code]) && std::isnan(on_host)) << code;
      continue;
    }
    EXPECT_EQ(on_device[code], want) << "code " << code;
    EXPECT_EQ(on_host, want) << "code " << code;
    if (want >= 0) grid.push_back(want);
  }
  std::sort(grid.begin(), grid.end());
  EXPECT_EQ(grid.back(), largest);
  // Every value, every midpoint and their neighbours, both signs.
  std::vector<float> in = {INFINITY, -INFINITY, NAN, 1e30f, -0.0f, 1e-30f};
  for (size_t i = 0; i < grid.size(); ++i) {
    const auto low = static_cast<float>(grid[i]);
    const float step = i + 1 < grid.size() ? grid[i + 1] - grid[i] : grid[i] - grid[i - 1];
    for (const float x : {low, low + step / 2, std::nextafterf(low + step / 2, 0.0f),
                          std::nextafterf(low + step / 2, INFINITY), low + step / 4}) {
      in.push_back(x);
      in.push_back(-x);
    }
  }
  Buffer<float> input(in);
  Buffer<T> output(in.size());
  encode<T><<<(in.size() + 63) / 64, 64>>>(input.get(), output.get(), in.size());
  const auto got = output.read();
  for (size_t i = 0; i < in.size(); ++i) {
    const T host = as<T>(in[i]);
    EXPECT_EQ(got[i].bits, host.bits) << in[i];
    // To nearest, ties to even codes; beyond half a step above the largest: NaN.
    const double x = std::fabs(in[i]);
    if (!(x < largest + (largest - grid[grid.size() - 2]) / 2)) {
      EXPECT_EQ(host.bits, 0x80) << in[i];
      continue;
    }
    size_t best = 0;
    for (size_t g = 0; g < grid.size(); ++g) {
      const double now = std::fabs(grid[g] - x), before = std::fabs(grid[best] - x);
      if (now < before || (now == before && g % 2 == 0)) best = g;
    }
    const double want = std::copysign(grid[best], in[i]);
    EXPECT_EQ(as_float(host), grid[best] == 0 ? 0 : want) << in[i];
  }
}
TEST(Float8, E4m3) { check_float8<fp8e4m3>(4, 3, 240); }
TEST(Float8, E5m2) { check_float8<fp8e5m2>(5, 2, 57344); }

TEST(Conversions, DoubleToNarrowRoundsOnce) {
  // Just above a tie of bf16 and half: rounding to float first would make it a tie.
  EXPECT_EQ(as_float(rounded<bf16>(1 + 0x1p-8 + 0x1p-40)), 1 + 0x1p-7f);
  EXPECT_EQ(as_float(rounded<bf16>(1 + 0x1p-8)), 1.0f);
  EXPECT_EQ(as_float(rounded<half>(1 + 0x1p-11 + 0x1p-40)), 1 + 0x1p-10f);
  EXPECT_EQ(as_float(rounded<half>(-(1 + 0x1p-11 + 0x1p-40))), -(1 + 0x1p-10f));
  EXPECT_EQ(as_float(rounded<fp8e4m3>(1 + 0x1p-4 + 0x1p-40)), 1 + 0x1p-3f);
}

}  // namespace
