// Global memory: every width of load and store, atomics, device variables, arguments and grids.
#include <algorithm>
#include <numeric>

#include "judge.h"

namespace {

using judge::Buffer;
using judge::check;

// ---- Widths -----------------------------------------------------------------------------------

template <typename T>
__global__ void copy_strided(T* to, const T* from, int stride, std::size_t n) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < n) to[i * stride] = from[n - 1 - i];
}
template <typename T>
void check_copy() {
  constexpr std::size_t n = 1000;
  std::vector<unsigned char> bytes(n * sizeof(T));
  judge::Random random(4);
  for (auto& b : bytes) b = static_cast<unsigned char>(random.next());
  std::vector<T> in(n);
  std::memcpy(in.data(), bytes.data(), bytes.size());
  const Buffer<T> source(in);
  for (const int stride : {1, 2, 5}) {
    const Buffer<T> out(n * stride);
    copy_strided<<<8, 128>>>(out.get(), source.get(), stride, n);
    const auto got = out.read();
    std::vector<T> expected(n * stride);
    std::memset(expected.data(), 0, expected.size() * sizeof(T));
    for (std::size_t i = 0; i < n; ++i) expected[i * stride] = in[n - 1 - i];
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)), 0)
        << sizeof(T) << " bytes, stride " << stride;
  }
}
struct Bytes3 {
  std::uint8_t at[3];
};
struct Dwords3 {
  std::uint32_t at[3];
};
struct alignas(32) Bytes32 {
  std::uint8_t at[32];
};
TEST(Widths, copies) {
  check_copy<std::uint8_t>();
  check_copy<std::uint16_t>();
  check_copy<std::uint32_t>();
  check_copy<std::uint64_t>();
  check_copy<Bytes3>();
  check_copy<Dwords3>();
  check_copy<float2>();
  check_copy<float3>();
  check_copy<float4>();
  check_copy<double2>();
  check_copy<Bytes32>();
}
template <typename T>
struct __attribute__((packed, aligned(1))) Loose {
  T x;
};
template <typename T>
__global__ void misaligned(unsigned char* to, const unsigned char* from, int shift) {
  const auto* const p = reinterpret_cast<const Loose<T>*>(from + threadIdx.x * 24 + shift);
  auto* const q = reinterpret_cast<Loose<T>*>(to + threadIdx.x * 24 + 7 - shift);
  q->x = p->x;
}
template <typename T>
void check_misaligned() {
  std::vector<unsigned char> in(64 * 24 + 32);
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<unsigned char>(k * 37 + 11);
  const Buffer<unsigned char> source(in);
  for (int shift = 0; shift < 8; ++shift) {
    const Buffer<unsigned char> out(in.size());
    misaligned<T><<<1, 64>>>(out.get(), source.get(), shift);
    std::vector<unsigned char> expected(in.size());
    for (int i = 0; i < 64; ++i)
      std::memcpy(&expected[i * 24 + 7 - shift], &in[i * 24 + shift], sizeof(T));
    ASSERT_EQ(out.read(), expected) << sizeof(T) << " bytes, shift " << shift;
  }
}
TEST(Widths, misaligned_accesses) {
  check_misaligned<std::uint16_t>();
  check_misaligned<std::uint32_t>();
  check_misaligned<std::uint64_t>();
  check_misaligned<unsigned __int128>();
}

typedef std::int16_t Short2 __attribute__((ext_vector_type(2)));
template <typename T>
__global__ void halves(Short2* out, const T* a, const T* b) {
  const int i = threadIdx.x;
  // Loads into the low and the high half of one register, and stores out of them.
  out[i] = Short2{static_cast<std::int16_t>(a[i]), static_cast<std::int16_t>(b[i])};
}
template <typename T>
__global__ void store_halves(T* out, const Short2* in) {
  const Short2 x = in[threadIdx.x];
  out[threadIdx.x * 2 + 1] = static_cast<T>(x.x);
  out[threadIdx.x * 2] = static_cast<T>(x.y);
}
template <typename T>
void check_halves() {
  std::vector<T> a(64), b(64);
  for (int i = 0; i < 64; ++i) {
    a[i] = static_cast<T>(i * 1021 - 30000);
    b[i] = static_cast<T>(i * 517 + 100);
  }
  const Buffer<T> da(a), db(b), stored(128);
  const Buffer<Short2> out(64);
  halves<<<1, 64>>>(out.get(), da.get(), db.get());
  const auto got = out.read();
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(got[i].x, static_cast<std::int16_t>(a[i]));
    ASSERT_EQ(got[i].y, static_cast<std::int16_t>(b[i]));
  }
  store_halves<<<1, 64>>>(stored.get(), out.get());
  const auto back = stored.read();
  for (int i = 0; i < 64; ++i) {
    ASSERT_EQ(back[2 * i + 1], static_cast<T>(got[i].x));
    ASSERT_EQ(back[2 * i], static_cast<T>(got[i].y));
  }
}
TEST(Widths, halves_of_registers) {
  check_halves<std::int8_t>();
  check_halves<std::uint8_t>();
  check_halves<std::int16_t>();
  check_halves<std::uint16_t>();
}

