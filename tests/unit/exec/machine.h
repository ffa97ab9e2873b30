// A device with a code object loaded, for tests that launch its kernels without the HIP runtime.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "code_object/code_object.h"
#include "exec/device/device.h"

namespace margay {

inline std::vector<std::byte> read_bytes(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> chars((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  const auto* const data = reinterpret_cast<const std::byte*>(chars.data());
  return {data, data + chars.size()};
}

class TestMachine {
 public:
  TestMachine(const char* code_object, DeviceOptions options) {
    auto device = Device::create(std::move(options));
    EXPECT_TRUE(device) << device.error().text();
    device_ = std::move(*device);
    auto object = CodeObject::parse(read_bytes(code_object));
    EXPECT_TRUE(object) << object.error().text();
    auto module = device_->load(std::move(*object));
    EXPECT_TRUE(module) << module.error().text();
    module_ = std::move(*module);
  }
  template <typename T>
  std::span<T> allocate(std::size_t count) {
    auto block = device_->memory().allocate(count * sizeof(T), "test");
    EXPECT_TRUE(block);
    return {static_cast<T*>(*block), count};
  }
  /// Arguments are packed with their natural alignment, as kernels expect them.
  template <typename... A>
  Result<LaunchReport> launch(const char* kernel, Dim3 grid, Dim3 block, A... arguments) {
    std::vector<std::byte> packed;
    [[maybe_unused]] const auto add = [&](auto value) {
      while (packed.size() % sizeof value != 0) packed.push_back({});
      packed.resize(packed.size() + sizeof value);
      std::memcpy(packed.data() + packed.size() - sizeof value, &value, sizeof value);
    };
    (add(arguments), ...);
    LaunchRequest request;
    request.module = module_;
    request.kernel = module_->object().find_kernel(kernel);
    EXPECT_NE(request.kernel, nullptr) << kernel;
    request.grid = grid;
    request.block = block;
    request.dynamic_lds_bytes = dynamic_lds;
    request.arguments = packed;
    return device_->launch(request, observer);
  }
  Device& device() { return *device_; }
  std::uint32_t dynamic_lds = 0;
  LaunchObserver* observer = nullptr;

 private:
  std::unique_ptr<Device> device_;
  std::shared_ptr<LoadedModule> module_;
};

}  // namespace margay
