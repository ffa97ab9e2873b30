// Memory in stream order: pools, what graphs allocate, and what managed memory was advised.
// Compiled by the compiler driver, so the names are those its headers add to HIP 5.2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr int kCount = 1000;
constexpr std::size_t kBytes = kCount * sizeof(int);

__global__ void fill(int* p, int value) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) p[i] = value;
}
__global__ void add(int* p, const int* q) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) p[i] += q[i];
}

hipMemPoolProps on_device(int device) {
  hipMemPoolProps properties = {};
  properties.allocType = hipMemAllocationTypePinned;
  properties.handleTypes = hipMemHandleTypePosixFileDescriptor;
  properties.location.type = hipMemLocationTypeDevice;
  properties.location.id = device;
  return properties;
}

std::uint64_t value_of(hipMemPool_t pool, hipMemPoolAttr attribute) {
  std::uint64_t value = ~0ull;
  EXPECT_EQ(hipMemPoolGetAttribute(pool, attribute, &value), hipSuccess);
  return value;
}

TEST(MemoryPool, GivesMemoryAndCountsIt) {
  const hipMemPoolProps properties = on_device(0);
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(hipMemPoolCreate(&pool, &properties), hipSuccess);
  int* p = nullptr;
  int* q = nullptr;
  ASSERT_EQ(hipMallocFromPoolAsync(&p, kBytes, pool, nullptr), hipSuccess);
  ASSERT_EQ(hipMallocFromPoolAsync(&q, 64, pool, nullptr), hipSuccess);
  EXPECT_EQ(value_of(pool, hipMemPoolAttrUsedMemCurrent), kBytes + 64);
  fill<<<4, 256>>>(p, 5);
  std::vector<int> host(kCount);
  ASSERT_EQ(hipMemcpy(host.data(), p, kBytes, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_THAT(host, Each(5));
  ASSERT_EQ(hipFreeAsync(q, nullptr), hipSuccess);
  EXPECT_EQ(value_of(pool, hipMemPoolAttrUsedMemCurrent), kBytes);
  EXPECT_EQ(value_of(pool, hipMemPoolAttrUsedMemHigh), kBytes + 64);
  std::uint64_t zero = 0;
  ASSERT_EQ(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &zero), hipSuccess);
  EXPECT_EQ(value_of(pool, hipMemPoolAttrUsedMemHigh), kBytes);
  // What came from a pool outlives it.
  ASSERT_EQ(hipMemPoolDestroy(pool), hipSuccess);
  fill<<<4, 256>>>(p, 6);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(hipFree(p), hipSuccess);
  EXPECT_EQ(hipMemPoolTrimTo(pool, 0), hipErrorInvalidValue);
}

TEST(MemoryPool, KeepsItsAttributes) {
  hipMemPool_t pool = nullptr;
  ASSERT_EQ(hipDeviceGetDefaultMemPool(&pool, 0), hipSuccess);
  EXPECT_EQ(value_of(pool, hipMemPoolAttrReleaseThreshold), 0);
  std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  ASSERT_EQ(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &all), hipSuccess);
  EXPECT_EQ(value_of(pool, hipMemPoolAttrReleaseThreshold), all);
  int reuse = 0;
  ASSERT_EQ(hipMemPoolSetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &reuse), hipSuccess);
  reuse = 9;
  ASSERT_EQ(hipMemPoolGetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &reuse), hipSuccess);
  EXPECT_EQ(reuse, 0);
  EXPECT_EQ(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &all), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPoolDestroy(pool), hipErrorInvalidValue);
  int supported = 0;
  ASSERT_EQ(hipDeviceGetAttribute(&supported, hipDeviceAttributeMemoryPoolsSupported, 0),
            hipSuccess);
  EXPECT_EQ(supported, 1);
}

