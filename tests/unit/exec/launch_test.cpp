// Launches on the virtual device: results for every host level and thread count, limits, and what
// a kernel's mistake turns into.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "exec/device/device.h"
#include "exec/instructions/all_rows.h"
#include "machine.h"

namespace margay {
namespace {

using ::testing::HasSubstr;

/// A device with the test kernels loaded.
class Machine : public TestMachine {
 public:
  explicit Machine(DeviceOptions options = {})
      : TestMachine(MARGAY_TEST_KERNELS, std::move(options)) {}
};

// ---- Results --------------------------------------------------------------------------------

TEST(Launch, AtomicsOfAllWorkgroupsAddUp) {
  for (const unsigned threads : {1u, 4u}) {
    Machine machine({.threads = threads});
    const auto counter = machine.allocate<std::uint32_t>(1);
    const auto seen = machine.allocate<std::uint32_t>(200 * 100);
    const auto report =
        machine.launch("count_up", {200, 1, 1}, {100, 1, 1}, counter.data(), seen.data());
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_EQ(report->workgroups, 200u);
    EXPECT_EQ(report->waves, 400u);
    EXPECT_EQ(counter[0], 20000u);
    std::vector<std::uint32_t> sorted(seen.begin(), seen.end()), all(20000);
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 1u);
    EXPECT_EQ(sorted, all) << "every work-item of the partial waves once";
  }
}

// AITER's mixture-of-experts kernels mark with it which rows they have cleared in this launch.
TEST(Launch, EachHasItsDispatchId) {
  Machine machine;
  const auto ids = machine.allocate<std::uint64_t>(3);
  for (std::uint64_t& id : ids)
    ASSERT_TRUE(machine.launch("dispatch_id", {1, 1, 1}, {64, 1, 1}, &id));
  EXPECT_THAT(std::vector(ids.begin(), ids.end()), ::testing::ElementsAre(0, 1, 2));
}

TEST(Launch, BarriersOrderLds) {
  Machine machine({.threads = 4});
  const auto in = machine.allocate<float>(64 * 256), out = machine.allocate<float>(64);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 1000);
  const auto report = machine.launch("block_sum", {64, 1, 1}, {256, 1, 1}, in.data(), out.data());
  ASSERT_TRUE(report) << report.error().text();
  for (std::size_t b = 0; b < 64; ++b)
    EXPECT_EQ(out[b],
              std::accumulate(in.begin() + static_cast<std::ptrdiff_t>(b * 256),
                              in.begin() + static_cast<std::ptrdiff_t>(b * 256 + 256), 0.0f));
}

TEST(Launch, AWaveThatSpinsLetsTheOthersRun) {
  Machine machine;
  const auto out = machine.allocate<std::uint32_t>(1);
  const auto report = machine.launch("spin", {1, 1, 1}, {128, 1, 1}, out.data());
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(out[0], 42u);
}

std::vector<std::uint32_t> mixture_bits(DeviceOptions options) {
  constexpr int kCount = 3000;
  Machine machine(std::move(options));
  const auto in = machine.allocate<float>(kCount), out = machine.allocate<float>(kCount);
  for (int i = 0; i < kCount; ++i)
    in[static_cast<std::size_t>(i)] =
        std::ldexp(static_cast<float>(i * 37 % 1009 - 500), i % 40 - 20);
  const auto report =
      machine.launch("mixture", {12, 1, 1}, {256, 1, 1}, in.data(), out.data(), kCount);
  EXPECT_TRUE(report) << report.error().text();
  std::vector<std::uint32_t> bits(kCount);
  std::memcpy(bits.data(), out.data(), sizeof(float) * kCount);
  return bits;
}

TEST(Launch, SameBitsOnEveryHostLevelAndThreadCount) {
  const auto expected = mixture_bits({.threads = 1});
  int levels = 0;
  for (const char* level : {"generic", "x86-64-v3", "x86-64-v4"}) {
    if (row_table(level, default_gpu().arch()) == nullptr) continue;  // this host cannot run it
    ++levels;
    for (const unsigned threads : {1u, 3u})
      EXPECT_EQ(mixture_bits({.threads = threads, .host_level = level}), expected) << level;
  }
  EXPECT_GE(levels, 1);
}

TEST(Launch, UninitialisedRegistersAreNan) {
  Machine machine;
  const auto out = machine.allocate<float>(64);
  ASSERT_TRUE(machine.launch("uninitialised", {1, 1, 1}, {64, 1, 1}, out.data()));
  for (const float x : out) EXPECT_TRUE(std::isnan(x));
}

// ---- Limits ---------------------------------------------------------------------------------

