// The table from ErrorCode to hipError_t, the names and texts of all hipError_t values, and the
// per-thread last error.
#include "runtime/base/errors.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <utility>

#include "runtime/base/names.h"

namespace margay::runtime {
namespace {

struct ErrorRow {
  hipError_t code;
  const char* name;
  const char* text;
};

// Names are the enumerators' own. Programs and test suites compare the texts, so they are the ones
// a ROCm runtime gives. Source: HIP documentation, "hipError_t", and output of ROCm programs.
// clang-format off
constexpr std::array kErrors = {
    ErrorRow{hipSuccess, "hipSuccess", "no error"},
    ErrorRow{hipErrorInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    ErrorRow{hipErrorOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    ErrorRow{hipErrorNotInitialized, "hipErrorNotInitialized", "initialization error"},
    ErrorRow{hipErrorDeinitialized, "hipErrorDeinitialized", "driver shutting down"},
    ErrorRow{hipErrorProfilerDisabled, "hipErrorProfilerDisabled", "profiler disabled while using external profiling tool"},
    ErrorRow{hipErrorProfilerNotInitialized, "hipErrorProfilerNotInitialized", "profiler is not initialized"},
    ErrorRow{hipErrorProfilerAlreadyStarted, "hipErrorProfilerAlreadyStarted", "profiler already started"},
    ErrorRow{hipErrorProfilerAlreadyStopped, "hipErrorProfilerAlreadyStopped", "profiler already stopped"},
    ErrorRow{hipErrorInvalidConfiguration, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    ErrorRow{hipErrorInvalidPitchValue, "hipErrorInvalidPitchValue", "invalid pitch argument"},
    ErrorRow{hipErrorInvalidSymbol, "hipErrorInvalidSymbol", "invalid device symbol"},
    ErrorRow{hipErrorInvalidDevicePointer, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    ErrorRow{hipErrorInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    ErrorRow{hipErrorInsufficientDriver, "hipErrorInsufficientDriver", "driver version is insufficient for runtime version"},
    ErrorRow{hipErrorMissingConfiguration, "hipErrorMissingConfiguration", "__global__ function call is not configured"},
    ErrorRow{hipErrorPriorLaunchFailure, "hipErrorPriorLaunchFailure", "unspecified launch failure in prior launch"},
    ErrorRow{hipErrorInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
    ErrorRow{hipErrorNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    ErrorRow{hipErrorInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    ErrorRow{hipErrorInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    ErrorRow{hipErrorInvalidContext, "hipErrorInvalidContext", "invalid device context"},
    ErrorRow{hipErrorContextAlreadyCurrent, "hipErrorContextAlreadyCurrent", "context is already current context"},
    ErrorRow{hipErrorMapFailed, "hipErrorMapFailed", "mapping of buffer object failed"},
    ErrorRow{hipErrorUnmapFailed, "hipErrorUnmapFailed", "unmapping of buffer object failed"},
    ErrorRow{hipErrorArrayIsMapped, "hipErrorArrayIsMapped", "array is mapped"},
    ErrorRow{hipErrorAlreadyMapped, "hipErrorAlreadyMapped", "resource already mapped"},
    ErrorRow{hipErrorNoBinaryForGpu, "hipErrorNoBinaryForGpu", "no kernel image is available for execution on the device"},
    ErrorRow{hipErrorAlreadyAcquired, "hipErrorAlreadyAcquired", "resource already acquired"},
    ErrorRow{hipErrorNotMapped, "hipErrorNotMapped", "resource not mapped"},
    ErrorRow{hipErrorNotMappedAsArray, "hipErrorNotMappedAsArray", "resource not mapped as array"},
    ErrorRow{hipErrorNotMappedAsPointer, "hipErrorNotMappedAsPointer", "resource not mapped as pointer"},
    ErrorRow{hipErrorECCNotCorrectable, "hipErrorECCNotCorrectable", "uncorrectable ECC error encountered"},
    ErrorRow{hipErrorUnsupportedLimit, "hipErrorUnsupportedLimit", "limit is not supported on this architecture"},
    ErrorRow{hipErrorContextAlreadyInUse, "hipErrorContextAlreadyInUse", "exclusive-thread device already in use by a different thread"},
    ErrorRow{hipErrorPeerAccessUnsupported, "hipErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
    ErrorRow{hipErrorInvalidKernelFile, "hipErrorInvalidKernelFile", "invalid kernel file"},
    ErrorRow{hipErrorInvalidGraphicsContext, "hipErrorInvalidGraphicsContext", "invalid OpenGL or DirectX context"},
    ErrorRow{hipErrorInvalidSource, "hipErrorInvalidSource", "device kernel image is invalid"},
    ErrorRow{hipErrorFileNotFound, "hipErrorFileNotFound", "file not found"},
    ErrorRow{hipErrorSharedObjectSymbolNotFound, "hipErrorSharedObjectSymbolNotFound", "shared object symbol not found"},
    ErrorRow{hipErrorSharedObjectInitFailed, "hipErrorSharedObjectInitFailed", "shared object initialization failed"},
    ErrorRow{hipErrorOperatingSystem, "hipErrorOperatingSystem", "OS call failed or operation not supported on this OS"},
    ErrorRow{hipErrorInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    ErrorRow{hipErrorIllegalState, "hipErrorIllegalState", "the operation cannot be performed in the present state"},
    ErrorRow{hipErrorNotFound, "hipErrorNotFound", "named symbol not found"},
    ErrorRow{hipErrorNotReady, "hipErrorNotReady", "device not ready"},
    ErrorRow{hipErrorIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    ErrorRow{hipErrorLaunchOutOfResources, "hipErrorLaunchOutOfResources", "too many resources requested for launch"},
    ErrorRow{hipErrorLaunchTimeOut, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
    ErrorRow{hipErrorPeerAccessAlreadyEnabled, "hipErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    ErrorRow{hipErrorPeerAccessNotEnabled, "hipErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    ErrorRow{hipErrorSetOnActiveProcess, "hipErrorSetOnActiveProcess", "cannot set while device is active in this process"},
    ErrorRow{hipErrorContextIsDestroyed, "hipErrorContextIsDestroyed", "context is destroyed"},
    ErrorRow{hipErrorAssert, "hipErrorAssert", "device-side assert triggered"},
    ErrorRow{hipErrorHostMemoryAlreadyRegistered, "hipErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped"},
    ErrorRow{hipErrorHostMemoryNotRegistered, "hipErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region"},
    ErrorRow{hipErrorLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    ErrorRow{hipErrorCooperativeLaunchTooLarge, "hipErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    ErrorRow{hipErrorNotSupported, "hipErrorNotSupported", "operation not supported"},
    ErrorRow{hipErrorStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    ErrorRow{hipErrorStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
    ErrorRow{hipErrorStreamCaptureMerge, "hipErrorStreamCaptureMerge", "operation would result in a merge of separate capture sequences"},
    ErrorRow{hipErrorStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched", "capture was not ended in the same stream as it began"},
    ErrorRow{hipErrorStreamCaptureUnjoined, "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    ErrorRow{hipErrorStreamCaptureIsolation, "hipErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"},
    ErrorRow{hipErrorStreamCaptureImplicit, "hipErrorStreamCaptureImplicit", "operation would make the legacy stream depend on a capturing blocking stream"},
    ErrorRow{hipErrorCapturedEvent, "hipErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"},
    ErrorRow{hipErrorStreamCaptureWrongThread, "hipErrorStreamCaptureWrongThread", "attempt to terminate a thread-local capture sequence from another thread"},
    ErrorRow{hipErrorGraphExecUpdateFailure, "hipErrorGraphExecUpdateFailure", "the changes are not allowed in an update of an instantiated graph"},
    ErrorRow{hip6::kErrorInvalidChannelDescriptor, "hipErrorInvalidChannelDescriptor", "invalid channel descriptor"},
    ErrorRow{hip6::kErrorInvalidTexture, "hipErrorInvalidTexture", "invalid texture"},
    ErrorRow{hipErrorUnknown, "hipErrorUnknown", "unknown error"},
    ErrorRow{hipErrorRuntimeMemory, "hipErrorRuntimeMemory", "runtime memory call returned error"},
    ErrorRow{hipErrorRuntimeOther, "hipErrorRuntimeOther", "runtime call other than memory returned error"},
    ErrorRow{hipErrorTbd, "hipErrorTbd", "unknown error"},
};
// clang-format on

const ErrorRow* find_row(hipError_t code) {
  for (const ErrorRow& row : kErrors) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

thread_local hipError_t last = hipSuccess;

// Repeated messages (from a program that polls, or retries a call in a loop) add nothing and hide
// earlier ones.
void print_once(const std::string& text) {
  static std::mutex mutex;
  static std::string previous;
  const std::lock_guard lock(mutex);
  if (text == previous) return;
  previous = text;
  std::fputs(text.c_str(), stderr);
}

}  // namespace

hipError_t hip_error(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return hipErrorInvalidValue;
    case ErrorCode::invalid_image:
      return hipErrorInvalidImage;
    case ErrorCode::wrong_architecture:
      return hipErrorNoBinaryForGpu;
    case ErrorCode::not_found:
      return hipErrorNotFound;
    case ErrorCode::out_of_memory:
      return hipErrorOutOfMemory;
    case ErrorCode::exceeds_limits:
      return hipErrorInvalidConfiguration;
    case ErrorCode::illegal_address:
      return hipErrorIllegalAddress;
    case ErrorCode::illegal_instruction:
      return hipErrorLaunchFailure;
    case ErrorCode::not_implemented:
      return hipErrorNotSupported;
    case ErrorCode::device_trap:
      return hipErrorLaunchFailure;
    case ErrorCode::deadlock:
    case ErrorCode::interrupted:
      return hipErrorLaunchTimeOut;
    case ErrorCode::system:
      return hipErrorOperatingSystem;
  }
  return hipErrorUnknown;
}

hipError_t remember(hipError_t code) noexcept {
  if (code != hipSuccess) last = code;
  return code;
}

hipError_t last_error() noexcept { return last; }
hipError_t take_last_error() noexcept { return std::exchange(last, hipSuccess); }

const char* error_name(hipError_t code) noexcept {
  const ErrorRow* const row = find_row(code);
  return row != nullptr ? row->name : nullptr;
}
const char* error_text(hipError_t code) noexcept {
  const ErrorRow* const row = find_row(code);
  return row != nullptr ? row->text : nullptr;
}

hipError_t report(const char* call, Refusal refusal, bool quiet) noexcept {
  last = refusal.code;
  if (refusal.silent || quiet) return refusal.code;
  try {
    const char* const known = error_name(refusal.code);
    const char* const name = known != nullptr ? known : "hipErrorUnknown";
    if (refusal.error.what.starts_with(readable_name(call))) {
      refusal.error.what += fmt::format(" ({}).", name);
    } else {
      std::string place = fmt::format("{} ({})", call, name);
      if (!refusal.error.where.empty() && refusal.error.where != call) {
        place += ", " + refusal.error.where;
      }
      refusal.error.where = std::move(place);
    }
    print_once("margay: " + refusal.error.text() + "\n");
  } catch (...) {
    std::fputs("margay: a call failed, and there is no memory to say why.\n", stderr);
  }
  return refusal.code;
}

}  // namespace margay::runtime
