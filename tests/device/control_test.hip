// Divergence, calls, exchange between lanes, barriers and LDS: what a program computes that the
// host computes in plain loops.
#include <array>
#include <numeric>

#include "judge.h"

namespace {

using judge::Buffer;
using judge::expect_as;
using judge::expect_equal;
using judge::expect_same;
using judge::list;

// ---- Divergence -----------------------------------------------------------------------------

JUDGE_BOTH int collatz(unsigned n) {
  int steps = 0;
  while (n != 1 && steps < 1000) {
    if (n % 2 == 0)
      n /= 2;
    else
      n = 3 * n + 1;
    ++steps;
  }
  return steps;
}
JUDGE_BOTH int classify(int x) {
  switch (x % 11) {
    case 0:
      return 100;
    case 1:
    case 2:
      x *= 3;
      [[fallthrough]];
    case 3:
      return x + 7;
    case 4:
      if (x & 16) return -1;
      break;
    case 5:
      for (int i = 0; i < x % 9; ++i) x += i * x % 5;
      return x;
    case 9:
      x = -x;
      break;
    default:
      return x % 3 == 0 ? x << 2 : x >> 1;
  }
  return x ^ 0x55;
}
JUDGE_BOTH int nested(int x) {
  int sum = 0;
  for (int i = 0; i < x % 7 + 1; ++i) {
    for (int j = 0; j < 10; ++j) {
      if (j == x % 10) break;
      if ((i + j) % 3 == 0) continue;
      for (int k = j; k < x % 5; ++k) {
        sum += i * j + k;
        if (sum > 500) goto out;
      }
    }
    if (sum % 13 == 12) return -sum;
  }
out:
  do {
    sum -= 3;
  } while (sum > x);
  return sum;
}
TEST(Divergence, loops_and_branches) {
  std::vector<int> in(3000);
  std::iota(in.begin(), in.end(), 1);
  expect_same(
      "divergent control flow",
      [] JUDGE_BOTH(int x) {
        return list<int>(collatz(static_cast<unsigned>(x)), classify(x),
                         classify(x * 7919 & 0xffff), nested(x), nested(x * 31));
      },
      in);
}
TEST(Divergence, early_return) {
  std::vector<int> in(1000);
  std::iota(in.begin(), in.end(), 0);
  expect_same(
      "early return",
      [] JUDGE_BOTH(int x) {
        if (x % 3 == 0) return x;
        if (x % 64 > 40) return -x;
        int y = x;
        // Unsigned, so that it may wrap; bounded, because some starting values run into a cycle.
        for (int turn = 0; turn < 500; ++turn) {
          y = static_cast<int>(y * 1103515245u % 8191) + 12345;
          if (y % 17 == x % 17) return y;
          if (y % 31 == 0) break;
        }
        return y + 1;
      },
      in);
}

// ---- Calls ----------------------------------------------------------------------------------

__host__ __device__ __attribute__((noinline)) int square_plus(int x, int y) { return x * x + y; }
__host__ __device__ __attribute__((noinline)) int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__host__ __device__ __attribute__((noinline)) int is_odd(int n);
__host__ __device__ __attribute__((noinline)) int is_even(int n) {
  return n == 0 ? 1 : is_odd(n - 1);
}
__host__ __device__ int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
struct Big {
  int at[24];
};
__host__ __device__ __attribute__((noinline)) Big make_big(int seed) {
  Big b;
  for (int i = 0; i < 24; ++i) b.at[i] = seed * (i + 1) ^ i;
  return b;
}
__host__ __device__ __attribute__((noinline)) long sum_big(Big b, int from, double scale, Big c) {
  long s = 0;
  for (int i = from; i < 24; ++i) s += b.at[i] * 3L - c.at[23 - i];
  return s + static_cast<long>(scale * 2);
}
TEST(Calls, functions_and_recursion) {
  std::vector<int> in(300);
  std::iota(in.begin(), in.end(), 0);
  expect_same(
      "calls",
      [] JUDGE_BOTH(int x) {
        return list<long>(square_plus(x, square_plus(x % 9, 1)), fibonacci(x % 11), is_even(x % 40),
                          sum_big(make_big(x), x % 24, x * 0.75, make_big(x + 5)));
      },
      in);
}

using Function = int (*)(int, int);
__device__ __attribute__((noinline)) int pick_add(int a, int b) { return a + b; }
__device__ __attribute__((noinline)) int pick_mul(int a, int b) { return a * b; }
__device__ __attribute__((noinline)) int pick_sub(int a, int b) { return a - b; }
__device__ Function table[3] = {pick_add, pick_mul, pick_sub};
__global__ void call_through_pointers(int* out) {
  const int i = threadIdx.x;
  out[i] = table[i % 3](i, 5);
}
TEST(Calls, function_pointers_that_differ_by_lane) {
  Buffer<int> out(64);
  call_through_pointers<<<1, 64>>>(out.get());
  const auto got = out.read();
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(got[i], i % 3 == 0 ? i + 5 : i % 3 == 1 ? i * 5 : i - 5) << "lane " << i;
}
struct Shape {
  __device__ virtual int area() const = 0;
  int a;
};
struct Rectangle : Shape {
  int b;
  __device__ int area() const override { return a * b; }
};
struct Square : Shape {
  __device__ int area() const override { return a * a; }
};
__global__ void call_virtual(int* out) {
  Rectangle r;
  Square s;
  r.a = s.a = threadIdx.x;
  r.b = 3;
  const Shape* shape = threadIdx.x % 2 ? static_cast<const Shape*>(&r) : &s;
  out[threadIdx.x] = shape->area();
}
TEST(Calls, virtual_functions) {
  Buffer<int> out(64);
  call_virtual<<<1, 64>>>(out.get());
  const auto got = out.read();
  for (int i = 0; i < 64; ++i) ASSERT_EQ(got[i], i % 2 ? i * 3 : i * i) << "lane " << i;
}

// ---- Local arrays ---------------------------------------------------------------------------

TEST(Scratch, dynamic_index) {
  std::vector<int> in(640);
  std::iota(in.begin(), in.end(), 0);
  expect_same(
      "arrays in scratch and registers",
      [] JUDGE_BOTH(int x) {
        int large[100];
        short shorts[33];
        char chars[57];
        double doubles[9];
        for (int i = 0; i < 100; ++i) large[i] = i * x;
        for (int i = 0; i < 33; ++i) shorts[i] = static_cast<short>(i * 1000 + x);
        for (int i = 0; i < 57; ++i) chars[i] = static_cast<char>(i * 7 ^ x);
        for (int i = 0; i < 9; ++i) doubles[i] = i * 0.5 + x;
        large[(x * 7) % 100] += 11;
        shorts[x % 33] ^= 0x1234;
        chars[x % 57] = 99;
        doubles[x % 9] *= 2;
        long sum = 0;
        for (int i = 0; i < 20; ++i)
          sum += large[(x + i * 13) % 100] * 3L + shorts[(x * i) % 33] * 5L +
                 chars[(x + i * i) % 57] * 7L + static_cast<long>(doubles[(x ^ i) % 9] * 2);
        int* const p = x % 2 ? &large[x % 50] : &large[50 + x % 50];
        *p += 1;
        return sum + p[x % 5 - 2 < 0 ? 0 : x % 5 - 2];
      },
      in);
}
__global__ void index_in_registers(int* out, const int* in, int k) {
  int v[16];
  for (int i = 0; i < 16; ++i) v[i] = in[i * 64 + threadIdx.x];
  v[k] = 7000;
  int sum = v[k ^ 3];
  for (int i = 0; i < 16; ++i) sum += v[i] * i;
  out[threadIdx.x] = sum;
}
__global__ void index_in_registers_by_lane(int* out, const int* in) {
  int v[8];
  for (int i = 0; i < 8; ++i) v[i] = in[i * 64 + threadIdx.x];
  v[threadIdx.x % 8] = 5000;
  out[threadIdx.x] = v[threadIdx.x / 8] + v[3];
}
TEST(Scratch, arrays_in_registers) {
  std::vector<int> in(1024);
  for (int i = 0; i < 1024; ++i) in[i] = i * 37 % 1001;
  const Buffer<int> source(in), out(64);
  for (int k = 0; k < 16; ++k) {
    index_in_registers<<<1, 64>>>(out.get(), source.get(), k);
    const auto got = out.read();
    for (int lane = 0; lane < 64; ++lane) {
      int sum = (k ^ 3) == k ? 7000 : in[(k ^ 3) * 64 + lane];
      for (int i = 0; i < 16; ++i) sum += (i == k ? 7000 : in[i * 64 + lane]) * i;
      ASSERT_EQ(got[lane], sum) << "k " << k << " lane " << lane;
    }
  }
  index_in_registers_by_lane<<<1, 64>>>(out.get(), source.get());
  const auto got = out.read();
  for (int lane = 0; lane < 64; ++lane) {
    const auto at = [&](int i) { return i == lane % 8 ? 5000 : in[i * 64 + lane]; };
    ASSERT_EQ(got[lane], at(lane / 8) + at(3)) << "lane " << lane;
  }
}

// ---- Between lanes --------------------------------------------------------------------------

constexpr int kWave = 64;
template <typename T>
__global__ void shuffles(T* out, const T* in) {
  const int lane = threadIdx.x % kWave, i = threadIdx.x, n = blockDim.x;
  const T x = in[i];
  out[i] = __shfl(x, lane * 7 % 64);
  out[n + i] = __shfl_up(x, 3);
  out[2 * n + i] = __shfl_down(x, 5);
  out[3 * n + i] = __shfl_xor(x, 9);
  out[4 * n + i] = __shfl(x, (lane + 3) % 16, 16);
  out[5 * n + i] = __shfl_up(x, 2, 8);
  out[6 * n + i] = __shfl_down(x, 1, 4);
  out[7 * n + i] = __shfl_xor(x, 16, 32);
  out[8 * n + i] = __shfl_xor(x, 1);
  out[9 * n + i] = __shfl_xor(x, 2);
}
template <typename T>
void check_shuffles() {
  std::vector<T> in(128);
  for (int i = 0; i < 128; ++i) in[i] = static_cast<T>(i * 1000003 + 17);
  const Buffer<T> source(in), out(128 * 10);
  shuffles<<<1, 128>>>(out.get(), source.get());
  const auto got = out.read();
  for (int i = 0; i < 128; ++i) {
    const int lane = i % 64, base = i - lane;
    const auto at = [&](int l) { return in[base + l]; };
    const T expected[] = {at(lane * 7 % 64),
                          at(lane < 3 ? lane : lane - 3),
                          at(lane + 5 > 63 ? lane : lane + 5),
                          at(lane ^ 9),
                          at((lane & ~15) | ((lane + 3) & 15)),
                          at(lane % 8 < 2 ? lane : lane - 2),
                          at(lane % 4 == 3 ? lane : lane + 1),
                          at(lane ^ 16),
                          at(lane ^ 1),
                          at(lane ^ 2)};
    for (int k = 0; k < 10; ++k)
      ASSERT_EQ(got[128 * k + i], expected[k]) << "form " << k << " " << i;
  }
}
TEST(Lanes, shuffles_of_int) { check_shuffles<int>(); }
TEST(Lanes, shuffles_of_float) { check_shuffles<float>(); }
TEST(Lanes, shuffles_of_double) { check_shuffles<double>(); }
TEST(Lanes, shuffles_of_long) { check_shuffles<long long>(); }

__global__ void votes(unsigned long long* out, int threshold) {
  const int lane = threadIdx.x % kWave;
  out[threadIdx.x * 8] = __ballot(lane > threshold);
  out[threadIdx.x * 8 + 1] = __any(lane > threshold);
  out[threadIdx.x * 8 + 2] = __all(lane > threshold);
  if (lane % 3 == 1) {
    out[threadIdx.x * 8 + 3] = __ballot(lane > threshold);
    out[threadIdx.x * 8 + 4] = __any(lane == 60);
    out[threadIdx.x * 8 + 5] = __all(lane < 64);
    out[threadIdx.x * 8 + 6] = __builtin_amdgcn_readfirstlane(lane * 5);
    out[threadIdx.x * 8 + 7] =
        __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(0xf0f0f0f0u, 3));
  }
}
TEST(Lanes, votes) {
  for (const int threshold : {-1, 0, 17, 62, 63}) {
    const Buffer<unsigned long long> out(128 * 8);
    votes<<<1, 128>>>(out.get(), threshold);
    const auto got = out.read();
    for (int i = 0; i < 128; ++i) {
      const int lane = i % 64;
      unsigned long long above = 0, third = 0;
      for (int l = 0; l < 64; ++l) {
        above |= static_cast<unsigned long long>(l > threshold) << l;
        third |= static_cast<unsigned long long>(l % 3 == 1) << l;
      }
      ASSERT_EQ(got[i * 8], above);
      ASSERT_EQ(got[i * 8 + 1], above != 0);
      ASSERT_EQ(got[i * 8 + 2], above == ~0ull);
      if (lane % 3 != 1) continue;
      ASSERT_EQ(got[i * 8 + 3], above & third);
      ASSERT_EQ(got[i * 8 + 4], 0u);
      ASSERT_EQ(got[i * 8 + 5], 1u);
      ASSERT_EQ(got[i * 8 + 6], 5u);
      const unsigned long long below = (1ull << lane) - 1;
      ASSERT_EQ(got[i * 8 + 7], 3u + __builtin_popcountll(below & 0xfffffffff0f0f0f0ull));
    }
  }
}

