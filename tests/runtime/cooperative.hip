// Workgroups that wait for each other: cooperative launches with grid-wide barriers, and ordinary
// kernels that wait for a flag another workgroup sets. Compiled by `margay hipcc`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include <chrono>
#include <numeric>
#include <string>
#include <vector>

namespace cg = cooperative_groups;

namespace {

using testing::HasSubstr;

// Each round reads what another workgroup wrote in the round before.
__global__ void rotate(int* data, int* other, int rounds) {
  cg::grid_group grid = cg::this_grid();
  const unsigned n = gridDim.x * blockDim.x;
  const unsigned i = grid.thread_rank();
  for (int r = 0; r < rounds; ++r) {
    other[i] = data[(i + blockDim.x) % n] + 1;
    grid.sync();
    int* const swap = data;
    data = other;
    other = swap;
  }
}

__global__ void is_cooperative(int* out) {
  if (cg::this_grid().thread_rank() == 0) *out = cg::this_grid().is_valid() ? 1 : 0;
}

__global__ void sync_in_all_but(unsigned absent) {
  if (blockIdx.x != absent) cg::this_grid().sync();
}

// A grid barrier as programs write it themselves, in memory.
__global__ void own_barrier(unsigned* arrived, int* data, int rounds) {
  for (int r = 1; r <= rounds; ++r) {
    if (threadIdx.x == 0) atomicAdd(&data[blockIdx.x], static_cast<int>(blockIdx.x) * r);
    __syncthreads();
    if (threadIdx.x == 0) {
      __hip_atomic_fetch_add(arrived, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
      while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) <
             static_cast<unsigned>(r) * gridDim.x)
        __builtin_amdgcn_s_sleep(1);
    }
    __syncthreads();
    if (threadIdx.x == 1) data[gridDim.x + blockIdx.x] += data[(blockIdx.x + 1) % gridDim.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      __hip_atomic_fetch_add(arrived + 32, 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
      while (__hip_atomic_load(arrived + 32, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) <
             static_cast<unsigned>(r) * gridDim.x) {
      }
    }
    __syncthreads();
  }
}

// Each workgroup waits for the one before it (a scan with look-back) ...
__global__ void chain_forward(volatile int* sums) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0)
    while ((before = sums[blockIdx.x - 1]) == 0) __threadfence();
  sums[blockIdx.x] = before + static_cast<int>(blockIdx.x) + 1;
}

// ... or for the one after it (stream-K: the first part of a tile waits for its last). The wait
// counts, so that no two passes through the loop leave the same registers.
__global__ void chain_backward(volatile int* sums, unsigned long long* looks) {
  if (threadIdx.x != 0) return;
  int after = 0;
  unsigned long long looked = 0;
  if (blockIdx.x + 1 < gridDim.x)
    while ((after = sums[blockIdx.x + 1]) == 0) ++looked;
  sums[blockIdx.x] = after + 1;
  looks[blockIdx.x] = looked;
}

// The last workgroup to arrive sums up; none waits.
__global__ void last_block_sums(unsigned* arrived, const int* in, int* partial, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < blockDim.x; ++i) sum += in[blockIdx.x * blockDim.x + i];
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b];
  *out = sum;
}

__global__ void wait_in_lds_for_nobody() {
  __shared__ volatile int flag;
  flag = 0;
  __syncthreads();
  while (flag == 0) {
  }
}

template <typename T>
T* managed(std::size_t count) {
  T* pointer = nullptr;
  EXPECT_EQ(hipMallocManaged(&pointer, count * sizeof(T)), hipSuccess);
  std::fill_n(pointer, count, T{});
  return pointer;
}

template <typename... A>
hipError_t cooperatively(void (*kernel)(A...), int blocks, int threads,
                         std::type_identity_t<A>... arguments) {
  void* pointers[] = {&arguments..., nullptr};
  return hipLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks),
                                    dim3(threads), pointers, 0, nullptr);
}

std::string stderr_of(auto&& call) {
  testing::internal::CaptureStderr();
  call();
  return testing::internal::GetCapturedStderr();
}

class Cooperative : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(hipDeviceReset(), hipSuccess);
    (void)hipGetLastError();
  }
};

TEST_F(Cooperative, TheDeviceOffersIt) {
  int value = 0;
  ASSERT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeCooperativeLaunch, 0), hipSuccess);
  EXPECT_EQ(value, 1);
}

class GridSync : public Cooperative, public testing::WithParamInterface<int> {};

TEST_P(GridSync, EveryRoundSeesTheOneBefore) {
  const int blocks = GetParam(), threads = 128, n = blocks * threads, rounds = 5;
  int* const a = managed<int>(n);
  int* const b = managed<int>(n);
  std::iota(a, a + n, 0);
  ASSERT_EQ(cooperatively(rotate, blocks, threads, a, b, rounds), hipSuccess);
  for (int i = 0; i < n; ++i) ASSERT_EQ(b[i], (i + rounds * threads) % n + rounds) << i;
}
INSTANTIATE_TEST_SUITE_P(Workgroups, GridSync, testing::Values(1, 2, 7, 304, 2000));

