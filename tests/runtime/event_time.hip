// hipEventElapsedTime with MARGAY_EVENT_TIME=modelled: the device's time by the model, never the
// host's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hip/hip_ext.h>
#include <hip/hip_runtime.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

extern "C" __attribute__((weak)) const char* margayEventTime(const char* name);
extern "C" __attribute__((weak)) int margayLaunchPurpose(int purpose);
extern "C" __attribute__((weak)) void margayLaunchData(unsigned long long digest);
extern "C" __attribute__((weak)) int margayProfileBegin(const char* options);
extern "C" __attribute__((weak)) const char* margayProfileEnd(void);

namespace {

/// One wave per workgroup; `rounds` dependent additions, more than what else its loop does.
__global__ void spin(float* out, int rounds) {
  float x = out[threadIdx.x];
#pragma unroll 16
  for (int n = 0; n < rounds; ++n) x += 1.0f;
  out[threadIdx.x] = x;
}

__global__ void maybe_second(const float* a, const float* b, float* out, int rounds) {
  float x = a[threadIdx.x];
  if (b != nullptr)
    for (int n = 0; n < rounds; ++n) x += b[n % 64];
  out[threadIdx.x] = x;
}

template <int n>
__global__ void twin(float* out) {
  float x = out[threadIdx.x];
  for (int i = 0; i < n; ++i) x = x * 1.5f + 1.0f;
  out[threadIdx.x] = x;
}

/// The work of a workgroup grows with its number modulo 97.
__global__ void triangle(float* out, int rounds) {
  float x = out[blockIdx.x];
  for (int n = 0; n < rounds * static_cast<int>(blockIdx.x % 97); ++n) x = x * 0.5f + 1.0f;
  out[blockIdx.x] = x + 1.0f;
}

/// Workgroup 0 waits for the last one.
__global__ void wait_for_last(volatile float* out) {
  if (blockIdx.x + 1 == gridDim.x) out[0] = 1;
  while (blockIdx.x == 0 && out[0] == 0) __builtin_amdgcn_s_sleep(1);
  out[blockIdx.x] = 1;
}

struct Event {
  Event() { EXPECT_EQ(hipEventCreate(&handle), hipSuccess); }
  ~Event() { EXPECT_EQ(hipEventDestroy(handle), hipSuccess); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(hipStream_t stream = nullptr) const {
    EXPECT_EQ(hipEventRecord(handle, stream), hipSuccess);
  }
  hipEvent_t handle = nullptr;
};

struct Stream {
  explicit Stream(unsigned flags = hipStreamNonBlocking) {
    EXPECT_EQ(hipStreamCreateWithFlags(&handle, flags), hipSuccess);
  }
  ~Stream() { EXPECT_EQ(hipStreamDestroy(handle), hipSuccess); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  hipStream_t handle = nullptr;
};

float us_between(const Event& a, const Event& b) {
  float ms = -1;
  EXPECT_EQ(hipEventElapsedTime(&ms, a.handle, b.handle), hipSuccess);
  return 1000 * ms;
}

/// What a launch behind work that has not ended takes less than one by itself: launch_ns without
/// next_launch_ns (docs/time.md).
constexpr float kSavedUs = 0.39f;

/// Of work before which the device has nothing to do.
float us_of(const std::function<void()>& work, hipStream_t stream = nullptr) {
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  const Event start, stop;
  start.record(stream);
  work();
  stop.record(stream);
  return us_between(start, stop);
}

/// Device memory of `bytes`, zero.
std::shared_ptr<float> memory(std::size_t bytes = 4096) {
  void* at = nullptr;
  EXPECT_EQ(hipMalloc(&at, bytes), hipSuccess);
  EXPECT_EQ(hipMemset(at, 0, bytes), hipSuccess);
  return {static_cast<float*>(at), [](float* p) { EXPECT_EQ(hipFree(p), hipSuccess); }};
}

TEST(EventTime, IsThatOfTheKernelsAndNotOfTheHost) {
  const auto data = memory();
  const auto timed = [&](int rounds) {
    return us_of([&] {
      spin<<<1, 64>>>(data.get(), rounds);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
  };
  const float little = timed(10), much = timed(10000);
  EXPECT_GT(little, 1);
  EXPECT_LT(little, 50) << "20000 would be the host's";
  // 10000 additions that wait for each other, at least 4 cycles each, at 2.1 GHz.
  EXPECT_GT(much - little, 9990 * 4 / 2100.0 * 0.9);
  EXPECT_LT(much - little, 10000 * 20 / 2100.0);
  EXPECT_EQ(timed(10000), much) << "the same launch has the same time";
  EXPECT_EQ(us_of([] {}), 0);
}

TEST(EventTime, WorkOfAStreamIsAddedUp) {
  const auto data = memory();
  const auto launch = [&] { spin<<<1, 64>>>(data.get(), 100); };
  const float one = us_of(launch);
  EXPECT_NEAR(us_of([&] {
                for (int n = 0; n < 5; ++n) launch();
              }),
              5 * one - 4 * kSavedUs, 0.01 * one);
  EXPECT_NEAR(us_of([&] {
                for (int n = 0; n < 5; ++n) {
                  launch();
                  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
                }
              }),
              5 * one, 0.01 * one)
      << "each is launched when the one before has ended";
}

TEST(EventTime, PointersMakeNoDifferenceUnlessTheyAreNull) {
  const auto a = memory(), b = memory(), out = memory();
  const auto with = us_of([&] { maybe_second<<<1, 64>>>(a.get(), b.get(), out.get(), 2000); });
  const auto swapped = us_of([&] { maybe_second<<<1, 64>>>(b.get(), a.get(), out.get(), 2000); });
  const auto without = us_of([&] { maybe_second<<<1, 64>>>(a.get(), nullptr, out.get(), 2000); });
  EXPECT_EQ(with, swapped);
  EXPECT_LT(without, 0.7 * with);
}

/// Four floats of each work-item.
__global__ void scale(float4* data) {
  float4& x = data[blockIdx.x * 256 + threadIdx.x];
  x = make_float4(2 * x.x, 2 * x.y, 2 * x.z, 2 * x.w);
}

TEST(EventTime, WarmCachesHaveWhatALaunchLikeItLeft) {
  const auto time_of = [&](const char* event_time, int count) {
    const auto data = memory(sizeof(float) * static_cast<std::size_t>(count));
    EXPECT_NE(margayEventTime(event_time), nullptr);
    const float us =
        us_of([&] { scale<<<count / 1024, 256>>>(reinterpret_cast<float4*>(data.get())); });
    EXPECT_NE(margayEventTime("modelled"), nullptr);
    return us;
  };
  constexpr int kFits = 16 << 20;
  const float cold = time_of("modelled", kFits), warm = time_of("modelled-warm", kFits);
  EXPECT_LT(warm, 0.8 * cold);
  EXPECT_EQ(time_of("modelled", kFits), cold) << "each has its own";
  EXPECT_EQ(time_of("modelled-warm", kFits), warm);
  EXPECT_LT(time_of("modelled-warm-sustained", kFits), 0.8 * time_of("modelled-sustained", kFits));
  constexpr int kDoesNotFit = 128 << 20;
  const float large = time_of("modelled", kDoesNotFit);
  EXPECT_NEAR(time_of("modelled-warm", kDoesNotFit), large, 0.05 * large);
}

TEST(EventTime, LaunchSizesAndKernelsHaveTheirOwn) {
  const auto data = memory();
  const float one = us_of([&] { spin<<<1, 64>>>(data.get(), 3000); });
  const float wide = us_of([&] { spin<<<1, 1024>>>(data.get(), 3000); });
  EXPECT_GT(wide, 1.2 * one) << "four waves share a SIMD";
  EXPECT_GT(us_of([&] { twin<4000><<<1, 64>>>(data.get()); }),
            1.5 * us_of([&] { twin<1000><<<1, 64>>>(data.get()); }));
}

TEST(EventTime, StreamsOverlapUnlessTheyWait) {
  const auto data = memory();
  const Stream a, b;
  const auto launch = [&](const Stream& stream) {
    spin<<<1, 64, 0, stream.handle>>>(data.get(), 5000);
  };
  const float one = us_of([&] { launch(a); }, a.handle);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  {
    const Event start, end_of_a, end_of_b;
    start.record(a.handle);
    launch(a);
    launch(b);
    end_of_a.record(a.handle);
    end_of_b.record(b.handle);
    EXPECT_NEAR(us_between(start, end_of_a), one, 0.01 * one);
    EXPECT_NEAR(us_between(start, end_of_b), one, 0.01 * one);
  }
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  {
    const Event start, end_of_a, end_of_b;
    start.record(a.handle);
    launch(a);
    end_of_a.record(a.handle);
    ASSERT_EQ(hipStreamWaitEvent(b.handle, end_of_a.handle, 0), hipSuccess);
    launch(b);
    end_of_b.record(b.handle);
    EXPECT_NEAR(us_between(start, end_of_b), 2 * one - kSavedUs, 0.01 * one);
  }
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  {
    const Event start, end_of_b;
    start.record(a.handle);
    launch(a);
    ASSERT_EQ(hipStreamSynchronize(a.handle), hipSuccess);
    launch(b);
    end_of_b.record(b.handle);
    EXPECT_NEAR(us_between(start, end_of_b), 2 * one, 0.01 * one) << "the host submitted it late";
  }
}

TEST(EventTime, TheNullStreamWaitsForStreams) {
  const auto data = memory();
  const Stream blocking(hipStreamDefault), free;
  const auto launch = [&](hipStream_t stream) { spin<<<1, 64, 0, stream>>>(data.get(), 5000); };
  const float one = us_of([&] { launch(nullptr); });
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_NEAR(us_of([&] { launch(blocking.handle); }), one, 0.01 * one);
  EXPECT_NEAR(us_of([&] { launch(free.handle); }), 0, 0.01 * one);
}

TEST(EventTime, KernelsThatFillTheDeviceRunOneAfterTheOther) {
  const auto data = memory();
  const Stream a, b;
  const auto launch = [&](const Stream& stream) {
    spin<<<304, 64, 0, stream.handle>>>(data.get(), 5000);
  };
  const float one = us_of([&] { launch(a); }, a.handle);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  const Event start, end;
  start.record(b.handle);
  launch(a);
  launch(b);
  end.record(b.handle);
  EXPECT_NEAR(us_between(start, end), 2 * one - kSavedUs, 0.01 * one);
}

TEST(EventTime, CopiesAndFillsTakeTimeByTheirBytes) {
  constexpr std::size_t kBytes = 64 << 20;
  const auto device = memory(kBytes), other = memory(kBytes);
  std::vector<char> host(kBytes);
  const auto us = [&](void* to, const void* from, std::size_t bytes) {
    return us_of([&] { EXPECT_EQ(hipMemcpy(to, from, bytes, hipMemcpyDefault), hipSuccess); });
  };
  const float up = us(device.get(), host.data(), kBytes);
  EXPECT_NEAR(up, kBytes / 55e3, 0.1 * up) << "PCIe";
  EXPECT_NEAR(us(host.data(), device.get(), kBytes), up, 0.01 * up);
  EXPECT_LT(us(device.get(), host.data(), kBytes / 2), 0.6 * up);
  constexpr std::size_t kStaged = 1 << 20;
  EXPECT_GT(us(device.get(), host.data(), kStaged), 4 * us(device.get(), host.data(), 2 * kStaged))
      << "pageable memory is staged";
  void* pinned = nullptr;
  ASSERT_EQ(hipHostMalloc(&pinned, kStaged, 0), hipSuccess);
  EXPECT_LT(us(device.get(), pinned, kStaged), us(device.get(), host.data(), 2 * kStaged));
  EXPECT_LT(us(pinned, device.get(), kStaged), us(host.data(), device.get(), kStaged) / 4);
  EXPECT_EQ(hipHostFree(pinned), hipSuccess);
  const float within = us(other.get(), device.get(), kBytes);
  EXPECT_LT(within, up / 10) << "HBM";
  EXPECT_GT(within, 2 * kBytes / 6e6);
  const float fill =
      us_of([&] { EXPECT_EQ(hipMemsetAsync(device.get(), 1, kBytes, nullptr), hipSuccess); });
  EXPECT_LT(fill, within);
  EXPECT_GT(fill, kBytes / 6e6);
}

TEST(EventTime, CopiesOfFewBytesTakeTheTimeOfACall) {
  const auto device = memory(), other = memory();
  std::vector<char> host(4096);
  const auto us = [&](void* to, const void* from) {
    return us_of([&] { EXPECT_EQ(hipMemcpy(to, from, 64, hipMemcpyDefault), hipSuccess); });
  };
  const float up = us(device.get(), host.data());
  EXPECT_NEAR(up, 13, 0.1);
  EXPECT_NEAR(us(host.data(), device.get()), 19, 0.1);
  EXPECT_LT(us(other.get(), device.get()), up / 2) << "a launch";
}

TEST(EventTime, GraphsAndLaunchesWithEventsHaveIt) {
  const auto data = memory();
  const Stream stream;
  const auto launch = [&] { spin<<<1, 64, 0, stream.handle>>>(data.get(), 500); };
  const float one = us_of(launch, stream.handle);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamBeginCapture(stream.handle, hipStreamCaptureModeGlobal), hipSuccess);
  for (int n = 0; n < 3; ++n) launch();
  ASSERT_EQ(hipStreamEndCapture(stream.handle, &graph), hipSuccess);
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  const float all = us_of([&] { EXPECT_EQ(hipGraphLaunch(executable, stream.handle), hipSuccess); },
                          stream.handle);
  EXPECT_NEAR(all, 3 * one - 2 * kSavedUs, 0.01 * one);
  EXPECT_EQ(hipGraphExecDestroy(executable), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);

  const Event start, stop;
  float* at = data.get();
  int rounds = 500;
  void* arguments[] = {&at, &rounds};
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  ASSERT_EQ(hipExtLaunchKernel(reinterpret_cast<const void*>(spin), dim3(1), dim3(64), arguments, 0,
                               stream.handle, start.handle, stop.handle, 0),
            hipSuccess);
  EXPECT_NEAR(us_between(start, stop), one, 0.01 * one);
}

TEST(EventTime, AProfileAtTheSameTimeChangesNothing) {
  const auto data = memory();
  ASSERT_EQ(margayProfileBegin("kernel=spin"), 0);
  const float watched = us_of([&] { spin<<<1, 64>>>(data.get(), 777); });
  const std::string profile = margayProfileEnd();
  EXPECT_THAT(profile, testing::HasSubstr("spin"));
  EXPECT_EQ(us_of([&] { spin<<<1, 64>>>(data.get(), 777); }), watched);
  EXPECT_GT(watched, 1);
}

TEST(EventTime, AProgramChangesIt) {
  const auto data = memory();
  const auto rests = [] { std::this_thread::sleep_for(std::chrono::milliseconds(3)); };
  EXPECT_STREQ(margayEventTime(nullptr), "modelled");
  EXPECT_EQ(margayEventTime("wall"), nullptr);
  EXPECT_STREQ(margayEventTime("host"), "modelled");
  const Event before;
  before.record();
  EXPECT_GE(us_of(rests), 3000);
  EXPECT_STREQ(margayEventTime("modelled-sustained"), "host");
  EXPECT_EQ(us_of(rests), 0);
  const Event after;
  after.record();
  float ms = -1;
  EXPECT_EQ(hipEventElapsedTime(&ms, before.handle, after.handle), hipErrorInvalidHandle)
      << "one of them has host time only";
  EXPECT_STREQ(margayEventTime("modelled-warm"), "modelled-sustained");
  EXPECT_STREQ(margayEventTime("modelled"), "modelled-warm");
}

enum Purpose : int { all, known_time, time_alone, memory_alone };

/// How many of the floats are not zero.
int changed(const float* values, int count) {
  std::vector<float> host(static_cast<std::size_t>(count));
  EXPECT_EQ(hipMemcpy(host.data(), values, host.size() * sizeof(float), hipMemcpyDeviceToHost),
            hipSuccess);
  return static_cast<int>(std::ranges::count_if(host, [](float value) { return value != 0; }));
}

TEST(EventTime, ALaunchForItsTimeAloneRunsAPart) {
  constexpr int kGroups = 8192;
  const auto data = memory(kGroups * sizeof(float));
  const auto launch = [&](int rounds) { triangle<<<kGroups, 64>>>(data.get(), rounds); };
  ASSERT_EQ(margayLaunchPurpose(known_time), 0);
  launch(20);
  EXPECT_EQ(hipGetLastError(), hipErrorNotReady) << "its time is not known";
  EXPECT_EQ(changed(data.get(), kGroups), 0);

  ASSERT_EQ(margayLaunchPurpose(time_alone), 0);
  const float part = us_of([&] { launch(20); });
  const int run = changed(data.get(), kGroups);
  EXPECT_GT(run, 0);
  EXPECT_LT(run, kGroups / 4);
  ASSERT_EQ(margayLaunchPurpose(known_time), 0);
  EXPECT_EQ(us_of([&] { launch(20); }), part);
  EXPECT_EQ(changed(data.get(), kGroups), run) << "it was not run again";

  ASSERT_EQ(margayLaunchPurpose(memory_alone), 0);
  EXPECT_EQ(us_of([&] { launch(20); }), 0);
  EXPECT_EQ(changed(data.get(), kGroups), kGroups);

  ASSERT_EQ(margayLaunchPurpose(all), 0);
  EXPECT_EQ(us_of([&] { launch(20); }), part);
  // Of another kind, so that all of it is modelled, and as long but for a hundredth.
  const auto other = memory(kGroups * sizeof(float) + 4);
  EXPECT_NEAR(us_of([&] { triangle<<<kGroups, 64>>>(other.get() + 1, 20); }), part, 0.05 * part);
  EXPECT_EQ(margayLaunchPurpose(4), 1) << "there is no such purpose";
}

__global__ void as_often_as_memory_says(const int* rounds, float* out) {
  float x = out[threadIdx.x];
  for (int n = 0; n < *rounds; ++n) x = x * 0.5f + 1.0f;
  out[threadIdx.x] = x;
}

TEST(EventTime, LaunchesWithOtherDataAreModelledAnew) {
  const auto out = memory(64 * sizeof(float));
  const auto rounds = memory(sizeof(int));
  const auto* const number = reinterpret_cast<const int*>(rounds.get());
  const auto time_with = [&](int value) {
    EXPECT_EQ(hipMemcpy(rounds.get(), &value, sizeof value, hipMemcpyHostToDevice), hipSuccess);
    return us_of([&] { as_often_as_memory_says<<<1, 64>>>(number, out.get()); });
  };
  const float few = time_with(10);
  EXPECT_EQ(time_with(10'000), few) << "what is in memory does not count";
  margayLaunchData(7);
  const float many = time_with(10'000);
  EXPECT_GT(many, 4 * few);
  EXPECT_EQ(time_with(10), many);
  margayLaunchData(0);
  EXPECT_EQ(time_with(10'000), few);
  // It is that of the call, whenever the launch runs, and of the calling thread.
  margayLaunchData(8);
  std::thread([&] { EXPECT_EQ(time_with(10'000), few); }).join();
  margayLaunchData(0);
}

// Differences of large times in floating point would depend on the moment.
TEST(EventTime, TheSameWorkTakesTheSameTimeAtAnyMoment) {
  const auto data = memory();
  const auto spin_for = [&](int rounds) { spin<<<1, 64>>>(data.get(), rounds); };
  constexpr int kLasting = 5'000'000;  // some 10 ms
  spin_for(kLasting);
  std::vector<float> first;
  for (int rounds = 1; rounds <= 16; ++rounds) first.push_back(us_of([&] { spin_for(rounds); }));
  ASSERT_EQ(margayLaunchPurpose(known_time), 0);
  for (int n = 0; n < 100; ++n) {
    for (int k = 0; k < 1000; ++k) spin_for(kLasting);
    for (int rounds = 1; rounds <= 16; ++rounds)
      ASSERT_EQ(us_of([&] { spin_for(rounds); }), first[rounds - 1]) << rounds << " rounds, " << n;
  }
  ASSERT_EQ(margayLaunchPurpose(all), 0);
}

TEST(EventTime, APartThatWaitsForTheRestIsRefused) {
  constexpr int kGroups = 8192;
  const auto data = memory(kGroups * sizeof(float));
  ASSERT_EQ(margayLaunchPurpose(time_alone), 0);
  wait_for_last<<<kGroups, 64>>>(data.get());
  EXPECT_NE(hipGetLastError(), hipSuccess);
  ASSERT_EQ(margayLaunchPurpose(all), 0);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess) << "the device is not affected";
  EXPECT_EQ(margayProfileBegin("kernel=none"), 0);
  EXPECT_EQ(margayLaunchPurpose(time_alone), 1) << "launches are watched";
  EXPECT_NE(margayProfileEnd(), nullptr);
}

}  // namespace
