// What the compiler makes of C++ in device code: calls through pointers, recursion, stacks, large
// arguments, dynamic LDS. Compiled by `margay hipcc`, with and without optimisation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace {

using testing::Each;
using testing::ElementsAre;

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
__global__ void recursion(int* out) { out[threadIdx.x] = fibonacci(static_cast<int>(threadIdx.x)); }

// Recursion that needs its stack: each level keeps an array.
__device__ __noinline__ int deep(int depth, int seed) {
  int kept[8];
  for (int i = 0; i < 8; ++i) kept[i] = seed + i * depth;
  const int below = depth == 0 ? 0 : deep(depth - 1, seed + 1);
  int sum = below;
  for (int i = 0; i < 8; ++i) sum += kept[(i + below) & 7];
  return sum;
}
int deep_on_host(int depth, int seed) {
  const int below = depth == 0 ? 0 : deep_on_host(depth - 1, seed + 1);
  return below + 8 * seed + 28 * depth;
}
__global__ void deep_recursion(int* out, int depth) {
  out[threadIdx.x] = deep(depth, static_cast<int>(threadIdx.x));
}

using Operation = int (*)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int times(int a, int b) { return a * b; }
__device__ Operation operations[] = {plus, minus, times};
// Lanes of one wave call different functions.
__global__ void through_pointers(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = operations[i % 3](i, 7);
}

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Rectangle : Square {
  float other;
  __device__ Rectangle(float a, float b) : Square(a), other(b) {}
  __device__ float area() const override { return side * other; }
};
__device__ __noinline__ float area_of(const Shape* shape) { return shape->area(); }
__global__ void virtual_calls(float* out) {
  const float x = static_cast<float>(threadIdx.x);
  const Square square(x);
  const Rectangle rectangle(x, 2);
  out[threadIdx.x] = area_of(threadIdx.x % 2 ? static_cast<const Shape*>(&rectangle) : &square);
}

struct Large {
  int values[500];
};
__global__ void large_argument(Large by_value, int* out) {
  out[threadIdx.x] = by_value.values[threadIdx.x * 7];
}

__global__ void dynamic_lds(int* out, int n) {
  extern __shared__ int all[];
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    all[i] = i * 3;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    out[i] = all[n - 1 - i];
}

__device__ int counter = 100;
__constant__ int table[4] = {10, 20, 30, 40};
__device__ int* pointer_to_counter = &counter;
__global__ void initialisers(int* out) {
  if (threadIdx.x < 4) out[threadIdx.x] = table[threadIdx.x] + *pointer_to_counter;
  atomicAdd(&counter, 1);
}

struct Matrix {
  double m[3][3];
  __device__ Matrix operator*(const Matrix& o) const {
    Matrix r{};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k) r.m[i][j] += m[i][k] * o.m[k][j];
    return r;
  }
};
__global__ void matrix_power(double* out) {
  Matrix a{{{1, 1, 0}, {1, 0, 0}, {0, 0, 1}}}, r{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (unsigned i = 0; i < threadIdx.x; ++i) r = r * a;
  out[threadIdx.x] = r.m[0][1];
}

__global__ void lambdas(int* out) {
  int local = static_cast<int>(threadIdx.x);
  const auto twice = [&local](auto&& f) {
    f();
    f();
  };
  twice([&] { local += 5; });
  out[threadIdx.x] = local;
}

template <typename T>
T* managed(std::size_t count) {
  T* pointer = nullptr;
  EXPECT_EQ(hipMallocManaged(&pointer, count * sizeof(T)), hipSuccess);
  std::fill_n(pointer, count, T{});
  return pointer;
}

class Language : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(hipDeviceReset(), hipSuccess);
    (void)hipGetLastError();
  }
};

TEST_F(Language, Recursion) {
  int* const out = managed<int>(12);
  recursion<<<1, 12>>>(out);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_THAT(std::vector<int>(out, out + 12),
              ElementsAre(0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89));
}

TEST_F(Language, DeepRecursion) {
  int* const out = managed<int>(64);
  deep_recursion<<<1, 64>>>(out, 40);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], deep_on_host(40, i));
}

// Frames of some 50 bytes: 16 KiB, which lanes have at least, are not enough.
TEST_F(Language, ADeeperStackThatIsAskedFor) {
  int* const out = managed<int>(64);
  ASSERT_EQ(hipDeviceSetLimit(hipLimitStackSize, 120 << 10), hipSuccess);
  deep_recursion<<<1, 64>>>(out, 600);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], deep_on_host(600, i));
  ASSERT_EQ(hipDeviceSetLimit(hipLimitStackSize, 1 << 10), hipSuccess);
}

TEST_F(Language, FunctionPointersThatDiverge) {
  int* const out = managed<int>(128);
  through_pointers<<<1, 128>>>(out);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(out[i], i % 3 == 0 ? i + 7 : i % 3 == 1 ? i - 7 : i * 7);
}

TEST_F(Language, VirtualFunctions) {
  float* const out = managed<float>(64);
  virtual_calls<<<1, 64>>>(out);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], i % 2 ? 2.0f * i : 1.0f * i * i);
}

TEST_F(Language, ArgumentsOfTwoThousandBytes) {
  int* const out = managed<int>(64);
  Large large;
  std::iota(large.values, large.values + 500, 1000);
  large_argument<<<1, 64>>>(large, out);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 1000 + 7 * i);
}

TEST_F(Language, AllOfLdsDynamically) {
  constexpr int kInts = 64 * 1024 / sizeof(int);
  int* const out = managed<int>(kInts);
  ASSERT_EQ(hipFuncSetAttribute(reinterpret_cast<const void*>(dynamic_lds),
                                hipFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024),
            hipSuccess);
  dynamic_lds<<<1, 1024, 64 * 1024>>>(out, kInts);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int i = 0; i < kInts; ++i) ASSERT_EQ(out[i], (kInts - 1 - i) * 3);
}

TEST_F(Language, VariablesWithInitialisers) {
  int* const out = managed<int>(4);
  initialisers<<<1, 64>>>(out);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_THAT(std::vector<int>(out, out + 4), ElementsAre(110, 120, 130, 140));
  int after = 0;
  ASSERT_EQ(hipMemcpyFromSymbol(&after, HIP_SYMBOL(counter), sizeof after), hipSuccess);
  EXPECT_EQ(after, 164);
}

TEST_F(Language, StructuresByValue) {
  double* const out = managed<double>(20);
  matrix_power<<<1, 20>>>(out);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  double a = 0, b = 1;
  for (int i = 0; i < 20; ++i, std::swap(a, b), b += a) EXPECT_EQ(out[i], a);
}

TEST_F(Language, Lambdas) {
  int* const out = managed<int>(64);
  lambdas<<<1, 64>>>(out);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], i + 10);
}

}  // namespace
