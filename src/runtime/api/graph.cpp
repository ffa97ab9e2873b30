// See graph.h; and the HIP calls that build, change and launch graphs. Everything runs in order
// (README.md), so a launched graph is its nodes, one after the other.
#include "runtime/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "runtime/launch/launch.h"
#include "runtime/process/runtime.h"
#include "runtime/stream/copy.h"
#include "runtime/stream/ordering.h"

namespace margay::runtime {
namespace {

// What the program holds handles to. Never destroyed, as the runtime itself.
HandleTable<ihipGraph>& graphs() {
  static auto* const table = new HandleTable<ihipGraph>();
  return *table;
}
HandleTable<hipGraphNode>& nodes() {
  static auto* const table = new HandleTable<hipGraphNode>();
  return *table;
}
HandleTable<hipGraphExec>& executables() {
  static auto* const table = new HandleTable<hipGraphExec>();
  return *table;
}
// Graphs are changed by one thread at a time.
std::mutex& graph_mutex() {
  static auto* const mutex = new std::mutex();
  return *mutex;
}

template <typename T>
Answer<std::shared_ptr<T>> find(HandleTable<T>& table, const void* handle, const char* what) {
  std::shared_ptr<T> object = table.find(handle);
  if (object == nullptr)
    return refuse(hipErrorInvalidValue,
                  fmt::format("The {} was destroyed, or was never created.", what));
  return object;
}
auto find_graph(hipGraph_t handle) { return find(graphs(), handle, "graph"); }
auto find_node(hipGraphNode_t handle) { return find(nodes(), handle, "graph node"); }
auto find_executable(hipGraphExec_t handle) {
  return find(executables(), handle, "executable graph");
}

bool contains(const ihipGraph& graph, const hipGraphNode* node) {
  return std::ranges::any_of(graph.nodes, [&](const auto& one) { return one.get() == node; });
}

/// The graph's nodes in an order their dependencies allow: that of their creation, as far as
/// possible.
Answer<std::vector<std::shared_ptr<hipGraphNode>>> in_order(const ihipGraph& graph) {
  std::vector<std::shared_ptr<hipGraphNode>> order;
  std::set<const hipGraphNode*> done;
  while (order.size() < graph.nodes.size()) {
    const std::size_t before = order.size();
    for (const std::shared_ptr<hipGraphNode>& node : graph.nodes) {
      const auto is_done = [&](const hipGraphNode* other) { return done.contains(other); };
      if (is_done(node.get()) || !std::ranges::all_of(node->dependencies, is_done)) continue;
      order.push_back(node);
      done.insert(node.get());
    }
    if (order.size() == before)
      return refuse(hipErrorInvalidValue, "The graph's dependencies form a circle.");
  }
  return order;
}

Outcome run(const hipGraphExec& executable) {
  GraphParts parts;
  for (const hipGraphExec::Step& step : executable.steps) {
    parts.next(step.after);
    MARGAY_CHECK(step.work());
  }
  return {};
}

std::vector<hipGraphExec::Step> steps_of(const std::vector<std::shared_ptr<hipGraphNode>>& nodes) {
  std::vector<hipGraphExec::Step> steps;
  std::map<const hipGraphNode*, std::size_t> place;
  for (const std::shared_ptr<hipGraphNode>& node : nodes) {
    hipGraphExec::Step& step =
        steps.emplace_back(node.get(), node->work, std::vector<std::size_t>{});
    for (const hipGraphNode* const before : node->dependencies)
      step.after.push_back(place.at(before));
    place[node.get()] = steps.size() - 1;
  }
  return steps;
}

Answer<std::shared_ptr<hipGraphExec>> instantiate(const ihipGraph& graph) {
  auto executable = std::make_shared<hipGraphExec>();
  executable->steps = steps_of(MARGAY_TRY(in_order(graph)));
  return executable;
}

/// The arguments that every call which adds a node has in common.
struct Place {
  hipGraphNode_t* out;
  hipGraph_t graph;
  const hipGraphNode_t* dependencies;
  std::size_t count;
};

Outcome add(const Place& place, hipGraphNodeType type, Work work) {
  if (place.out == nullptr || (place.count != 0 && place.dependencies == nullptr))
    return refuse(hipErrorInvalidValue, "The node or its dependencies are a null pointer.");
  const auto graph = MARGAY_TRY(find_graph(place.graph));
  const std::lock_guard lock(graph_mutex());
  std::vector<hipGraphNode*> dependencies(place.dependencies, place.dependencies + place.count);
  for (const hipGraphNode* const node : dependencies)
    if (!contains(*graph, node))
      return refuse(hipErrorInvalidValue, "A dependency is not a node of the same graph.");
  *place.out = add_node(*graph, type, std::move(work), std::move(dependencies));
  return {};
}

/// New parameters for a node that is of one of these types.
Outcome change(hipGraphNode_t handle, std::initializer_list<hipGraphNodeType> types, Work work) {
  const auto node = MARGAY_TRY(find_node(handle));
  const std::lock_guard lock(graph_mutex());
  if (std::ranges::find(types, node->type) == types.end())
    return refuse(hipErrorInvalidValue, "The node is of another type.");
  node->work = std::move(work);
  return {};
}
/// The same for a node of a graph that was instantiated: only there.
Outcome change(hipGraphExec_t handle, hipGraphNode_t node, Work work) {
  const auto executable = MARGAY_TRY(find_executable(handle));
  const std::lock_guard lock(graph_mutex());
  for (hipGraphExec::Step& step : executable->steps) {
    if (step.node != node) continue;
    step.work = std::move(work);
    return {};
  }
  return refuse(hipErrorInvalidValue, "The graph was instantiated without this node.");
}

Answer<Work> kernel_work(const hipKernelNodeParams* p) {
  if (p == nullptr) return refuse(hipErrorInvalidValue, "The parameters are a null pointer.");
  return prepare({.function = MARGAY_TRY(Runtime::instance().registry().function(p->func)),
                  .grid = p->gridDim,
                  .block = p->blockDim,
                  .dynamic_lds_bytes = p->sharedMemBytes,
                  .parameters = p->kernelParams,
                  .buffer = p->extra});
}

Answer<Work> host_work(const hipHostNodeParams* p) {
  if (p == nullptr || p->fn == nullptr)
    return refuse(hipErrorInvalidValue, "The parameters or the function are a null pointer.");
  return [call = *p]() -> Outcome {
    order_host_waits();  // whomever the function may tell
    call.fn(call.userData);
    return {};
  };
}

Answer<Work> fill_work(const hipMemsetParams* p) {
  if (p == nullptr) return refuse(hipErrorInvalidValue, "The parameters are a null pointer.");
  if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
    return refuse(hipErrorInvalidValue, "An element to be set has 1, 2 or 4 bytes.");
  return [fill = *p] { return fill_elements(fill); };
}

Answer<Work> copy_work(const hipMemcpy3DParms* p) {
  if (p == nullptr) return refuse(hipErrorInvalidValue, "The parameters are a null pointer.");
  return [copy = *p] { return copy_box(copy); };
}

Work copy_work(void* to, const void* from, std::size_t bytes) {
  return [=] { return copy_bytes(to, from, bytes); };
}

Answer<Work> child_work(hipGraph_t child) {
  const auto graph = MARGAY_TRY(find_graph(child));
  const std::lock_guard lock(graph_mutex());
  return [executable = MARGAY_TRY(instantiate(*graph))] { return run(*executable); };
}

/// The two-step way in which lists are asked for: with a null pointer, how long it is.
Outcome give_list(const std::vector<hipGraphNode_t>& list, hipGraphNode_t* out,
                  std::size_t* count) {
  if (count == nullptr) return refuse(hipErrorInvalidValue, "The count is a null pointer.");
  if (out != nullptr) {
    std::fill_n(out, *count, nullptr);
    std::copy_n(list.begin(), std::min(*count, list.size()), out);
    *count = std::min(*count, list.size());
  } else {
    *count = list.size();
  }
  return {};
}

template <typename Wanted>
Outcome give_nodes(hipGraph_t handle, hipGraphNode_t* out, std::size_t* count, Wanted&& wanted) {
  const auto graph = MARGAY_TRY(find_graph(handle));
  const std::lock_guard lock(graph_mutex());
  std::vector<hipGraphNode_t> list;
  for (const auto& node : graph->nodes)
    if (wanted(*node)) list.push_back(node.get());
  return give_list(list, out, count);
}

Outcome change_dependencies(hipGraph_t handle, const hipGraphNode_t* from, const hipGraphNode_t* to,
                            std::size_t count, bool adds) {
  const auto graph = MARGAY_TRY(find_graph(handle));
  if (count != 0 && (from == nullptr || to == nullptr))
    return refuse(hipErrorInvalidValue, "The nodes are a null pointer.");
  const std::lock_guard lock(graph_mutex());
  for (std::size_t n = 0; n < count; ++n) {
    if (!contains(*graph, from[n]) || !contains(*graph, to[n]))
      return refuse(hipErrorInvalidValue, "A node is not of this graph.");
    std::vector<hipGraphNode*>& dependencies = to[n]->dependencies;
    if (adds)
      dependencies.push_back(from[n]);
    else
      std::erase(dependencies, from[n]);
  }
  return {};
}

Outcome give_executable(hipGraphExec_t* out, hipGraph_t handle) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  const auto graph = MARGAY_TRY(find_graph(handle));
  const std::lock_guard lock(graph_mutex());
  *out = executables().add(MARGAY_TRY(instantiate(*graph)));
  return {};
}

Outcome launch_graph(hipGraphExec_t handle, hipStream_t stream) {
  const auto executable = MARGAY_TRY(find_executable(handle));
  return on_stream(stream, hipGraphNodeTypeGraph, [executable] { return run(*executable); });
}

Outcome destroy_graph(hipGraph_t handle) {
  const auto graph = MARGAY_TRY(find_graph(handle));
  const std::lock_guard lock(graph_mutex());
  for (const auto& node : graph->nodes) nodes().remove(node.get());
  graphs().remove(handle);
  return {};
}

Outcome destroy_node(hipGraphNode_t handle) {
  MARGAY_TRY(find_node(handle));
  return refuse(hipErrorNotSupported, "A node cannot be taken out of a graph in Margay.",
                "Build the graph again without it.");
}

Outcome clone(hipGraph_t* out, hipGraph_t handle) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  const auto graph = MARGAY_TRY(find_graph(handle));
  const std::lock_guard lock(graph_mutex());
  auto copy = std::make_shared<ihipGraph>();
  std::map<const hipGraphNode*, hipGraphNode*> twin;
  for (const auto& node : graph->nodes)
    twin[node.get()] = add_node(*copy, node->type, node->work, {});
  for (const auto& node : graph->nodes)
    for (const hipGraphNode* const before : node->dependencies)
      twin[node.get()]->dependencies.push_back(twin[before]);
  *out = publish(std::move(copy));
  return {};
}

