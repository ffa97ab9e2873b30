// hiprtc: source that is compiled while the program runs.
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1  // what hiprtc.h asks for
#endif
#include <hip/hiprtc.h>

#include <string>
#include <vector>

#include "api_test.h"

namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kSource = R"(
#include "lib/twice.h"
__device__ int offset = 5;
template <typename T>
__global__ void scale(T* data, T factor) {
  data[threadIdx.x] = twice(data[threadIdx.x]) * factor + offset + EXTRA;
}
extern "C" __global__ void plain(int* data) { data[threadIdx.x] = -7; }
)";
constexpr const char* kHeader = "template <typename T> __device__ T twice(T x) { return x + x; }\n";

class Rtc : public ApiTest {
 protected:
  void TearDown() override {
    if (program_ != nullptr) EXPECT_EQ(hiprtcDestroyProgram(&program_), HIPRTC_SUCCESS);
  }
  void create(const char* source) {
    const char* const name = "lib/twice.h";
    const char* header = kHeader;
    const char* header_name = name;
    ASSERT_EQ(hiprtcCreateProgram(&program_, source, "scale.cu", 1, &header, &header_name),
              HIPRTC_SUCCESS);
  }
  hiprtcResult compile(std::vector<const char*> options) {
    return hiprtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
  }
  std::string log() {
    std::size_t bytes = 0;
    EXPECT_EQ(hiprtcGetProgramLogSize(program_, &bytes), HIPRTC_SUCCESS);
    std::string text(bytes + 1, '?');  // and one more, which is to stay
    EXPECT_EQ(hiprtcGetProgramLog(program_, text.data()), HIPRTC_SUCCESS);
    EXPECT_EQ(text.back(), '?');
    text.pop_back();
    if (text.empty()) return text;
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    return text;
  }
  hiprtcProgram program_ = nullptr;
};

TEST_F(Rtc, templates_and_variables_by_their_names) {
  create(kSource);
  ASSERT_EQ(hiprtcAddNameExpression(program_, "scale<float>"), HIPRTC_SUCCESS);
  ASSERT_EQ(hiprtcAddNameExpression(program_, "&offset"), HIPRTC_SUCCESS);
  ASSERT_EQ(compile({"--gpu-architecture=gfx942", "-DEXTRA=100"}), HIPRTC_SUCCESS) << log();
  std::size_t bytes = 0;
  ASSERT_EQ(hiprtcGetProgramLogSize(program_, &bytes), HIPRTC_SUCCESS);
  EXPECT_EQ(bytes, 0u);
  ASSERT_EQ(hiprtcGetCodeSize(program_, &bytes), HIPRTC_SUCCESS);
  std::vector<char> code(bytes);
  ASSERT_EQ(hiprtcGetCode(program_, code.data()), HIPRTC_SUCCESS);
  const char *kernel = nullptr, *variable = nullptr;
  ASSERT_EQ(hiprtcGetLoweredName(program_, "scale<float>", &kernel), HIPRTC_SUCCESS);
  ASSERT_EQ(hiprtcGetLoweredName(program_, "&offset", &variable), HIPRTC_SUCCESS);
  EXPECT_THAT(kernel, StartsWith("_Z5scaleIfE"));
  EXPECT_STREQ(variable, "offset");

  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  ASSERT_EQ(hipModuleLoadData(&module, code.data()), hipSuccess);
  ASSERT_EQ(hipModuleGetFunction(&function, module, kernel), hipSuccess);
  float* data = nullptr;
  ASSERT_EQ(
      hipMallocManaged(reinterpret_cast<void**>(&data), 64 * sizeof(float), hipMemAttachGlobal),
      hipSuccess);
  for (int i = 0; i < 64; ++i) data[i] = static_cast<float>(i);
  float factor = 3;
  void* arguments[] = {&data, &factor};
  ASSERT_EQ(hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr),
            hipSuccess);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(data[i], 6.0F * static_cast<float>(i) + 105);
  hipFunction_t plain = nullptr;
  EXPECT_EQ(hipModuleGetFunction(&plain, module, "plain"), hipSuccess);
  EXPECT_EQ(hipModuleUnload(module), hipSuccess);
}

TEST_F(Rtc, what_the_compiler_says_is_in_the_log) {
  create("__global__ void k(int* p) {\n  *p = undeclared;\n}\n");
  EXPECT_EQ(run_call([&] {
              EXPECT_EQ(compile({}), HIPRTC_ERROR_COMPILATION);
              return hipSuccess;
            }).second,
            "");
  EXPECT_THAT(log(), HasSubstr("scale.cu:2:8: error: use of undeclared identifier 'undeclared'"));
  std::size_t bytes = 0;
  EXPECT_EQ(hiprtcGetCodeSize(program_, &bytes), HIPRTC_ERROR_INVALID_PROGRAM);
}

TEST_F(Rtc, another_architecture_is_refused_in_words) {
  create(kSource);
  EXPECT_EQ(compile({"--gpu-architecture=gfx1100", "-DEXTRA=0"}), HIPRTC_ERROR_COMPILATION);
  EXPECT_THAT(log(), HasSubstr("gfx942"));
}

TEST_F(Rtc, names_come_before_and_are_asked_for_after_the_compilation) {
  create("__global__ void k() {}\n");
  const char* name = nullptr;
  EXPECT_EQ(hiprtcGetLoweredName(program_, "k", &name),
            HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
  ASSERT_EQ(compile({}), HIPRTC_SUCCESS) << log();
  EXPECT_EQ(hiprtcAddNameExpression(program_, "k"),
            HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
  EXPECT_EQ(hiprtcGetLoweredName(program_, "k", &name), HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
}

TEST_F(Rtc, headers_stay_in_their_place) {
  const char* text = "";
  const char* name = "../../escape.h";
  ASSERT_EQ(hiprtcCreateProgram(&program_, "", "p", 1, &text, &name), HIPRTC_SUCCESS);
  EXPECT_EQ(compile({}), HIPRTC_ERROR_INTERNAL_ERROR);
  EXPECT_THAT(log(), HasSubstr("../../escape.h"));
}

TEST_F(Rtc, bad_handles) {
  hiprtcProgram gone = nullptr;
  ASSERT_EQ(hiprtcCreateProgram(&gone, "", nullptr, 0, nullptr, nullptr), HIPRTC_SUCCESS);
  hiprtcProgram copy = gone;
  EXPECT_EQ(hiprtcDestroyProgram(&gone), HIPRTC_SUCCESS);
  EXPECT_EQ(hiprtcDestroyProgram(&copy), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcCompileProgram(copy, 0, nullptr), HIPRTC_ERROR_INVALID_PROGRAM);
  EXPECT_EQ(hiprtcCreateProgram(nullptr, "", nullptr, 0, nullptr, nullptr),
            HIPRTC_ERROR_INVALID_INPUT);
  EXPECT_STREQ(hiprtcGetErrorString(HIPRTC_ERROR_COMPILATION), "HIPRTC_ERROR_COMPILATION");
}

}  // namespace
