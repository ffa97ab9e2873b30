// See unsupported.h.
#include <string>

#include "runtime/api/unsupported.h"
#include "runtime/base/errors.h"
#include "runtime/module/module.h"

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
