// What kernels ask of the host: printf, assert, abort, malloc. Compiled by `margay hipcc`, with and
// without optimisation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <cassert>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

__global__ void greet() { printf("hello from %u of %u\n", threadIdx.x, blockDim.x); }

__global__ void integers(int i, long long ll, unsigned char byte) {
  printf("%d|%5d|%-5d|%05d|%+d|%x|%#o|%hhd|%hu|%lld|%llx|%zu|%c|%%|", i, i, i, i, i, i, i, i, i, ll,
         ll, sizeof(int), byte);
}

__global__ void floats(float f, double d) {
  printf("%f|%.2f|%10.3e|%g|%a|%*.*f|", f, f, d, d, d, 9, 3, d);
}

__global__ void strings(const char* from_memory) {
  printf("%s|%10s|%-6s|%.3s|%s|", "constant", "right", "left", "cut off", from_memory);
}

__global__ void count_characters(int* out) { *out = printf("seven: %d\n", 42); }

__global__ void divergent() {
  if (threadIdx.x % 2 == 0)
    printf("even %d\n", static_cast<int>(threadIdx.x));
  else
    printf("odd %d\n", static_cast<int>(threadIdx.x));
}

__global__ void unsupported_conversion(int* p) { printf("a %n b %d\n", p, 5); }

__global__ void many(int rounds) {
  for (int i = 0; i < rounds; ++i) printf("%u %u %d\n", blockIdx.x, threadIdx.x, i);
}

__global__ void check_below(int limit) { assert(static_cast<int>(threadIdx.x) < limit); }

__global__ void stop(int at) {
  if (static_cast<int>(threadIdx.x) == at) abort();
}

__global__ void allocate(int** blocks, int ints) {
  int* const block = static_cast<int*>(malloc(ints * sizeof(int)));
  for (int i = 0; i < ints; ++i) block[i] = static_cast<int>(threadIdx.x);
  blocks[threadIdx.x] = block;
}
__global__ void release(int** blocks, int ints, int* sums) {
  int sum = 0;
  for (int i = 0; i < ints; ++i) sum += blocks[threadIdx.x][i];
  sums[threadIdx.x] = sum;
  free(blocks[threadIdx.x]);
}

std::string stdout_of(auto&& call) {
  testing::internal::CaptureStdout();
  call();
  return testing::internal::GetCapturedStdout();
}

std::string stderr_of(auto&& call) {
  testing::internal::CaptureStderr();
  call();
  return testing::internal::GetCapturedStderr();
}

void run(auto kernel, int blocks, int threads, auto... arguments) {
  kernel<<<blocks, threads>>>(arguments...);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
}

class HostServices : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(hipDeviceReset(), hipSuccess);
    (void)hipGetLastError();
  }
};

TEST_F(HostServices, LanesPrintInOrder) {
  EXPECT_EQ(stdout_of([] { run(greet, 1, 3); }),
            "hello from 0 of 3\nhello from 1 of 3\nhello from 2 of 3\n");
}

TEST_F(HostServices, IntegersPrintAsOnTheHost) {
  char expected[256];
  const int i = -77;
  const long long ll = -1234567890123;
  std::snprintf(expected, sizeof expected,
                "%d|%5d|%-5d|%05d|%+d|%x|%#o|%hhd|%hu|%lld|%llx|%zu|%c|%%|", i, i, i, i, i, i, i,
                static_cast<signed char>(i), static_cast<unsigned short>(i), ll, ll, sizeof(int),
                'q');
  EXPECT_EQ(stdout_of([] { run(integers, 1, 1, -77, -1234567890123ll, 'q'); }), expected);
}

TEST_F(HostServices, FloatsPrintAsOnTheHost) {
  char expected[256];
  std::snprintf(expected, sizeof expected, "%f|%.2f|%10.3e|%g|%a|%*.*f|", 1.5f, 1.5f, -M_PI, -M_PI,
                -M_PI, 9, 3, -M_PI);
  EXPECT_EQ(stdout_of([] { run(floats, 1, 1, 1.5f, -M_PI); }), expected);
}

TEST_F(HostServices, StringsPrintFromConstantsAndFromMemory) {
  const std::string long_text(200, 'x');
  EXPECT_EQ(stdout_of([&] { run(strings, 1, 1, long_text.c_str()); }),
            "constant|     right|left  |cut|" + long_text + "|");
}