TEST(Launch, RefusesWhatTheHardwareHasNot) {
  Machine machine;
  const auto out = machine.allocate<std::uint32_t>(2048);
  const auto refusal = [&](Dim3 grid, Dim3 block) {
    const auto report = machine.launch("store_one", grid, block, out.data());
    return report ? std::string("launched") : report.error().what;
  };
  EXPECT_THAT(refusal({1, 1, 1}, {1025, 1, 1}),
              HasSubstr("1025 work-items; AMD Instinct MI325X has at most 1024"));
  EXPECT_THAT(refusal({0, 1, 1}, {64, 1, 1}),
              HasSubstr("has a zero dimension: grid (0, 1, 1), block (64, 1, 1)"));
  EXPECT_THAT(refusal({1u << 30, 1, 1}, {64, 1, 1}), HasSubstr("1073741824 x 64 work-items in x"));
  EXPECT_THAT(refusal({1u << 22, 1u << 22, 1u << 21}, {1, 1, 1}), HasSubstr("2^64 workgroups"))
      << "a product that overflows must not come out small";
  EXPECT_THAT(refusal({1, 1, 1}, {1u << 31, 1u << 31, 4}), HasSubstr("work-items"));
  machine.dynamic_lds = 64 * 1024 + 1;
  EXPECT_THAT(refusal({1, 1, 1}, {64, 1, 1}), HasSubstr("65537 bytes of LDS"));
  machine.dynamic_lds = 64 * 1024;
  EXPECT_EQ(refusal({1, 1, 1}, {64, 1, 1}), "launched");
}

TEST(Device, RefusesAnUnknownHostLevel) {
  const auto device = Device::create({.host_level = "x86-64-v9"});
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().text(), HasSubstr("x86-64-v9"));
}

// ---- Faults ---------------------------------------------------------------------------------

/// Launches, expects a fault, and shows that the device still works.
Error fault_of(Machine& machine, const char* kernel, auto... arguments) {
  const auto report = machine.launch(kernel, {3, 1, 1}, {64, 1, 1}, arguments...);
  EXPECT_FALSE(report) << kernel;
  const auto out = machine.allocate<std::uint32_t>(64);
  EXPECT_TRUE(machine.launch("store_one", {1, 1, 1}, {64, 1, 1}, out.data()));
  EXPECT_EQ(out[63], 1u);
  return report ? Error{} : report.error();
}

TEST(Fault, NullPointer) {
  Machine machine;
  const Error e = fault_of(machine, "store_one", static_cast<std::uint32_t*>(nullptr));
  EXPECT_EQ(e.code, ErrorCode::illegal_address);
  EXPECT_THAT(e.what, HasSubstr("a null pointer"));
  EXPECT_THAT(e.where, HasSubstr("global_store_dword"));
  EXPECT_THAT(e.where, HasSubstr("kernels.hip:"));
  EXPECT_THAT(e.where, HasSubstr("wave 0, lane 0 of workgroup"));
}

TEST(Fault, PastTheEndSaysHowFar) {
  Machine machine;
  const auto out = machine.allocate<std::uint32_t>(1000);
  const Error e = fault_of(machine, "store_far", out.data(), std::uint64_t{1003});
  EXPECT_EQ(e.code, ErrorCode::illegal_address);
  EXPECT_THAT(e.what, HasSubstr("12 bytes past the end of allocation"));
  EXPECT_THAT(e.what, HasSubstr("4000 bytes"));
}

TEST(Fault, FreedMemory) {
  Machine machine;
  const auto out = machine.allocate<std::uint32_t>(1000);
  ASSERT_TRUE(machine.device().memory().free(out.data()));
  const Error e = fault_of(machine, "store_far", out.data(), std::uint64_t{5});
  EXPECT_THAT(e.what, HasSubstr("20 bytes inside allocation"));
  EXPECT_THAT(e.what, HasSubstr("was freed"));
}

TEST(Fault, WildPointer) {
  Machine machine;
  const Error e =
      fault_of(machine, "store_one", reinterpret_cast<std::uint32_t*>(0x7fff'0000'0000'1000));
  EXPECT_THAT(e.what, HasSubstr("neither device memory nor mapped host memory"));
}

TEST(Fault, Trap) {
  Machine machine;
  const Error e = fault_of(machine, "trap");
  EXPECT_EQ(e.code, ErrorCode::device_trap);
  EXPECT_THAT(e.where, HasSubstr("s_trap"));
}

TEST(Fault, Halt) {
  Machine machine;
  const Error e = fault_of(machine, "halt");
  EXPECT_EQ(e.code, ErrorCode::device_trap);
  EXPECT_THAT(e.what, HasSubstr("halted itself"));
}

TEST(Fault, WhatTheDeviceDoesNotHaveIsSaid) {
  struct Case {
    const char* kernel;
    ErrorCode code;
    const char* what;
  };
  constexpr Case kCases[] = {
      {"wave_sync", ErrorCode::not_implemented, "ds_gws_barrier: the virtual device has no global"},
      {"message_and_halt", ErrorCode::device_trap, "sent a message and halted (s_sendmsghalt)"},
      {"return_from_trap", ErrorCode::illegal_instruction, "s_rfe_b64 returns from a trap handler"},
      {"restore_from_trap", ErrorCode::illegal_instruction,
       "s_rfe_restore_b64 returns from a trap"},
  };
  for (const Case& one : kCases) {
    Machine machine;
    const Error e = fault_of(machine, one.kernel);
    EXPECT_EQ(e.code, one.code) << one.kernel;
    EXPECT_THAT(e.what, HasSubstr(one.what));
  }
}

TEST(Fault, UnimplementedInstructionIsNamed) {
  Machine machine;
  const Error e = fault_of(machine, "indexed_swap");
  EXPECT_EQ(e.code, ErrorCode::not_implemented);
  EXPECT_THAT(e.what, HasSubstr("v_swap_b32"));
  EXPECT_THAT(e.where, HasSubstr("PC 0x"));
  EXPECT_THAT(e.where, HasSubstr("kernels.hip:"));
}

}  // namespace
}  // namespace margay
