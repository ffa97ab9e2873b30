// A HIP program as users write them: kernels launched with <<<>>>, device variables, attributes,
// and kernels that fail. Compiled by `margay hipcc`; every test calls the shared library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <string>
#include <thread>
#include <vector>

namespace {

using testing::Each;
using testing::HasSubstr;

__device__ int scale = 3;
__constant__ float offsets[4];
__managed__ int shared_count = 40;

__global__ void affine(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<float>(scale) * in[i] + offsets[i % 4];
}

__global__ void add_to_managed(int value) { shared_count += value; }

__global__ void reverse_in_lds(int* data) {
  extern __shared__ int lds[];
  const int n = blockDim.x;
  const int i = threadIdx.x;
  lds[i] = data[i];
  __syncthreads();
  data[i] = lds[n - 1 - i];
}

__global__ __launch_bounds__(128) void bounded(int* out) { out[threadIdx.x] = 1; }

__global__ void store(int* out, int value) { *out = value; }

__global__ void trap() { __builtin_trap(); }

__global__ void shuffle(double* out, int from, int width) {
  const int lane = threadIdx.x;
  out[lane] = __shfl(static_cast<double>(lane), lane + from, width);
}

__global__ void extremes(float* f, double* d) {
  const int lane = threadIdx.x;
  unsafeAtomicMax(f, static_cast<float>(lane));
  safeAtomicMin(f + 1, static_cast<float>(-lane));
  safeAtomicMax(d, 2.0 * lane);
  unsafeAtomicMin(d + 1, -2.0 * lane);
}

__global__ void matches(unsigned long long* out) {
  const int lane = threadIdx.x;
  int all = 0;
  out[lane] = __match_any(lane % 4);
  out[64 + lane] = __match_all(lane / 64, &all);
  out[128 + lane] = __match_all(lane, &all) + static_cast<unsigned>(all);
}

struct Packet {
  char tag;
  double value;
  int three[3];
};
__global__ void unpack(Packet p, double* out) { *out = p.value + p.three[0] + p.three[2] + p.tag; }

template <typename Call>
std::string stderr_of(Call&& call) {
  testing::internal::CaptureStderr();
  call();
  return testing::internal::GetCapturedStderr();
}

class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(hipDeviceReset(), hipSuccess);
    (void)hipGetLastError();
  }
  template <typename T>
  T* device_vector(const std::vector<T>& values) {
    void* memory = nullptr;
    EXPECT_EQ(hipMalloc(&memory, values.size() * sizeof(T)), hipSuccess);
    EXPECT_EQ(hipMemcpy(memory, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice),
              hipSuccess);
    return static_cast<T*>(memory);
  }
};

TEST_F(Kernels, managed_memory_is_there_before_any_call) {
  EXPECT_EQ(shared_count, 40);
  add_to_managed<<<1, 1>>>(2);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(shared_count, 42);
  shared_count = 40;
}

TEST_F(Kernels, arguments_symbols_and_results) {
  constexpr int kCount = 1000;
  const std::vector<float> in(kCount, 2.0f);
  float* const source = device_vector(in);
  float* const result = device_vector(std::vector<float>(kCount));
  const float host_offsets[4] = {0, 1, 2, 3};
  ASSERT_EQ(hipMemcpyToSymbol(HIP_SYMBOL(offsets), host_offsets, sizeof host_offsets), hipSuccess);
  EXPECT_THAT(stderr_of([&] {
                EXPECT_EQ(hipMemcpyToSymbol(HIP_SYMBOL(offsets), host_offsets, sizeof host_offsets,
                                            0, hipMemcpyDeviceToHost),
                          hipErrorInvalidMemcpyDirection);
              }),
              HasSubstr("no host memory"));
  ASSERT_EQ(hipGetLastError(), hipErrorInvalidMemcpyDirection);
  affine<<<(kCount + 255) / 256, 256>>>(result, source, kCount);
  ASSERT_EQ(hipGetLastError(), hipSuccess);
  std::vector<float> out(kCount);
  ASSERT_EQ(hipMemcpy(out.data(), result, kCount * sizeof(float), hipMemcpyDeviceToHost),
            hipSuccess);
  for (int i = 0; i < kCount; ++i) ASSERT_EQ(out[i], 6.0f + static_cast<float>(i % 4)) << i;

  int value = 0;
  EXPECT_EQ(hipMemcpyFromSymbol(&value, HIP_SYMBOL(scale), sizeof value), hipSuccess);
  EXPECT_EQ(value, 3);
  std::size_t bytes = 0;
  EXPECT_EQ(hipGetSymbolSize(&bytes, HIP_SYMBOL(offsets)), hipSuccess);
  EXPECT_EQ(bytes, sizeof offsets);
  void* address = nullptr;
  EXPECT_EQ(hipGetSymbolAddress(&address, HIP_SYMBOL(scale)), hipSuccess);
  EXPECT_EQ(*static_cast<int*>(address), 3);
  EXPECT_THAT(stderr_of([&] {
                EXPECT_EQ(hipMemcpyToSymbol(HIP_SYMBOL(scale), host_offsets, 8),
                          hipErrorInvalidValue);
              }),
              HasSubstr("8 bytes at offset 0 do not fit the device variable, which has 4 bytes."));
  EXPECT_EQ(hipGetSymbolSize(&bytes, &bytes), hipErrorInvalidSymbol);
}