TEST_F(HostServices, PrintfCountsItsCharacters) {
  int* count = nullptr;
  ASSERT_EQ(hipMallocManaged(&count, sizeof *count), hipSuccess);
  EXPECT_EQ(stdout_of([&] { run(count_characters, 1, 1, count); }), "seven: 42\n");
  EXPECT_EQ(*count, 10);
}

TEST_F(HostServices, LanesThatDivergePrintOnce) {
  const std::string text = stdout_of([] { run(divergent, 1, 4); });
  EXPECT_EQ(text.size(), std::string("even 0\neven 2\nodd 1\nodd 3\n").size()) << text;
  for (const char* line : {"even 0\n", "even 2\n", "odd 1\n", "odd 3\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST_F(HostServices, AConversionThatIsNotSupportedIsNamed) {
  int* p = nullptr;
  ASSERT_EQ(hipMallocManaged(&p, sizeof *p), hipSuccess);
  std::string text;
  const std::string said =
      stderr_of([&] { text = stdout_of([&] { run(unsupported_conversion, 1, 1, p); }); });
  EXPECT_EQ(text, "a %n b 5\n");
  EXPECT_EQ(said, "margay: printf in device code does not support %n\n");
}

TEST_F(HostServices, ManyWavesPrintEverything) {
  constexpr int kBlocks = 20, kThreads = 256, kRounds = 3;
  const std::string text = stdout_of([] { run(many, kBlocks, kThreads, kRounds); });
  std::vector<int> next(kBlocks * kThreads);
  const char* at = text.c_str();
  int lines = 0, block = 0, thread = 0, round = 0, length = 0;
  for (; std::sscanf(at, "%d %d %d\n%n", &block, &thread, &round, &length) == 3; at += length) {
    // A work-item's own lines come in its order.
    EXPECT_EQ(round, next[block * kThreads + thread]++);
    ++lines;
  }
  EXPECT_EQ(lines, kBlocks * kThreads * kRounds);
}

TEST_F(HostServices, AnAssertThatHoldsSaysNothing) {
  EXPECT_THAT(stderr_of([] { run(check_below, 1, 64, 64); }), IsEmpty());
}

TEST_F(HostServices, AFailedAssertNamesItsPlace) {
  const int line = 49;  // of check_below
  const std::string said = stderr_of([] {
    check_below<<<2, 64>>>(10);
    EXPECT_EQ(hipGetLastError(), hipErrorAssert);
    EXPECT_EQ(hipDeviceSynchronize(), hipErrorAssert);
  });
  EXPECT_THAT(said, HasSubstr("host_services.hip:" + std::to_string(line) + ": "));
  EXPECT_THAT(said,
              HasSubstr("Device-side assertion `static_cast<int>(threadIdx.x) < limit' failed."));
}

TEST_F(HostServices, AnotherTrapIsNoAssert) {
  const std::string said = stderr_of([] {
    stop<<<1, 64>>>(7);
    EXPECT_EQ(hipGetLastError(), hipErrorLaunchFailure);
  });
  EXPECT_THAT(said, HasSubstr("s_trap"));
}

TEST_F(HostServices, PrintingWorksAfterAFailure) {
  (void)stderr_of([] { check_below<<<8, 256>>>(0); });
  ASSERT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(stdout_of([] { run(greet, 1, 1); }), "hello from 0 of 1\n");
}

// Small blocks come from slabs, large ones directly from the host.
TEST_F(HostServices, DeviceMallocOutlivesItsKernel) {
  constexpr int kThreads = 128;
  int** blocks = nullptr;
  int* sums = nullptr;
  ASSERT_EQ(hipMallocManaged(&blocks, kThreads * sizeof *blocks), hipSuccess);
  ASSERT_EQ(hipMallocManaged(&sums, kThreads * sizeof *sums), hipSuccess);
  for (const int ints : {1, 25, 1000, 5000}) {
    run(allocate, 1, kThreads, blocks, ints);
    for (int i = 1; i < kThreads; ++i) {
      const auto apart = reinterpret_cast<std::intptr_t>(blocks[i]) -
                         reinterpret_cast<std::intptr_t>(blocks[i - 1]);
      EXPECT_GE(std::abs(apart), ints * static_cast<std::intptr_t>(sizeof(int)));
    }
    run(release, 1, kThreads, blocks, ints, sums);
    for (int i = 0; i < kThreads; ++i) EXPECT_EQ(sums[i], i * ints);
  }
}

}  // namespace
