// Hand-written kernels (assembly.s): each mistake is a sentence that names the instruction, never
// harm to the host; instructions that compilers rarely use give what the ISA guide says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "../../support/executed.h"
#include "exec/device.h"

namespace margay {
namespace {

using ::testing::HasSubstr;

class Assembly : public testing::Test {
 protected:
  void SetUp() override {
    auto device = Device::create({});
    ASSERT_TRUE(device) << device.error().text();
    device_ = std::move(*device);
    std::ifstream file(MARGAY_TEST_ASSEMBLY, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                  std::istreambuf_iterator<char>());
    std::vector<std::byte> image(bytes.size());
    std::memcpy(image.data(), bytes.data(), bytes.size());
    auto object = CodeObject::parse(std::move(image));
    ASSERT_TRUE(object) << object.error().text();
    auto module = device_->load(std::move(*object));
    ASSERT_TRUE(module) << module.error().text();
    module_ = std::move(*module);
    auto block = device_->memory().allocate(64 * 64, "results");
    ASSERT_TRUE(block);
    results_ = static_cast<std::uint32_t*>(*block);
  }
  Result<LaunchReport> launch(const char* kernel) {
    std::vector<std::byte> packed(sizeof results_);
    std::memcpy(packed.data(), &results_, sizeof results_);
    LaunchRequest request;
    request.module = module_;
    request.kernel = module_->object().find_kernel(kernel);
    EXPECT_NE(request.kernel, nullptr) << kernel;
    request.grid = {1, 1, 1};
    request.block = {64, 1, 1};
    request.arguments = packed;
    return device_->launch(request, test::executed_observer());
  }
  /// The error of a kernel; the device runs the next one all the same.
  Error fault_of(const char* kernel) {
    const auto report = launch(kernel);
    EXPECT_FALSE(report) << kernel;
    EXPECT_TRUE(launch("results"));
    return report ? Error{} : report.error();
  }

