// Streams and events: handles are checked, and work is done when the call returns.
#include <chrono>
#include <thread>

#include "api_test.h"

namespace {

using testing::HasSubstr;

using Streams = ApiTest;

TEST_F(Streams, implicit_streams_are_always_there) {
  for (const std::uintptr_t handle : {0, 1, 2}) {
    const auto stream = reinterpret_cast<hipStream_t>(handle);
    EXPECT_EQ(hipStreamSynchronize(stream), hipSuccess);
    EXPECT_EQ(hipStreamQuery(stream), hipSuccess);
    EXPECT_EQ(hipStreamDestroy(stream), hipErrorInvalidHandle);
  }
}

TEST_F(Streams, life_of_a_stream) {
  hipStream_t stream = nullptr;
  ASSERT_EQ(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -9), hipSuccess);
  unsigned flags = 0;
  int priority = 0;
  EXPECT_EQ(hipStreamGetFlags(stream, &flags), hipSuccess);
  EXPECT_EQ(flags, unsigned{hipStreamNonBlocking});
  EXPECT_EQ(hipStreamGetPriority(stream, &priority), hipSuccess);
  EXPECT_EQ(priority, -1);  // clamped to the greatest
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  const auto [code, text] = run_call([&] { return hipStreamSynchronize(stream); });
  EXPECT_EQ(code, hipErrorContextIsDestroyed);
  EXPECT_THAT(text, HasSubstr("The stream was destroyed"));
  EXPECT_EQ(hipStreamCreateWithFlags(&stream, 0x80), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamCreate(nullptr), hipErrorInvalidValue);
}

TEST_F(Streams, host_functions_run_at_once) {
  int calls = 0;
  const auto count = [](void* calls) { ++*static_cast<int*>(calls); };
  EXPECT_EQ(hipLaunchHostFunc(nullptr, count, &calls), hipSuccess);
  EXPECT_EQ(calls, 1);
  const auto callback = [](hipStream_t, hipError_t status, void* calls) {
    if (status == hipSuccess) ++*static_cast<int*>(calls);
  };
  EXPECT_EQ(hipStreamAddCallback(nullptr, callback, &calls, 0), hipSuccess);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(hipStreamAddCallback(nullptr, nullptr, nullptr, 0), hipErrorInvalidValue);
}

TEST_F(Streams, the_null_stream_is_not_captured) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusActive;
  EXPECT_EQ(hipStreamIsCapturing(nullptr, &status), hipSuccess);
  EXPECT_EQ(status, hipStreamCaptureStatusNone);
  EXPECT_EQ(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal),
            hipErrorStreamCaptureUnsupported);
}

TEST_F(Streams, events_measure_host_time) {
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  ASSERT_EQ(hipEventCreate(&start), hipSuccess);
  ASSERT_EQ(hipEventCreate(&stop), hipSuccess);
  float ms = -1;
  const auto [code, text] = run_call([&] { return hipEventElapsedTime(&ms, start, stop); });
  EXPECT_EQ(code, hipErrorInvalidHandle);
  EXPECT_THAT(text, HasSubstr("was not recorded"));
  ASSERT_EQ(hipEventRecord(start, nullptr), hipSuccess);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(hipEventRecord(stop, nullptr), hipSuccess);
  EXPECT_EQ(hipEventQuery(stop), hipSuccess);
  EXPECT_EQ(hipEventSynchronize(stop), hipSuccess);
  ASSERT_EQ(hipEventElapsedTime(&ms, start, stop), hipSuccess);
  EXPECT_GE(ms, 5.0F);
  EXPECT_EQ(hipStreamWaitEvent(nullptr, stop, 0), hipSuccess);
  EXPECT_EQ(hipEventDestroy(stop), hipSuccess);
  EXPECT_EQ(hipEventDestroy(stop), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipEventDestroy(nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipStreamWaitEvent(nullptr, start, 2), hipErrorInvalidValue);
  hipEvent_t other = nullptr;
  EXPECT_EQ(hipEventCreateWithFlags(&other, hipEventInterprocess), hipErrorInvalidValue);
  EXPECT_EQ(hipEventCreateWithFlags(&other, hipEventReleaseToDevice | hipEventReleaseToSystem),
            hipErrorInvalidValue);
  EXPECT_EQ(hipEventCreateWithFlags(&other, hipEventInterprocess | hipEventDisableTiming),
            hipSuccess);
  EXPECT_EQ(hipEventDestroy(other), hipSuccess);
  EXPECT_EQ(hipEventRecord(stop, nullptr), hipErrorInvalidHandle);
}

TEST_F(Streams, events_without_timing) {
  hipEvent_t event = nullptr;
  ASSERT_EQ(hipEventCreateWithFlags(&event, hipEventDisableTiming), hipSuccess);
  ASSERT_EQ(hipEventRecord(event, nullptr), hipSuccess);
  float ms = 0;
  EXPECT_EQ(hipEventElapsedTime(&ms, event, event), hipErrorInvalidHandle);
}

}  // namespace
