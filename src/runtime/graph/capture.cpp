// See capture.h.
#include "runtime/graph/capture.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace margay::runtime {
namespace {

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

/// Whether all operations of a capture's streams precede the last one of its first stream.
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

}  // namespace

std::shared_ptr<ihipStream_t> Captures::captured(hipStream_t handle) const {
  if (under_way_.load() == 0) return nullptr;
  std::shared_ptr<ihipStream_t> stream = streams_.find(handle);
  return stream != nullptr && stream->capture != nullptr ? stream : nullptr;
}

Outcome Captures::begin(hipStream_t handle) {
  MARGAY_CHECK(streams_.check(handle));
  if (is_implicit_stream(handle))
    return refuse(hipErrorStreamCaptureUnsupported,
                  handle == hipStreamPerThread ? "hipStreamPerThread cannot be captured in Margay."
                                               : "The null stream cannot be captured.",
                  "Capture a stream that hipStreamCreate gave.");
  const std::shared_ptr<ihipStream_t> stream = streams_.find(handle);
  const std::lock_guard lock(mutex_);
  if (stream->capture != nullptr)
    return refuse(hipErrorIllegalState, "The stream is being captured already.");
  const auto capture = std::make_shared<Capture>();
  capture->origin = handle;
  capture->id = ++last_id_;
  join(stream, capture);
  ++under_way_;
  return {};
}

Answer<hipGraph_t> Captures::end(hipStream_t handle) {
  MARGAY_CHECK(streams_.check(handle));
  const std::shared_ptr<ihipStream_t> stream = captured(handle);
  if (stream == nullptr)
    return refuse(hipErrorIllegalState, "The stream is not being captured.",
                  "Begin with hipStreamBeginCapture.");
  const std::lock_guard lock(mutex_);
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
  --under_way_;
  if (capture->lost) return std::unexpected(lost_capture().error());
  if (!joined)
    return refuse(hipErrorStreamCaptureUnjoined,
                  "A stream that joined the capture was not joined to the first one again.",
                  "Record an event in it and let the first stream wait for the event.");
  return graphs_.publish(capture->graph);
}

Answer<Captures::Info> Captures::info(hipStream_t handle) const {
  MARGAY_CHECK(streams_.check(handle));
  const std::shared_ptr<ihipStream_t> stream = captured(handle);
  if (stream == nullptr) return Info{};
  const std::lock_guard lock(mutex_);
  return Info{
      stream->capture->lost ? hipStreamCaptureStatusInvalidated : hipStreamCaptureStatusActive,
      stream->capture->id};
}

Outcome Captures::capture_work(ihipStream_t& stream, hipGraphNodeType type, Work work) {
  const std::lock_guard lock(mutex_);
  if (stream.capture->lost) return lost_capture();
  stream.captured_last = {
      graphs_.add_node(*stream.capture->graph, type, std::move(work), stream.captured_last)};
  return {};
}

Outcome Captures::on_stream(hipStream_t handle, hipGraphNodeType type, Work work,
                            const Start& start, const std::string& what) {
  MARGAY_CHECK(streams_.check(handle));
  if (const std::shared_ptr<ihipStream_t> stream = captured(handle))
    return capture_work(*stream, type, std::move(work));
  const OperationScope operation(ordering_, handle);
  return start ? in_flight_.in_order(handle, what, start)
               : in_flight_.in_order(handle, what, std::move(work));
}

Outcome Captures::on_stream_in_background(hipStream_t handle, Work work) {
  MARGAY_CHECK(streams_.check(handle));
  if (const std::shared_ptr<ihipStream_t> stream = captured(handle))
    return capture_work(*stream, hipGraphNodeTypeHost, std::move(work));
  ordering_.host_waits(handle);  // anyone the function may notify
  // Most are short, and a missing wait for them would go unnoticed on a device as well.
  constexpr std::chrono::milliseconds kPatience{100};
  in_flight_.in_background(handle, "a host function", std::move(work), kPatience);
  return {};
}

Outcome Captures::check_not_captured(hipStream_t handle) {
  MARGAY_CHECK(streams_.check(handle));
  const std::shared_ptr<ihipStream_t> stream = captured(handle);
  if (stream == nullptr) return {};
  const std::lock_guard lock(mutex_);
  stream->capture->lost = true;
  return refuse(hipErrorStreamCaptureUnsupported,
                "A stream that is being captured does nothing, so nothing can wait for it.",
                "Call this after hipStreamEndCapture, on the stream the graph is launched into.");
}

Outcome Captures::record_event(hipEvent_t handle, hipStream_t stream_handle) {
  const auto event = MARGAY_TRY(streams_.find_event(handle));
  MARGAY_CHECK(streams_.check(stream_handle));
  if (const std::shared_ptr<ihipStream_t> stream = captured(stream_handle)) {
    const std::lock_guard lock(mutex_);
    event->record_in(stream->capture);
    event->captured_nodes = stream->captured_last;
    return {};
  }
  ordering_.recorded(handle, stream_handle);
  const Order order = streams_.order_of(stream_handle);
  const auto later = in_flight_.mark(stream_handle, "an event", nullptr, [=, this]() -> Outcome {
    event->record(timeline_.now(order));
    return {};
  });
  event->pending = later;
  if (later == nullptr) event->record(timeline_.now(order));
  return {};
}

Outcome Captures::wait_for_event(hipStream_t stream_handle, hipEvent_t handle) {
  const auto event = MARGAY_TRY(streams_.find_event(handle));
  MARGAY_CHECK(streams_.check(stream_handle));
  if (!is_captured(stream_handle)) ordering_.stream_waits(stream_handle, handle);
  const Order order = streams_.order_of(stream_handle);
  if (const auto pending = event->pending.load(); pending != nullptr && !pending->done()) {
    (void)in_flight_.mark(stream_handle, "an event", pending, [=, this]() -> Outcome {
      timeline_.stream_waits(order, event->modelled_time());
      return {};
    });
    return {};
  }
  if (!is_captured(stream_handle)) timeline_.stream_waits(order, event->modelled_time());
  if (under_way_.load() == 0 || is_implicit_stream(stream_handle)) return {};
  const std::shared_ptr<ihipStream_t> stream = streams_.find(stream_handle);
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Capture> capture = event->captured_in();
  if (capture == nullptr) {
    // The work before the event is complete; but a graph cannot depend on work outside of it.
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

Outcome Captures::record_if_given(hipEvent_t handle) {
  if (handle == nullptr) return {};
  MARGAY_TRY(streams_.find_event(handle))->record(timeline_.now());
  ordering_.recorded(handle);
  return {};
}

}  // namespace margay::runtime
