// Register vectors: from and to memory in every layout and base shape, maps, and reductions.
#include "support.h"

namespace {

using namespace tile_test;

double a_at(int, int i) { return (i * 3) % 7 - 3 + (i == 9 ? 5 : 0); }
double b_at(int, int i) { return i == 11 ? 4 : 1; }

template <typename RV>
__global__ void vector_operations(Global<typename RV::T> a, Global<typename RV::T> b,
                                  Global<typename RV::T> out, float* scalars) {
  using T = typename RV::T;
  __shared__ sv<T, RV::length> shared;
  RV x, y, z;
  load(x, a, {0, 1});
  load(y, b, {0, 1});
  store(out, x, {0, 0});
  store(shared, x);
  load(z, shared);
  store(out, z, {1, 0});
  add(z, x, y), store(out, z, {2, 0});
  sub(z, x, y), store(out, z, {3, 0});
  mul(z, x, y), store(out, z, {4, 0});
  div(z, x, y), store(out, z, {5, 0});
  max(z, x, as<T>(4)), store(out, z, {6, 0});
  min(z, x, y), store(out, z, {7, 0});
  zero(z), store(out, z, {8, 0});
  one(z), store(out, z, {9, 0});
  relu(z, x), store(out, z, {10, 0});
  abs(z, x), store(out, z, {11, 0});
  right_fill(z, x, 13, as<T>(4)), store(out, z, {12, 0});
  left_fill(z, x, 6), store(out, z, {13, 0});
  if constexpr (RV::is_naive) {
    T s[5];
    kittens::sum(s[0], x);
    kittens::max(s[1], x);
    kittens::min(s[2], x);
    kittens::prod(s[3], y);
    kittens::sum(s[4], x, as<T>(2));
    if (threadIdx.x == 63) {
      for (int i = 0; i < 5; ++i) scalars[i] = as_float(s[i]);
    }
  }
}

template <typename RV>
void check_vector(Cases& cases, const char* layout) {
  using T = typename RV::T;
  constexpr int length = RV::length;
  const auto moved = [](auto f) { return [f](int r, int i) { return f(r, i - length); }; };
  Buffer<T> a(filled<T>(1, 2 * length, moved(a_at))), b(filled<T>(1, 2 * length, moved(b_at)));
  Buffer<T> out(14 * length);
  Buffer<float> scalars(5);
  vector_operations<RV><<<1, 64>>>(tensor(a, 1, 2 * length), tensor(b, 1, 2 * length),
                                   tensor(out, 14, length), scalars.get());
  const auto got = out.read();
  const std::string what = std::string(name_of<T>()) + " " + std::to_string(length) + " " + layout +
                           " base " + std::to_string(RV::shape::lead);
  for (int n = 0; n < 14; ++n) {
    cases.expect<T>(
        got, size_t(n) * length, 1, length,
        [&](int, int i) -> double {
          const double x = a_at(0, i), y = b_at(0, i);
          const double quotient = is_whole<T> ? std::trunc(x / y) : x / y;
          const double all[] = {x,
                                x,
                                x + y,
                                x - y,
                                x * y,
                                quotient,
                                std::fmax(x, 4),
                                std::fmin(x, y),
                                0,
                                1,
                                std::fmax(x, 0),
                                std::fabs(x),
                                i < 13 ? x : 4,
                                i < 6 ? 0 : x};
          return all[n];
        },
        what + " operation " + std::to_string(n));
  }
  if (!RV::is_naive) return;
  double sum = 0;
  for (int i = 0; i < length; ++i) sum += a_at(0, i);
  const auto s = scalars.read();
  EXPECT_EQ(s[0], as_float(rounded<T>(sum))) << what;
  EXPECT_EQ(s[1], 8) << what;
  EXPECT_EQ(s[2], -3) << what;
  EXPECT_EQ(s[3], 4) << what;
  EXPECT_EQ(s[4], as_float(rounded<T>(sum + 2))) << what;
}

template <typename T>
void check_layouts(Cases& cases) {
  check_vector<rv<T, 16>>(cases, "naive");
  check_vector<rv<T, 64>>(cases, "naive");
  check_vector<rv<T, 208>>(cases, "naive");
  check_vector<rv<T, 32, ortho_l>>(cases, "ortho");
  check_vector<rv<T, 128, ortho_l>>(cases, "ortho");
  check_vector<rv<T, 32, align_l>>(cases, "align");
  check_vector<rv<T, 128, align_l>>(cases, "align");
  if constexpr (sizeof(T) <= 4) {
    check_vector<rv<T, 64, ortho_l, rt_32x32_s>>(cases, "ortho");
    check_vector<rv<T, 64, align_l, rt_32x32_s>>(cases, "align");
  }
}
TEST(VectorSweep, AllTypes) {
  Cases cases(800);
  check_layouts<float>(cases);
  check_layouts<bf16>(cases);
  check_layouts<half>(cases);
  check_layouts<double>(cases);
  check_layouts<int>(cases);
  check_layouts<int8_t>(cases);
  check_layouts<fp8e4m3>(cases);
  check_layouts<fp8e5m2>(cases);
}

}  // namespace