template <int control, bool bound>
__device__ int dpp(int old, int x) {
  return __builtin_amdgcn_update_dpp(old, x, control, 0xf, 0xf, bound);
}
__global__ void data_parallel_primitives(int* out) {
  const int lane = threadIdx.x, x = lane * 3 + 1000;
  int* const mine = out + lane * 14;
  mine[0] = dpp<0x1b, true>(-1, x);     // quad_perm 3,2,1,0
  mine[1] = dpp<0x101, false>(-1, x);   // row_shl:1
  mine[2] = dpp<0x113, true>(-1, x);    // row_shr:3, zero where there is no lane
  mine[3] = dpp<0x124, false>(-1, x);   // row_ror:4
  mine[4] = dpp<0x130, false>(-1, x);   // wave_shl:1
  mine[5] = dpp<0x134, false>(-1, x);   // wave_rol:1
  mine[6] = dpp<0x138, false>(-1, x);   // wave_shr:1
  mine[7] = dpp<0x13c, false>(-1, x);   // wave_ror:1
  mine[8] = dpp<0x140, false>(-1, x);   // row_mirror
  mine[9] = dpp<0x141, false>(-1, x);   // row_half_mirror
  mine[10] = dpp<0x142, false>(-1, x);  // row_bcast:15
  mine[11] = dpp<0x143, false>(-1, x);  // row_bcast:31
  mine[12] = dpp<0x155, false>(-1, x);  // row_newbcast:5
  mine[13] = __builtin_amdgcn_update_dpp(-1, x, 0x111, 0xa, 0x5, false);  // masks of rows and banks
}
TEST(Lanes, dpp) {
  const Buffer<int> out(64 * 14);
  data_parallel_primitives<<<1, 64>>>(out.get());
  const auto got = out.read();
  for (int lane = 0; lane < 64; ++lane) {
    const int row = lane & ~15, at = lane & 15;
    const auto x = [](int l) { return l * 3 + 1000; };
    const int expected[] = {x(lane ^ 3),
                            at == 15 ? -1 : x(lane + 1),
                            at < 3 ? 0 : x(lane - 3),
                            x(row | ((at + 12) & 15)),
                            lane == 63 ? -1 : x(lane + 1),
                            x((lane + 1) & 63),
                            lane == 0 ? -1 : x(lane - 1),
                            x((lane + 63) & 63),
                            x(row | (15 - at)),
                            x((lane & ~7) | (7 - (lane & 7))),
                            row == 0 ? -1 : x(row - 1),
                            lane < 32 ? -1 : x(31),
                            x(row | 5),
                            (lane / 16 & 1) && (lane / 4 % 2 == 0) && at != 0 ? x(lane - 1) : -1};
    for (int k = 0; k < 14; ++k)
      ASSERT_EQ(got[lane * 14 + k], expected[k]) << "form " << k << " lane " << lane;
  }
}
__global__ void permutes(int* out) {
  const int lane = threadIdx.x;
  int* const mine = out + lane * 6;
  mine[0] = __builtin_amdgcn_ds_permute(((lane * 5 + 1) & 63) * 4, lane + 100);
  mine[1] = __builtin_amdgcn_ds_bpermute(((lane * 5 + 1) & 63) * 4, lane + 100);
  mine[2] = __builtin_amdgcn_ds_swizzle(lane + 100, 0x041f);             // xor 1
  mine[3] = __builtin_amdgcn_ds_swizzle(lane + 100, 0x801b);             // quad 3,2,1,0
  mine[4] = __builtin_amdgcn_ds_swizzle(lane + 100, 0x1f | 0x10 << 10);  // swap halves of 32
  mine[5] = -1;
  if (lane % 2 == 0) mine[5] = __builtin_amdgcn_ds_bpermute((lane + 1) * 4 % 256, lane + 100);
}
TEST(Lanes, permute_and_swizzle) {
  const Buffer<int> out(64 * 6);
  permutes<<<1, 64>>>(out.get());
  const auto got = out.read();
  for (int lane = 0; lane < 64; ++lane) {
    int sender = 0;
    while (((sender * 5 + 1) & 63) != lane) ++sender;
    const int expected[] = {sender + 100,     ((lane * 5 + 1) & 63) + 100, (lane ^ 1) + 100,
                            (lane ^ 3) + 100, (lane ^ 16) + 100,           lane % 2 ? -1 : 0};
    for (int k = 0; k < 6; ++k)
      ASSERT_EQ(got[lane * 6 + k], expected[k]) << "form " << k << " lane " << lane;
  }
}

