// The entry points that clang's generated host code calls: registration of embedded code objects
// before main, and the two halves of `kernel<<<...>>>(...)`.
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <tuple>
#include <vector>

#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

/// The structure that clang emits for each embedded bundle. Source: LLVM, "Clang Offload Bundler"
/// and clang/lib/CodeGen/CGCUDANV.cpp.
struct FatBinaryWrapper {
  static constexpr std::uint32_t kMagic = 0x48495046;  // "HIPF"
  std::uint32_t magic;
  std::uint32_t version;
  const std::byte* bundle;
  void* unused;
};

// Between __hipPushCallConfiguration and the kernel's stub, and for the older hipConfigureCall and
// hipSetupArgument, a launch is assembled step by step, on the calling thread.
struct PendingLaunch {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_lds = 0;
  hipStream_t stream = nullptr;
  std::vector<std::byte> arguments;
};

std::vector<PendingLaunch>& pending_launches() {
  thread_local std::vector<PendingLaunch> launches;
  return launches;
}

Outcome push(dim3 grid, dim3 block, std::size_t dynamic_lds, hipStream_t stream) {
  pending_launches().push_back({grid, block, dynamic_lds, stream, {}});
  return {};
}

Answer<PendingLaunch> pop() {
  std::vector<PendingLaunch>& launches = pending_launches();
  if (launches.empty()) {
    return refuse(hipErrorMissingConfiguration,
                  "A kernel's host function was called without a launch configuration.",
                  "Launch kernels as kernel<<<grid, block>>>(...).");
  }
  PendingLaunch launch = std::move(launches.back());
  launches.pop_back();
  return launch;
}

}  // namespace

}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

void** __hipRegisterFatBinary(const void* wrapper) {
  void** handle = nullptr;
  const hipError_t code = api(__func__, [&]() -> Outcome {
    const auto* const fat_binary = static_cast<const FatBinaryWrapper*>(wrapper);
    if (fat_binary == nullptr || fat_binary->magic != FatBinaryWrapper::kMagic) {
      return refuse(hipErrorInvalidKernelFile,
                    "The embedded device code does not begin with clang's \"HIPF\" mark.",
                    "Compile the program with margay hipcc, clang or hipcc.");
    }
    handle = process().registry.add_module(fat_binary->bundle);
    return {};
  });
  return code == hipSuccess ? handle : nullptr;
}

void __hipUnregisterFatBinary(void** handle) { process().registry.remove_module(handle); }

void __hipRegisterFunction(void** handle, const void* host_function, char*, const char* device_name,
                           unsigned int, void*, void*, void*, void*, int*) {
  std::ignore = api(__func__, [&]() -> Outcome {
    process().registry.add_function(handle, host_function, device_name);
    return {};
  });
}

void __hipRegisterVar(void** handle, void* host_variable, char*, char* device_name, int,
                      std::size_t, int, int) {
  std::ignore = api(__func__, [&]() -> Outcome {
    process().registry.add_variable(handle, host_variable, device_name);
    return {};
  });
}

void __hipRegisterManagedVar(void** handle, void** pointer, void* initial_value, const char* name,
                             std::size_t bytes, unsigned int) {
  std::ignore = api(__func__, [&] {
    return process().registry.add_managed_variable(handle, pointer, initial_value, name, bytes);
  });
}

void __hipRegisterSurface(void**, void*, char* host_name, char*, int, int) {
  std::ignore = api(__func__, [&]() -> Outcome {
    return refuse(
        hipErrorNotSupported,
        fmt::format("The surface reference {} is not usable: Margay has no surfaces.", host_name));
  });
}

void __hipRegisterTexture(void**, void*, char* host_name, char*, int, int, int) {
  std::ignore = api(__func__, [&]() -> Outcome {
    return refuse(
        hipErrorNotSupported,
        fmt::format("The texture reference {} is not usable: Margay has no textures.", host_name));
  });
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t dynamic_lds,
                                      hipStream_t stream) {
  return api(__func__, [&] { return push(grid, block, dynamic_lds, stream); });
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* dynamic_lds,
                                     hipStream_t* stream) {
  return api(__func__, [&]() -> Outcome {
    const PendingLaunch launch = MARGAY_TRY(pop());
    *grid = launch.grid;
    *block = launch.block;
    *dynamic_lds = launch.dynamic_lds;
    *stream = launch.stream;
    return {};
  });
}

hipError_t hipConfigureCall(dim3 grid, dim3 block, std::size_t dynamic_lds, hipStream_t stream) {
  return api(__func__, [&] { return push(grid, block, dynamic_lds, stream); });
}

hipError_t hipSetupArgument(const void* argument, std::size_t bytes, std::size_t offset) {
  return api(__func__, [&]() -> Outcome {
    // A kernel-argument segment is far smaller; an invalid offset must not cause a huge allocation.
    constexpr std::size_t kMaxArgumentBytes = 64 * 1024;
    if (pending_launches().empty()) {
      return refuse(hipErrorMissingConfiguration, "hipConfigureCall has to come first.");
    }
    if (argument == nullptr || bytes > kMaxArgumentBytes || offset > kMaxArgumentBytes) {
      return refuse(
          hipErrorInvalidValue,
          fmt::format("An argument of {} bytes at offset {} is not possible.", bytes, offset));
    }
    std::vector<std::byte>& arguments = pending_launches().back().arguments;
    if (arguments.size() < offset + bytes) arguments.resize(offset + bytes);
    std::memcpy(arguments.data() + offset, argument, bytes);
    return {};
  });
}

hipError_t hipLaunchByPtr(const void* host_function) {
  return api(__func__, [&]() -> Outcome {
    PendingLaunch pending = MARGAY_TRY(pop());
    const auto function =
        MARGAY_TRY(process().registry.function(host_function, Devices::current()));
    std::size_t bytes = pending.arguments.size();
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, pending.arguments.data(),
                     HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
    return process().launcher.launch({.function = function,
                                      .size = {.grid = pending.grid,
                                               .block = pending.block,
                                               .dynamic_lds_bytes = pending.dynamic_lds},
                                      .stream = pending.stream,
                                      .buffer = extra});
  });
}

}  // extern "C"
