// mma: every element type, form and base shape. Products are small integers, so sums are exact and
// any wrong element shows.
#include "support.h"

namespace {

using namespace tile_test;

double a_at(int m, int k) { return (m * 7 + k * 5) % 13 - 6; }
double b_at(int k, int n) { return (k * 3 + n * 11) % 7 - 3; }
double c_at(int m, int n) { return (m + 2 * n) % 29; }

template <typename T>
using sum_type = std::conditional_t<std::is_same_v<T, int8_t>, int,
                                    std::conditional_t<std::is_same_v<T, double>, double, float>>;

/// All four forms; the result of each is a batch of `out`. `a` and `b` have batch 1 transposed.
template <typename TA, typename TB, int m, int n, int k, typename S>
__global__ void multiply(Global<TA> a, Global<TA> at, Global<TB> b, Global<TB> bt,
                         Global<sum_type<TA>> c, Global<sum_type<TA>> out) {
  rt<TA, m, k, row_l, S> a_row;
  rt<TA, k, m, col_l, S> a_col;
  rt<TB, k, n, col_l, S> b_col;
  rt<TB, n, k, row_l, S> b_row;
  rt<sum_type<TA>, m, n, col_l, S> sum, result;
  load(a_row, a, {0, 0});
  load(a_col, at, {0, 0});
  load(b_col, b, {0, 0});
  load(b_row, bt, {0, 0});
  load(sum, c, {0, 0});
  mma_AB(result, a_row, b_col, sum), store(out, result, {0, 0, 0, 0});
  mma_ABt(result, a_row, b_row, sum), store(out, result, {1, 0, 0, 0});
  mma_AtB(result, a_col, b_col, sum), store(out, result, {2, 0, 0, 0});
  mma_AtBt(sum, a_col, b_row, sum), store(out, sum, {3, 0, 0, 0});  // in place
}

template <typename TA, typename TB, int m, int n, int k, typename S>
void check(Cases& cases) {
  using C = sum_type<TA>;
  const auto turned = [](double (*f)(int, int)) { return [f](int r, int c) { return f(c, r); }; };
  Buffer<TA> a(filled<TA>(m, k, a_at)), at(filled<TA>(k, m, turned(a_at)));
  Buffer<TB> b(filled<TB>(k, n, b_at)), bt(filled<TB>(n, k, turned(b_at)));
  Buffer<C> c(filled<C>(m, n, c_at)), out(size_t{4} * m * n);
  multiply<TA, TB, m, n, k, S><<<1, 64>>>(tensor(a, m, k), tensor(at, k, m), tensor(b, k, n),
                                          tensor(bt, n, k), tensor(c, m, n),
                                          tensor(out, m, n, 1, 4));
  const auto got = out.read();
  const char* const forms[] = {"AB", "ABt", "AtB", "AtBt"};
  for (int form = 0; form < 4; ++form) {
    cases.expect<C>(
        got, size_t(form) * m * n, m, n,
        [](int row, int col) {
          double sum = c_at(row, col);
          for (int i = 0; i < k; ++i) sum += a_at(row, i) * b_at(i, col);
          return sum;
        },
        std::string(name_of<TA>()) + " x " + name_of<TB>() + " mma_" + forms[form] + " " +
            std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " base " +
            std::to_string(S::lead));
  }
}

/// Sizes in base tiles: m, n and k by themselves, and all.
template <typename TA, typename TB, typename S>
void sweep(Cases& cases) {
  constexpr int b = S::lead;
  constexpr int k = base_shape<TA, S>().along;
  check<TA, TB, b, b, k, S>(cases);
  check<TA, TB, 2 * b, b, k, S>(cases);
  check<TA, TB, b, 3 * b, k, S>(cases);
  check<TA, TB, b, b, 4 * k, S>(cases);
  check<TA, TB, 2 * b, 2 * b, 2 * k, S>(cases);
}

TEST(MmaSweep, SixteenBits) {
  Cases cases(80);
  sweep<bf16, bf16, rt_16x16_s>(cases);
  sweep<bf16, bf16, rt_32x32_s>(cases);
  sweep<half, half, rt_16x16_s>(cases);
  sweep<half, half, rt_32x32_s>(cases);
}
TEST(MmaSweep, EightBits) {
  Cases cases(200);
  sweep<fp8e4m3, fp8e4m3, rt_16x16_s>(cases);
  sweep<fp8e4m3, fp8e5m2, rt_16x16_s>(cases);
  sweep<fp8e5m2, fp8e4m3, rt_16x16_s>(cases);
  sweep<fp8e5m2, fp8e5m2, rt_16x16_s>(cases);
  sweep<int8_t, int8_t, rt_16x16_s>(cases);
  sweep<fp8e4m3, fp8e4m3, rt_32x32_s>(cases);
  sweep<fp8e4m3, fp8e5m2, rt_32x32_s>(cases);
  sweep<fp8e5m2, fp8e4m3, rt_32x32_s>(cases);
  sweep<fp8e5m2, fp8e5m2, rt_32x32_s>(cases);
  sweep<int8_t, int8_t, rt_32x32_s>(cases);
}
TEST(MmaSweep, WideElements) {
  Cases cases(60);
  sweep<float, float, rt_16x16_s>(cases);
  sweep<float, float, rt_32x32_s>(cases);
  sweep<double, double, rt_16x16_s>(cases);
}

}  // namespace