/// Takes over the work of a graph of the same shape.
Outcome update(hipGraphExec_t handle, hipGraph_t graph_handle, hipGraphNode_t* error_node,
               hipGraphExecUpdateResult* result) {
  const auto executable = MARGAY_TRY(find_executable(handle));
  const auto graph = MARGAY_TRY(find_graph(graph_handle));
  const std::lock_guard lock(graph_mutex());
  if (error_node != nullptr) *error_node = nullptr;
  const auto order = MARGAY_TRY(in_order(*graph));
  const bool same = order.size() == executable->steps.size();
  if (result != nullptr)
    *result = same ? hipGraphExecUpdateSuccess : hipGraphExecUpdateErrorTopologyChanged;
  if (!same)
    return refuse(hipErrorGraphExecUpdateFailure,
                  fmt::format("The graph has {} nodes, the instantiated one {}.", order.size(),
                              executable->steps.size()),
                  "Instantiate the new graph.");
  executable->steps = steps_of(order);
  return {};
}

}  // namespace

hipGraphNode* add_node(ihipGraph& graph, hipGraphNodeType type, Work work,
                       std::vector<hipGraphNode*> dependencies) {
  auto node = std::make_shared<hipGraphNode>();
  node->type = type;
  node->work = std::move(work);
  node->dependencies = std::move(dependencies);
  graph.nodes.push_back(node);
  return nodes().add(std::move(node));
}

