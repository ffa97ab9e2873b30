// The HIP calls about errors: the thread's last one, and the names and texts of codes.
#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

hipError_t take_error() {
  const hipError_t code = take_last_error();
  (void)process().launches.take_interrupted();
  // A failed launch leaves the device in an unknown state; only hipDeviceReset clears it.
  return code != hipSuccess ? code : process().launches.failure();
}

hipError_t give(const char** out, const char* text) {
  if (out == nullptr || text == nullptr) return remember(hipErrorInvalidValue);
  *out = text;
  return hipSuccess;
}

}  // namespace
}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipGetLastError() { return take_error(); }

hipError_t hipExtGetLastError() { return take_error(); }

hipError_t hipPeekAtLastError() {
  const hipError_t code = last_error();
  return code != hipSuccess ? code : process().launches.failure();
}

const char* hipGetErrorName(hipError_t error) {
  const char* const name = error_name(error);
  return name != nullptr ? name : "hipErrorUnknown";
}

const char* hipGetErrorString(hipError_t error) {
  const char* const text = error_text(error);
  return text != nullptr ? text : "unknown error";
}

hipError_t hipDrvGetErrorName(hipError_t error, const char** name) {
  return give(name, error_name(error));
}

hipError_t hipDrvGetErrorString(hipError_t error, const char** text) {
  return give(text, error_text(error));
}

}  // extern "C"
