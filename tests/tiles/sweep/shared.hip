// Maps, reductions and conversions of shared tiles and vectors, by a warp and by groups of warps.
#include "../profiled.h"
#include "support.h"

namespace {

using namespace tile_test;

double left_at(int r, int c) { return (r * 5 + c * 3) % 7 + 1; }
double right_at(int r, int c) { return 1 << ((r + 2 * c) % 3); }
double vector_at(int which, int i) { return 1 << ((i + which) % 3); }
double summand_at(int r, int c) { return (r * 3 + c * 4) % 5 - 2 + (c == r % 5 ? 1 : 0); }

constexpr int kMaps = 19;
constexpr int kReductions = 16;

template <typename ST, int warps>
__global__ void tile_operations(Global<typename ST::T> a, Global<typename ST::T> b,
                                Global<typename ST::T> vectors, Global<typename ST::T> sums,
                                Global<typename ST::T> out, Global<typename ST::T> reduced) {
  using T = typename ST::T;
  using G = group<warps>;
  extern __shared__ alignment_dummy memory[];
  shared_allocator<128> allocator(reinterpret_cast<int*>(&memory[0]));
  ST& x = allocator.template allocate<ST>();
  ST& y = allocator.template allocate<ST>();
  ST& z = allocator.template allocate<ST>();
  auto& rows = allocator.template allocate<typename ST::col_vec>();
  auto& cols = allocator.template allocate<typename ST::row_vec>();
  auto& r = allocator.template allocate<typename ST::col_vec>();
  auto& c = allocator.template allocate<typename ST::row_vec>();
  G::load(x, a, {0, 0});
  G::load(y, b, {0, 0});
  G::load(rows, vectors, {0, 0});
  G::load(cols, vectors, {1, 0});
  __syncthreads();
  int n = 0;
  const auto next = [&] {
    __syncthreads();
    G::store(out, z, {n++, 0, 0, 0});
    __syncthreads();
  };
  G::zero(z), next();
  G::one(z), next();
  G::copy(z, x), next();
  G::abs(z, x), next();
  G::relu(z, x), next();
  G::add(z, x, y), next();
  G::sub(z, x, y), next();
  G::mul(z, x, y), next();
  G::div(z, x, y), next();
  G::max(z, x, y), next();
  G::min(z, x, y), next();
  G::mul(z, x, as<T>(3)), next();
  G::add_row(z, x, rows), next();
  G::mul_row(z, x, rows), next();
  G::sub_col(z, x, cols), next();
  G::div_col(z, x, cols), next();
  G::broadcast_row(z, rows), next();
  G::broadcast_col(z, cols), next();
  G::add(z, z, z), next();

  G::load(x, sums, {0, 0});
  __syncthreads();
  int m = 0;
  const auto next_row = [&] {
    __syncthreads();
    G::store(reduced, r, {m++, 0});
    __syncthreads();
  };
  const auto next_col = [&] {
    __syncthreads();
    G::store(reduced, c, {m++, 0});
    __syncthreads();
  };
  G::row_max(r, x), next_row();
  G::row_min(r, x), next_row();
  G::row_sum(r, x), next_row();
  G::row_prod(r, y), next_row();
  G::row_max(r, x, rows), next_row();
  G::row_min(r, x, rows), next_row();
  G::row_sum(r, x, rows), next_row();
  G::row_prod(r, y, rows), next_row();
  G::col_max(c, x), next_col();
  G::col_min(c, x), next_col();
  G::col_sum(c, x), next_col();
  G::col_prod(c, y), next_col();
  G::col_max(c, x, cols), next_col();
  G::col_min(c, x, cols), next_col();
  G::col_sum(c, x, cols), next_col();
  G::col_prod(c, y, cols), next_col();
}

double map_reference(int n, int r, int c) {
  const double x = left_at(r, c), y = right_at(r, c), v = vector_at(0, r), w = vector_at(1, c);
  switch (n) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
    case 3:
    case 4:
      return x;
    case 5:
      return x + y;
    case 6:
      return x - y;
    case 7:
      return x * y;
    case 8:
      return x / y;
    case 9:
      return std::fmax(x, y);
    case 10:
      return std::fmin(x, y);
    case 11:
      return x * 3;
    case 12:
      return x + v;
    case 13:
      return x * v;
    case 14:
      return x - w;
    case 15:
      return x / w;
    case 16:
      return v;
    case 17:
      return w;
    default:
      return 2 * w;
  }
}

/// Factors whose products stay small in every type: ones, and one 2 per row and 16 columns.
double factor_at(int r, int c) { return c == r % 16 ? 2 : 1; }

