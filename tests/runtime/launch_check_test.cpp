// The refusals of a launch and the packing of its arguments, on made-up kernels: no code runs.
#include "runtime/launch/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <string>

#include "runtime/base/names.h"
#include "runtime/launch/arguments.h"

namespace margay::runtime {
namespace {

using testing::HasSubstr;

Kernel kernel_named(std::string name) {
  Kernel kernel;
  kernel.name = std::move(name);
  return kernel;
}

Outcome check(const Kernel& kernel, dim3 grid, dim3 block, std::size_t lds = 0,
              LaunchFamily family = LaunchFamily::runtime) {
  return check_launch(kernel, default_gpu(),
                      {.grid = grid, .block = block, .dynamic_lds_bytes = lds, .family = family});
}

TEST(LaunchCheck, accepts_what_the_hardware_can_run) {
  const Kernel kernel = kernel_named("k");
  EXPECT_TRUE(check(kernel, 1, 1));
  EXPECT_TRUE(check(kernel, dim3(65536, 65536, 65536), dim3(4, 4, 64)));
  EXPECT_TRUE(check(kernel, 1, dim3(1, 1, 1024), 65536));
  EXPECT_TRUE(check(kernel, 4294967295U / 64, 64));
}

TEST(LaunchCheck, zero_dimensions) {
  const Kernel kernel = kernel_named("_Z3addPf");
  for (const auto family : {LaunchFamily::runtime, LaunchFamily::module}) {
    const hipError_t code =
        family == LaunchFamily::runtime ? hipErrorInvalidConfiguration : hipErrorInvalidValue;
    EXPECT_EQ(check(kernel, dim3(0, 1, 1), 64, 0, family).error().code, code);
    EXPECT_EQ(check(kernel, dim3(1, 1, 0), 64, 0, family).error().code, code);
    EXPECT_EQ(check(kernel, 1, dim3(64, 0, 1), 0, family).error().code, code);
  }
  EXPECT_EQ(check(kernel, dim3(0, 1, 1), 64).error().error.what,
            "The launch of add(float*) has a zero dimension: grid (0, 1, 1), block (64, 1, 1).");
}

TEST(LaunchCheck, blocks_larger_than_a_workgroup) {
  const Kernel kernel = kernel_named("k");
  const Outcome outcome = check(kernel, 1, dim3(32, 33, 1));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, hipErrorInvalidConfiguration);
  EXPECT_EQ(
      outcome.error().error.what,
      "The launch of k asks for a block of (32, 33, 1) = 1056 work-items; AMD Instinct MI325X "
      "has at most 1024 in a workgroup.");
  EXPECT_EQ(check(kernel, 1, 1025, 0, LaunchFamily::module).error().code, hipErrorInvalidValue);
  // A product that overflows 64 bits must not come out small.
  const Outcome overflows = check(kernel, 1, dim3(1U << 31, 1U << 31, 4));
  ASSERT_FALSE(overflows);
  EXPECT_THAT(overflows.error().error.what, HasSubstr("2147483648, 4), too many work-items;"));
}

TEST(LaunchCheck, blocks_larger_than_the_launch_bounds) {
  Kernel kernel = kernel_named("k");
  kernel.max_workgroup_size = 256;
  EXPECT_TRUE(check(kernel, 1, 256));
  const Outcome outcome = check(kernel, 1, 512);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, hipErrorLaunchFailure);
  EXPECT_THAT(outcome.error().error.what, HasSubstr("was compiled for at most 256"));
  EXPECT_THAT(outcome.error().error.hint, HasSubstr("__launch_bounds__(512)"));
}

TEST(LaunchCheck, grids_that_a_dispatch_packet_cannot_hold) {
  const Kernel kernel = kernel_named("k");
  const Outcome outcome = check(kernel, 1U << 23, 1024);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, hipErrorInvalidConfiguration);
  EXPECT_THAT(outcome.error().error.what, HasSubstr("8388608 x 1024 work-items in x"));
  EXPECT_FALSE(check(kernel, dim3(1, 1, 1U << 31), dim3(1, 1, 2)));
  EXPECT_EQ(check(kernel, dim3(1, 65537, 1), 1, 0, LaunchFamily::module).error().code,
            hipErrorInvalidValue);
  EXPECT_TRUE(check(kernel, dim3(1, 65537, 1), 1));
}

TEST(LaunchCheck, more_lds_than_a_workgroup_has) {
  Kernel kernel = kernel_named("k");
  kernel.lds_bytes = 4096;
  EXPECT_TRUE(check(kernel, 1, 64, 61440));
  const Outcome outcome = check(kernel, 1, 64, 61441);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, hipErrorInvalidValue);
  EXPECT_EQ(outcome.error().error.what,
            "The launch of k needs 65537 bytes of LDS (4096 static and 61441 dynamic); a workgroup "
            "on AMD Instinct MI325X has at most 65536.");
  EXPECT_FALSE(check(kernel, 1, 64, std::numeric_limits<std::size_t>::max()));
}