// ---- Atomics ----------------------------------------------------------------------------------

template <typename T>
struct Cells {
  T add, sub, least, most, all, any, odd, swapped, counted, down, taken;
};
template <typename T>
__device__ T as_operand(unsigned i) {
  return static_cast<T>(i * 2654435761u % 100003u) - static_cast<T>(50000);
}
template <typename T>
__global__ void atomics(Cells<T>* cells, unsigned* order) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const T x = as_operand<T>(i);
  atomicAdd(&cells->add, x);
  atomicMin(&cells->least, x);
  atomicMax(&cells->most, x);
  if constexpr (std::is_integral_v<T>) {
    atomicAnd(&cells->all, ~(T(1) << (i % 5)));
    atomicOr(&cells->any, T(1) << (i % 23));
    atomicXor(&cells->odd, x);
    T old = cells->counted;
    while (true) {  // a counter through compare-and-swap
      const T seen = atomicCAS(&cells->counted, old, old + 1);
      if (seen == old) break;
      old = seen;
    }
    const T ticket = atomicAdd(&cells->taken, T(1));
    order[static_cast<unsigned>(ticket)] = i;
  }
  if constexpr (std::is_same_v<T, unsigned> || std::is_same_v<T, int>) atomicSub(&cells->sub, x);
  if (i == 777) atomicExch(&cells->swapped, x);
}
template <typename T>
void check_atomics() {
  constexpr unsigned n = 40 * 96;
  Cells<T> start{}, end{};
  start.all = static_cast<T>(127);
  std::vector<Cells<T>> host = {start};
  const Buffer<Cells<T>> cells(host);
  const Buffer<unsigned> order(n);
  atomics<<<40, 96>>>(cells.get(), order.get());
  end = cells.read()[0];
  Cells<T> expected = start;
  const auto operand = [](unsigned i) {
    return static_cast<T>(static_cast<T>(i * 2654435761u % 100003u) - static_cast<T>(50000));
  };
  for (unsigned i = 0; i < n; ++i) {
    const T x = operand(i);
    expected.add += x;
    expected.least = x < expected.least ? x : expected.least;
    expected.most = x > expected.most ? x : expected.most;
    if constexpr (std::is_integral_v<T>) {
      expected.all &= ~(T(1) << (i % 5));
      expected.any |= T(1) << (i % 23);
      expected.odd ^= x;
      ++expected.counted;
    }
    if constexpr (std::is_same_v<T, unsigned> || std::is_same_v<T, int>) expected.sub -= x;
  }
  EXPECT_EQ(end.add, expected.add);  // the sums of floats are exact here
  EXPECT_EQ(end.sub, expected.sub);
  EXPECT_EQ(end.least, expected.least);
  EXPECT_EQ(end.most, expected.most);
  EXPECT_EQ(end.all, expected.all);
  EXPECT_EQ(end.any, expected.any);
  EXPECT_EQ(end.odd, expected.odd);
  EXPECT_EQ(end.counted, expected.counted);
  EXPECT_EQ(end.swapped, operand(777));
  if constexpr (std::is_integral_v<T>) {
    auto seen = order.read();
    std::sort(seen.begin(), seen.end());
    for (unsigned i = 0; i < n; ++i) ASSERT_EQ(seen[i], i) << "every ticket once";
  }
}
TEST(Atomics, int32) { check_atomics<int>(); }
TEST(Atomics, uint32) { check_atomics<unsigned>(); }
TEST(Atomics, uint64) { check_atomics<unsigned long long>(); }
TEST(Atomics, float32) { check_atomics<float>(); }
TEST(Atomics, float64) { check_atomics<double>(); }