// ---- Barriers and LDS -----------------------------------------------------------------------

__global__ void tree_sum(long* out, const int* in) {
  extern __shared__ long partial[];
  const unsigned i = threadIdx.x;
  partial[i] = in[blockIdx.x * blockDim.x + i];
  __syncthreads();
  for (unsigned step = 512; step > 0; step /= 2) {
    if (i < step && i + step < blockDim.x) partial[i] += partial[i + step];
    __syncthreads();
  }
  if (i == 0) out[blockIdx.x] = partial[0];
}
TEST(Workgroup, tree_sums_of_all_sizes) {
  std::vector<int> in(1024 * 5);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 7919 % 10007);
  const Buffer<int> source(in);
  for (const unsigned size : {1u, 7u, 63u, 64u, 65u, 100u, 192u, 511u, 1000u, 1024u}) {
    const Buffer<long> out(5);
    tree_sum<<<5, size, size * sizeof(long)>>>(out.get(), source.get());
    const auto got = out.read();
    for (unsigned block = 0; block < 5; ++block)
      ASSERT_EQ(got[block],
                std::accumulate(in.begin() + block * size, in.begin() + (block + 1) * size, 0L))
          << "workgroup of " << size;
  }
}
__global__ void waves_that_leave_early(int* out) {
  __shared__ int seen[16];
  const unsigned wave = threadIdx.x / 64;
  if (threadIdx.x % 64 == 0) seen[wave] = wave * 10;
  __syncthreads();
  if (wave == 1 || wave == 3) return;  // the others' barriers must not wait for them
  __syncthreads();
  int sum = 0;
  for (unsigned w = 0; w < blockDim.x / 64; ++w) sum += seen[w];
  __syncthreads();
  out[threadIdx.x] = sum;
}
TEST(Workgroup, barriers_after_waves_ended) {
  const Buffer<int> out(512);
  waves_that_leave_early<<<1, 512>>>(out.get());
  const auto got = out.read();
  for (int i = 0; i < 512; ++i) ASSERT_EQ(got[i], i / 64 == 1 || i / 64 == 3 ? 0 : 280);
}