template <typename T, int rows, int cols, int warps>
void check_tile(Cases& cases) {
  using ST = st<T, rows, cols>;
  constexpr size_t size = size_t{rows} * cols;
  constexpr int longest = rows > cols ? rows : cols;
  const bool small = is_whole<T> || sizeof(T) == 1;
  const auto right = [=](int r, int c) { return small ? factor_at(r, c) : factor_at(r, c); };
  Buffer<T> a(filled<T>(rows, cols, left_at)), b(filled<T>(rows, cols, right));
  Buffer<T> vectors(filled<T>(2, longest, vector_at)), sums(filled<T>(rows, cols, summand_at));
  Buffer<T> out(kMaps * size), reduced(size_t{kReductions} * longest);
  tile_operations<ST, warps><<<1, 64 * warps, 4 * sizeof(ST) + 8 * longest * sizeof(T)>>>(
      tensor(a, rows, cols), tensor(b, rows, cols), tensor(vectors, 2, longest),
      tensor(sums, rows, cols), tensor(out, rows, cols, 1, kMaps),
      tensor(reduced, kReductions, longest));
  const std::string what = std::string(name_of<T>()) + " " + std::to_string(rows) + "x" +
                           std::to_string(cols) + " by " + std::to_string(warps);
  const auto got = out.read(), vector = reduced.read();
  for (int n = 0; n < kMaps; ++n) {
    cases.expect<T>(
        got, n * size, rows, cols,
        [&](int r, int c) {
          const double x = left_at(r, c), y = right(r, c);
          switch (n) {
            case 5:
              return x + y;
            case 6:
              return x - y;
            case 7:
              return x * y;
            case 8:
              return is_whole<T> ? std::trunc(x / y) : x / y;
            case 9:
              return std::fmax(x, y);
            case 10:
              return std::fmin(x, y);
            case 15:
              return is_whole<T> ? std::trunc(map_reference(n, r, c)) : map_reference(n, r, c);
            default:
              return map_reference(n, r, c);
          }
        },
        what + " map " + std::to_string(n));
  }
  for (int n = 0; n < kReductions; ++n) {
    const bool by_row = n < 8;
    const int op = n % 4;
    cases.expect<T>(
        vector, size_t(n) * longest, 1, by_row ? rows : cols,
        [&](int, int i) {
          double result = op == 0 ? -INFINITY : op == 1 ? INFINITY : op == 2 ? 0 : 1;
          for (int k = 0; k < (by_row ? cols : rows); ++k) {
            const int r = by_row ? i : k, c = by_row ? k : i;
            const double x = op == 3 ? right(r, c) : summand_at(r, c);
            result = op == 0   ? std::fmax(result, x)
                     : op == 1 ? std::fmin(result, x)
                     : op == 2 ? result + x
                               : result * x;
          }
          if (n % 8 < 4) return result;
          const double start = vector_at(by_row ? 0 : 1, i);
          return op == 0   ? std::fmax(result, start)
                 : op == 1 ? std::fmin(result, start)
                 : op == 2 ? result + start
                           : result * start;
        },
        what + " reduction " + std::to_string(n));
  }
}
template <typename T, int warps>
void check_sizes(Cases& cases) {
  constexpr int narrow = sizeof(T) == 1 ? 32 : 16;
  check_tile<T, 16, narrow, warps>(cases);
  check_tile<T, 32, 64, warps>(cases);
  check_tile<T, 48, 3 * narrow, warps>(cases);
}
template <typename T>
void check_groups(Cases& cases) {
  check_sizes<T, 1>(cases);
  check_sizes<T, 4>(cases);
}
TEST(SharedSweep, Float) {
  Cases cases(200);
  check_groups<float>(cases);
  check_tile<float, 32, 32, 2>(cases);
}
TEST(SharedSweep, Bf16) {
  Cases cases(200);
  check_groups<bf16>(cases);
  check_tile<bf16, 64, 64, 8>(cases);
}
TEST(SharedSweep, Half) {
  Cases cases(200);
  check_groups<half>(cases);
}
TEST(SharedSweep, Others) {
  Cases cases(200);
  check_tile<int8_t, 32, 64, 2>(cases);
  check_tile<fp8e4m3, 32, 32, 4>(cases);
  check_tile<fp8e5m2, 16, 64, 1>(cases);
  check_tile<int, 32, 32, 4>(cases);
  check_tile<double, 32, 32, 4>(cases);
  check_tile<double, 16, 48, 1>(cases);
}

// --- conversions, subtiles, the warp's own names ---

template <typename T, typename U, int rows, int cols, int warps>
__global__ void converted(Global<T> src, Global<U> out) {
  __shared__ st<T, rows, cols> a;
  __shared__ st<U, rows, cols> b;
  group<warps>::load(a, src, {0, 0});
  __syncthreads();
  group<warps>::copy(b, a);
  __syncthreads();
  group<warps>::store(out, b, {0, 0});
}
template <typename T, typename U, int warps>
void check_copy(Cases& cases) {
  constexpr int rows = 32, cols = 96;
  Buffer<T> src(filled<T>(rows, cols, left_at));
  Buffer<U> out(size_t{rows} * cols);
  converted<T, U, rows, cols, warps>
      <<<1, 64 * warps>>>(tensor(src, rows, cols), tensor(out, rows, cols));
  cases.expect<U>(out.read(), 0, rows, cols, left_at,
                  std::string(name_of<T>()) + " to " + name_of<U>());
}
template <typename T>
void check_from(Cases& cases) {
  check_copy<T, float, 1>(cases);
  check_copy<T, bf16, 4>(cases);
  check_copy<T, half, 2>(cases);
  check_copy<T, fp8e4m3, 4>(cases);
  check_copy<T, double, 1>(cases);
}
TEST(SharedSweep, Conversions) {
  Cases cases(25);
  check_from<float>(cases);
  check_from<bf16>(cases);
  check_from<half>(cases);
  check_from<int8_t>(cases);
  check_from<double>(cases);
}

