// Miscellaneous HIP functions: descriptors that are plain data, look-up of an exported function by
// name, and the behaviour of functions that are not implemented (unsupported.h).
#include <dlfcn.h>
#include <fmt/format.h>

#include <string_view>

#include "runtime/api/unsupported.h"
#include "runtime/base/names.h"
#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

hipError_t refuse_call(const char* call, const char* hint) noexcept {
  return api(call, [&]() -> Outcome {
    return refuse(hipErrorNotSupported, readable_name(call) + " is not there in Margay yet", hint);
  });
}

// HIPRTC_ERROR_INTERNAL_ERROR. Source: hip/hiprtc.h.
constexpr int kRtcInternalError = 11;

}  // namespace

int refuse_unsupported(const char* call) noexcept { return refuse_call(call, ""); }

int refuse_unsupported_rtc(const char* call) noexcept {
  static_cast<void>(refuse_call(call, "Compile the kernel beforehand with margay hipcc."));
  return kRtcInternalError;
}

}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

// No precompiled header is built in.
#pragma GCC visibility push(default)
void __hipGetPCH(const char** header, unsigned int* bytes) {
  if (header != nullptr) *header = nullptr;
  if (bytes != nullptr) *bytes = 0;
}
#pragma GCC visibility pop

hipError_t hipGetProcAddress(const char* symbol, void** function, int version, std::uint64_t,
                             int* status) {
  return api(__func__, [&]() -> Outcome {
    // HIP_GET_PROC_ADDRESS_SUCCESS and HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND of HIP 6.1.
    constexpr int kFound = 0;
    constexpr int kNotFound = 1;
    if (symbol == nullptr || function == nullptr) {
      return refuse(hipErrorInvalidValue, "The name or the result is a null pointer.");
    }
    // HIP 6 changed hipDeviceProp_t: its two functions have names of their own. The bound is
    // ROCm's, which versions of the form 70100000 are all above (clr, hip_device.cpp,
    // hipGetProcAddress).
    constexpr int kHip6 = 600;
    const std::string_view asked = symbol;
    if (version >= kHip6 && asked == "hipGetDeviceProperties")
      symbol = "hipGetDevicePropertiesR0600";
    if (version >= kHip6 && asked == "hipChooseDevice") symbol = "hipChooseDeviceR0600";
    Dl_info self;
    void* found = nullptr;
    if (dladdr(reinterpret_cast<void*>(&hipGetErrorName), &self) != 0) {
      // The library itself, not whichever library of that name the program found first.
      if (void* const library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
        found = dlsym(library, symbol);
        dlclose(library);
      }
    }
    *function = found;
    if (status != nullptr) *status = found != nullptr ? kFound : kNotFound;
    if (found == nullptr) {
      return refuse(hipErrorInvalidValue, fmt::format("There is no HIP function {}.", symbol));
    }
    return {};
  });
}

}  // extern "C"
