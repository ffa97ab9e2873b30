// Graphs: work that is described once and launched many times. A launched graph is its nodes, one
// after the other.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/handle_table.h"
#include "runtime/base/work.h"
#include "runtime/stream/ordering.h"

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

/// What a hipGraphExec_t points to: the work of a graph in topological order.
struct hipGraphExec {
  struct Step {
    const hipGraphNode* node = nullptr;  ///< Its origin; may have been destroyed.
    margay::runtime::Work work;
    std::vector<std::size_t> after;  ///< The steps it depends on.
  };
  std::vector<Step> steps;
};

namespace margay::runtime {

/// The graphs of the process. They are changed by one thread at a time.
class Graphs {
 public:
  explicit Graphs(Ordering& ordering) : ordering_(ordering) {}

  [[nodiscard]] Answer<std::shared_ptr<ihipGraph>> find(hipGraph_t graph) const;
  [[nodiscard]] Answer<std::shared_ptr<hipGraphNode>> find(hipGraphNode_t node) const;
  [[nodiscard]] Answer<std::shared_ptr<hipGraphExec>> find(hipGraphExec_t executable) const;

  /// Makes a graph visible to the program.
  [[nodiscard]] hipGraph_t publish(std::shared_ptr<ihipGraph> graph);
  [[nodiscard]] Outcome destroy(hipGraph_t graph);
  [[nodiscard]] Answer<hipGraph_t> clone(hipGraph_t graph);

  /// A node that depends on these of the same graph.
  [[nodiscard]] Answer<hipGraphNode_t> add(hipGraph_t graph, hipGraphNodeType type, Work work,
                                           std::vector<hipGraphNode*> dependencies);
  /// The same in a graph that is not visible yet: dependencies are not checked.
  [[nodiscard]] hipGraphNode* add_node(ihipGraph& graph, hipGraphNodeType type, Work work,
                                       std::vector<hipGraphNode*> dependencies);
  /// New work for a node that is of one of these types.
  [[nodiscard]] Outcome change(hipGraphNode_t node, std::initializer_list<hipGraphNodeType> types,
                               Work work);
  /// The same for a node of an instantiated graph, without changing the original.
  [[nodiscard]] Outcome change(hipGraphExec_t executable, hipGraphNode_t node, Work work);
  [[nodiscard]] Outcome change_dependency(hipGraph_t graph, hipGraphNode_t from, hipGraphNode_t to,
                                          bool adds);
  /// The nodes for which `wanted` is true.
  [[nodiscard]] Answer<std::vector<hipGraphNode_t>> nodes_of(
      hipGraph_t graph, const std::function<bool(const hipGraphNode&)>& wanted) const;

  [[nodiscard]] Answer<hipGraphExec_t> instantiate(hipGraph_t graph);
  [[nodiscard]] Outcome destroy(hipGraphExec_t executable);
  /// Takes over the work of a graph of the same shape; otherwise fails
  /// (hipErrorGraphExecUpdateFailure).
  [[nodiscard]] Outcome update(hipGraphExec_t executable, hipGraph_t graph);
  /// All of its work.
  [[nodiscard]] Work work_of(std::shared_ptr<const hipGraphExec> executable);
  /// The same for the current state of a graph.
  [[nodiscard]] Answer<Work> work_of(hipGraph_t graph);

 private:
  Ordering& ordering_;
  mutable std::mutex mutex_;
  HandleTable<ihipGraph> graphs_;
  HandleTable<hipGraphNode> nodes_;
  HandleTable<hipGraphExec> executables_;
};

// Nodes that HIP 5.2 has no type for; include/hip/margay_detail/runtime_api.h gives programs these.
inline constexpr auto kNodeTypeMemAlloc = static_cast<hipGraphNodeType>(13);
inline constexpr auto kNodeTypeMemFree = static_cast<hipGraphNodeType>(14);

}  // namespace margay::runtime