/// Every width, at every distance from its natural alignment: legal on the device.
struct __attribute__((packed, aligned(1))) Loose1 {
  std::uint8_t x;
};
template <typename T>
struct __attribute__((packed, aligned(1))) Loose {
  T x;
};
template <typename T>
__global__ void misaligned_lds(std::uint64_t* out, int shift) {
  __shared__ unsigned char bytes[64 * 24 + 16];
  const int i = threadIdx.x;
  for (int k = i; k < 64 * 24 + 16; k += 64) bytes[k] = static_cast<unsigned char>(k * 37 + 11);
  __syncthreads();
  auto* const p = reinterpret_cast<Loose<T>*>(bytes + i * 24 + shift);
  const T value = p->x;
  __syncthreads();
  p->x = static_cast<T>(value * 3 + 1);
  __syncthreads();
  std::uint64_t hash = value;
  for (int k = 0; k < 24; ++k) hash = hash * 31 + bytes[i * 24 + k];
  out[i] = hash;
}
template <typename T>
void check_misaligned() {
  for (int shift = 0; shift < 8; ++shift) {
    const Buffer<std::uint64_t> out(64);
    misaligned_lds<T><<<1, 64>>>(out.get(), shift);
    const auto got = out.read();
    std::vector<unsigned char> bytes(64 * 24 + 16);
    for (std::size_t k = 0; k < bytes.size(); ++k)
      bytes[k] = static_cast<unsigned char>(k * 37 + 11);
    for (int i = 0; i < 64; ++i) {
      T value;
      std::memcpy(&value, &bytes[i * 24 + shift], sizeof value);
      const T next = static_cast<T>(value * 3 + 1);
      std::memcpy(&bytes[i * 24 + shift], &next, sizeof next);
      std::uint64_t hash = value;
      for (int k = 0; k < 24; ++k) hash = hash * 31 + bytes[i * 24 + k];
      ASSERT_EQ(got[i], hash) << "shift " << shift << " lane " << i << " bytes " << sizeof(T);
    }
  }
}
TEST(Lds, misaligned_accesses) {
  check_misaligned<std::uint8_t>();
  check_misaligned<std::uint16_t>();
  check_misaligned<std::uint32_t>();
  check_misaligned<std::uint64_t>();
}

