// Error names and texts, the per-thread last error, and the names that are not implemented.
#include <thread>

#include "api_test.h"
#include "runtime/base/errors.h"

namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Errors = ApiTest;

TEST_F(Errors, names_and_texts) {
  EXPECT_STREQ(hipGetErrorName(hipSuccess), "hipSuccess");
  EXPECT_STREQ(hipGetErrorString(hipErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(hipGetErrorName(hipErrorGraphExecUpdateFailure), "hipErrorGraphExecUpdateFailure");
  EXPECT_STREQ(hipGetErrorName(static_cast<hipError_t>(911)), "hipErrorInvalidChannelDescriptor");
  EXPECT_STREQ(hipGetErrorName(static_cast<hipError_t>(12345)), "hipErrorUnknown");
  EXPECT_STREQ(hipGetErrorString(static_cast<hipError_t>(12345)), "unknown error");
  const char* text = nullptr;
  EXPECT_EQ(hipDrvGetErrorName(hipErrorNotReady, &text), hipSuccess);
  EXPECT_STREQ(text, "hipErrorNotReady");
  EXPECT_EQ(hipDrvGetErrorString(hipErrorNotReady, &text), hipSuccess);
  EXPECT_STREQ(text, "device not ready");
  EXPECT_EQ(hipDrvGetErrorName(static_cast<hipError_t>(12345), &text), hipErrorInvalidValue);
  EXPECT_EQ(hipDrvGetErrorName(hipErrorNotReady, nullptr), hipErrorInvalidValue);
}

TEST_F(Errors, last_error_is_kept_until_it_is_taken) {
  EXPECT_EQ(hipSetDevice(7), hipErrorInvalidDevice);
  int count = 0;
  EXPECT_EQ(hipGetDeviceCount(&count), hipSuccess);  // does not clear it
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

TEST_F(Errors, last_error_belongs_to_its_thread) {
  EXPECT_EQ(hipSetDevice(8), hipErrorInvalidDevice);
  hipError_t elsewhere = hipErrorUnknown;
  std::thread([&] { elsewhere = hipGetLastError(); }).join();
  EXPECT_EQ(elsewhere, hipSuccess);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
}

TEST_F(Errors, a_refusal_prints_what_where_and_the_code) {
  const auto [code, text] = run_call([] { return hipSetDevice(9); });
  EXPECT_EQ(code, hipErrorInvalidDevice);
  EXPECT_EQ(text,
            "margay: There is no device 9; the only device is number 0.\n"
            "  at   hipSetDevice (hipErrorInvalidDevice)\n"
            "  fix  MARGAY_DEVICES=8 makes eight.\n");
}

TEST_F(Errors, the_same_sentence_is_printed_once) {
  EXPECT_THAT(run_call([] { return hipSetDevice(10); }).second, HasSubstr("device 10"));
  EXPECT_EQ(run_call([] { return hipSetDevice(10); }).second, "");
  EXPECT_THAT(run_call([] { return hipSetDevice(11); }).second, HasSubstr("device 11"));
}

TEST_F(Errors, what_is_not_there_says_so_by_name) {
  hipArray_t array = nullptr;
  hipChannelFormatDesc format{};
  const auto [code, text] = run_call([&] { return hipMallocArray(&array, &format, 1, 1, 0); });
  EXPECT_EQ(code, hipErrorNotSupported);
  EXPECT_EQ(text, "margay: hipMallocArray is not there in Margay yet (hipErrorNotSupported).\n");
  EXPECT_EQ(hipGetLastError(), hipErrorNotSupported);
}

}  // namespace