template <typename T>
__global__ void lds_atomics(Cells<T>* out, T* tickets) {
  __shared__ Cells<T> cells;
  if (threadIdx.x == 0) cells = Cells<T>{0, 0, 0, 0, static_cast<T>(127), 0, 0, 0, 0, 0, 0};
  __syncthreads();
  const unsigned i = threadIdx.x;
  const T x = as_operand<T>(i);
  const T ticket = atomicAdd(&cells.taken, T(1));
  tickets[blockIdx.x * blockDim.x + i] = ticket;
  atomicAdd(&cells.add, x);
  atomicMin(&cells.least, x);
  atomicMax(&cells.most, x);
  if constexpr (std::is_integral_v<T>) {
    atomicAnd(&cells.all, ~(T(1) << (i % 5)));
    atomicOr(&cells.any, T(1) << (i % 23));
    atomicXor(&cells.odd, x);
    T old = cells.counted;
    while (true) {
      const T seen = atomicCAS(&cells.counted, old, old + 1);
      if (seen == old) break;
      old = seen;
    }
  }
  if constexpr (std::is_same_v<T, unsigned>) {
    atomicInc(&cells.swapped, 9u);
    atomicDec(&cells.down, 6u);
  }
  __syncthreads();
  if (i == 0) out[blockIdx.x] = cells;
}
template <typename T>
void check_lds_atomics() {
  constexpr unsigned n = 200;
  const Buffer<Cells<T>> out(3);
  const Buffer<T> tickets(3 * n);
  lds_atomics<<<3, n>>>(out.get(), tickets.get());
  const auto got = out.read();
  auto seen = tickets.read();
  Cells<T> expected{0, 0, 0, 0, static_cast<T>(127), 0, 0, 0, 0, 0, 0};
  for (unsigned i = 0; i < n; ++i) {
    const T x = static_cast<T>(static_cast<T>(i * 2654435761u % 100003u) - static_cast<T>(50000));
    expected.add += x;
    expected.least = x < expected.least ? x : expected.least;
    expected.most = x > expected.most ? x : expected.most;
    if constexpr (std::is_integral_v<T>) {
      expected.all &= ~(T(1) << (i % 5));
      expected.any |= T(1) << (i % 23);
      expected.odd ^= x;
      ++expected.counted;
    }
    if constexpr (std::is_same_v<T, unsigned>) {
      expected.swapped = expected.swapped >= 9 ? 0 : expected.swapped + 1;
      expected.down = expected.down == 0 || expected.down > 6 ? 6 : expected.down - 1;
    }
  }
  for (int block = 0; block < 3; ++block) {
    EXPECT_EQ(got[block].add, expected.add);
    EXPECT_EQ(got[block].least, expected.least);
    EXPECT_EQ(got[block].most, expected.most);
    EXPECT_EQ(got[block].all, expected.all);
    EXPECT_EQ(got[block].any, expected.any);
    EXPECT_EQ(got[block].odd, expected.odd);
    EXPECT_EQ(got[block].counted, expected.counted);
    EXPECT_EQ(got[block].swapped, expected.swapped);
    EXPECT_EQ(got[block].down, expected.down);
    std::sort(seen.begin() + block * n, seen.begin() + (block + 1) * n);
    for (unsigned i = 0; i < n; ++i) ASSERT_EQ(seen[block * n + i], static_cast<T>(i));
  }
}
TEST(LdsAtomics, int32) { check_lds_atomics<int>(); }
TEST(LdsAtomics, uint32) { check_lds_atomics<unsigned>(); }
TEST(LdsAtomics, uint64) { check_lds_atomics<unsigned long long>(); }
TEST(LdsAtomics, float32) { check_lds_atomics<float>(); }
TEST(LdsAtomics, float64) { check_lds_atomics<double>(); }

__global__ void generic_pointers(int* out, int* global, int which) {
  __shared__ int lds[64];
  int mine[4] = {1, 2, 3, 4};
  lds[threadIdx.x] = threadIdx.x * 10;
  __syncthreads();
  // One pointer, three address spaces, chosen by lane.
  int* p = threadIdx.x % 3 == 0   ? &global[threadIdx.x]
           : threadIdx.x % 3 == 1 ? &lds[63 - threadIdx.x]
                                  : &mine[which];
  *p += 5;
  out[threadIdx.x] = *p;
  if (threadIdx.x % 3 != 2) atomicAdd(p, 100);
  __syncthreads();
  out[64 + threadIdx.x] = lds[threadIdx.x];
  out[128 + threadIdx.x] = mine[which];
}
TEST(Generic, pointers_into_three_spaces) {
  std::vector<int> in(64);
  std::iota(in.begin(), in.end(), 1000);
  const Buffer<int> global(in), out(192);
  generic_pointers<<<1, 64>>>(out.get(), global.get(), 2);
  const auto got = out.read(), after = global.read();
  for (int i = 0; i < 64; ++i) {
    const int expected = i % 3 == 0 ? 1005 + i : i % 3 == 1 ? (63 - i) * 10 + 5 : 8;
    ASSERT_EQ(got[i], expected) << "lane " << i;
    ASSERT_EQ(got[64 + i], i * 10 + ((63 - i) % 3 == 1 ? 105 : 0)) << "lane " << i;
    ASSERT_EQ(got[128 + i], i % 3 == 2 ? 8 : 3) << "lane " << i;
    ASSERT_EQ(after[i], 1000 + i + (i % 3 == 0 ? 105 : 0)) << "lane " << i;
  }
}

