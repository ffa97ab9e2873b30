// What the device says of itself.
#include <unistd.h>

#include <cstring>

#include "api_test.h"

namespace {

using testing::HasSubstr;

using Device = ApiTest;

int attribute(int which) {
  int value = -1;
  EXPECT_EQ(hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(which), 0), hipSuccess);
  return value;
}

TEST_F(Device, there_is_one) {
  int value = -1;
  EXPECT_EQ(hipInit(0), hipSuccess);
  EXPECT_EQ(hipGetDeviceCount(&value), hipSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(hipGetDevice(&value), hipSuccess);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(hipSetDevice(0), hipSuccess);
  EXPECT_EQ(hipSetDevice(1), hipErrorInvalidDevice);
  EXPECT_EQ(hipSetDevice(-1), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetDeviceCount(nullptr), hipErrorInvalidValue);
}

TEST_F(Device, properties_of_hip_5) {
  hipDeviceProp_t p;
  std::memset(&p, 0xff, sizeof p);
  ASSERT_EQ(hipGetDeviceProperties(&p, 0), hipSuccess);
  EXPECT_STREQ(p.name, "AMD Instinct MI325X");
  EXPECT_STREQ(p.gcnArchName, "gfx942:sramecc+:xnack-");
  EXPECT_EQ(p.multiProcessorCount, 304);
  EXPECT_EQ(p.warpSize, 64);
  EXPECT_EQ(p.sharedMemPerBlock, 65536U);
  EXPECT_EQ(p.totalGlobalMem, std::size_t{256} << 30);
  EXPECT_EQ(p.maxThreadsPerBlock, 1024);
  EXPECT_EQ(p.maxThreadsPerMultiProcessor, 2048);
  EXPECT_EQ(p.clockRate, 2100000);
  EXPECT_EQ(p.major, 9);
  EXPECT_EQ(p.minor, 4);
  EXPECT_EQ(p.gcnArch, 942);
  EXPECT_EQ(p.l2CacheSize, 4 << 20);
  EXPECT_EQ(hipGetDeviceProperties(&p, 1), hipErrorInvalidDevice);
}

TEST_F(Device, properties_of_hip_6) {
  hipDeviceProp_tR0600 p;
  std::memset(&p, 0xff, sizeof p);
  ASSERT_EQ(hipGetDevicePropertiesR0600(&p, 0), hipSuccess);
  EXPECT_STREQ(p.name, "AMD Instinct MI325X");
  EXPECT_STREQ(p.gcnArchName, "gfx942:sramecc+:xnack-");
  EXPECT_EQ(p.multiProcessorCount, 304);
  EXPECT_EQ(p.maxThreadsDim[2], 1024);
  EXPECT_EQ(p.sharedMemPerMultiprocessor, 65536U);
  EXPECT_EQ(p.memoryBusWidth, 8192);
  EXPECT_EQ(p.cooperativeLaunch, 1);
  EXPECT_EQ(p.hipReserved[30], 0);
  EXPECT_EQ(p.gcnArch, 942);  // for programs that still ask
}

TEST_F(Device, attributes_agree_with_the_properties) {
  EXPECT_EQ(attribute(hipDeviceAttributeMultiprocessorCount), 304);
  EXPECT_EQ(attribute(hipDeviceAttributeWarpSize), 64);
  EXPECT_EQ(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock), 65536);
  EXPECT_EQ(attribute(hipDeviceAttributeMaxThreadsPerBlock), 1024);
  EXPECT_EQ(attribute(hipDeviceAttributeComputeCapabilityMajor), 9);
  EXPECT_EQ(attribute(hipDeviceAttributeCooperativeLaunch), 1);
  EXPECT_EQ(attribute(hipDeviceAttributeHostNativeAtomicSupported), 1);
  EXPECT_EQ(attribute(margay::hip6::kAttributeNumberOfXccs), 8);
  int value = 0;
  const auto [code, text] = run_call(
      [&] { return hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(777), 0); });
  EXPECT_EQ(code, hipErrorInvalidValue);
  EXPECT_THAT(text, HasSubstr("The device has no attribute number 777."));
}

