// Streams whose work waits for what the host, or another stream, does later. Compiled by
// `margay hipcc`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace {

__global__ void wait_then_store(const volatile int* flag, int* out, int value) {
  while (*flag == 0) {
  }
  __threadfence();
  out[threadIdx.x] = value;
}
__global__ void store(int* out, int value) { *out = value; }
__global__ void add(int* out, int value) { *out += value; }
__global__ void copy_word(const int* from, int* to) { *to = *from; }

class Overlap : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(hipDeviceReset(), hipSuccess);
    ASSERT_EQ(hipHostMalloc(&words_, 4096), hipSuccess);
    std::fill(words_, words_ + 1024, 0);
    for (hipStream_t* stream : {&free_, &other_})
      ASSERT_EQ(hipStreamCreateWithFlags(stream, hipStreamNonBlocking), hipSuccess);
    ASSERT_EQ(hipStreamCreate(&blocking_), hipSuccess);
  }
  void TearDown() override {
    raise(flag());  // nothing is left behind on any failure
    EXPECT_EQ(hipDeviceSynchronize(), expected_end_);
    EXPECT_EQ(hipHostFree(words_), hipSuccess);
  }
  static void raise(int* flag) { std::atomic_ref(*flag).store(1); }
  [[nodiscard]] int* flag() const { return words_; }
  [[nodiscard]] int* out() const { return words_ + 64; }  // of a workgroup
  [[nodiscard]] int at(int n) const { return std::atomic_ref(words_[n]).load(); }
  void start_waiter(hipStream_t stream, int value = 7) {
    wait_then_store<<<1, 64, 0, stream>>>(flag(), out(), value);
    ASSERT_EQ(hipGetLastError(), hipSuccess);
    ASSERT_EQ(out()[0], 0);
    ASSERT_EQ(hipStreamQuery(stream), hipErrorNotReady);
  }

  int* words_ = nullptr;
  hipStream_t free_ = nullptr, other_ = nullptr, blocking_ = nullptr;
  hipError_t expected_end_ = hipSuccess;
};

TEST_F(Overlap, AKernelWaitsForTheHost) {
  start_waiter(free_);
  EXPECT_EQ(hipPeekAtLastError(), hipSuccess);  // that it is not ready is no failure
  raise(flag());
  EXPECT_EQ(hipStreamSynchronize(free_), hipSuccess);
  for (int lane = 0; lane < 64; ++lane) EXPECT_EQ(out()[lane], 7);
  EXPECT_EQ(hipStreamQuery(free_), hipSuccess);
}

TEST_F(Overlap, ManyWorkgroupsWaitForTheHost) {
  wait_then_store<<<100, 64, 0, free_>>>(flag(), out(), 3);
  EXPECT_EQ(hipStreamQuery(free_), hipErrorNotReady);
  raise(flag());
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(out()[63], 3);
}

TEST_F(Overlap, AKernelWaitsForAnotherStream) {
  start_waiter(free_);
  store<<<1, 1, 0, other_>>>(flag(), 1);
  EXPECT_EQ(hipStreamSynchronize(free_), hipSuccess);
  EXPECT_EQ(out()[0], 7);
}

TEST_F(Overlap, WhatComesBehindInTheStreamWaits) {
  start_waiter(free_, 20);
  add<<<1, 1, 0, free_>>>(out(), 1);
  ASSERT_EQ(hipMemcpyAsync(words_ + 1, out(), sizeof(int), hipMemcpyDefault, free_), hipSuccess);
  ASSERT_EQ(hipMemsetAsync(out(), 0, sizeof(int), free_), hipSuccess);
  int called = 0;
  ASSERT_EQ(
      hipLaunchHostFunc(free_, [](void* at) { ++*static_cast<int*>(at); }, &called), hipSuccess);
  store<<<1, 1, 0, other_>>>(words_ + 2, 5);  // of another stream: at once
  EXPECT_EQ(at(2), 5);
  EXPECT_EQ(at(1), 0);
  EXPECT_EQ(called, 0);
  raise(flag());
  EXPECT_EQ(hipStreamSynchronize(free_), hipSuccess);
  EXPECT_EQ(at(1), 21);
  EXPECT_EQ(out()[0], 0);
  EXPECT_EQ(called, 1);
}

// What began behind other work, and waits in its turn, keeps nothing else from beginning.
TEST_F(Overlap, AKernelBehindAnotherOneWaitsForAnotherStream) {
  start_waiter(free_, 20);
  int* const second = words_ + 1;
  wait_then_store<<<1, 64, 0, free_>>>(second, out(), 30);
  raise(flag());
  // The first one ends, and the second one begins to wait.
  while (std::atomic_ref(*out()).load() != 20) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  store<<<1, 1, 0, other_>>>(second, 1);
  EXPECT_EQ(hipStreamSynchronize(free_), hipSuccess);
  EXPECT_EQ(out()[0], 30);
}

