// Graphs: work that is described once and launched many times, and streams that are captured, which
// put their work into a graph in place of doing it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/base/errors.h"
#include "runtime/stream/in_flight.h"

namespace margay::runtime {

/// Does `work` in the stream's order (see in_flight.h) or, while the stream is captured, makes it a
/// node of the graph. `start` begins the same work where it may be left in flight.
[[nodiscard]] Outcome on_stream(hipStream_t stream, hipGraphNodeType type, Work work,
                                const Start& start = {},
                                const std::string& what = "a copy or fill");
/// Does `work`, which may block, in the stream's order on another thread, or makes it a node.
[[nodiscard]] Outcome on_stream_in_background(hipStream_t stream, Work work);

/// Whether what is done in the stream becomes nodes of a graph.
[[nodiscard]] bool is_captured(hipStream_t stream);

/// Refuses a call that would have to wait for a stream which is captured; the capture is lost.
[[nodiscard]] Outcome check_not_captured(hipStream_t stream);

/// Records an event in a stream that may be captured, and makes a stream wait for one.
[[nodiscard]] Outcome record_event(hipEvent_t event, hipStream_t stream);
[[nodiscard]] Outcome wait_for_event(hipStream_t stream, hipEvent_t event);

}  // namespace margay::runtime

/// What a hipGraphNode_t points to.
struct hipGraphNode {
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  margay::runtime::Work work;
  std::vector<hipGraphNode*> dependencies;  ///< Of the same graph.
};

/// What a hipGraph_t points to.
struct ihipGraph {
  std::vector<std::shared_ptr<hipGraphNode>> nodes;
};

/// What a hipGraphExec_t points to: the work of a graph in an order its dependencies allow.
struct hipGraphExec {
  struct Step {
    const hipGraphNode* node = nullptr;  ///< That it came from; it may be gone.
    margay::runtime::Work work;
    std::vector<std::size_t> after;  ///< The steps that it depends on.
  };
  std::vector<Step> steps;
};

namespace margay::runtime {

/// A capture that is under way. Guarded by capture_mutex() in capture.cpp.
struct Capture {
  std::shared_ptr<ihipGraph> graph = std::make_shared<ihipGraph>();
  const void* origin = nullptr;  ///< The stream in which it began.
  unsigned long long id = 0;
  bool lost = false;  ///< By a call that is not allowed meanwhile.
  std::vector<std::weak_ptr<ihipStream_t>> streams;
};

/// A node of `graph` with these dependencies, known to node_of() from now on.
[[nodiscard]] hipGraphNode* add_node(ihipGraph& graph, hipGraphNodeType type, Work work,
                                     std::vector<hipGraphNode*> dependencies);
/// Makes a graph known to the program.
[[nodiscard]] hipGraph_t publish(std::shared_ptr<ihipGraph> graph);

// Nodes that HIP 5.2 has no type for; include/hip/margay_detail/runtime_api.h gives programs these.
inline constexpr auto kNodeTypeMemAlloc = static_cast<hipGraphNodeType>(13);
inline constexpr auto kNodeTypeMemFree = static_cast<hipGraphNodeType>(14);

/// hipMemAllocNodeParams of HIP 6. Source: HIP documentation, "hipMemAllocNodeParams".
struct MemAllocNodeParams {
  hipMemPoolProps pool;
  const hipMemAccessDesc* access = nullptr;
  std::size_t access_count = 0;
  std::size_t bytes = 0;
  void* pointer = nullptr;
};
/// What nodes that allocate and free memory do; allocating gives the address at once.
[[nodiscard]] Answer<Work> allocation_work(MemAllocNodeParams* parameters);
[[nodiscard]] Answer<Work> release_node_work(void* pointer);

}  // namespace margay::runtime
