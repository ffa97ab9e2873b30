// Modules loaded by hand: files and images, functions, variables, argument buffers, and every
// handle or image that is wrong. argv[1] is the code object made of module.hip, argv[2] the same in
// a bundle.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <vector>

#include "api_test.h"

// Declared by hip_ext.h, which needs a HIP compiler.
hipError_t hipExtModuleLaunchKernel(hipFunction_t, std::uint32_t, std::uint32_t, std::uint32_t,
                                    std::uint32_t, std::uint32_t, std::uint32_t, std::size_t,
                                    hipStream_t, void**, void**, hipEvent_t, hipEvent_t,
                                    std::uint32_t);

// Margay's own, which bindings call.
extern "C" {
int margayCheckBegin(const char* options);
const char* margayCheckEnd();
int margayProfileBegin(const char* options);
const char* margayProfileEnd();
int margayDescribeKernel(const void* function, const char* title, const char* variant,
                         const char* const* names, std::size_t count);
}

namespace {

using testing::HasSubstr;

std::string code_object_path;
std::string bundle_path;

std::vector<char> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string write_file(const std::string& name, const std::vector<char>& bytes) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  return path;
}

class Modules : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    ASSERT_EQ(hipModuleLoad(&module_, code_object_path.c_str()), hipSuccess);
    ASSERT_EQ(hipModuleGetFunction(&add_, module_, "add"), hipSuccess);
    for (int*& data : {std::ref(a_), std::ref(b_), std::ref(out_)}) {
      ASSERT_EQ(hipMalloc(reinterpret_cast<void**>(&data), kCount * sizeof(int)), hipSuccess);
    }
    std::iota(a_, a_ + kCount, 0);
    std::fill(b_, b_ + kCount, 1000);
    std::fill(out_, out_ + kCount, -1);
  }
  void TearDown() override { static_cast<void>(hipModuleUnload(module_)); }
  void expect_sum(int count) const {
    for (int i = 0; i < kCount; ++i) ASSERT_EQ(out_[i], i < count ? i + 1005 : -1) << i;
  }

  static constexpr int kCount = 128;
  hipModule_t module_ = nullptr;
  hipFunction_t add_ = nullptr;
  int* a_ = nullptr;
  int* b_ = nullptr;
  int* out_ = nullptr;
  int n_ = 100;
  void* parameters_[4] = {&a_, &b_, &out_, &n_};
};

TEST_F(Modules, managed_variables) {
  hipFunction_t count = nullptr;
  ASSERT_EQ(hipModuleGetFunction(&count, module_, "count_managed"), hipSuccess);
  hipDeviceptr_t at = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(hipModuleGetGlobal(&at, &bytes, module_, "managed"), hipSuccess);
  ASSERT_EQ(bytes, sizeof(int));
  int& managed = *static_cast<int*>(at);
  EXPECT_EQ(managed, 10);
  managed = 100;
  ASSERT_EQ(hipModuleLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            hipSuccess);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(managed, 105);
}

TEST_F(Modules, launch_with_parameters) {
  ASSERT_EQ(hipModuleLaunchKernel(add_, 2, 1, 1, 64, 1, 1, 0, nullptr, parameters_, nullptr),
            hipSuccess);
  expect_sum(100);
}

/// The names of its arguments are in tests/triton: hipcc records them for these.
TEST_F(Modules, a_described_kernel_has_its_title_in_reports) {
  const char* const names[] = {"left", "right"};
  EXPECT_EQ(margayDescribeKernel(&add_, "add<64>", "f32", names, 2), 1) << "no function";
  ASSERT_EQ(margayDescribeKernel(add_, "add<64>", "f32", names, 2), 0);
  ASSERT_EQ(margayDescribeKernel(add_, "late", "late", names, 2), 0) << "is ignored";
  ASSERT_EQ(margayProfileBegin(""), 0);
  ASSERT_EQ(hipModuleLaunchKernel(add_, 2, 1, 1, 64, 1, 1, 0, nullptr, parameters_, nullptr),
            hipSuccess);
  const std::string profile = margayProfileEnd();
  expect_sum(100);
  EXPECT_THAT(profile, HasSubstr(R"("name":"add<64>")"));
  EXPECT_THAT(profile, HasSubstr(R"("symbol":"add")"));
}