/// One warp works on a part of a tile while the other does not: no barrier may be inside.
__global__ void by_one_warp(Global<float> src, Global<float> out) {
  __shared__ st_fl<64, 64> tile;
  __shared__ sv_fl<32> sums;
  load(tile, src, {0, 0});
  __syncthreads();
  if (warpid() == 1) {
    auto part = subtile_inplace<32, 32>(tile, {1, 0});
    row_sum(sums, part);
    add_row(part, part, sums);
    exp2(sums, sums);
  }
  __syncthreads();
  store(out, tile, {0, 0});
}
TEST(SharedSweep, PartsOfTilesByOneWarp) {
  Buffer<float> src(filled<float>(64, 64, summand_at)), out(64 * 64);
  by_one_warp<<<1, 128>>>(tensor(src, 64, 64), tensor(out, 64, 64));
  Cases cases(1);
  cases.expect<float>(
      out.read(), 0, 64, 64,
      [](int r, int c) {
        double sum = 0;
        for (int k = 0; k < 32; ++k) sum += summand_at(r, k);
        return summand_at(r, c) + (r >= 32 && c < 32 ? sum : 0);
      },
      "a subtile");
}

// --- vectors ---

template <typename T, int length, int warps>
__global__ void vector_operations(Global<T> src, Global<T> out, float* scalars) {
  using G = group<warps>;
  __shared__ sv<T, length> a, b, c;
  G::load(a, src, {0, 0});
  G::load(b, src, {1, 0});
  __syncthreads();
  int n = 0;
  const auto next = [&] {
    __syncthreads();
    G::store(out, c, {n++, 0});
    __syncthreads();
  };
  G::zero(c), next();
  G::copy(c, a), next();
  G::add(c, a, b), next();
  G::sub(c, a, b), next();
  G::mul(c, a, b), next();
  G::div(c, a, b), next();
  G::max(c, a, as<T>(4)), next();
  G::min(c, a, b), next();
  T s[5];
  G::sum(s[0], a);
  G::max(s[1], a);
  G::min(s[2], a);
  G::prod(s[3], b);
  G::sum(s[4], a, as<T>(2));
  if (threadIdx.x == warps * 64 - 1) {
    for (int i = 0; i < 5; ++i) scalars[i] = as_float(s[i]);
  }
}
template <typename T, int length, int warps>
void check_vector(Cases& cases) {
  const auto a = [](int i) { return (i * 3) % 7 - 3 + (i == 9 ? 8 : 0); };
  const auto b = [](int i) { return i == 11 ? 4 : 1; };
  Buffer<T> src(filled<T>(2, length, [&](int r, int i) { return r == 0 ? a(i) : b(i); }));
  Buffer<T> out(8 * length);
  Buffer<float> scalars(5);
  vector_operations<T, length, warps>
      <<<1, 64 * warps>>>(tensor(src, 2, length), tensor(out, 8, length), scalars.get());
  const auto got = out.read();
  const std::string what =
      std::string(name_of<T>()) + " " + std::to_string(length) + " by " + std::to_string(warps);
  for (int n = 0; n < 8; ++n) {
    cases.expect<T>(
        got, size_t(n) * length, 1, length,
        [&](int, int i) -> double {
          const double x = a(i), y = b(i);
          const double all[] = {0, x, x + y, x - y, x * y, x / y, std::fmax(x, 4), std::fmin(x, y)};
          return all[n];
        },
        what + " vector map " + std::to_string(n));
  }
  double sum = 0;
  for (int i = 0; i < length; ++i) sum += a(i);
  const auto s = scalars.read();
  EXPECT_EQ(s[0], as_float(rounded<T>(sum))) << what;
  EXPECT_EQ(s[1], a(9) > 3 ? a(9) : 3) << what;
  EXPECT_EQ(s[2], -3) << what;
  EXPECT_EQ(s[3], 4) << what;
  EXPECT_EQ(s[4], as_float(rounded<T>(sum + 2))) << what;
}
template <typename T>
void check_vectors(Cases& cases) {
  check_vector<T, 16, 1>(cases);
  check_vector<T, 64, 1>(cases);
  check_vector<T, 208, 4>(cases);
}
TEST(SharedSweep, Vectors) {
  Cases cases(70);
  check_vectors<float>(cases);
  check_vectors<bf16>(cases);
  check_vectors<half>(cases);
  check_vectors<double>(cases);
}

}  // namespace