TEST(LaunchCheck, what_the_executor_cannot_run_is_refused_before_it_is_put_into_a_graph) {
  Kernel kernel = kernel_named("k");
  kernel.descriptor.compute_pgm_rsrc2 = 1u << 24;  // an exception
  const Outcome trap = check(kernel, 1, 64);
  ASSERT_FALSE(trap);
  EXPECT_EQ(trap.error().code, hipErrorNotSupported);
  EXPECT_THAT(trap.error().error.what, HasSubstr("The descriptor of k enables exceptions"));
  kernel.descriptor = {};
  kernel.descriptor.group_segment_fixed_size = 4096;  // which the metadata does not say
  EXPECT_TRUE(check(kernel, 1, 64, 61440));
  const Outcome lds = check(kernel, 1, 64, 61441);
  ASSERT_FALSE(lds);
  EXPECT_EQ(lds.error().code, hipErrorInvalidValue);
  EXPECT_EQ(check(kernel_named("k"), dim3(1U << 22, 1U << 22, 1U << 21), 1).error().code,
            hipErrorInvalidConfiguration)
      << "2^65 workgroups";
}

// f(char c, double d, float* p) with a hidden argument behind.
Kernel kernel_with_arguments() {
  Kernel kernel = kernel_named("f");
  const auto argument = [](const char* name, ArgumentKind kind, std::uint32_t offset,
                           std::uint32_t size) {
    KernelArgument a;
    a.name = name;
    a.kind = kind;
    a.offset_bytes = offset;
    a.size_bytes = size;
    return a;
  };
  kernel.arguments = {argument("c", ArgumentKind::by_value, 0, 1),
                      argument("d", ArgumentKind::by_value, 8, 8),
                      argument("p", ArgumentKind::global_buffer, 16, 8),
                      argument("", ArgumentKind::hidden_block_count_x, 24, 4)};
  kernel.kernarg_bytes = 280;
  return kernel;
}

TEST(PackArguments, puts_each_value_at_its_offset) {
  char c = 'x';
  double d = 2.5;
  void* p = &d;
  void* parameters[] = {&c, &d, &p};
  const auto bytes = pack_arguments(kernel_with_arguments(), parameters);
  ASSERT_TRUE(bytes.has_value());
  ASSERT_EQ(bytes->size(), 24U);
  EXPECT_EQ(std::memcmp(bytes->data(), &c, 1), 0);
  EXPECT_EQ(std::memcmp(bytes->data() + 8, &d, 8), 0);
  EXPECT_EQ(std::memcmp(bytes->data() + 16, &p, 8), 0);
}

TEST(PackArguments, a_kernel_without_arguments_needs_no_array) {
  const auto bytes = pack_arguments(kernel_named("k"), nullptr);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_TRUE(bytes->empty());
}

TEST(PackArguments, missing_arguments_are_refused) {
  EXPECT_EQ(pack_arguments(kernel_with_arguments(), nullptr).error().code, hipErrorInvalidValue);
  char c = 'x';
  void* parameters[] = {&c, nullptr, nullptr};
  const auto bytes = pack_arguments(kernel_with_arguments(), parameters);
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().error.what,
            "The launch of f passes a null pointer in place of argument 1 (d).");
}

/// A<A<...>, A<...>> nested 36 deep, each level two references to the one before: as text, 10^12
/// characters.
std::string hostile_name() {
  std::string name = "_Z1f1AIiiE";
  for (const char level : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    name += fmt::format("S_IS{0}_S{0}_E", level);
  return name;
}

TEST(ReadableName, of_a_hostile_symbol_is_the_symbol) {
  EXPECT_EQ(readable_name(hostile_name()), hostile_name());
  EXPECT_EQ(readable_name("_Z3addPi"), "add(int*)");
  EXPECT_EQ(readable_name("f"), "f") << "no type";
}

TEST(CopyArguments, takes_a_buffer_of_any_size_but_says_what_is_missing) {
  unsigned char buffer[32] = {1, 2, 3};
  std::size_t size = sizeof buffer;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  SaidOnce said;
  const auto bytes = copy_arguments(kernel_with_arguments(), extra, &said);
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(bytes->size(), 24U);
  EXPECT_EQ((*bytes)[2], std::byte{3});
  // As in ROCm's runtime, which ignores the size.
  size = 18;
  testing::internal::CaptureStderr();
  const auto cut = copy_arguments(kernel_with_arguments(), extra, &said);
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      HasSubstr("The argument buffer of the launch of f has 18 bytes; the kernel's metadata "
                "has arguments up to byte 24."));
  ASSERT_TRUE(cut.has_value());
  EXPECT_EQ(cut->size(), 24U);
  EXPECT_EQ((*cut)[2], std::byte{3});
  EXPECT_EQ((*cut)[18], std::byte{0xfa}) << "as what nobody has written";
  EXPECT_EQ((*cut)[19], std::byte{0xff});
  testing::internal::CaptureStderr();
  EXPECT_TRUE(copy_arguments(kernel_with_arguments(), extra, &said).has_value());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "once for each kernel";
  testing::internal::CaptureStderr();
  EXPECT_TRUE(copy_arguments(kernel_with_arguments(), extra, nullptr).has_value());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "not where the program wants silence";
  size = 0;
  EXPECT_EQ(copy_arguments(kernel_with_arguments(), extra, &said).error().error.what,
            "The argument buffer of the launch of f is empty; the kernel takes 24 bytes.");
  extra[4] = nullptr;
  EXPECT_THAT(copy_arguments(kernel_with_arguments(), extra, &said).error().error.hint,
              HasSubstr("HIP_LAUNCH_PARAM_BUFFER_POINTER"));
}

}  // namespace
}  // namespace margay::runtime
