// Streams that are captured; see graph.h.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "runtime/graph/graph.h"
#include "runtime/process/runtime.h"
#include "runtime/stream/ordering.h"

namespace margay::runtime {
namespace {

std::mutex& capture_mutex() {
  static std::mutex* const mutex = new std::mutex();
  return *mutex;
}
// So that a program which captures nothing never waits for the mutex.
std::atomic<int> captures_under_way = 0;

/// The stream, when it is captured.
std::shared_ptr<ihipStream_t> captured(hipStream_t handle) {
  if (captures_under_way.load() == 0 || is_implicit_stream(handle)) return nullptr;
  std::shared_ptr<ihipStream_t> stream = Runtime::instance().streams().find(handle);
  return stream != nullptr && stream->capture != nullptr ? stream : nullptr;
}

Outcome lost_capture() {
  return refuse(hipErrorStreamCaptureInvalidated,
                "The capture of this stream was lost by an earlier call.",
                "End it with hipStreamEndCapture, and leave out the call that was refused.");
}

void join(const std::shared_ptr<ihipStream_t>& stream, const std::shared_ptr<Capture>& capture) {
  stream->capture = capture;
  stream->captured_last.clear();
  capture->streams.push_back(stream);
}

/// Whether all that the streams of a capture did comes before what its first stream did last.
bool is_joined(const Capture& capture, const ihipStream_t& origin) {
  std::set<const hipGraphNode*> before;
  std::vector<hipGraphNode*> open = origin.captured_last;
  while (!open.empty()) {
    hipGraphNode* const node = open.back();
    open.pop_back();
    if (before.insert(node).second)
      open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  for (const auto& member : capture.streams) {
    const std::shared_ptr<ihipStream_t> stream = member.lock();
    if (stream == nullptr) continue;
    for (const hipGraphNode* const node : stream->captured_last)
      if (!before.contains(node)) return false;
  }
  return true;
}

Outcome begin_capture(hipStream_t handle, hipStreamCaptureMode mode) {
  if (mode < hipStreamCaptureModeGlobal || mode > hipStreamCaptureModeRelaxed)
    return refuse(hipErrorInvalidValue, "The capture mode is not one of hipStreamCaptureMode*.");
  MARGAY_CHECK(check_stream(handle));
  if (is_implicit_stream(handle))
    return refuse(hipErrorStreamCaptureUnsupported, "The null stream cannot be captured.",
                  "Capture a stream that hipStreamCreate gave.");
  const std::shared_ptr<ihipStream_t> stream = Runtime::instance().streams().find(handle);
  const std::lock_guard lock(capture_mutex());
  if (stream->capture != nullptr)
    return refuse(hipErrorIllegalState, "The stream is being captured already.");
  static unsigned long long last_id = 0;
  const auto capture = std::make_shared<Capture>();
  capture->origin = handle;
  capture->id = ++last_id;
  join(stream, capture);
  ++captures_under_way;
  return {};
}

Outcome end_capture(hipStream_t handle, hipGraph_t* out) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The graph is a null pointer.");
  *out = nullptr;
  MARGAY_CHECK(check_stream(handle));
  const std::shared_ptr<ihipStream_t> stream = captured(handle);
  if (stream == nullptr)
    return refuse(hipErrorIllegalState, "The stream is not being captured.",
                  "Begin with hipStreamBeginCapture.");
  const std::lock_guard lock(capture_mutex());
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin != handle)
    return refuse(hipErrorStreamCaptureUnmatched,
                  "The capture began in another stream, and this one joined it.",
                  "End the capture in the stream in which it began.");
  const bool joined = is_joined(*capture, *stream);
  for (const auto& member : capture->streams)
    if (const auto other = member.lock()) {
      other->capture = nullptr;
      other->captured_last.clear();
    }
  --captures_under_way;
  if (capture->lost) return lost_capture();
  if (!joined)
    return refuse(hipErrorStreamCaptureUnjoined,
                  "A stream that joined the capture was not joined to the first one again.",
                  "Record an event in it and let the first stream wait for the event.");
  *out = publish(capture->graph);
  return {};
}

Outcome capture_info(hipStream_t handle, hipStreamCaptureStatus* status, unsigned long long* id) {
  if (status == nullptr) return refuse(hipErrorInvalidValue, "The status is a null pointer.");
  MARGAY_CHECK(check_stream(handle));
  const std::shared_ptr<ihipStream_t> stream = captured(handle);
  const std::lock_guard lock(capture_mutex());
  *status = stream == nullptr       ? hipStreamCaptureStatusNone
            : stream->capture->lost ? hipStreamCaptureStatusInvalidated
                                    : hipStreamCaptureStatusActive;
  if (id != nullptr) *id = stream == nullptr ? 0 : stream->capture->id;
  return {};
}

}  // namespace