TEST(MemoryPool, OfADeviceCanBeChosen) {
  const hipMemPoolProps properties = on_device(0);
  hipMemPool_t mine = nullptr;
  hipMemPool_t now = nullptr;
  hipMemPool_t first = nullptr;
  ASSERT_EQ(hipMemPoolCreate(&mine, &properties), hipSuccess);
  ASSERT_EQ(hipDeviceSetMemPool(0, mine), hipSuccess);
  ASSERT_EQ(hipDeviceGetMemPool(&now, 0), hipSuccess);
  EXPECT_EQ(now, mine);
  void* p = nullptr;
  ASSERT_EQ(hipMallocAsync(&p, 100, nullptr), hipSuccess);
  EXPECT_EQ(value_of(mine, hipMemPoolAttrUsedMemCurrent), 100);
  ASSERT_EQ(hipFreeAsync(p, nullptr), hipSuccess);
  ASSERT_EQ(hipMemPoolDestroy(mine), hipSuccess);
  ASSERT_EQ(hipDeviceGetMemPool(&now, 0), hipSuccess);
  ASSERT_EQ(hipDeviceGetDefaultMemPool(&first, 0), hipSuccess);
  EXPECT_EQ(now, first);
}

TEST(MemoryPool, GivesAccessToOtherDevices) {
  int devices = 0;
  ASSERT_EQ(hipGetDeviceCount(&devices), hipSuccess);
  ASSERT_GE(devices, 2);
  for (const bool shared : {false, true}) {
    const hipMemPoolProps properties = on_device(0);
    hipMemPool_t pool = nullptr;
    ASSERT_EQ(hipMemPoolCreate(&pool, &properties), hipSuccess);
    hipMemAccessDesc access = {};
    access.location = {hipMemLocationTypeDevice, 1};
    access.flags = shared ? hipMemAccessFlagsProtReadWrite : hipMemAccessFlagsProtNone;
    ASSERT_EQ(hipMemPoolSetAccess(pool, &access, 1), hipSuccess);
    hipMemAccessFlags flags = hipMemAccessFlagsProtRead;
    ASSERT_EQ(hipMemPoolGetAccess(&flags, pool, &access.location), hipSuccess);
    EXPECT_EQ(flags, access.flags);
    int* p = nullptr;
    ASSERT_EQ(hipMallocFromPoolAsync(&p, kBytes, pool, nullptr), hipSuccess);
    ASSERT_EQ(hipSetDevice(1), hipSuccess);
    fill<<<4, 256>>>(p, 1);
    EXPECT_EQ(hipGetLastError(), shared ? hipSuccess : hipErrorIllegalAddress);
    ASSERT_EQ(hipDeviceReset(), hipSuccess);
    ASSERT_EQ(hipSetDevice(0), hipSuccess);
    ASSERT_EQ(hipFreeAsync(p, nullptr), hipSuccess);
    ASSERT_EQ(hipMemPoolDestroy(pool), hipSuccess);
  }
}

std::uint64_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(hipMemGetInfo(&free, &total), hipSuccess);
  return free;
}

void launch_twice_and_check(hipGraph_t graph, const std::vector<int>& host) {
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
  for (int launch = 0; launch < 2; ++launch) {
    ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
    EXPECT_THAT(host, Each(7));
  }
  ASSERT_EQ(hipGraphExecDestroy(executable), hipSuccess);
}

TEST(GraphMemory, IsCapturedAndFreedWithTheGraph) {
  const std::uint64_t before = free_bytes();
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipSuccess);
  std::vector<int> host(kCount);
  int* p = nullptr;
  int* q = nullptr;
  ASSERT_EQ(hipMallocAsync(&p, kBytes, stream), hipSuccess);
  ASSERT_EQ(hipMallocAsync(&q, kBytes, stream), hipSuccess);
  fill<<<4, 256, 0, stream>>>(p, 4);
  fill<<<4, 256, 0, stream>>>(q, 3);
  add<<<4, 256, 0, stream>>>(p, q);
  ASSERT_EQ(hipMemcpyAsync(host.data(), p, kBytes, hipMemcpyDeviceToHost, stream), hipSuccess);
  ASSERT_EQ(hipFreeAsync(p, stream), hipSuccess);
  ASSERT_EQ(hipFreeAsync(q, stream), hipSuccess);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamEndCapture(stream, &graph), hipSuccess);
  EXPECT_LT(free_bytes(), before);
  launch_twice_and_check(graph, host);
  EXPECT_EQ(free_bytes(), before);
  ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);
}

