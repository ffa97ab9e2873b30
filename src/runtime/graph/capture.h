// Work for streams: executed in the stream's order or, while the stream is captured, added to a
// graph instead.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/base/work.h"
#include "runtime/graph/graph.h"
#include "runtime/stream/in_flight.h"
#include "runtime/stream/ordering.h"
#include "runtime/stream/streams.h"
#include "runtime/stream/timeline.h"

namespace margay::runtime {

/// A capture in progress. Guarded by the mutex of Captures.
struct Capture {
  std::shared_ptr<ihipGraph> graph = std::make_shared<ihipGraph>();
  const void* origin = nullptr;  ///< The stream in which it began.
  unsigned long long id = 0;
  bool lost = false;  ///< By a call that is not allowed during a capture.
  std::vector<std::weak_ptr<ihipStream_t>> streams;
};

/// Safe to use from several threads.
class Captures {
 public:
  Captures(const Streams& streams, Ordering& ordering, WorkInFlight& in_flight, Timeline& timeline,
           Graphs& graphs)
      : streams_(streams),
        ordering_(ordering),
        in_flight_(in_flight),
        timeline_(timeline),
        graphs_(graphs) {}

  /// Executes `work` in the stream's order (see in_flight.h) or, while the stream is captured,
  /// makes it a node of the graph. `start` begins the same work if it may be left in flight.
  [[nodiscard]] Outcome on_stream(hipStream_t stream, hipGraphNodeType type, Work work,
                                  const Start& start = {},
                                  const std::string& what = "a copy or fill");
  /// Executes `work`, which may block, in the stream's order on another thread, or makes it a node.
  [[nodiscard]] Outcome on_stream_in_background(hipStream_t stream, Work work);

  /// Whether the stream's work becomes nodes of a graph.
  [[nodiscard]] bool is_captured(hipStream_t stream) const { return captured(stream) != nullptr; }
  /// An error for a call that would have to wait for a captured stream; the capture is invalidated.
  [[nodiscard]] Outcome check_not_captured(hipStream_t stream);

  /// Records an event in a stream that may be captured, and makes a stream wait for one.
  [[nodiscard]] Outcome record_event(hipEvent_t event, hipStream_t stream);
  [[nodiscard]] Outcome wait_for_event(hipStream_t stream, hipEvent_t event);
  /// Records an event that may be absent now, by the calling thread's operation: the launch calls
  /// with start and stop events do, and graphs.
  [[nodiscard]] Outcome record_if_given(hipEvent_t event);

  [[nodiscard]] Outcome begin(hipStream_t stream);
  /// The graph, unless the capture was invalidated.
  [[nodiscard]] Answer<hipGraph_t> end(hipStream_t stream);
  struct Info {
    hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
    unsigned long long id = 0;
  };
  [[nodiscard]] Answer<Info> info(hipStream_t stream) const;

 private:
  /// The stream, when it is captured.
  [[nodiscard]] std::shared_ptr<ihipStream_t> captured(hipStream_t stream) const;
  [[nodiscard]] Outcome capture_work(ihipStream_t& stream, hipGraphNodeType type, Work work);

  const Streams& streams_;
  Ordering& ordering_;
  WorkInFlight& in_flight_;
  Timeline& timeline_;
  Graphs& graphs_;
  mutable std::mutex mutex_;
  unsigned long long last_id_ = 0;
  // Lets a program that captures nothing avoid the mutex.
  std::atomic<int> under_way_ = 0;
};

}  // namespace margay::runtime