bool is_captured(hipStream_t stream) { return captured(stream) != nullptr; }

namespace {
Outcome capture_work(ihipStream_t& stream, hipGraphNodeType type, Work work) {
  const std::lock_guard lock(capture_mutex());
  if (stream.capture->lost) return lost_capture();
  stream.captured_last = {
      add_node(*stream.capture->graph, type, std::move(work), stream.captured_last)};
  return {};
}
}  // namespace

Outcome on_stream(hipStream_t handle, hipGraphNodeType type, Work work, const Start& start,
                  const std::string& what) {
  MARGAY_CHECK(check_stream(handle));
  if (const std::shared_ptr<ihipStream_t> stream = captured(handle))
    return capture_work(*stream, type, std::move(work));
  const OperationScope operation(handle);
  return start ? in_order(handle, what, start, std::move(work))
               : in_order(handle, what, std::move(work));
}

Outcome on_stream_in_background(hipStream_t handle, Work work) {
  MARGAY_CHECK(check_stream(handle));
  if (const std::shared_ptr<ihipStream_t> stream = captured(handle))
    return capture_work(*stream, hipGraphNodeTypeHost, std::move(work));
  order_host_waits(handle);  // whomever the function may tell
  // Most are short, and programs that forget to wait for them would not notice on a device either.
  constexpr std::chrono::milliseconds kPatience{100};
  in_background(handle, "a host function", std::move(work), kPatience);
  return {};
}

Outcome check_not_captured(hipStream_t handle) {
  MARGAY_CHECK(check_stream(handle));
  const std::shared_ptr<ihipStream_t> stream = captured(handle);
  if (stream == nullptr) return {};
  const std::lock_guard lock(capture_mutex());
  stream->capture->lost = true;
  return refuse(hipErrorStreamCaptureUnsupported,
                "A stream that is being captured does nothing, so nothing can wait for it.",
                "Call this after hipStreamEndCapture, on the stream the graph is launched into.");
}

Outcome record_event(hipEvent_t handle, hipStream_t stream_handle) {
  const auto event = MARGAY_TRY(find_event(handle));
  MARGAY_CHECK(check_stream(stream_handle));
  if (const std::shared_ptr<ihipStream_t> stream = captured(stream_handle)) {
    const std::lock_guard lock(capture_mutex());
    event->record_in(stream->capture);
    event->captured_nodes = stream->captured_last;
    return {};
  }
  order_recorded(handle, stream_handle);
  const auto later = mark(stream_handle, "an event", nullptr, [event]() -> Outcome {
    event->record();
    return {};
  });
  event->pending = later;
  if (later == nullptr) event->record();
  return {};
}

Outcome wait_for_event(hipStream_t stream_handle, hipEvent_t handle) {
  const auto event = MARGAY_TRY(find_event(handle));
  MARGAY_CHECK(check_stream(stream_handle));
  if (!is_captured(stream_handle)) order_stream_waits(stream_handle, handle);
  if (const auto pending = event->pending.load(); pending != nullptr && !pending->done()) {
    (void)mark(stream_handle, "an event", pending, []() -> Outcome { return {}; });
    return {};
  }
  if (captures_under_way.load() == 0 || is_implicit_stream(stream_handle)) return {};
  const std::shared_ptr<ihipStream_t> stream = Runtime::instance().streams().find(stream_handle);
  const std::lock_guard lock(capture_mutex());
  const std::shared_ptr<Capture> capture = event->captured_in();
  if (capture == nullptr) {
    // What the event marks has been done; but a graph cannot depend on what is not in it.
    if (stream->capture == nullptr || !event->time()) return {};
    return refuse(hipErrorStreamCaptureIsolation,
                  "A stream that is being captured cannot wait for an event from outside.",
                  "Record the event in a stream of the same capture.");
  }
  if (stream->capture == nullptr) join(stream, capture);
  if (stream->capture != capture)
    return refuse(hipErrorStreamCaptureMerge,
                  "The stream and the event belong to two captures, which cannot be made one.");
  for (hipGraphNode* const node : event->captured_nodes)
    if (std::ranges::find(stream->captured_last, node) == stream->captured_last.end())
      stream->captured_last.push_back(node);
  return {};
}

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
                  "The graph and the nodes of a capture that is under way cannot be asked for.",
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