// ---- Device variables -------------------------------------------------------------------------

__device__ int counters[8];
__device__ double factor = 2.5;
__constant__ float weights[100] = {1, 2, 3};
__device__ const char* const message = "device text";
__global__ void use_variables(double* out) {
  const int i = threadIdx.x;
  atomicAdd(&counters[i % 8], i);
  out[i] = factor * weights[i] + message[i % 11];
}
TEST(Variables, symbols) {
  const Buffer<double> out(64);
  use_variables<<<1, 64>>>(out.get());
  auto got = out.read();
  for (int i = 0; i < 64; ++i) ASSERT_EQ(got[i], 2.5 * (i < 3 ? i + 1 : 0) + "device text"[i % 11]);
  std::vector<float> w(100);
  for (int i = 0; i < 100; ++i) w[i] = i * 0.25f;
  check(hipMemcpyToSymbol(HIP_SYMBOL(weights), w.data(), 400), "hipMemcpyToSymbol");
  const double half = 0.5;
  check(hipMemcpyToSymbol(HIP_SYMBOL(factor), &half, sizeof half), "hipMemcpyToSymbol");
  use_variables<<<1, 64>>>(out.get());
  got = out.read();
  for (int i = 0; i < 64; ++i) ASSERT_EQ(got[i], 0.5 * w[i] + "device text"[i % 11]);
  int sums[8];
  check(hipMemcpyFromSymbol(sums, HIP_SYMBOL(counters), sizeof sums), "hipMemcpyFromSymbol");
  for (int k = 0; k < 8; ++k) EXPECT_EQ(sums[k], 2 * (8 * k + 8 * 28));
}

// ---- Arguments --------------------------------------------------------------------------------

struct Mixed {
  char a;
  double b;
  short c;
  struct {
    bool d;
    float e[3];
  } inner;
  std::int64_t f;
  char g;
};
__global__ void mixed_arguments(double* out, char a, Mixed m, short b, bool c, float d, Mixed n,
                                unsigned char e, long f) {
  out[0] = a + b * 10 + c * 100 + d * 1000.0 + e * 7 + f * 3;
  out[1] = m.a + m.b + m.c + m.inner.d + m.inner.e[0] + m.inner.e[2] + m.f + m.g;
  out[2] = n.a * 2 + n.b * 3 + n.c * 5 + n.inner.e[1] * 7 + n.f * 11 + n.g * 13;
}
struct Large {
  int at[1000];
};
__global__ void large_argument(long* out, Large large, int extra) {
  long sum = extra;
  for (int i = threadIdx.x; i < 1000; i += 64) sum += large.at[i] * (i + 1L);
  out[threadIdx.x] = sum;
}
__global__ void many_arguments(int* out, int a0, char a1, long a2, short a3, int a4, char a5,
                               long a6, short a7, int a8, char a9, long a10, short a11, int a12,
                               char a13, long a14, short a15, int a16, char a17, long a18,
                               short a19, float b0, double b1, float b2, double b3) {
  out[0] = a0 + 2 * a1 + 3 * static_cast<int>(a2) + 4 * a3 + 5 * a4 + 6 * a5 +
           7 * static_cast<int>(a6) + 8 * a7 + 9 * a8 + 10 * a9 + 11 * static_cast<int>(a10) +
           12 * a11 + 13 * a12 + 14 * a13 + 15 * static_cast<int>(a14) + 16 * a15 + 17 * a16 +
           18 * a17 + 19 * static_cast<int>(a18) + 20 * a19;
  out[1] = static_cast<int>(b0 + 2 * b1 + 4 * b2 + 8 * b3);
}
TEST(Arguments, packing) {
  const Mixed m{1, 2.5, 3, {true, {4, 5, 6}}, 7, 8},
      n{9, 10.25, -11, {false, {12, 13, 14}}, -15, 16};
  const Buffer<double> out(3);
  mixed_arguments<<<1, 1>>>(out.get(), -3, m, -400, true, 0.5f, n, 200, 1L << 40);
  const auto got = out.read();
  EXPECT_EQ(got[0], -3 - 4000 + 100 + 500 + 1400 + (1L << 40) * 3);
  EXPECT_EQ(got[1], 1 + 2.5 + 3 + 1 + 4 + 6 + 7 + 8);
  EXPECT_EQ(got[2], 18 + 30.75 - 55 + 91 - 165 + 208);

  Large large;
  for (int i = 0; i < 1000; ++i) large.at[i] = i * 31 - 500;
  const Buffer<long> sums(64);
  large_argument<<<1, 64>>>(sums.get(), large, 5);
  const auto s = sums.read();
  for (int lane = 0; lane < 64; ++lane) {
    long expected = 5;
    for (int i = lane; i < 1000; i += 64) expected += large.at[i] * (i + 1L);
    ASSERT_EQ(s[lane], expected);
  }

  const Buffer<int> many(2);
  many_arguments<<<1, 1>>>(many.get(), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                           18, 19, 20, 1.f, 2., 3.f, 4.);
  int squares = 0;
  for (int i = 1; i <= 20; ++i) squares += i * i;
  EXPECT_EQ(many.read()[0], squares);
  EXPECT_EQ(many.read()[1], 49);
}