/// Two modules may define one symbol, as those of a just-in-time compiler do.
TEST_F(Modules, variants_of_a_kernel_are_apart_in_a_profile) {
  hipModule_t other = nullptr;
  hipFunction_t other_add = nullptr;
  ASSERT_EQ(hipModuleLoad(&other, code_object_path.c_str()), hipSuccess);
  ASSERT_EQ(hipModuleGetFunction(&other_add, other, "add"), hipSuccess);
  ASSERT_EQ(margayDescribeKernel(add_, "add<64>", "one", nullptr, 0), 0);
  ASSERT_EQ(margayDescribeKernel(other_add, "add<64>", "two", nullptr, 0), 0);
  ASSERT_EQ(margayProfileBegin(""), 0);
  for (const hipFunction_t add : {add_, other_add, add_})
    ASSERT_EQ(hipModuleLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, nullptr, parameters_, nullptr),
              hipSuccess);
  const std::string profile = margayProfileEnd();
  EXPECT_EQ(hipModuleUnload(other), hipSuccess);
  const auto first = profile.find(R"("name":"add<64>")");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(profile.find(R"("name":"add<64>")", first + 1), std::string::npos);
}

TEST_F(Modules, copies_that_a_block_compiler_makes_do_not_race) {
  void* parameters[] = {&out_};
  const auto findings = [&](const char* kernel, const char* variant) {
    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    EXPECT_EQ(hipModuleLoad(&module, code_object_path.c_str()), hipSuccess);
    EXPECT_EQ(hipModuleGetFunction(&function, module, kernel), hipSuccess);
    EXPECT_EQ(margayDescribeKernel(function, kernel, variant, nullptr, 0), 0);
    EXPECT_EQ(margayCheckBegin("tools=racecheck"), 0);
    EXPECT_EQ(hipModuleLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr),
              hipSuccess);
    std::string report = margayCheckEnd();
    EXPECT_EQ(hipModuleUnload(module), hipSuccess);
    return report;
  };
  EXPECT_THAT(findings("increment_copies", "block"), Not(HasSubstr("race on global memory")));
  EXPECT_THAT(findings("increment_copies", ""), HasSubstr("race on global memory"));
  EXPECT_THAT(findings("increment_neighbours", "block"), HasSubstr("race on global memory"));
}

/// A sum over lanes whose first product is fused into an addition ends in other bits in each lane.
TEST_F(Modules, lanes_of_a_block_program_may_round_in_another_order) {
  const auto findings = [&](unsigned distance, const char* variant) {
    void* parameters[] = {&out_, &distance};
    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    EXPECT_EQ(hipModuleLoad(&module, code_object_path.c_str()), hipSuccess);
    EXPECT_EQ(hipModuleGetFunction(&function, module, "sum_copies"), hipSuccess);
    EXPECT_EQ(margayDescribeKernel(function, "sum_copies", variant, nullptr, 0), 0);
    EXPECT_EQ(margayCheckBegin("tools=racecheck"), 0);
    EXPECT_EQ(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr),
              hipSuccess);
    std::string report = margayCheckEnd();
    EXPECT_EQ(hipModuleUnload(module), hipSuccess);
    return report;
  };
  constexpr const char* kDiffer = "of one instruction write different values";
  EXPECT_THAT(findings(3, ""), AllOf(HasSubstr(kDiffer), HasSubstr(R"("severity": "error")")));
  EXPECT_THAT(findings(3, "block"), Not(HasSubstr("of one instruction")));
  EXPECT_THAT(findings(1 << 20, "block"),
              AllOf(HasSubstr(kDiffer), HasSubstr(R"("severity": "note")")));
}

TEST_F(Modules, launch_with_a_buffer) {
  struct {
    int* a;
    int* b;
    int* out;
    int n;
  } buffer{a_, b_, out_, n_};
  std::size_t size = sizeof buffer;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  ASSERT_EQ(hipModuleLaunchKernel(add_, 2, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra), hipSuccess);
  expect_sum(100);
  EXPECT_THAT(run_call([&] {
                return hipModuleLaunchKernel(add_, 2, 1, 1, 64, 1, 1, 0, nullptr, parameters_,
                                             extra);
              }).second,
              HasSubstr("passes its arguments twice"));
}

TEST_F(Modules, launch_counted_in_work_items) {
  ASSERT_EQ(hipExtModuleLaunchKernel(add_, 128, 1, 1, 64, 1, 1, 0, nullptr, parameters_, nullptr,
                                     nullptr, nullptr, 0),
            hipSuccess);
  expect_sum(100);
  const auto [code, text] = run_call([&] {
    return hipExtModuleLaunchKernel(add_, 100, 1, 1, 64, 1, 1, 0, nullptr, parameters_, nullptr,
                                    nullptr, nullptr, 0);
  });
  EXPECT_EQ(code, hipErrorInvalidValue);
  EXPECT_THAT(text, HasSubstr("no whole number of blocks of (64, 1, 1)"));
}