hipGraph_t publish(std::shared_ptr<ihipGraph> graph) { return graphs().add(std::move(graph)); }

}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned int flags) {
  return api(__func__, [&]() -> Outcome {
    if (graph == nullptr || flags != 0)
      return refuse(hipErrorInvalidValue, "The graph is a null pointer, or the flags are not 0.");
    *graph = publish(std::make_shared<ihipGraph>());
    return {};
  });
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
  return api(__func__, [&] { return destroy_graph(graph); });
}
hipError_t hipGraphClone(hipGraph_t* out, hipGraph_t graph) {
  return api(__func__, [&] { return clone(out, graph); });
}

hipError_t hipGraphInstantiate(hipGraphExec_t* out, hipGraph_t graph, hipGraphNode_t*, char*,
                               std::size_t) {
  return api(__func__, [&] { return give_executable(out, graph); });
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* out, hipGraph_t graph, unsigned long long) {
  return api(__func__, [&] { return give_executable(out, graph); });
}
hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_TRY(find_executable(executable));
    executables().remove(executable);
    return {};
  });
}
hipError_t hipGraphExecUpdate(hipGraphExec_t executable, hipGraph_t graph,
                              hipGraphNode_t* error_node, hipGraphExecUpdateResult* result) {
  return api(__func__, [&] { return update(executable, graph, error_node, result); });
}
// Nothing has to be brought to the device beforehand.
hipError_t hipGraphUpload(hipGraphExec_t executable, hipStream_t stream) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_TRY(find_executable(executable));
    return check_stream(stream);
  });
}
hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
  return api(__func__, [&] { return launch_graph(executable, stream); });
}
hipError_t hipGraphLaunch_spt(hipGraphExec_t executable, hipStream_t stream) {
  return api(__func__, [&] { return launch_graph(executable, stream); });
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* out, std::size_t* count) {
  return api(__func__, [&] {
    return give_nodes(graph, out, count, [](const hipGraphNode&) { return true; });
  });
}
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* out, std::size_t* count) {
  return api(__func__, [&] {
    return give_nodes(graph, out, count,
                      [](const hipGraphNode& node) { return node.dependencies.empty(); });
  });
}
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* out,
                                       std::size_t* count) {
  return api(__func__, [&]() -> Outcome {
    return give_list(MARGAY_TRY(find_node(node))->dependencies, out, count);
  });
}
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  return api(__func__, [&]() -> Outcome {
    if (type == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    *type = MARGAY_TRY(find_node(node))->type;
    return {};
  });
}
hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from,
                                   const hipGraphNode_t* to, std::size_t count) {
  return api(__func__, [&] { return change_dependencies(graph, from, to, count, true); });
}
hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from,
                                      const hipGraphNode_t* to, std::size_t count) {
  return api(__func__, [&] { return change_dependencies(graph, from, to, count, false); });
}
hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  return api(__func__, [&] { return destroy_node(node); });
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph,
                                 const hipGraphNode_t* dependencies, std::size_t count,
                                 const hipKernelNodeParams* parameters) {
  return api(__func__, [&]() -> Outcome {
    return add({node, graph, dependencies, count}, hipGraphNodeTypeKernel,
               MARGAY_TRY(kernel_work(parameters)));
  });
}
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* parameters) {
  return api(__func__, [&]() -> Outcome {
    return change(node, {hipGraphNodeTypeKernel}, MARGAY_TRY(kernel_work(parameters)));
  });
}
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node,
                                           const hipKernelNodeParams* parameters) {
  return api(__func__, [&]() -> Outcome {
    return change(executable, node, MARGAY_TRY(kernel_work(parameters)));
  });
}

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph,
                                 const hipGraphNode_t* dependencies, std::size_t count,
                                 const hipMemcpy3DParms* parameters) {
  return api(__func__, [&]() -> Outcome {
    return add({node, graph, dependencies, count}, hipGraphNodeTypeMemcpy,
               MARGAY_TRY(copy_work(parameters)));
  });
}
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* parameters) {
  return api(__func__, [&]() -> Outcome {
    return change(node, {hipGraphNodeTypeMemcpy}, MARGAY_TRY(copy_work(parameters)));
  });
}
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node,
                                           hipMemcpy3DParms* parameters) {
  return api(__func__, [&]() -> Outcome {
    return change(executable, node, MARGAY_TRY(copy_work(parameters)));
  });
}
hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph,
                                   const hipGraphNode_t* dependencies, std::size_t count, void* to,
                                   const void* from, std::size_t bytes, hipMemcpyKind) {
  return api(__func__, [&] {
    return add({node, graph, dependencies, count}, hipGraphNodeTypeMemcpy1D,
               copy_work(to, from, bytes));
  });
}
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* to, const void* from,
                                         std::size_t bytes, hipMemcpyKind) {
  return api(__func__,
             [&] { return change(node, {hipGraphNodeTypeMemcpy1D}, copy_work(to, from, bytes)); });
}
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t executable, hipGraphNode_t node,
                                             void* to, const void* from, std::size_t bytes,
                                             hipMemcpyKind) {
  return api(__func__, [&] { return change(executable, node, copy_work(to, from, bytes)); });
}
hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                           const hipGraphNode_t* dependencies, std::size_t count,
                                           void* to, const void* symbol, std::size_t bytes,
                                           std::size_t offset, hipMemcpyKind) {
  return api(__func__, [&]() -> Outcome {
    return add({node, graph, dependencies, count}, hipGraphNodeTypeMemcpyFromSymbol,
               copy_work(to, MARGAY_TRY(in_symbol(symbol, bytes, offset)), bytes));
  });
}
hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                         const hipGraphNode_t* dependencies, std::size_t count,
                                         const void* symbol, const void* from, std::size_t bytes,
                                         std::size_t offset, hipMemcpyKind) {
  return api(__func__, [&]() -> Outcome {
    return add({node, graph, dependencies, count}, hipGraphNodeTypeMemcpyToSymbol,
               copy_work(MARGAY_TRY(in_symbol(symbol, bytes, offset)), from, bytes));
  });
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph,
                                 const hipGraphNode_t* dependencies, std::size_t count,
                                 const hipMemsetParams* parameters) {
  return api(__func__, [&]() -> Outcome {
    return add({node, graph, dependencies, count}, hipGraphNodeTypeMemset,
               MARGAY_TRY(fill_work(parameters)));
  });
}
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* parameters) {
  return api(__func__, [&]() -> Outcome {
    return change(node, {hipGraphNodeTypeMemset}, MARGAY_TRY(fill_work(parameters)));
  });
}
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node,
                                           const hipMemsetParams* parameters) {
  return api(__func__, [&]() -> Outcome {
    return change(executable, node, MARGAY_TRY(fill_work(parameters)));
  });
}

hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph,
                               const hipGraphNode_t* dependencies, std::size_t count,
                               const hipHostNodeParams* parameters) {
  return api(__func__, [&]() -> Outcome {
    return add({node, graph, dependencies, count}, hipGraphNodeTypeHost,
               MARGAY_TRY(host_work(parameters)));
  });
}
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* parameters) {
  return api(__func__, [&]() -> Outcome {
    return change(node, {hipGraphNodeTypeHost}, MARGAY_TRY(host_work(parameters)));
  });
}
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node,
                                         const hipHostNodeParams* parameters) {
  return api(__func__, [&]() -> Outcome {
    return change(executable, node, MARGAY_TRY(host_work(parameters)));
  });
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph,
                                     const hipGraphNode_t* dependencies, std::size_t count,
                                     hipGraph_t child) {
  return api(__func__, [&]() -> Outcome {
    return add({node, graph, dependencies, count}, hipGraphNodeTypeGraph,
               MARGAY_TRY(child_work(child)));
  });
}
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph,
                                   const hipGraphNode_t* dependencies, std::size_t count,
                                   MemAllocNodeParams* parameters) {
  return api(__func__, [&]() -> Outcome {
    return add({node, graph, dependencies, count}, kNodeTypeMemAlloc,
               MARGAY_TRY(allocation_work(parameters)));
  });
}
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph,
                                  const hipGraphNode_t* dependencies, std::size_t count,
                                  void* pointer) {
  return api(__func__, [&]() -> Outcome {
    return add({node, graph, dependencies, count}, kNodeTypeMemFree,
               MARGAY_TRY(release_node_work(pointer)));
  });
}
hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph,
                                const hipGraphNode_t* dependencies, std::size_t count) {
  return api(__func__, [&] {
    return add({node, graph, dependencies, count}, hipGraphNodeTypeEmpty,
               []() -> Outcome { return {}; });
  });
}
hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph,
                                      const hipGraphNode_t* dependencies, std::size_t count,
                                      hipEvent_t event) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_TRY(find_event(event));
    return add({node, graph, dependencies, count}, hipGraphNodeTypeEventRecord,
               [event] { return record_if_given(event); });
  });
}
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, std::size_t count,
                                    hipEvent_t event) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_TRY(find_event(event));
    return add({node, graph, dependencies, count}, hipGraphNodeTypeWaitEvent,
               []() -> Outcome { return {}; });
  });
}

}  // extern "C"