TEST_F(Overlap, EventsHappenInTheirStream) {
  hipEvent_t before = nullptr, after = nullptr;
  ASSERT_EQ(hipEventCreate(&before), hipSuccess);
  ASSERT_EQ(hipEventCreate(&after), hipSuccess);
  ASSERT_EQ(hipEventRecord(before, free_), hipSuccess);
  start_waiter(free_);
  ASSERT_EQ(hipEventRecord(after, free_), hipSuccess);
  EXPECT_EQ(hipEventQuery(before), hipSuccess);
  EXPECT_EQ(hipEventQuery(after), hipErrorNotReady);
  float time = -1;
  EXPECT_EQ(hipEventElapsedTime(&time, before, after), hipErrorNotReady);
  ASSERT_EQ(hipStreamWaitEvent(other_, after, 0), hipSuccess);
  copy_word<<<1, 1, 0, other_>>>(out(), words_ + 1);
  EXPECT_EQ(hipStreamQuery(other_), hipErrorNotReady);
  raise(flag());
  EXPECT_EQ(hipEventSynchronize(after), hipSuccess);
  EXPECT_EQ(hipEventElapsedTime(&time, before, after), hipSuccess);
  EXPECT_GT(time, 0);
  EXPECT_EQ(hipStreamSynchronize(other_), hipSuccess);
  EXPECT_EQ(at(1), 7);
  (void)hipGetLastError();
}

TEST_F(Overlap, TheNullStreamWaitsForBlockingStreams) {
  start_waiter(blocking_);
  copy_word<<<1, 1>>>(out(), words_ + 1);
  store<<<1, 1, 0, other_>>>(words_ + 2, 1);
  EXPECT_EQ(at(2), 1);
  EXPECT_EQ(hipStreamQuery(nullptr), hipErrorNotReady);
  raise(flag());
  int copied = 0;
  EXPECT_EQ(hipMemcpy(&copied, words_ + 1, sizeof copied, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(copied, 7);
}

TEST_F(Overlap, BlockingStreamsWaitForTheNullStream) {
  start_waiter(nullptr);
  copy_word<<<1, 1, 0, blocking_>>>(out(), words_ + 1);
  EXPECT_EQ(hipStreamQuery(blocking_), hipErrorNotReady);
  EXPECT_EQ(hipStreamQuery(free_), hipSuccess);
  raise(flag());
  EXPECT_EQ(hipStreamSynchronize(blocking_), hipSuccess);
  EXPECT_EQ(at(1), 7);
}

TEST_F(Overlap, AHostFunctionWaitsForTheHost) {
  std::atomic<int> gate = 0;
  ASSERT_EQ(hipLaunchHostFunc(
                free_,
                [](void* at) {
                  while (static_cast<std::atomic<int>*>(at)->load() == 0) std::this_thread::yield();
                },
                &gate),
            hipSuccess);
  store<<<1, 1, 0, free_>>>(words_ + 1, 4);
  EXPECT_EQ(at(1), 0);
  EXPECT_EQ(hipStreamQuery(free_), hipErrorNotReady);
  gate = 1;
  EXPECT_EQ(hipStreamSynchronize(free_), hipSuccess);
  EXPECT_EQ(at(1), 4);
}

TEST_F(Overlap, AFailureIsSaidWhereTheProgramWaits) {
  int* nowhere = nullptr;
  testing::internal::CaptureStderr();
  wait_then_store<<<1, 64, 0, free_>>>(flag(), nowhere, 1);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  raise(flag());
  EXPECT_EQ(hipStreamSynchronize(free_), hipErrorIllegalAddress);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("wait_then_store"));
  (void)hipGetLastError();
  expected_end_ = hipErrorIllegalAddress;
}

TEST_F(Overlap, AStreamWaitsForAWord) {
  struct {
    unsigned comparison, value, mask, not_yet, then;
  } const cases[] = {{hipStreamWaitValueGte, 5, ~0u, 4, 6},
                     {hipStreamWaitValueEq, 5, 0xff, 6, 0x105},
                     {hipStreamWaitValueAnd, 6, ~0u, 8, 2},
                     {hipStreamWaitValueNor, 5, ~0u, ~5u, 0}};
  for (const auto& c : cases) {
    std::atomic_ref(words_[2]).store(static_cast<int>(c.not_yet));
    words_[1] = 0;
    ASSERT_EQ(hipStreamWaitValue32(free_, words_ + 2, c.value, c.comparison, c.mask), hipSuccess);
    store<<<1, 1, 0, free_>>>(words_ + 1, 9);
    EXPECT_EQ(hipStreamQuery(free_), hipErrorNotReady) << c.comparison;
    ASSERT_EQ(hipStreamWriteValue32(other_, words_ + 2, c.then, 0), hipSuccess);
    EXPECT_EQ(hipStreamSynchronize(free_), hipSuccess);
    EXPECT_EQ(at(1), 9);
  }
  // Reached already: nothing is left in flight.
  ASSERT_EQ(hipStreamWriteValue64(other_, words_ + 4, 1ull << 40, 0), hipSuccess);
  ASSERT_EQ(hipStreamWaitValue64(free_, words_ + 4, 1ull << 40, hipStreamWaitValueEq), hipSuccess);
  EXPECT_EQ(hipStreamQuery(free_), hipSuccess);
  testing::internal::CaptureStderr();
  EXPECT_EQ(hipStreamWaitValue32(free_, words_, 0, 4), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamWriteValue64(free_, words_ + 1, 0, 0), hipErrorInvalidValue);
  testing::internal::GetCapturedStderr();
  (void)hipGetLastError();
}

TEST_F(Overlap, FreeingWaits) {
  int* memory = nullptr;
  ASSERT_EQ(hipMalloc(&memory, 4096), hipSuccess);
  wait_then_store<<<1, 64, 0, free_>>>(flag(), memory, 1);
  std::thread host([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    raise(flag());
  });
  EXPECT_EQ(hipFree(memory), hipSuccess);
  EXPECT_EQ(at(0), 1);
  host.join();
  EXPECT_EQ(hipStreamQuery(free_), hipSuccess);
}

}  // namespace
