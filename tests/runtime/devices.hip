// Several devices in one process: MARGAY_DEVICES=8, which the test's environment sets. Compiled by
// `margay hipcc`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

// Newer than Debian's headers.
extern "C" hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* symbol);

namespace {

using testing::HasSubstr;

constexpr int kDevices = 8;

__device__ int counter = 10;
__managed__ int everywhere = 0;

__global__ void count(int by) { atomicAdd(&counter, by); }
__global__ void store(int* out, int value) { *out = value; }
__global__ void increment(int* values) { ++values[threadIdx.x]; }

class Devices : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    ASSERT_EQ(hipGetDeviceCount(&devices), hipSuccess);
    ASSERT_EQ(devices, kDevices);
    for (int device = kDevices - 1; device >= 0; --device) {
      ASSERT_EQ(hipSetDevice(device), hipSuccess);
      ASSERT_EQ(hipDeviceReset(), hipSuccess);
    }
    (void)hipGetLastError();
  }
  static int* ints_on(int device, int n) {
    void* memory = nullptr;
    EXPECT_EQ(hipSetDevice(device), hipSuccess);
    EXPECT_EQ(hipMalloc(&memory, n * sizeof(int)), hipSuccess);
    return static_cast<int*>(memory);
  }
  template <typename Call>
  static std::string stderr_of(Call&& call) {
    testing::internal::CaptureStderr();
    call();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Devices, TheyHaveNumbersAndPlaces) {
  std::set<std::string> places;
  for (int device = 0; device < kDevices; ++device) {
    hipDeviceProp_t properties;
    ASSERT_EQ(hipGetDeviceProperties(&properties, device), hipSuccess);
    EXPECT_STREQ(properties.name, "AMD Instinct MI325X");
    char id[32] = {};
    ASSERT_EQ(hipDeviceGetPCIBusId(id, sizeof id, device), hipSuccess);
    EXPECT_TRUE(places.insert(id).second) << id;
    int found = -1, bus = -1;
    EXPECT_EQ(hipDeviceGetByPCIBusId(&found, id), hipSuccess);
    EXPECT_EQ(found, device);
    EXPECT_EQ(hipDeviceGetAttribute(&bus, hipDeviceAttributePciBusId, device), hipSuccess);
    EXPECT_EQ(bus, properties.pciBusID);
  }
  EXPECT_THAT(stderr_of([] { EXPECT_EQ(hipSetDevice(kDevices), hipErrorInvalidDevice); }),
              HasSubstr("There is no device 8; there are 8, from number 0."));
}

TEST_F(Devices, EachThreadChoosesItsOwn) {
  ASSERT_EQ(hipSetDevice(5), hipSuccess);
  int other = -1, here = -1;
  std::thread([&] {
    EXPECT_EQ(hipGetDevice(&other), hipSuccess);
    EXPECT_EQ(hipSetDevice(2), hipSuccess);
  }).join();
  EXPECT_EQ(other, 0);
  EXPECT_EQ(hipGetDevice(&here), hipSuccess);
  EXPECT_EQ(here, 5);
}

TEST_F(Devices, EachHasItsMemory) {
  std::size_t before[2], after[2], total = 0;
  for (int device : {0, 1}) {
    ASSERT_EQ(hipSetDevice(device), hipSuccess);
    ASSERT_EQ(hipMemGetInfo(&before[device], &total), hipSuccess);
  }
  int* const ints = ints_on(1, 1 << 18);
  for (int device : {0, 1}) {
    ASSERT_EQ(hipSetDevice(device), hipSuccess);
    ASSERT_EQ(hipMemGetInfo(&after[device], &total), hipSuccess);
  }
  EXPECT_EQ(after[0], before[0]);
  EXPECT_EQ(after[1], before[1] - (1 << 20));
  hipPointerAttribute_t attributes;
  ASSERT_EQ(hipPointerGetAttributes(&attributes, ints + 7), hipSuccess);
  EXPECT_EQ(attributes.device, 1);
  ASSERT_EQ(hipDeviceReset(), hipSuccess);  // of device 1
  ASSERT_EQ(hipPointerGetAttributes(&attributes, ints + 7), hipSuccess);
  EXPECT_EQ(attributes.type, hipMemoryTypeUnregistered);  // HIP 6: not known is an answer
}

TEST_F(Devices, AResetSparesTheOthers) {
  int* const kept = ints_on(2, 1);
  ASSERT_EQ(hipSetDevice(3), hipSuccess);
  ASSERT_EQ(hipDeviceReset(), hipSuccess);
  ASSERT_EQ(hipSetDevice(2), hipSuccess);
  store<<<1, 1>>>(kept, 4);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(*kept, 4);
}

TEST_F(Devices, EachHasItsVariables) {
  for (int device = 0; device < kDevices; ++device) {
    ASSERT_EQ(hipSetDevice(device), hipSuccess);
    const int ten = 10;
    ASSERT_EQ(hipMemcpyToSymbol(HIP_SYMBOL(counter), &ten, sizeof ten), hipSuccess);
    count<<<1, 64>>>(device);
  }
  for (int device = 0; device < kDevices; ++device) {
    ASSERT_EQ(hipSetDevice(device), hipSuccess);
    int value = 0;
    ASSERT_EQ(hipMemcpyFromSymbol(&value, HIP_SYMBOL(counter), sizeof value), hipSuccess);
    EXPECT_EQ(value, 10 + 64 * device);
  }
}

