// The HIP calls that capture streams.
#include <utility>

#include "runtime/process/call.h"

namespace margay::runtime {
namespace {

Outcome begin_capture(hipStream_t stream, hipStreamCaptureMode mode) {
  if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed)
    return refuse(hipErrorInvalidValue, "The capture mode is not one of hipStreamCaptureMode*.");
  return process().captures.begin(stream);
}

Outcome end_capture(hipStream_t stream, hipGraph_t* out) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The graph is a null pointer.");
  *out = nullptr;
  *out = MARGAY_TRY(process().captures.end(stream));
  return {};
}

Outcome capture_info(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  if (status == nullptr) return refuse(hipErrorInvalidValue, "The status is a null pointer.");
  const Captures::Info info = MARGAY_TRY(process().captures.info(stream));
  *status = info.status;
  if (id != nullptr) *id = info.id;
  return {};
}

}  // namespace
}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return api(__func__, [&] { return begin_capture(stream, mode); });
}
hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode) {
  return api(__func__, [&] { return begin_capture(stream, mode); });
}
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return api(__func__, [&] { return end_capture(stream, graph); });
}
hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t* graph) {
  return api(__func__, [&] { return end_capture(stream, graph); });
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return api(__func__, [&] { return capture_info(stream, status, nullptr); });
}
hipError_t hipStreamIsCapturing_spt(hipStream_t stream, hipStreamCaptureStatus* status) {
  return api(__func__, [&] { return capture_info(stream, status, nullptr); });
}
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status,
                                   unsigned long long* id) {
  return api(__func__, [&] { return capture_info(stream, status, id); });
}
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status,
                                      unsigned long long* id, hipGraph_t* graph,
                                      const hipGraphNode_t** dependencies, std::size_t* count) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_CHECK(capture_info(stream, status, id));
    const bool asks = graph != nullptr || dependencies != nullptr || count != nullptr;
    if (!asks || *status == hipStreamCaptureStatusNone) return {};
    return refuse(hipErrorNotSupported,
                  "The graph and the nodes of a capture in progress cannot be queried.",
                  "Pass null pointers for them; the graph comes with hipStreamEndCapture.");
  });
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return api(__func__, [&]() -> Outcome {
    thread_local hipStreamCaptureMode current = hipStreamCaptureModeGlobal;
    if (mode == nullptr) return refuse(hipErrorInvalidValue, "The mode is a null pointer.");
    std::swap(current, *mode);
    return {};
  });
}

}  // extern "C"