TEST_F(Kernels, structures_are_passed_by_value) {
  double* const out = device_vector(std::vector<double>(1));
  unpack<<<1, 1>>>(Packet{4, 0.5, {10, 0, 100}}, out);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(*out, 114.5);
}

TEST_F(Kernels, a_shuffle_stays_in_its_group_of_lanes) {
  double* out = nullptr;
  ASSERT_EQ(hipMallocManaged(&out, 64 * sizeof(double)), hipSuccess);
  for (const int width : {4, 64}) {
    shuffle<<<1, 64>>>(out, 5, width);
    ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
    for (int lane = 0; lane < 64; ++lane)
      EXPECT_EQ(out[lane], lane / width * width + (lane + 5) % width) << width;
  }
}

TEST_F(Kernels, device_functions_of_hip_6) {
  float* f = nullptr;
  double* d = nullptr;
  unsigned long long* lanes = nullptr;
  ASSERT_EQ(hipMallocManaged(&f, 2 * sizeof *f), hipSuccess);
  ASSERT_EQ(hipMallocManaged(&d, 2 * sizeof *d), hipSuccess);
  ASSERT_EQ(hipMallocManaged(&lanes, 192 * sizeof *lanes), hipSuccess);
  extremes<<<1, 64>>>(f, d);
  matches<<<1, 64>>>(lanes);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(f[0], 63);
  EXPECT_EQ(f[1], -63);
  EXPECT_EQ(d[0], 126);
  EXPECT_EQ(d[1], -126);
  for (int lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(lanes[lane], 0x1111'1111'1111'1111ull << lane % 4);
    EXPECT_EQ(lanes[64 + lane], ~0ull);
    EXPECT_EQ(lanes[128 + lane], 0u);
  }
}

TEST_F(Kernels, dynamic_lds) {
  std::vector<int> values(192);
  for (int i = 0; i < 192; ++i) values[i] = i;
  int* const data = device_vector(values);
  reverse_in_lds<<<1, 192, 192 * sizeof(int)>>>(data);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(data[0], 191);
  EXPECT_EQ(data[191], 0);
}

TEST_F(Kernels, host_memory_is_device_memory) {
  std::vector<int> host(64, 0);
  bounded<<<1, 64>>>(host.data());
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_THAT(host, Each(1));
}

TEST_F(Kernels, launches_beyond_the_limits_are_refused_and_harm_nothing) {
  int* const out = device_vector(std::vector<int>(256, 7));
  EXPECT_THAT(stderr_of([&] { bounded<<<1, 256>>>(out); }),
              HasSubstr("bounded(int*) asks for a block of (256, 1, 1) = 256 work-items, but the "
                        "kernel was compiled for at most 128."));
  EXPECT_EQ(hipGetLastError(), hipErrorLaunchFailure);
  store<<<1, dim3(1024, 2)>>>(out, 1);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidConfiguration);
  store<<<dim3(1, 0), 1>>>(out, 1);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidConfiguration);
  store<<<1, 1, 65537>>>(out, 1);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
  EXPECT_EQ(*out, 7);
  // A refused launch is not a failed kernel: nothing stays.
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
}

TEST_F(Kernels, a_kernel_that_fails_is_reported_and_stays_reported) {
  const std::string text = stderr_of([] { store<<<1, 1>>>(nullptr, 1); });
  EXPECT_THAT(text, HasSubstr("margay: "));
  EXPECT_THAT(text, HasSubstr("hipLaunchKernel (hipErrorIllegalAddress)"));
  EXPECT_THAT(text, HasSubstr("kernels.hip"));
  EXPECT_EQ(hipGetLastError(), hipErrorIllegalAddress);
  EXPECT_EQ(hipGetLastError(), hipErrorIllegalAddress);
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorIllegalAddress);
  EXPECT_EQ(hipStreamSynchronize(nullptr), hipErrorIllegalAddress);
  ASSERT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
}