// ---- Grids ------------------------------------------------------------------------------------

__global__ void count_places(int* seen, int* wrong, dim3 total) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x,
                 y = blockIdx.y * blockDim.y + threadIdx.y,
                 z = blockIdx.z * blockDim.z + threadIdx.z;
  atomicAdd(&seen[(z * total.y + y) * total.x + x], 1);
  if (gridDim.x * blockDim.x != total.x || gridDim.y * blockDim.y != total.y ||
      gridDim.z * blockDim.z != total.z)
    atomicAdd(wrong, 1);
  const unsigned flat = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  if (__lane_id() != flat % 64) atomicAdd(wrong, 1000);
}
TEST(Grids, every_place_once) {
  for (const auto& [grid, block] : {std::pair(dim3(1), dim3(1)),
                                    {dim3(5), dim3(33)},
                                    {dim3(3, 4), dim3(7, 5)},
                                    {dim3(2, 3, 4), dim3(3, 5, 7)},
                                    {dim3(1, 1, 9), dim3(1, 1, 64)},
                                    {dim3(1, 7), dim3(1, 1024)},
                                    {dim3(4), dim3(1024)},
                                    {dim3(2, 2, 2), dim3(16, 8, 4)}}) {
    const dim3 total(grid.x * block.x, grid.y * block.y, grid.z * block.z);
    const Buffer<int> seen(std::size_t{total.x} * total.y * total.z), wrong(1);
    count_places<<<grid, block>>>(seen.get(), wrong.get(), total);
    EXPECT_EQ(wrong.read()[0], 0);
    for (const int count : seen.read()) ASSERT_EQ(count, 1);
  }
}
__global__ void count_workgroups(unsigned long long* sum) {
  if (threadIdx.x == 0) atomicAdd(sum, 1ull + blockIdx.x);
}
TEST(Grids, many_workgroups) {
  constexpr unsigned n = 100000;
  const Buffer<unsigned long long> sum(1);
  count_workgroups<<<n, 64>>>(sum.get());
  EXPECT_EQ(sum.read()[0], n * (n + 1ull) / 2);
}
/// Offsets beyond 2^32 bytes: the memory is reserved, only the touched pages exist.
__global__ void far_apart(unsigned char* base, std::size_t step, unsigned char value) {
  base[threadIdx.x * step] = value + threadIdx.x;
}
TEST(Grids, indices_of_64_bits) {
  constexpr std::size_t step = (std::size_t{5} << 30) / 64 + 4097;
  unsigned char* base = nullptr;
  check(hipMalloc(reinterpret_cast<void**>(&base), step * 64), "hipMalloc");
  far_apart<<<1, 64>>>(base, step, 7);
  check(hipDeviceSynchronize(), "kernel");
  for (int i = 0; i < 64; ++i) {
    unsigned char got = 0;
    check(hipMemcpy(&got, base + i * step, 1, hipMemcpyDeviceToHost), "hipMemcpy");
    ASSERT_EQ(got, 7 + i);
  }
  check(hipFree(base), "hipFree");
}

}  // namespace
