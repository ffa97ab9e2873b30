// What a program finds on the machine that MARGAY_DEVICE names; run once for each of them.
#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <cstdlib>
#include <string>

namespace {

struct Machine {
  const char* option;
  const char* name;
  int compute_units, xcds, memory_clock_khz, pci_chip_id, integrated;
  std::size_t memory_gib;
};
// AMD's data sheets; what ROCm reports where it is published.
constexpr Machine kMachines[] = {
    {"mi325x", "AMD Instinct MI325X", 304, 8, 3000000, 0x74a5, 0, 256},
    {"mi300x", "AMD Instinct MI300X", 304, 8, 1300000, 0x74a1, 0, 192},
    {"mi300a", "AMD Instinct MI300A", 228, 6, 1300000, 0x74a0, 1, 128},
    {"mi308x", "AMD Instinct MI308X", 80, 4, 1300000, 0x74a2, 0, 192},
};
const Machine& machine() {
  const char* const option = std::getenv("MARGAY_DEVICE");
  for (const Machine& m : kMachines)
    if (option != nullptr && std::string(m.option) == option) return m;
  ADD_FAILURE() << "MARGAY_DEVICE is none of the machines";
  return kMachines[0];
}

int attribute(int which) {
  int value = -1;
  EXPECT_EQ(hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(which), 0), hipSuccess);
  return value;
}

TEST(Machines, Properties) {
  const Machine& m = machine();
  hipDeviceProp_t p;
  ASSERT_EQ(hipGetDeviceProperties(&p, 0), hipSuccess);
  EXPECT_STREQ(p.name, m.name);
  EXPECT_STREQ(p.gcnArchName, "gfx942:sramecc+:xnack-");
  EXPECT_EQ(p.multiProcessorCount, m.compute_units);
  EXPECT_EQ(p.totalGlobalMem, m.memory_gib << 30);
  EXPECT_EQ(p.clockRate, 2100000);
  EXPECT_EQ(p.memoryClockRate, m.memory_clock_khz);
  EXPECT_EQ(p.memoryBusWidth, 8192);
  EXPECT_EQ(p.l2CacheSize, 4 << 20);
  EXPECT_EQ(p.integrated, m.integrated);
  EXPECT_EQ(p.major, 9);
  EXPECT_EQ(p.minor, 4);
  EXPECT_EQ(p.warpSize, 64);
}

TEST(Machines, Attributes) {
  const Machine& m = machine();
  EXPECT_EQ(attribute(hipDeviceAttributeMultiprocessorCount), m.compute_units);
  EXPECT_EQ(attribute(hipDeviceAttributePhysicalMultiProcessorCount), m.compute_units);
  EXPECT_EQ(attribute(hipDeviceAttributeClockRate), 2100000);
  EXPECT_EQ(attribute(hipDeviceAttributeMemoryClockRate), m.memory_clock_khz);
  EXPECT_EQ(attribute(hipDeviceAttributeL2CacheSize), 4 << 20);
  EXPECT_EQ(attribute(hipDeviceAttributeIntegrated), m.integrated);
  EXPECT_EQ(attribute(hipDeviceAttributeMaxThreadsPerMultiProcessor), 2048);
  constexpr int kNumberOfXccs = 10018, kPciChipId = 10020;  // ROCm 6's hip_runtime_api.h
  EXPECT_EQ(attribute(kNumberOfXccs), m.xcds);
  EXPECT_EQ(attribute(kPciChipId), m.pci_chip_id);
}

TEST(Machines, NameAndMemory) {
  const Machine& m = machine();
  char text[64];
  EXPECT_EQ(hipDeviceGetName(text, sizeof text, 0), hipSuccess);
  EXPECT_STREQ(text, m.name);
  std::size_t total = 0;
  EXPECT_EQ(hipDeviceTotalMem(&total, 0), hipSuccess);
  EXPECT_EQ(total, m.memory_gib << 30);
  EXPECT_EQ(hipMemGetInfo(nullptr, &total), hipSuccess);
  EXPECT_EQ(total, m.memory_gib << 30);
}

__global__ void idle() {}

// A cooperative launch has to fit: 32 workgroups of a wave on each CU.
TEST(Machines, HasRoomForSoManyWorkgroups) {
  const Machine& m = machine();
  const auto launch = [](unsigned workgroups) {
    return hipLaunchCooperativeKernel(reinterpret_cast<void*>(idle), dim3(workgroups), dim3(64),
                                      nullptr, 0, nullptr);
  };
  const auto most = static_cast<unsigned>(32 * m.compute_units);
  EXPECT_EQ(launch(most), hipSuccess);
  EXPECT_EQ(launch(most + 1), hipErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
}

__global__ void where(unsigned* xcc, unsigned long long* clocks) {
  unsigned id;
  asm volatile("s_getreg_b32 %0, hwreg(HW_REG_XCC_ID)" : "=s"(id));
  if (threadIdx.x == 0) xcc[blockIdx.x] = id;
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    const auto wall = wall_clock64();
    const auto cycles = clock64();
    while (wall_clock64() - wall < 1000000) {  // 10 ms of a 100 MHz clock
    }
    clocks[0] = clock64() - cycles;
    clocks[1] = wall_clock64() - wall;
  }
}

TEST(Machines, WorkgroupsGoRoundTheXcds) {
  const Machine& m = machine();
  constexpr unsigned kWorkgroups = 19;
  unsigned* xcc = nullptr;
  unsigned long long* clocks = nullptr;
  ASSERT_EQ(hipMallocManaged(&xcc, kWorkgroups * sizeof *xcc), hipSuccess);
  ASSERT_EQ(hipMallocManaged(&clocks, 2 * sizeof *clocks), hipSuccess);
  where<<<kWorkgroups, 64>>>(xcc, clocks);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (unsigned n = 0; n < kWorkgroups; ++n)
    EXPECT_EQ(xcc[n], n % static_cast<unsigned>(m.xcds)) << n;
  // 2.1 GHz to 100 MHz. The two are read one after the other.
  EXPECT_NEAR(static_cast<double>(clocks[0]) / static_cast<double>(clocks[1]), 21, 0.5);
  EXPECT_EQ(hipFree(xcc), hipSuccess);
  EXPECT_EQ(hipFree(clocks), hipSuccess);
}

}  // namespace