  std::unique_ptr<Device> device_;
  std::shared_ptr<LoadedModule> module_;
  std::uint32_t* results_ = nullptr;
};

TEST_F(Assembly, RunningOffTheEndNamesTheLastInstruction) {
  const Error e = fault_of("off_the_end");
  EXPECT_EQ(e.code, ErrorCode::illegal_instruction);
  EXPECT_THAT(e.what, HasSubstr("ran past the end of a function"));
  EXPECT_THAT(e.where, HasSubstr("v_mov_b32"));
  EXPECT_THAT(e.where, HasSubstr("off_the_end+0xfc"));
  // The function behind it has a fault of its own at the very address.
  EXPECT_THAT(fault_of("illegal_word").what, HasSubstr("not a gfx942 instruction"));
}
TEST_F(Assembly, IllegalWords) {
  EXPECT_EQ(fault_of("illegal_word").code, ErrorCode::illegal_instruction);
  const Error e = fault_of("reserved_selection");
  EXPECT_EQ(e.code, ErrorCode::illegal_instruction);
  EXPECT_THAT(e.where, HasSubstr("reserved_selection+0x0"));
}
TEST_F(Assembly, BranchesStayInTheirFunction) {
  const Error e = fault_of("branch_away");
  EXPECT_EQ(e.code, ErrorCode::not_implemented);
  EXPECT_THAT(e.what, HasSubstr("a branch leaves its function"));
  EXPECT_THAT(e.where, HasSubstr("s_branch"));
}
TEST_F(Assembly, ScratchBelowItsStart) {
  for (const char* kernel : {"scratch_before_its_start", "scratch_before_its_start_by_lane"}) {
    const Error e = fault_of(kernel);
    EXPECT_EQ(e.code, ErrorCode::illegal_address);
    EXPECT_THAT(e.what, HasSubstr("scratch access at byte 4294967292 of lane 0"));
    EXPECT_THAT(e.what, HasSubstr("16 bytes of scratch"));
  }
}
TEST_F(Assembly, LdsBelowItsStartIsDropped) {
  const auto report = launch("lds_before_its_start");
  EXPECT_TRUE(report) << report.error().text();
}
TEST_F(Assembly, MisalignedAtomic) {
  const Error e = fault_of("misaligned_atomic");
  EXPECT_EQ(e.code, ErrorCode::illegal_address);
  EXPECT_THAT(e.what, HasSubstr("a misaligned atomic: lane 0"));
  EXPECT_THAT(e.where, HasSubstr("global_atomic_add"));
}

TEST_F(Assembly, Results) {
  const auto report = launch("results");
  ASSERT_TRUE(report) << report.error().text();
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    const std::uint32_t expected[] = {
        7 + lane,    // AccVGPR move
        0xfffffff9,  // v_bfe_i32 of bits 28 to 35
        lane,        // v0, for a source out of range
        5,           // a destination out of range
        7 + lane,    // a destination in range
        (0x22u - 9) << 16 | 0xef01,
        0x22 - 9,    // 0x22 + sext(0xf7)
        0xffffbc00,  // 0x44 - 0x88 is 0xbc
        0xffffffff,
        0x7fffffff,
        0x40400000,  // 2 * 0.5 + 4 * 0.5
    };
    for (std::size_t n = 0; n < std::size(expected); ++n)
      ASSERT_EQ(results_[lane * 16 + n], expected[n]) << "result " << n << ", lane " << lane;
  }
}

TEST_F(Assembly, Modes) {
  const auto report = launch("modes");
  ASSERT_TRUE(report) << report.error().text();
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    const std::uint32_t expected[] = {
        0,           // flushed
        0x3c0,       // float mode 0xc0, DX10_CLAMP, IEEE
        2,           // kept
        0x3f7fffff,  // 1 - 2^-30, toward zero
        0x3f7ffffd,  // three times
        0x3f7fffff,  // in the function
        0x3f800000,  // to nearest
        5,           // what VSKIP skips
        7,           // and does not
        0x7bff,      // FP16_OVFL
        0x7c00,
    };
    for (std::size_t n = 0; n < std::size(expected); ++n)
      ASSERT_EQ(results_[lane * 16 + n], expected[n]) << "result " << n << ", lane " << lane;
  }
  const Error e = fault_of("enable_exceptions");
  EXPECT_EQ(e.code, ErrorCode::not_implemented);
  EXPECT_THAT(e.what, HasSubstr("enabling exceptions in MODE"));
}

TEST_F(Assembly, ScalarMemory) {
  const auto report = launch("scalar_memory");
  ASSERT_TRUE(report) << report.error().text();
  const std::uint32_t expected[] = {
      0x33, 0x99, 0x33, 0xfffffffe,  // 0: added to twice, swapped, kept, the smaller
      0x33, 0,                       // 4: the larger; counted down
      0x32, 0x45,                    // 6: a sum of 64 bits, with its carry
      0x11, 0x22,                    // 8: s_scratch_store
      0x33,                          // 10: s_scratch_load
      0x11, 0x11,                    // 11: returned; not returned
      0x22, 0x22,                    // 13: the old value, and what it was compared with
      1,                             // 15: counted up
      3,    0x11, 0,    0,           // 16: of the buffer; its end
      0x33, 0,                       // 20: returned inside and beyond
  };
  for (std::size_t n = 0; n < std::size(expected); ++n)
    EXPECT_EQ(results_[n], expected[n]) << "result " << n;
}
TEST_F(Assembly, ScalarMemoryFaults) {
  const Error outside = fault_of("scalar_store_outside");
  EXPECT_EQ(outside.code, ErrorCode::illegal_address);
  EXPECT_THAT(outside.what, HasSubstr("scalar write"));
  EXPECT_THAT(fault_of("scalar_atomic_misaligned").what, HasSubstr("a misaligned atomic"));
}

}  // namespace
}  // namespace margay