TEST_F(Kernels, a_freed_pointer_is_an_illegal_address) {
  int* const out = device_vector(std::vector<int>(4));
  ASSERT_EQ(hipFree(out), hipSuccess);
  const std::string text = stderr_of([&] { store<<<1, 1>>>(out, 1); });
  EXPECT_THAT(text, HasSubstr("freed"));
  EXPECT_EQ(hipGetLastError(), hipErrorIllegalAddress);
}

TEST_F(Kernels, a_trap_is_a_launch_failure) {
  trap<<<1, 64>>>();
  EXPECT_EQ(hipGetLastError(), hipErrorLaunchFailure);
}

TEST_F(Kernels, attributes) {
  const auto* const kernel = reinterpret_cast<const void*>(bounded);
  hipFuncAttributes a;
  ASSERT_EQ(hipFuncGetAttributes(&a, kernel), hipSuccess);
  EXPECT_EQ(a.maxThreadsPerBlock, 128);
  EXPECT_EQ(a.sharedSizeBytes, 0u);
  EXPECT_GT(a.numRegs, 0);
  EXPECT_EQ(a.maxDynamicSharedSizeBytes, 65536);
  EXPECT_EQ(hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 65536),
            hipSuccess);
  EXPECT_THAT(stderr_of([&] {
                EXPECT_EQ(
                    hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, 160000),
                    hipErrorInvalidValue);
              }),
              HasSubstr("cannot have 160000 bytes of dynamic LDS"));
  EXPECT_EQ(hipFuncGetAttributes(&a, &a), hipErrorInvalidDeviceFunction);
}

TEST_F(Kernels, occupancy) {
  int blocks = 0;
  ASSERT_EQ(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, store, 256, 0), hipSuccess);
  EXPECT_EQ(blocks, 8);
  ASSERT_EQ(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, store, 64, 32768), hipSuccess);
  EXPECT_EQ(blocks, 2);
  ASSERT_EQ(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 256, 0), hipSuccess);
  EXPECT_EQ(blocks, 0);
  int grid = 0;
  int block = 0;
  ASSERT_EQ(hipOccupancyMaxPotentialBlockSize(&grid, &block, bounded, 0, 0), hipSuccess);
  EXPECT_EQ(block, 128);
  EXPECT_EQ(grid, 16 * 304);
}

TEST_F(Kernels, start_and_stop_events) {
  hipEvent_t start, stop;
  ASSERT_EQ(hipEventCreate(&start), hipSuccess);
  ASSERT_EQ(hipEventCreate(&stop), hipSuccess);
  int* const out = device_vector(std::vector<int>(1));
  int value = 5;
  void* address = out;
  void* arguments[] = {&address, &value};
  ASSERT_EQ(hipExtLaunchKernel(reinterpret_cast<const void*>(store), dim3(1), dim3(1), arguments, 0,
                               nullptr, start, stop, 0),
            hipSuccess);
  float ms = -1;
  EXPECT_EQ(hipEventElapsedTime(&ms, start, stop), hipSuccess);
  EXPECT_GT(ms, 0.0f);
  EXPECT_EQ(*out, 5);
}

TEST_F(Kernels, an_address_that_is_no_kernel) {
  int not_a_kernel = 0;
  EXPECT_THAT(stderr_of([&] {
                EXPECT_EQ(hipLaunchKernel(&not_a_kernel, dim3(1), dim3(1), nullptr, 0, nullptr),
                          hipErrorInvalidDeviceFunction);
              }),
              HasSubstr("is not that of a __global__ function of this program"));
}

TEST_F(Kernels, launches_from_many_threads) {
  constexpr int kThreads = 4;
  constexpr int kLaunches = 20;
  int* const out = device_vector(std::vector<int>(kThreads, -1));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([=] {
      hipStream_t stream;
      ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
      for (int i = 0; i < kLaunches; ++i) {
        store<<<1, 1, 0, stream>>>(out + t, t * kLaunches + i);
        ASSERT_EQ(hipGetLastError(), hipSuccess);
        ASSERT_EQ(out[t], t * kLaunches + i);
      }
      ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