template <typename T>
__global__ void strides(T* out, const T* in, int stride) {
  __shared__ T tile[64 * 17];
  const int i = threadIdx.x;
  for (int k = i; k < 64 * 17; k += 64) tile[k] = in[k];
  __syncthreads();
  out[i] = tile[i * stride];
  out[64 + i] = tile[(i * stride + 3) % (64 * 17)];
  tile[i * stride] = in[i];
  tile[(i * stride + 5) % (64 * 17)] = in[i + 64];
  __syncthreads();
  for (int k = i; k < 64 * 17; k += 64) out[128 + k] = tile[k];
}
struct Wide {
  float at[4];
};
struct Three {
  float at[3];
};
template <typename T>
void check_strides(auto make) {
  std::vector<T> in(64 * 17);
  for (int k = 0; k < 64 * 17; ++k) in[k] = make(k);
  const Buffer<T> source(in), out(128 + 64 * 17);
  for (const int stride : {1, 2, 3, 8, 16, 17}) {
    strides<<<1, 64>>>(out.get(), source.get(), stride);
    const auto got = out.read();
    std::vector<T> tile = in, expected(got.size());
    for (int i = 0; i < 64; ++i) {
      expected[i] = tile[i * stride];
      expected[64 + i] = tile[(i * stride + 3) % (64 * 17)];
    }
    for (int i = 0; i < 64; ++i) tile[i * stride] = in[i];
    for (int i = 0; i < 64; ++i) tile[(i * stride + 5) % (64 * 17)] = in[i + 64];
    std::copy(tile.begin(), tile.end(), expected.begin() + 128);
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)), 0)
        << "stride " << stride << " bytes " << sizeof(T);
  }
}
TEST(Lds, strides_of_every_width) {
  check_strides<std::int8_t>([](int k) { return static_cast<std::int8_t>(k); });
  check_strides<std::int16_t>([](int k) { return static_cast<std::int16_t>(k * 3); });
  check_strides<int>([](int k) { return k * 7; });
  check_strides<double>([](int k) { return k * 0.5; });
  check_strides<Three>([](int k) { return Three{{k * 1.f, k + .25f, k + .5f}}; });
  check_strides<Wide>([](int k) { return Wide{{k * 1.f, k + .25f, k + .5f, k + .75f}}; });
}

}  // namespace
