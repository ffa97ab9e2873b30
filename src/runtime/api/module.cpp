// The HIP calls that load code objects and find what is in them.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

Answer<std::shared_ptr<ihipModule_t>> find_module(hipModule_t handle) {
  std::shared_ptr<ihipModule_t> module = process().modules.find(handle);
  if (module == nullptr) {
    return refuse(hipErrorInvalidHandle, "The module handle is not that of a loaded module.",
                  "Use the handle that hipModuleLoad gave, before hipModuleUnload.");
  }
  return module;
}

// Reads the code object now: a program that loads a module explicitly expects an immediate error if
// it is invalid.
Outcome add_module(hipModule_t* out, std::shared_ptr<ihipModule_t> module) {
  MARGAY_TRY(module->loaded(Devices::current()));
  *out = process().modules.add(std::move(module));
  return {};
}

Outcome load_file(hipModule_t* out, const char* path) {
  if (out == nullptr || path == nullptr) {
    return refuse(hipErrorInvalidValue, "The module or the file name is a null pointer.");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return refuse(hipErrorFileNotFound,
                  fmt::format("The file {} cannot be read: {}.", path, std::strerror(errno)));
  }
  std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) return refuse(hipErrorInvalidImage, fmt::format("The file {} is empty.", path));
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  Outcome outcome = add_module(
      out, std::make_shared<ihipModule_t>(process().code(), std::move(bytes), Devices::current()));
  if (!outcome && outcome.error().error.where.empty()) outcome.error().error.where = path;
  return outcome;
}

Outcome load_data(hipModule_t* out, const void* image) {
  if (out == nullptr || image == nullptr) {
    return refuse(hipErrorInvalidValue, "The module or the image is a null pointer.");
  }
  const auto bytes = MARGAY_TRY(image_at(process().devices, static_cast<const std::byte*>(image)));
  return add_module(out, std::make_shared<ihipModule_t>(
                             process().code(), std::vector<std::byte>(bytes.begin(), bytes.end()),
                             Devices::current()));
}

}  // namespace
}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  return api(__func__, [&] { return load_file(module, path); });
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return api(__func__, [&] { return load_data(module, image); });
}

// The options steer a just-in-time compiler, which a code object for gfx942 does not need.
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned int, hipJitOption*,
                               void**) {
  return api(__func__, [&] { return load_data(module, image); });
}

hipError_t hipModuleUnload(hipModule_t handle) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_TRY(find_module(handle));
    process().ordering.host_waits_for_all();
    process().modules.remove(handle);
    return {};
  });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t handle, const char* name) {
  return api(__func__, [&]() -> Outcome {
    if (function == nullptr || name == nullptr) {
      return refuse(hipErrorInvalidValue, "The function or its name is a null pointer.");
    }
    const auto module = MARGAY_TRY(find_module(handle));
    *function = MARGAY_TRY(module->function(name, Devices::current())).get();
    return {};
  });
}

hipError_t hipModuleGetFunctionCount(unsigned int* count, hipModule_t handle) {
  return api(__func__, [&]() -> Outcome {
    if (count == nullptr) return refuse(hipErrorInvalidValue, "The count is a null pointer.");
    const auto module = MARGAY_TRY(find_module(handle));
    *count = static_cast<unsigned>(
        MARGAY_TRY(module->loaded(Devices::current()))->object().kernels().size());
    return {};
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, std::size_t* bytes, hipModule_t handle,
                              const char* name) {
  return api(__func__, [&]() -> Outcome {
    if (name == nullptr) return refuse(hipErrorInvalidValue, "The name is a null pointer.");
    const auto module = MARGAY_TRY(find_module(handle));
    const Variable variable = MARGAY_TRY(module->variable(name, Devices::current()));
    if (address != nullptr) *address = reinterpret_cast<hipDeviceptr_t>(variable.address);
    if (bytes != nullptr) *bytes = variable.size_bytes;
    return {};
  });
}

}  // extern "C"
