// Maps, row and column maps, reductions and masks of register tiles: every element type, layout and
// base shape.
#include "support.h"

namespace {

using namespace tile_test;

// --- maps ---

/// Calls f(index, operation) for every unary and binary operation that a type has.
template <typename T, typename F>
__host__ __device__ void for_unary(F&& f) {
  f(0, base_ops::copy{});
  f(1, base_ops::abs{});
  f(2, base_ops::relu{});
  f(3, base_ops::zero{});
  f(4, base_ops::one{});
  if constexpr (!is_whole<T>) {
    f(5, base_ops::exp{});
    f(6, base_ops::exp2{});
    f(7, base_ops::log{});
    f(8, base_ops::log2{});
  }
  if constexpr (has_infinity<T>) {
    f(9, base_ops::pos_infty{});
    f(10, base_ops::neg_infty{});
  }
}
constexpr int kUnary = 11;

double unary_reference(int n, double x) {
  switch (n) {
    case 0:
      return x;
    case 1:
      return std::fabs(x);
    case 2:
      return std::fmax(x, 0.0);
    case 3:
      return 0;
    case 4:
      return 1;
    case 5:
      return std::exp(x);
    case 6:
      return std::exp2(x);
    case 7:
      return std::log(x);
    case 8:
      return std::log2(x);
    case 9:
      return INFINITY;
    default:
      return -INFINITY;
  }
}
const char* const kUnaryNames[] = {"copy", "abs", "relu", "zero",      "one",      "exp",
                                   "exp2", "log", "log2", "pos_infty", "neg_infty"};

template <typename T, typename F>
__host__ __device__ void for_binary(F&& f) {
  f(0, base_ops::sum{});
  f(1, base_ops::sub{});
  f(2, base_ops::mul{});
  f(3, base_ops::div{});
  f(4, base_ops::max{});
  f(5, base_ops::min{});
}
constexpr int kBinary = 6;
template <typename T>
double binary_reference(int n, double x, double y) {
  switch (n) {
    case 0:
      return x + y;
    case 1:
      return x - y;
    case 2:
      return x * y;
    case 3:
      return is_whole<T> ? std::trunc(x / y) : x / y;
    case 4:
      return std::fmax(x, y);
    default:
      return std::fmin(x, y);
  }
}
const char* const kBinaryNames[] = {"add", "sub", "mul", "div", "max", "min"};

/// The results are batches of `out`: unary, binary with a tile, binary with a scalar, then rows and
/// columns with a vector.
template <typename RT>
__global__ void all_maps(Global<typename RT::T> a, Global<typename RT::T> b,
                         Global<typename RT::T> vectors, Global<typename RT::T> out) {
  using T = typename RT::T;
  RT x, y, z;
  load(x, a, {0, 0});
  load(y, b, {0, 0});
  for_unary<T>([&](int n, auto op) {
    unary_map<decltype(op)>(z, x);
    store(out, z, {n, 0, 0, 0});
  });
  for_binary<T>([&](int n, auto op) {
    bin_map<decltype(op)>(z, x, y);
    store(out, z, {kUnary + n, 0, 0, 0});
    bin_map<decltype(op)>(z, x, as<T>(3));
    store(out, z, {kUnary + kBinary + n, 0, 0, 0});
  });
  typename RT::col_vec rows;
  typename RT::row_vec cols;
  load(rows, vectors, {0, 0});
  load(cols, vectors, {1, 0});
  constexpr int first = kUnary + 2 * kBinary;
  add_row(z, x, rows), store(out, z, {first, 0, 0, 0});
  sub_row(z, x, rows), store(out, z, {first + 1, 0, 0, 0});
  mul_row(z, x, rows), store(out, z, {first + 2, 0, 0, 0});
  div_row(z, x, rows), store(out, z, {first + 3, 0, 0, 0});
  add_col(z, x, cols), store(out, z, {first + 4, 0, 0, 0});
  sub_col(z, x, cols), store(out, z, {first + 5, 0, 0, 0});
  mul_col(z, x, cols), store(out, z, {first + 6, 0, 0, 0});
  div_col(z, x, cols), store(out, z, {first + 7, 0, 0, 0});
  broadcast_row(z, rows), store(out, z, {first + 8, 0, 0, 0});
  broadcast_col(z, cols), store(out, z, {first + 9, 0, 0, 0});
}
constexpr int kMaps = kUnary + 2 * kBinary + 10;

/// Small numbers that every type holds exactly; never 0 for the divisor.
double left_at(int r, int c) { return (r * 5 + c * 3) % 7 + 1; }
double right_at(int r, int c) { return 1 << ((r + 2 * c) % 3); }
double vector_at(int which, int i) { return which == 0 ? 1 << (i % 3) : 1 << ((i + 1) % 3); }

template <typename RT>
void check_maps(Cases& cases) {
  using T = typename RT::T;
  constexpr int rows = RT::rows, cols = RT::cols;
  constexpr size_t size = size_t{rows} * cols;
  const int longest = rows > cols ? rows : cols;
  Buffer<T> a(filled<T>(rows, cols, left_at)), b(filled<T>(rows, cols, right_at));
  Buffer<T> vectors(filled<T>(2, longest, vector_at));
  Buffer<T> out(kMaps * size);
  all_maps<RT><<<1, 64>>>(tensor(a, rows, cols), tensor(b, rows, cols), tensor(vectors, 2, longest),
                          tensor(out, rows, cols, 1, kMaps));
  const auto got = out.read();
  const std::string tile = tile_name<RT>();
  for_unary<T>([&](int n, auto) {
    cases.expect(
        got, n * size, rows, cols, [&](int r, int c) { return unary_reference(n, left_at(r, c)); },
        tile + " " + kUnaryNames[n], n >= 5 && n <= 8 ? 64 : 0);
  });
  for_binary<T>([&](int n, auto) {
    cases.expect(
        got, (kUnary + n) * size, rows, cols,
        [&](int r, int c) { return binary_reference<T>(n, left_at(r, c), right_at(r, c)); },
        tile + " " + kBinaryNames[n]);
    // A third is no power of two: float division by it is within 1 ulp (2.5 by HIP's rules).
    cases.expect(
        got, (kUnary + kBinary + n) * size, rows, cols,
        [&](int r, int c) { return binary_reference<T>(n, left_at(r, c), 3); },
        tile + " " + kBinaryNames[n] + " scalar", n == 3 && !is_whole<T> ? 5 : 0);
  });
  for (int which = 0; which < 10; ++which) {
    const bool by_row = which < 4 || which == 8;
    cases.expect(
        got, (kUnary + 2 * kBinary + which) * size, rows, cols,
        [&](int r, int c) {
          const double v = by_row ? vector_at(0, r) : vector_at(1, c);
          return which >= 8 ? v : binary_reference<T>(which % 4, left_at(r, c), v);
        },
        tile + (by_row ? " row map " : " col map ") + std::to_string(which));
  }
}

// --- reductions ---

template <typename RT>
__global__ void all_reductions(Global<typename RT::T> sums, Global<typename RT::T> products,
                               Global<typename RT::T> start, Global<typename RT::T> out) {
  RT x, p;
  load(x, sums, {0, 0});
  load(p, products, {0, 0});
  typename RT::col_vec r, r0;
  typename RT::row_vec c, c0;
  load(r0, start, {0, 0});
  load(c0, start, {1, 0});
  row_max(r, x), store(out, r, {0, 0});
  row_min(r, x), store(out, r, {1, 0});
  row_sum(r, x), store(out, r, {2, 0});
  row_prod(r, p), store(out, r, {3, 0});
  row_max(r, x, r0), store(out, r, {4, 0});
  row_min(r, x, r0), store(out, r, {5, 0});
  row_sum(r, x, r0), store(out, r, {6, 0});
  row_prod(r, p, r0), store(out, r, {7, 0});
  col_max(c, x), store(out, c, {8, 0});
  col_min(c, x), store(out, c, {9, 0});
  col_sum(c, x), store(out, c, {10, 0});
  col_prod(c, p), store(out, c, {11, 0});
  col_max(c, x, c0), store(out, c, {12, 0});
  col_min(c, x, c0), store(out, c, {13, 0});
  col_sum(c, x, c0), store(out, c, {14, 0});
  col_prod(c, p, c0), store(out, c, {15, 0});
}

/// Sums and products of these stay small: the largest element moves, the rest nearly cancels.
double summand_at(int r, int c) { return (r * 3 + c * 4) % 5 - 2 + (c == r % 5 ? 1 : 0); }
double factor_at(int r, int c) { return (c == r % 16 ? 2.0 : 1.0) * ((r + c) % 3 == 0 ? -1 : 1); }
double start_at(int which, int i) { return (which + i) % 3 - 1; }

/// Of elements (0, 0) to (0, count - 1).
double reduced(int op, int count, Element element, double start, bool with_start) {
  double result = element(0, 0);
  for (int i = 1; i < count; ++i) {
    const double x = element(0, i);
    if (op == 0) result = std::fmax(result, x);
    if (op == 1) result = std::fmin(result, x);
    if (op == 2) result += x;
    if (op == 3) result *= x;
  }
  if (!with_start) return result;
  if (op == 0) return std::fmax(result, start);
  if (op == 1) return std::fmin(result, start);
  return op == 2 ? result + start : result * start;
}
const char* const kReductionNames[] = {"max", "min", "sum", "prod"};

template <typename RT>
void check_reductions(Cases& cases) {
  using T = typename RT::T;
  constexpr int rows = RT::rows, cols = RT::cols;
  constexpr int longest = rows > cols ? rows : cols;
  Buffer<T> sums(filled<T>(rows, cols, summand_at)), products(filled<T>(rows, cols, factor_at));
  Buffer<T> start(filled<T>(2, longest, start_at));
  Buffer<T> out(16 * longest);
  all_reductions<RT><<<1, 64>>>(tensor(sums, rows, cols), tensor(products, rows, cols),
                                tensor(start, 2, longest), tensor(out, 16, longest));
  const auto got = out.read();
  for (int n = 0; n < 16; ++n) {
    const bool by_row = n < 8;
    const int op = n % 4;
    cases.expect(
        got, static_cast<size_t>(n) * longest, 1, by_row ? rows : cols,
        [&](int, int i) {
          return reduced(
              op, by_row ? cols : rows,
              [&](int, int k) {
                const int r = by_row ? i : k, c = by_row ? k : i;
                return op == 3 ? factor_at(r, c) : summand_at(r, c);
              },
              start_at(by_row ? 0 : 1, i), n % 8 >= 4);
        },
        tile_name<RT>() + (by_row ? " row_" : " col_") + kReductionNames[op] +
            (n % 8 >= 4 ? " with start" : ""));
  }
}

// --- masks ---

template <typename RT>
__global__ void all_masks(Global<typename RT::T> src, Global<typename RT::T> out, int index) {
  using T = typename RT::T;
  RT x, z;
  load(x, src, {0, 0});
  const T v = as<T>(9);
  make_causal(z, x, v), store(out, z, {0, 0, 0, 0});
  make_causal_t(z, x, v), store(out, z, {1, 0, 0, 0});
  tril(z, x, index, v), store(out, z, {2, 0, 0, 0});
  triu(z, x, index, v), store(out, z, {3, 0, 0, 0});
  right_fill(z, x, index, v), store(out, z, {4, 0, 0, 0});
  left_fill(z, x, index, v), store(out, z, {5, 0, 0, 0});
  upper_fill(z, x, index, v), store(out, z, {6, 0, 0, 0});
  lower_fill(z, x, index, v), store(out, z, {7, 0, 0, 0});
  tril(x, x, -index), store(out, x, {8, 0, 0, 0});
}

template <typename RT>
void check_masks(Cases& cases) {
  using T = typename RT::T;
  constexpr int rows = RT::rows, cols = RT::cols;
  // Inside, at the ends and outside of the tile.
  for (int index : {5, 0, -3, cols, 1000}) {
    Buffer<T> src(filled<T>(rows, cols, left_at));
    Buffer<T> out(size_t{9} * rows * cols);
    all_masks<RT><<<1, 64>>>(tensor(src, rows, cols), tensor(out, rows, cols, 1, 9), index);
    const auto got = out.read();
    const auto keeps = [&](int n, int r, int c) {
      switch (n) {
        case 0:
          return c <= r;
        case 1:
          return c >= r;
        case 2:
          return c <= r - index;
        case 3:
          return c >= r - index;
        case 4:
          return c < index;
        case 5:
          return c >= index;
        case 6:
          return r >= index;
        case 7:
          return r < index;
        default:
          return c <= r + index;
      }
    };
    for (int n = 0; n < 9; ++n) {
      cases.expect(
          got, static_cast<size_t>(n) * rows * cols, rows, cols,
          [&](int r, int c) { return keeps(n, r, c) ? left_at(r, c) : (n == 8 ? 0 : 9); },
          tile_name<RT>() + " mask " + std::to_string(n) + " at " + std::to_string(index));
    }
  }
}

template <typename T>
void sweep(Cases& cases) {
  for_tiles<T>([&]<typename RT>() { check_maps<RT>(cases); });
  for_tiles<T>([&]<typename RT>() { check_reductions<RT>(cases); });
  using Base = rt<T, TileFacts<rt<T, 32, 32>>::rows * 2, 32>;
  check_masks<Base>(cases);
  check_masks<rt<T, 32, 32, col_l>>(cases);
  if constexpr (sizeof(T) <= 4) check_masks<rt<T, 32, 64, row_l, rt_32x32_s>>(cases);
}

#if defined(SWEEP_WIDE)
TEST(RegisterSweep, Float) {
  Cases cases(600);
  sweep<float>(cases);
}
TEST(RegisterSweep, Double) {
  Cases cases(300);
  sweep<double>(cases);
}
TEST(RegisterSweep, Int) {
  Cases cases(300);
  sweep<int>(cases);
}
TEST(RegisterSweep, Int8) {
  Cases cases(300);
  sweep<int8_t>(cases);
}
#else
TEST(RegisterSweep, Bf16) {
  Cases cases(600);
  sweep<bf16>(cases);
}
TEST(RegisterSweep, Half) {
  Cases cases(600);
  sweep<half>(cases);
}
TEST(RegisterSweep, Fp8e4m3) {
  Cases cases(300);
  sweep<fp8e4m3>(cases);
}
TEST(RegisterSweep, Fp8e5m2) {
  Cases cases(300);
  sweep<fp8e5m2>(cases);
}
#endif

}  // namespace
