// Hand-written kernels (assembly.s): each mistake is a sentence that names the instruction, never
// harm to the host; instructions that compilers rarely use give what the ISA guide says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <type_traits>

#include "exec/device/device.h"

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
    return device_->launch(request);
  }
  /// The error of a kernel; the device still runs the next one.
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
  ASSERT_TRUE(launch("saturating"));
  EXPECT_EQ(results_[0], 0x7bffu);
  EXPECT_EQ(results_[1], 0x8003c0u);
  EXPECT_THAT(fault_of("exceptions_from_the_start").what,
              HasSubstr("exceptions_from_the_start enables exceptions"));
  const Error e = fault_of("enable_exceptions");
  EXPECT_EQ(e.code, ErrorCode::not_implemented);
  EXPECT_THAT(e.what, HasSubstr("enabling exceptions in MODE"));
}

#if defined(__SSE__)
/// What the host program computes with is not what the kernel computes with.
TEST_F(Assembly, TheHostsModeIsItsOwn) {
  const unsigned before = _mm_getcsr();
  const unsigned flushing_toward_zero = before | 0xe040;
  _mm_setcsr(flushing_toward_zero);
  const auto report = launch("modes");
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(after & 0xffc0, flushing_toward_zero & 0xffc0);
  EXPECT_EQ(results_[2], 2u);           // a sum of denormals
  EXPECT_EQ(results_[6], 0x3f800000u);  // to nearest
}
#endif

TEST_F(Assembly, D16LoadsZeroTheOtherHalf) {
  const auto report = launch("d16_loads");
  ASSERT_TRUE(report) << report.error().text();
  const std::uint32_t expected[] = {0x8899aabb, 0xaabb,     0xaabb0000, 0xffbb,
                                    0xbb0000,   0x0000aabb, 0xffbb0000};
  for (std::uint32_t lane = 0; lane < 64; ++lane)
    for (std::size_t n = 0; n < std::size(expected); ++n)
      ASSERT_EQ(results_[lane * 16 + n], expected[n]) << "result " << n << ", lane " << lane;
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
      0x61, 0x62, 0x63, 0x64,        // 22: four dwords
  };
  for (std::size_t n = 0; n < std::size(expected); ++n)
    EXPECT_EQ(results_[n], expected[n]) << "result " << n;
}

TEST_F(Assembly, ScalarMemoryWidths) {
  const auto report = launch("scalar_memory_widths");
  ASSERT_TRUE(report) << report.error().text();
  constexpr std::uint32_t expected[] = {
      0x11, 0x22, 0x33, 0x44,  // s_scratch_store_dwordx4
      0x22, 0,                 // 4: s_buffer_store_dword
      0x33, 0x44,              // 6: s_buffer_store_dwordx2
      0,    0,    0,    0,     // 10: beyond the buffer
      0x11, 0x22, 0x33, 0x44,  // 12: s_scratch_load_dwordx4
      0x33, 0x44,              // 16: s_scratch_load_dwordx2
      0,
  };
  for (std::size_t n = 0; n < std::size(expected); ++n)
    EXPECT_EQ(results_[n], expected[n]) << "result " << n;
}

TEST_F(Assembly, ScalarMemoryOffsets) {
  std::fill_n(results_, 16, 0u);
  const auto report = launch("scalar_memory_offsets");
  ASSERT_TRUE(report) << report.error().text();
  constexpr std::uint32_t expected[] = {0, 0, 0x11, 9, 0x27, 10, 0x11, 0x22, 0, 0};
  for (std::size_t n = 0; n < std::size(expected); ++n)
    EXPECT_EQ(results_[n], expected[n]) << "result " << n;
}

TEST_F(Assembly, PreloadedArgumentsStartBehindThePrologue) {
  std::fill_n(results_, 64, 0u);
  const auto report = launch("preloads");
  ASSERT_TRUE(report) << report.error().text();
  for (std::uint32_t lane = 0; lane < 64; ++lane) ASSERT_EQ(results_[lane], 42u) << lane;
}

TEST_F(Assembly, IndexedLanes) {
  const auto report = launch("indexed_lanes");
  ASSERT_TRUE(report) << report.error().text();
  for (std::uint32_t lane = 0; lane < 64; ++lane) {
    const std::uint32_t expected = lane == 5 ? 63 : lane == 6 ? 105 : lane == 7 ? 100 : 3;
    ASSERT_EQ(results_[lane], expected + 2) << lane;
  }
}

/// Memory, what the instruction returned, its data, and what cmpswap compares with. The compared
/// value of 32 bits is the upper half of the data.
struct AtomicPlace {
  std::uint64_t memory, returned, data, compared;
};
/// What the guide's section 12.6 says of the operation, in the order of assembly.s.
template <typename T>
T atomic_result(unsigned operation, T old, T data, T compared) {
  using Signed = std::make_signed_t<T>;
  const auto s_old = static_cast<Signed>(old), s_data = static_cast<Signed>(data);
  const T results[] = {data,
                       old + data,
                       old - data,
                       static_cast<T>(s_data < s_old ? s_data : s_old),
                       data < old ? data : old,
                       static_cast<T>(s_data > s_old ? s_data : s_old),
                       data > old ? data : old,
                       old & data,
                       old | data,
                       old ^ data,
                       old >= data ? T{0} : old + 1,
                       old == 0 || old > data ? data : old - 1,
                       old == compared ? data : old};
  return results[operation];
}
TEST_F(Assembly, ScalarAtomics) {
  constexpr std::uint64_t kOld = 0x8000'0001'7000'0003, kSmall = 5;
  const AtomicPlace starts[] = {
      {kOld, 0, 0x7000'0002'9000'0001, kOld},  // signs differ; compares unequal with 32 bits
      {kOld, 0, 0x7000'0003'0000'0009, 7},     // the other way with 32 bits
      {kSmall, 0, kSmall << 32 | kSmall, kSmall}, {0, 0, kSmall, 1}, {kOld, 0, kOld, 0},
  };
  constexpr unsigned kOperations = 13, kForms = 4;
  auto* const places = reinterpret_cast<AtomicPlace*>(results_);
  for (const AtomicPlace& start : starts) {
    std::fill_n(places, kOperations * kForms, start);
    const auto report = launch("scalar_atomics");
    ASSERT_TRUE(report) << report.error().text();
    for (unsigned n = 0; n < kOperations * kForms; ++n) {
      SCOPED_TRACE(testing::Message() << "operation " << n / kForms << ", form " << n % kForms);
      const bool wide = n % 2 == 1;
      const unsigned operation = n / kForms;
      const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
      const std::uint64_t expected =
          wide ? atomic_result(operation, start.memory, start.data, start.compared)
               : atomic_result(operation, low(start.memory), low(start.data),
                               low(start.data >> 32)) |
                     (start.memory >> 32 << 32);
      EXPECT_EQ(places[n].memory, expected);
      EXPECT_EQ(places[n].returned,
                wide ? start.memory : low(start.memory) | (start.data >> 32 << 32));
    }
  }
}
TEST_F(Assembly, ScalarMemoryFaults) {
  const Error outside = fault_of("scalar_store_outside");
  EXPECT_EQ(outside.code, ErrorCode::illegal_address);
  EXPECT_THAT(outside.what, HasSubstr("scalar write"));
  EXPECT_THAT(fault_of("scalar_atomic_misaligned").what, HasSubstr("a misaligned atomic"));
}

}  // namespace
}  // namespace margay