TEST_F(Devices, AStreamHasADevice) {
  int* const there = ints_on(3, 1);
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  ASSERT_EQ(hipSetDevice(0), hipSuccess);
  store<<<1, 1, 0, stream>>>(there, 33);
  ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
  EXPECT_EQ(*there, 33);
  EXPECT_EQ(hipGetStreamDeviceId(stream), 3);
  int current = -1;
  EXPECT_EQ(hipGetDevice(&current), hipSuccess);
  EXPECT_EQ(current, 0);

  hipFunction_t on_zero = nullptr;
  ASSERT_EQ(hipGetFuncBySymbol(&on_zero, reinterpret_cast<const void*>(store)), hipSuccess);
  int value = 1;
  void* arguments[] = {const_cast<int**>(&there), &value};
  EXPECT_THAT(stderr_of([&] {
                EXPECT_EQ(
                    hipModuleLaunchKernel(on_zero, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr),
                    hipErrorInvalidHandle);
              }),
              HasSubstr("was loaded on device 0, and the launch is for device 3"));
}

TEST_F(Devices, MemoryOfAPeerNeedsAccess) {
  int* const there = ints_on(1, 4);
  ASSERT_EQ(hipSetDevice(0), hipSuccess);
  int can = 0;
  ASSERT_EQ(hipDeviceCanAccessPeer(&can, 0, 1), hipSuccess);
  EXPECT_EQ(can, 1);
  ASSERT_EQ(hipDeviceCanAccessPeer(&can, 1, 1), hipSuccess);
  EXPECT_EQ(can, 0);
  const auto store_from_0 = [&] {
    store<<<1, 1>>>(there, 11);
    return hipGetLastError();
  };
  const std::string said = stderr_of([&] { EXPECT_EQ(store_from_0(), hipErrorIllegalAddress); });
  EXPECT_THAT(said, HasSubstr("of device 1, and the kernel runs on device 0"));
  EXPECT_THAT(said, HasSubstr("hipDeviceEnablePeerAccess(1, 0)"));
  EXPECT_EQ(*there, 0);
  ASSERT_EQ(hipDeviceReset(), hipSuccess);  // forgets the failure; the memory is device 1's

  ASSERT_EQ(hipDeviceEnablePeerAccess(1, 0), hipSuccess);
  EXPECT_EQ(store_from_0(), hipSuccess);
  EXPECT_EQ(*there, 11);
  (void)stderr_of([&] {
    EXPECT_EQ(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
    EXPECT_EQ(hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
    EXPECT_EQ(hipDeviceDisablePeerAccess(1), hipSuccess);
    EXPECT_EQ(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
    (void)hipGetLastError();
    EXPECT_EQ(store_from_0(), hipErrorIllegalAddress);
  });
}

TEST_F(Devices, CopiesGoFromAnyToAny) {
  std::vector<int> host(64);
  for (int i = 0; i < 64; ++i) host[i] = i;
  int* last = nullptr;
  for (int device = 0; device < kDevices; ++device) {
    int* const next = ints_on(device, 64);
    if (last == nullptr) {
      ASSERT_EQ(hipMemcpy(next, host.data(), 64 * sizeof(int), hipMemcpyHostToDevice), hipSuccess);
    } else if (device % 2) {
      ASSERT_EQ(hipMemcpyPeer(next, device, last, device - 1, 64 * sizeof(int)), hipSuccess);
    } else {
      ASSERT_EQ(hipMemcpyAsync(next, last, 64 * sizeof(int), hipMemcpyDefault, nullptr),
                hipSuccess);
    }
    increment<<<1, 64>>>(next);
    last = next;
  }
  ASSERT_EQ(hipMemcpy(host.data(), last, 64 * sizeof(int), hipMemcpyDeviceToHost), hipSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(host[i], i + kDevices);
  EXPECT_EQ(stderr_of([&] {
              EXPECT_EQ(hipMemcpyPeer(last, kDevices, last, 0, 4), hipErrorInvalidDevice);
            }).empty(),
            false);
}

TEST_F(Devices, ManagedAndPinnedMemoryIsEverybodys) {
  ASSERT_EQ(hipSetDevice(0), hipSuccess);
  int *pinned = nullptr, *managed = nullptr;
  ASSERT_EQ(hipHostMalloc(&pinned, sizeof(int)), hipSuccess);
  ASSERT_EQ(hipMallocManaged(&managed, sizeof(int)), hipSuccess);
  *pinned = *managed = everywhere = 0;
  for (int device = 0; device < kDevices; ++device) {
    ASSERT_EQ(hipSetDevice(device), hipSuccess);
    increment<<<1, 1>>>(pinned);
    increment<<<1, 1>>>(managed);
    store<<<1, 1>>>(&everywhere, device);
    ASSERT_EQ(hipGetLastError(), hipSuccess);
    EXPECT_EQ(everywhere, device);
  }
  EXPECT_EQ(*pinned, kDevices);
  EXPECT_EQ(*managed, kDevices);
}

TEST_F(Devices, LinksBetweenThem) {
  std::uint32_t type = 0, hops = 0;
  EXPECT_EQ(hipExtGetLinkTypeAndHopCount(0, 7, &type, &hops), hipSuccess);
  EXPECT_EQ(type, 4u);
  EXPECT_EQ(hops, 1u);
  int value = 0;
  EXPECT_EQ(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 7), hipSuccess);
  EXPECT_EQ(value, 1);
}

}  // namespace
