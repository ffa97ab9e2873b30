// The implementation of the functions of unsupported.cpp; separate because it needs the HIP
// headers.
#pragma once

namespace margay::runtime {

/// Reports that `call` is not implemented and returns hipErrorNotSupported.
int refuse_unsupported(const char* call) noexcept;

/// The same for a call of the run-time compiler, which has error codes of its own; returns
/// HIPRTC_ERROR_INTERNAL_ERROR.
int refuse_unsupported_rtc(const char* call) noexcept;

}  // namespace margay::runtime