TEST_F(Device, names_and_ids) {
  char text[64];
  EXPECT_EQ(hipDeviceGetName(text, sizeof text, 0), hipSuccess);
  EXPECT_STREQ(text, "AMD Instinct MI325X");
  EXPECT_EQ(hipDeviceGetName(text, 4, 0), hipSuccess);
  EXPECT_STREQ(text, "AMD");
  EXPECT_EQ(hipDeviceGetName(text, 0, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceGetPCIBusId(text, sizeof text, 0), hipSuccess);
  int device = -1;
  EXPECT_EQ(hipDeviceGetByPCIBusId(&device, text), hipSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(hipDeviceGetByPCIBusId(&device, "0000:7f:00.0"), hipErrorInvalidDevice);
  std::size_t bytes = 0;
  EXPECT_EQ(hipDeviceTotalMem(&bytes, 0), hipSuccess);
  EXPECT_EQ(bytes, std::size_t{256} << 30);
  hipUUID uuid;
  EXPECT_EQ(hipDeviceGetUuid(&uuid, 0), hipSuccess);
}

TEST_F(Device, memory_information_follows_allocations) {
  std::size_t before = 0;
  std::size_t total = 0;
  ASSERT_EQ(hipMemGetInfo(&before, &total), hipSuccess);
  EXPECT_EQ(total, std::size_t{256} << 30);
  EXPECT_LT(before, static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::size_t>(sysconf(_SC_PAGESIZE)))
      << "a program may write to all that is free";
  void* memory = nullptr;
  ASSERT_EQ(hipMalloc(&memory, 1 << 20), hipSuccess);
  std::size_t after = 0;
  ASSERT_EQ(hipMemGetInfo(&after, nullptr), hipSuccess);
  EXPECT_EQ(before - after, std::size_t{1} << 20);
  EXPECT_EQ(hipFree(memory), hipSuccess);
}

TEST_F(Device, contexts_stand_for_the_device) {
  hipCtx_t context = nullptr;
  ASSERT_EQ(hipDevicePrimaryCtxRetain(&context, 0), hipSuccess);
  EXPECT_EQ(hipCtxSetCurrent(context), hipSuccess);
  hipCtx_t current = nullptr;
  EXPECT_EQ(hipCtxGetCurrent(&current), hipSuccess);
  EXPECT_EQ(current, context);
  EXPECT_EQ(hipCtxSetCurrent(reinterpret_cast<hipCtx_t>(&current)), hipErrorInvalidContext);
}

TEST_F(Device, limits) {
  constexpr auto hipLimitStackSize = static_cast<hipLimit_t>(0);  // since HIP 5.3
  std::size_t bytes = 0;
  EXPECT_EQ(hipDeviceGetLimit(&bytes, hipLimitMallocHeapSize), hipSuccess);
  EXPECT_GT(bytes, 0U);
  EXPECT_EQ(hipDeviceGetLimit(&bytes, static_cast<hipLimit_t>(99)), hipErrorUnsupportedLimit);
  EXPECT_EQ(hipDeviceSetLimit(hipLimitStackSize, 4096), hipSuccess);
  EXPECT_EQ(hipDeviceGetLimit(&bytes, hipLimitStackSize), hipSuccess);
  EXPECT_EQ(bytes, 4096U);
  EXPECT_EQ(hipDeviceSetLimit(hipLimitStackSize, 1 << 20), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceSetLimit(hipLimitMallocHeapSize, 64 << 20), hipSuccess);
  EXPECT_EQ(hipDeviceGetLimit(&bytes, hipLimitMallocHeapSize), hipSuccess);
  EXPECT_EQ(bytes, std::size_t{64} << 20);
  EXPECT_EQ(hipDeviceSetLimit(hipLimitPrintfFifoSize, 1 << 20), hipErrorUnsupportedLimit);
  EXPECT_EQ(hipDeviceSetLimit(static_cast<hipLimit_t>(99), 1), hipErrorInvalidValue);
  EXPECT_EQ(hipDeviceSetLimit(hipLimitStackSize, 1024), hipSuccess);
}

TEST_F(Device, flags_are_those_of_the_schedule) {
  unsigned flags = 99;
  EXPECT_EQ(hipSetDeviceFlags(hipDeviceScheduleYield | hipDeviceMapHost), hipSuccess);
  EXPECT_EQ(hipGetDeviceFlags(&flags), hipSuccess);
  EXPECT_EQ(flags, hipDeviceScheduleYield);
  EXPECT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(hipGetDeviceFlags(&flags), hipSuccess);
  EXPECT_EQ(flags, hipDeviceScheduleAuto);
}

TEST_F(Device, is_found_by_its_whole_bus_id) {
  char id[32];
  ASSERT_EQ(hipDeviceGetPCIBusId(id, sizeof id, 0), hipSuccess);
  int device = -1;
  EXPECT_EQ(hipDeviceGetByPCIBusId(&device, id), hipSuccess);
  EXPECT_EQ(device, 0);
  std::string text = id;
  EXPECT_EQ(hipDeviceGetByPCIBusId(&device, text.substr(0, text.find('.')).c_str()), hipSuccess);
  EXPECT_EQ(hipDeviceGetByPCIBusId(&device, "0000:"), hipErrorInvalidDevice);
}

TEST_F(Device, functions_by_name) {
  void* function = nullptr;
  int status = -1;
  EXPECT_EQ(hipGetProcAddress("hipMalloc", &function, 600, 0, &status), hipSuccess);
  EXPECT_EQ(status, 0);
  EXPECT_NE(function, nullptr);
  // The structure of HIP 6 has functions of its own; HIP 7 writes its version in full.
  const auto named = [](const char* name, int version) {
    void* found = nullptr;
    EXPECT_EQ(hipGetProcAddress(name, &found, version, 0, nullptr), hipSuccess);
    return found;
  };
  void* const before = named("hipGetDevicePropertiesR0600", 0);
  EXPECT_NE(named("hipGetDeviceProperties", 500), before);
  EXPECT_EQ(named("hipGetDeviceProperties", 600), before);
  EXPECT_EQ(named("hipGetDeviceProperties", 70100000), before);
  EXPECT_EQ(named("hipChooseDevice", 600), named("hipChooseDeviceR0600", 600));
  EXPECT_NE(named("hipChooseDevice", 599), named("hipChooseDeviceR0600", 599));
  EXPECT_EQ(hipGetProcAddress("hipNoSuchThing", &function, 600, 0, &status), hipErrorInvalidValue);
  EXPECT_EQ(status, 1);
}

}  // namespace