TEST(GraphMemory, OfNodesHasItsAddressAtOnce) {
  const std::uint64_t before = free_bytes();
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  hipMemAllocNodeParams memory = {};
  memory.poolProps = on_device(0);
  memory.bytesize = kBytes;
  hipGraphNode_t allocation, kernel, copy, release;
  ASSERT_EQ(hipGraphAddMemAllocNode(&allocation, graph, nullptr, 0, &memory), hipSuccess);
  ASSERT_NE(memory.dptr, nullptr);
  int value = 7;
  void* arguments[] = {&memory.dptr, &value};
  hipKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(fill);
  launch.gridDim = 4;
  launch.blockDim = 256;
  launch.kernelParams = arguments;
  ASSERT_EQ(hipGraphAddKernelNode(&kernel, graph, &allocation, 1, &launch), hipSuccess);
  std::vector<int> host(kCount);
  ASSERT_EQ(hipGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, host.data(), memory.dptr, kBytes,
                                    hipMemcpyDeviceToHost),
            hipSuccess);
  ASSERT_EQ(hipGraphAddMemFreeNode(&release, graph, &copy, 1, memory.dptr), hipSuccess);
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  ASSERT_EQ(hipGraphNodeGetType(allocation, &type), hipSuccess);
  EXPECT_EQ(type, hipGraphNodeTypeMemAlloc);
  ASSERT_EQ(hipGraphNodeGetType(release, &type), hipSuccess);
  EXPECT_EQ(type, hipGraphNodeTypeMemFree);
  launch_twice_and_check(graph, host);
  EXPECT_EQ(free_bytes(), before);
}

int advice(const void* p, std::size_t bytes, hipMemRangeAttribute attribute) {
  int value = 99;
  EXPECT_EQ(hipMemRangeGetAttribute(&value, sizeof value, attribute, p, bytes), hipSuccess);
  return value;
}

TEST(MemoryAdvice, IsKeptByRange) {
  char* p = nullptr;
  ASSERT_EQ(hipMallocManaged(&p, 8192), hipSuccess);
  EXPECT_EQ(advice(p, 8192, hipMemRangeAttributeReadMostly), 0);
  ASSERT_EQ(hipMemAdvise(p, 4096, hipMemAdviseSetReadMostly, 0), hipSuccess);
  EXPECT_EQ(advice(p, 4096, hipMemRangeAttributeReadMostly), 1);
  EXPECT_EQ(advice(p, 8192, hipMemRangeAttributeReadMostly), 0);
  EXPECT_EQ(advice(p + 4096, 4096, hipMemRangeAttributeReadMostly), 0);
  ASSERT_EQ(hipMemAdvise(p, 8192, hipMemAdviseSetPreferredLocation, hipCpuDeviceId), hipSuccess);
  EXPECT_EQ(advice(p, 8192, hipMemRangeAttributePreferredLocation), hipCpuDeviceId);
  EXPECT_EQ(advice(p, 8192, hipMemRangeAttributeLastPrefetchLocation), -2);
  ASSERT_EQ(hipMemPrefetchAsync(p, 8192, 0, nullptr), hipSuccess);
  EXPECT_EQ(advice(p, 8192, hipMemRangeAttributeLastPrefetchLocation), 0);
  ASSERT_EQ(hipMemAdvise(p, 100, hipMemAdviseSetCoarseGrain, 0), hipSuccess);
  EXPECT_EQ(advice(p, 100, hipMemRangeAttributeCoherencyMode), hipMemRangeCoherencyModeCoarseGrain);
  EXPECT_EQ(advice(p, 200, hipMemRangeAttributeCoherencyMode),
            hipMemRangeCoherencyModeIndeterminate);
  ASSERT_EQ(hipMemAdvise(p, 8192, hipMemAdviseSetAccessedBy, 1), hipSuccess);
  ASSERT_EQ(hipMemAdvise(p, 4096, hipMemAdviseSetAccessedBy, 0), hipSuccess);
  std::vector<int> devices(3);
  ASSERT_EQ(hipMemRangeGetAttribute(devices.data(), 12, hipMemRangeAttributeAccessedBy, p, 8192),
            hipSuccess);
  EXPECT_THAT(devices, ElementsAre(1, -2, -2));
  EXPECT_EQ(hipMemAdvise(p, 8192, hipMemAdviseSetAccessedBy, 77), hipErrorInvalidDevice);
  // Newly allocated memory has no advice.
  ASSERT_EQ(hipFree(p), hipSuccess);
  EXPECT_EQ(advice(p, 8192, hipMemRangeAttributePreferredLocation), -2);
}

}  // namespace
