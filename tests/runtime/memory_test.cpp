// Allocation, copies and fills, and the refusal of each wrong range with its reason.
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "api_test.h"

namespace {

using testing::Each;
using testing::HasSubstr;

class MemoryApi : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    ASSERT_EQ(hipMalloc(&device_, kBytes), hipSuccess);
  }
  static constexpr std::size_t kBytes = 1000;
  void* device_ = nullptr;
};

TEST_F(MemoryApi, copies_there_and_back) {
  std::vector<unsigned char> in(kBytes);
  std::iota(in.begin(), in.end(), 0);
  std::vector<unsigned char> out(kBytes);
  void* second = nullptr;
  ASSERT_EQ(hipMalloc(&second, kBytes), hipSuccess);
  EXPECT_EQ(hipMemcpy(device_, in.data(), kBytes, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(hipMemcpy(second, device_, kBytes, hipMemcpyDeviceToDevice), hipSuccess);
  EXPECT_EQ(hipMemcpy(out.data(), second, kBytes, hipMemcpyDefault), hipSuccess);
  EXPECT_EQ(in, out);
}

TEST_F(MemoryApi, an_allocation_of_nothing_is_null) {
  void* memory = &memory;
  EXPECT_EQ(hipMalloc(&memory, 0), hipSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(hipFree(nullptr), hipSuccess);
  EXPECT_EQ(hipMalloc(nullptr, 4), hipErrorInvalidValue);
}

TEST_F(MemoryApi, more_than_the_device_has) {
  void* memory = nullptr;
  const auto [code, text] = run_call([&] { return hipMalloc(&memory, std::size_t{257} << 30); });
  EXPECT_EQ(code, hipErrorOutOfMemory);
  EXPECT_EQ(memory, nullptr);
  EXPECT_THAT(text, HasSubstr("at   hipMalloc (hipErrorOutOfMemory)\n"));
}

TEST_F(MemoryApi, copies_beyond_the_end) {
  std::vector<char> host(kBytes + 1);
  const auto [code, text] =
      run_call([&] { return hipMemcpy(device_, host.data(), kBytes + 1, hipMemcpyHostToDevice); });
  EXPECT_EQ(code, hipErrorInvalidValue);
  EXPECT_THAT(text, HasSubstr("hipMalloc"));
  EXPECT_THAT(text, HasSubstr("1000 bytes"));
  EXPECT_THAT(text, HasSubstr("Check the pointer and the number of bytes of this call."));
  EXPECT_EQ(hipMemcpy(host.data(), static_cast<char*>(device_) + 1, kBytes, hipMemcpyDeviceToHost),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemset(device_, 0, kBytes + 1), hipErrorInvalidValue);
  EXPECT_EQ(hipMemsetD32(device_, 0, kBytes / 4 + 1), hipErrorInvalidValue);
}

TEST_F(MemoryApi, null_pointers) {
  char host[4];
  EXPECT_THAT(run_call([&] { return hipMemcpy(nullptr, host, 4, hipMemcpyHostToDevice); }),
              testing::Pair(hipErrorInvalidValue,
                            "margay: The destination is a null pointer.\n"
                            "  at   hipMemcpy (hipErrorInvalidValue)\n"));
  EXPECT_THAT(run_call([&] { return hipMemcpy(host, nullptr, 4, hipMemcpyDeviceToHost); }).second,
              HasSubstr("The source is a null pointer."));
  EXPECT_EQ(hipMemcpy(nullptr, nullptr, 0, hipMemcpyDefault), hipSuccess);
}

TEST_F(MemoryApi, use_after_free_and_double_free) {
  char host[4];
  ASSERT_EQ(hipFree(device_), hipSuccess);
  const auto [code, text] =
      run_call([&] { return hipMemcpy(host, device_, 4, hipMemcpyDeviceToHost); });
  EXPECT_EQ(code, hipErrorInvalidValue);
  EXPECT_THAT(text, HasSubstr("freed"));
  const auto [again, why] = run_call([&] { return hipFree(device_); });
  EXPECT_EQ(again, hipErrorInvalidValue);
  EXPECT_THAT(why, HasSubstr("has been freed already"));
}

TEST_F(MemoryApi, free_of_what_was_not_allocated) {
  char host[4];
  EXPECT_THAT(run_call([&] { return hipFree(host); }).second,
              HasSubstr("was not allocated by HIP"));
  EXPECT_THAT(run_call([&] { return hipFree(static_cast<char*>(device_) + 16); }).second,
              HasSubstr("is 16 bytes inside an allocation, not its start"));
  void* pinned = nullptr;
  ASSERT_EQ(hipHostMalloc(&pinned, 64, hipHostMallocDefault), hipSuccess);
  EXPECT_EQ(hipFree(pinned), hipSuccess);  // as ROCm's
  EXPECT_THAT(run_call([&] { return hipHostFree(device_); }).second, HasSubstr("hipFree"));
  ASSERT_EQ(hipHostRegister(host, sizeof host, hipHostRegisterDefault), hipSuccess);
  EXPECT_THAT(run_call([&] { return hipFree(host); }).second, HasSubstr("hipHostUnregister"));
  EXPECT_EQ(hipHostUnregister(host), hipSuccess);
}

TEST_F(MemoryApi, signal_memory_is_one_word) {
  void* word = nullptr;
  ASSERT_EQ(hipExtMallocWithFlags(&word, 8, hipMallocSignalMemory), hipSuccess);
  EXPECT_EQ(hipFree(word), hipSuccess);
  const auto larger = [&] { return hipExtMallocWithFlags(&word, 16, hipMallocSignalMemory); };
  EXPECT_THAT(run_call(larger).second, HasSubstr("8 bytes"));
}

TEST_F(MemoryApi, wild_host_pointers) {
  // A page that is certainly not mapped: one that was, until now.
  void* const page =
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  ASSERT_EQ(munmap(page, 4096), 0);
  EXPECT_THAT(run_call([&] { return hipMemcpy(device_, page, 4, hipMemcpyHostToDevice); }).second,
              HasSubstr("is not memory of this process"));
}

TEST_F(MemoryApi, copy_directions) {
  char host[4] = {};
  EXPECT_EQ(hipMemcpy(device_, host, 4, static_cast<hipMemcpyKind>(5)),
            hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hipMemcpy(device_, host, 4, static_cast<hipMemcpyKind>(-1)),
            hipErrorInvalidMemcpyDirection);
}

TEST_F(MemoryApi, rows) {
  void* pitched = nullptr;
  std::size_t pitch = 0;
  ASSERT_EQ(hipMallocPitch(&pitched, &pitch, 10, 3), hipSuccess);
  EXPECT_EQ(pitch, 256U);
  std::array<char, 30> in;
  std::iota(in.begin(), in.end(), 0);
  std::array<char, 30> out{};
  EXPECT_EQ(hipMemcpy2D(pitched, pitch, in.data(), 10, 10, 3, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(static_cast<char*>(pitched)[256], 10);
  EXPECT_EQ(hipMemcpy2DAsync(out.data(), 10, pitched, pitch, 10, 3, hipMemcpyDeviceToHost, nullptr),
            hipSuccess);
  EXPECT_EQ(in, out);
  EXPECT_EQ(hipMemset2D(pitched, pitch, 7, 10, 2), hipSuccess);
  EXPECT_EQ(static_cast<char*>(pitched)[256 + 9], 7);
  EXPECT_EQ(static_cast<char*>(pitched)[512], 20);
  EXPECT_EQ(hipMemcpy2D(pitched, 9, in.data(), 10, 10, 3, hipMemcpyHostToDevice),
            hipErrorInvalidPitchValue);
  EXPECT_EQ(hipMemcpy2D(pitched, pitch, in.data(), 10, 10, 4, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemset2D(pitched, std::size_t{1} << 62, 0, 1, 9), hipErrorInvalidValue);
}

TEST_F(MemoryApi, fills_of_each_width) {
  EXPECT_EQ(hipMemset(device_, 0xab, kBytes), hipSuccess);
  EXPECT_THAT(std::vector<unsigned char>(static_cast<unsigned char*>(device_),
                                         static_cast<unsigned char*>(device_) + kBytes),
              Each(0xab));
  EXPECT_EQ(hipMemsetD16(device_, 0x1234, 500), hipSuccess);
  EXPECT_THAT(std::vector<std::uint16_t>(static_cast<std::uint16_t*>(device_),
                                         static_cast<std::uint16_t*>(device_) + 500),
              Each(0x1234));
  EXPECT_EQ(hipMemsetD32Async(device_, -5, 250, nullptr), hipSuccess);
  EXPECT_THAT(std::vector<int>(static_cast<int*>(device_), static_cast<int*>(device_) + 250),
              Each(-5));
}

TEST_F(MemoryApi, pinned_and_registered_memory) {
  void* pinned = nullptr;
  ASSERT_EQ(hipHostMalloc(&pinned, 64, hipHostMallocPortable), hipSuccess);
  void* seen = nullptr;
  EXPECT_EQ(hipHostGetDevicePointer(&seen, pinned, 0), hipSuccess);
  EXPECT_EQ(seen, pinned);
  unsigned flags = 0;
  EXPECT_EQ(hipHostGetFlags(&flags, pinned), hipSuccess);
  EXPECT_EQ(flags, unsigned{hipHostMallocPortable});
  EXPECT_EQ(hipHostMalloc(&seen, 64, 0x10), hipErrorInvalidValue);

  std::vector<char> own(100);
  EXPECT_EQ(hipHostGetDevicePointer(&seen, own.data(), 0), hipErrorInvalidValue);
  EXPECT_EQ(hipHostRegister(own.data(), own.size(), 0), hipSuccess);
  EXPECT_EQ(hipHostRegister(own.data() + 50, 10, 0), hipErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(hipHostRegister(own.data(), 40, 0), hipSuccess) << "as if it had been freed";
  EXPECT_EQ(hipHostGetDevicePointer(&seen, own.data() + 39, 0), hipSuccess);
  EXPECT_EQ(hipHostGetDevicePointer(&seen, own.data() + 40, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipHostGetDevicePointer(&seen, own.data(), 0), hipSuccess);
  EXPECT_EQ(hipHostUnregister(own.data()), hipSuccess);
  EXPECT_EQ(hipHostUnregister(own.data()), hipErrorHostMemoryNotRegistered);
}

TEST_F(MemoryApi, pointer_attributes_of_hip_5) {
  hipPointerAttribute_t a;
  ASSERT_EQ(hipPointerGetAttributes(&a, static_cast<char*>(device_) + 8), hipSuccess);
  EXPECT_EQ(a.memoryType, hipMemoryTypeDevice);
  EXPECT_EQ(a.devicePointer, static_cast<char*>(device_) + 8);
  void* managed = nullptr;
  ASSERT_EQ(hipMallocManaged(&managed, 64, hipMemAttachGlobal), hipSuccess);
  ASSERT_EQ(hipPointerGetAttributes(&a, managed), hipSuccess);
  EXPECT_EQ(a.isManaged, 1);
  // A pointer that is not HIP's is a question answered with no, so nothing is printed.
  char host[4];
  EXPECT_EQ(run_call([&] { return hipPointerGetAttributes(&a, host); }),
            std::pair(hipErrorInvalidValue, std::string()));
  hipDeviceptr_t base = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(hipMemGetAddressRange(&base, &bytes, static_cast<char*>(device_) + 999), hipSuccess);
  EXPECT_EQ(base, device_);
  EXPECT_EQ(bytes, kBytes);
}

// Kernels can use all of the program's memory: programs query the address for this purpose. The
// rest is as ROCm's runtime says it of memory that it did not allocate.
TEST_F(MemoryApi, attributes_of_memory_that_is_not_hips) {
  int host[4];
  void* address = nullptr;
  EXPECT_EQ(hipPointerGetAttribute(&address, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, host),
            hipSuccess);
  EXPECT_EQ(address, host);
  static const int constants[4] = {1, 2, 3, 4};
  EXPECT_EQ(hipPointerGetAttribute(&address, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   const_cast<int*>(constants)),
            hipSuccess);
  int ordinal = 7;
  EXPECT_EQ(run_call([&] {
              return hipPointerGetAttribute(&ordinal, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, host);
            }),
            std::pair(hipErrorInvalidValue, std::string()));
  EXPECT_EQ(ordinal, -2);
  EXPECT_EQ(hipPointerGetAttribute(&address, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                   reinterpret_cast<void*>(0x10)),
            hipErrorInvalidValue);
  EXPECT_EQ(address, nullptr);
}

TEST_F(MemoryApi, many_threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        void* memory = nullptr;
        ASSERT_EQ(hipMalloc(&memory, 4096), hipSuccess);
        ASSERT_EQ(hipMemset(memory, t, 4096), hipSuccess);
        unsigned char last = 255;
        ASSERT_EQ(hipMemcpy(&last, static_cast<char*>(memory) + 4095, 1, hipMemcpyDeviceToHost),
                  hipSuccess);
        ASSERT_EQ(last, t);
        ASSERT_EQ(hipFree(memory), hipSuccess);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