TEST_F(Cooperative, TheGroupIsValidInACooperativeLaunchOnly) {
  int* const out = managed<int>(1);
  *out = 7;
  is_cooperative<<<1, 64>>>(out);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(*out, 0);
  ASSERT_EQ(cooperatively(is_cooperative, 4, 64, out), hipSuccess);
  EXPECT_EQ(*out, 1);
}

TEST_F(Cooperative, MoreWorkgroupsThanFitAreRefused) {
  int per_cu = 0;
  ASSERT_EQ(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_cu, is_cooperative, 1024, 0),
            hipSuccess);
  int* const out = managed<int>(1);
  EXPECT_EQ(cooperatively(is_cooperative, per_cu * 304, 1024, out), hipSuccess);
  const std::string said = stderr_of([&] {
    EXPECT_EQ(cooperatively(is_cooperative, per_cu * 304 + 1, 1024, out),
              hipErrorCooperativeLaunchTooLarge);
  });
  EXPECT_THAT(said, HasSubstr("608 of them"));
}

TEST_F(Cooperative, AWorkgroupThatDoesNotComeIsADeadlock) {
  const std::string said = stderr_of(
      [&] { EXPECT_EQ(cooperatively(sync_in_all_but, 10, 64, 3u), hipErrorLaunchTimeOut); });
  EXPECT_THAT(said, HasSubstr("1 of the 10 have ended without coming to it"));
  EXPECT_THAT(said, HasSubstr("waits at the grid's barrier"));
}

TEST_F(Cooperative, GridSyncInAnOrdinaryLaunchIsRefused) {
  const std::string said = stderr_of([&] {
    sync_in_all_but<<<2, 64>>>(5u);
    EXPECT_EQ(hipGetLastError(), hipErrorNotSupported);
  });
  EXPECT_THAT(said, HasSubstr("ds_gws_barrier"));
}

class Waiting : public Cooperative {};

TEST_F(Waiting, ABarrierInMemoryOpens) {
  constexpr int kBlocks = 300, kRounds = 4;
  unsigned* const arrived = managed<unsigned>(64);
  int* const data = managed<int>(2 * kBlocks);
  own_barrier<<<kBlocks, 256>>>(arrived, data, kRounds);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int b = 0; b < kBlocks; ++b) {
    EXPECT_EQ(data[b], b * 10);  // 1 + 2 + 3 + 4
    EXPECT_EQ(data[kBlocks + b], (b + 1) % kBlocks * 20);
  }
}

TEST_F(Waiting, ForAnEarlierWorkgroup) {
  constexpr int kBlocks = 5000;  // more than are resident
  int* const sums = managed<int>(kBlocks);
  chain_forward<<<kBlocks, 64>>>(sums);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int b = 0; b < kBlocks; ++b) ASSERT_EQ(sums[b], (b + 1) * (b + 2) / 2);
}

TEST_F(Waiting, ForALaterWorkgroup) {
  constexpr int kBlocks = 500;
  int* const sums = managed<int>(kBlocks);
  auto* const looks = managed<unsigned long long>(kBlocks);
  chain_backward<<<kBlocks, 64>>>(sums, looks);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int b = 0; b < kBlocks; ++b) ASSERT_EQ(sums[b], kBlocks - b);
}

TEST_F(Waiting, ForWorkgroupsThatDoNotFitIsADeadlock) {
  constexpr int kBlocks = 304 * 2 + 1;  // of 16 waves: two on a CU
  int* const sums = managed<int>(kBlocks);
  auto* const looks = managed<unsigned long long>(kBlocks);
  const std::string said = stderr_of([&] {
    chain_backward<<<kBlocks, 1024>>>(sums, looks);
    EXPECT_EQ(hipGetLastError(), hipErrorLaunchTimeOut);
  });
  EXPECT_THAT(said, HasSubstr("the 608 workgroups that the device has room for wait for others, "
                              "and 1 of the launch's 609 have not begun"));
}

TEST_F(Waiting, TheLastWorkgroupAddsUp) {
  constexpr int kBlocks = 64, kThreads = 128;
  unsigned* const arrived = managed<unsigned>(1);
  int* const in = managed<int>(kBlocks * kThreads);
  int* const partial = managed<int>(kBlocks);
  int* const out = managed<int>(1);
  std::iota(in, in + kBlocks * kThreads, 0);
  last_block_sums<<<kBlocks, kThreads>>>(arrived, in, partial, out);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(*out, std::accumulate(in, in + kBlocks * kThreads, 0));
}

TEST_F(Waiting, InsideTheWorkgroupForNobodyIsADeadlock) {
  const std::string said = stderr_of([&] {
    wait_in_lds_for_nobody<<<3, 128>>>();
    EXPECT_EQ(hipGetLastError(), hipErrorLaunchTimeOut);
  });
  EXPECT_THAT(said, HasSubstr("no wave of the workgroup can ever go on"));
  EXPECT_THAT(said, HasSubstr("repeats itself without end"));
}

}  // namespace