TEST_F(Modules, limits_of_module_launches) {
  EXPECT_EQ(hipModuleLaunchKernel(add_, 0, 1, 1, 64, 1, 1, 0, nullptr, parameters_, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLaunchKernel(add_, 1, 1, 1, 2048, 1, 1, 0, nullptr, parameters_, nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLaunchKernel(add_, 1, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
            hipErrorInvalidValue);
}

TEST_F(Modules, variables) {
  hipDeviceptr_t address = nullptr;
  std::size_t bytes = 0;
  ASSERT_EQ(hipModuleGetGlobal(&address, &bytes, module_, "counter"), hipSuccess);
  EXPECT_EQ(bytes, sizeof(int));
  int value = 0;
  EXPECT_EQ(hipMemcpyDtoH(&value, address, sizeof value), hipSuccess);
  EXPECT_EQ(value, 5);
  value = 6;
  EXPECT_EQ(hipMemcpyHtoD(address, &value, sizeof value), hipSuccess);
  ASSERT_EQ(hipModuleLaunchKernel(add_, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters_, nullptr),
            hipSuccess);
  EXPECT_EQ(out_[0], 1006);
  const auto [code, text] =
      run_call([&] { return hipModuleGetGlobal(&address, &bytes, module_, "nothing"); });
  EXPECT_EQ(code, hipErrorNotFound);
  EXPECT_THAT(text, HasSubstr("The code object has no variable named \"nothing\"."));
}

TEST_F(Modules, functions) {
  hipFunction_t function = nullptr;
  const auto [code, text] =
      run_call([&] { return hipModuleGetFunction(&function, module_, "ad"); });
  EXPECT_EQ(code, hipErrorNotFound);
  EXPECT_THAT(text, HasSubstr("has no kernel named \"ad\"."));
  EXPECT_THAT(text, HasSubstr("Its kernels are add, count_managed, fill, increment_copies"));
  int registers = 0;
  EXPECT_EQ(hipFuncGetAttribute(&registers, HIP_FUNC_ATTRIBUTE_NUM_REGS, add_), hipSuccess);
  EXPECT_GT(registers, 0);
  EXPECT_STREQ(hipKernelNameRef(add_), "add");
  unsigned count = 0;
  EXPECT_EQ(hipModuleGetFunctionCount(&count, module_), hipSuccess);
  EXPECT_EQ(count, 6U);
}

TEST_F(Modules, handles_end_with_the_module) {
  ASSERT_EQ(hipModuleUnload(module_), hipSuccess);
  EXPECT_EQ(hipModuleUnload(module_), hipErrorInvalidHandle);
  hipFunction_t function = nullptr;
  EXPECT_EQ(hipModuleGetFunction(&function, module_, "add"), hipErrorInvalidHandle);
  const auto [code, text] = run_call([&] {
    return hipModuleLaunchKernel(add_, 2, 1, 1, 64, 1, 1, 0, nullptr, parameters_, nullptr);
  });
  EXPECT_EQ(code, hipErrorInvalidHandle);
  EXPECT_THAT(text, HasSubstr("The function handle is not that of a kernel of a loaded module."));
}

TEST_F(Modules, images_in_memory) {
  for (const std::string& path : {code_object_path, bundle_path}) {
    const std::vector<char> image = contents(path);
    hipModule_t module = nullptr;
    ASSERT_EQ(hipModuleLoadData(&module, image.data()), hipSuccess) << path;
    hipFunction_t function = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&function, module, "fill"), hipSuccess);
    double result = 0;
    double* out = &result;
    char tag = 1;
    double value = 0.25;
    void* parameters[] = {&tag, &value, &out};
    EXPECT_EQ(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
              hipSuccess);
    EXPECT_EQ(result, 1.25);
    EXPECT_EQ(hipModuleUnload(module), hipSuccess);
  }
}

TEST_F(Modules, bad_files) {
  hipModule_t module = nullptr;
  EXPECT_EQ(hipModuleLoad(&module, "no-such-file.hsaco"), hipErrorFileNotFound);
  EXPECT_EQ(hipModuleLoad(&module, nullptr), hipErrorInvalidValue);

  std::vector<char> image = contents(code_object_path);
  const std::vector<char> half(image.begin(), image.begin() + std::ssize(image) / 2);
  const std::string truncated = write_file("truncated.hsaco", half);
  const auto [code, text] = run_call([&] { return hipModuleLoad(&module, truncated.c_str()); });
  EXPECT_EQ(code, hipErrorInvalidImage);
  EXPECT_THAT(text, HasSubstr("hipModuleLoad (hipErrorInvalidImage)"));

  EXPECT_EQ(hipModuleLoad(&module, write_file("empty.hsaco", {}).c_str()), hipErrorInvalidImage);
  EXPECT_EQ(hipModuleLoad(&module, write_file("text.hsaco", {'h', 'e', 'l', 'l', 'o'}).c_str()),
            hipErrorInvalidImage);

  // e_flags, at byte 48 of an ELF-64 header: 0x3f is gfx90a.
  image[48] = 0x3f;
  EXPECT_EQ(hipModuleLoad(&module, write_file("gfx90a.hsaco", image).c_str()),
            hipErrorNoBinaryForGpu);
}

/// Memory that ends where nothing is mapped.
class AtTheEndOfMemory {
 public:
  explicit AtTheEndOfMemory(std::size_t bytes) : pages_((bytes + kPage - 1) / kPage * kPage) {
    begin_ = static_cast<char*>(
        mmap(nullptr, pages_ + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(begin_ + pages_, kPage, PROT_NONE);
    data = begin_ + pages_ - bytes;
  }
  AtTheEndOfMemory(const AtTheEndOfMemory&) = delete;
  AtTheEndOfMemory& operator=(const AtTheEndOfMemory&) = delete;
  ~AtTheEndOfMemory() { munmap(begin_, pages_ + kPage); }
  char* data;

 private:
  static constexpr std::size_t kPage = 4096;
  std::size_t pages_;
  char* begin_;
};

// hipModuleLoadData does not receive the size of the image: for any headers, nothing past the
// memory may be read.
TEST_F(Modules, damaged_images_in_memory) {
  for (const std::string& path : {code_object_path, bundle_path}) {
    const std::vector<char> sound = contents(path);
    const AtTheEndOfMemory memory(sound.size());
    std::ranges::copy(sound, memory.data);
    hipModule_t module = nullptr;
    ASSERT_EQ(hipModuleLoadData(&module, memory.data), hipSuccess) << path;
    ASSERT_EQ(hipModuleUnload(module), hipSuccess);
    // The section headers of an ELF file are at its end, and their offset in bytes 40 to 47.
    std::size_t sections = 64;
    if (path == code_object_path) std::memcpy(&sections, sound.data() + 40, sizeof sections);
    std::mt19937 random(1);
    int refused = 0;
    testing::internal::CaptureStderr();
    for (int n = 0; n < 350; ++n) {
      std::ranges::copy(sound, memory.data);
      for (int damages = 1 + n % 3; damages > 0; --damages) {
        const std::size_t begin = random() % 2 == 0 ? 16 : sections;
        const std::size_t end = begin == 16 ? 64 : std::min(sections + 640, sound.size());
        if (begin >= end) continue;
        memory.data[begin + random() % (end - begin)] = static_cast<char>(random());
      }
      if (hipModuleLoadData(&module, memory.data) == hipSuccess)
        static_cast<void>(hipModuleUnload(module));
      else
        ++refused;
    }
    static_cast<void>(testing::internal::GetCapturedStderr());
    EXPECT_GT(refused, 100) << path;
    // And what is cut off.
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4}, std::size_t{63},
                                    std::size_t{64}, sound.size() / 2, sound.size() - 1}) {
      const AtTheEndOfMemory cut(bytes);
      std::copy_n(sound.begin(), bytes, cut.data);
      const auto [code, text] = run_call([&] { return hipModuleLoadData(&module, cut.data); });
      EXPECT_EQ(code, hipErrorInvalidImage) << path << ", " << bytes;
      if (bytes >= 64) EXPECT_THAT(text, HasSubstr(std::to_string(bytes) + " can be read there"));
    }
  }
  const auto [code, text] = run_call([&] {
    hipModule_t module = nullptr;
    return hipModuleLoadData(&module, reinterpret_cast<void*>(0x1000));
  });
  EXPECT_EQ(code, hipErrorInvalidValue);
  EXPECT_THAT(text, HasSubstr("no memory of this process"));
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  if (argc < 3) return 2;
  code_object_path = argv[1];
  bundle_path = argv[2];
  return RUN_ALL_TESTS();
}
