// The HIP calls that build, change and launch graphs.
#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/base/abi.h"
#include "runtime/process/call.h"

namespace margay::runtime {

/// hipMemAllocNodeParams of HIP 6. Source: HIP documentation, "hipMemAllocNodeParams".
struct MemAllocNodeParams {
  hipMemPoolProps pool;
  const hipMemAccessDesc* access = nullptr;
  std::size_t access_count = 0;
  std::size_t bytes = 0;
  void* pointer = nullptr;
};

namespace {

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
  *place.out = MARGAY_TRY(process().graphs.add(
      place.graph, type, std::move(work), {place.dependencies, place.dependencies + place.count}));
  return {};
}

/// What a program of `abi` knows it by. Every copy is one of memory: of HIP 5.2's types for some of
/// them ROCm returns none.
hipGraphNodeType node_type(hipGraphNodeType type, HipAbi abi) {
  if (type == hipGraphNodeTypeMemcpy1D || type == hipGraphNodeTypeMemcpyFromSymbol ||
      type == hipGraphNodeTypeMemcpyToSymbol)
    type = hipGraphNodeTypeMemcpy;
  if (abi == HipAbi::hip5) return type;
  if (type == kNodeTypeMemAlloc) return static_cast<hipGraphNodeType>(hip6::kGraphNodeTypeMemAlloc);
  if (type == kNodeTypeMemFree) return static_cast<hipGraphNodeType>(hip6::kGraphNodeTypeMemFree);
  constexpr int kFirst = hipGraphNodeTypeKernel - hip6::kGraphNodeTypeKernel;
  return static_cast<hipGraphNodeType>(type - kFirst);
}

/// New work for a node that is of this type.
Outcome change(hipGraphNode_t node, hipGraphNodeType type, Work work) {
  return process().graphs.change(node, {type}, std::move(work));
}
/// The same for a node of an instantiated graph, without changing the original.
Outcome change(hipGraphExec_t executable, hipGraphNode_t node, Work work) {
  return process().graphs.change(executable, node, std::move(work));
}

Answer<Work> kernel_work(const hipKernelNodeParams* p) {
  if (p == nullptr) return refuse(hipErrorInvalidValue, "The parameters are a null pointer.");
  return process().launcher.prepare(
      {.function = MARGAY_TRY(process().registry.function(p->func, Devices::current())),
       .size = {.grid = p->gridDim, .block = p->blockDim, .dynamic_lds_bytes = p->sharedMemBytes},
       .parameters = p->kernelParams,
       .buffer = p->extra});
}

Answer<Work> host_work(const hipHostNodeParams* p) {
  if (p == nullptr || p->fn == nullptr)
    return refuse(hipErrorInvalidValue, "The parameters or the function are a null pointer.");
  return [call = *p]() -> Outcome {
    process().ordering.host_waits();  // anyone the function may notify
    call.fn(call.userData);
    return {};
  };
}

Answer<Work> fill_work(const hipMemsetParams* p) {
  if (p == nullptr) return refuse(hipErrorInvalidValue, "The parameters are a null pointer.");
  if (p->dst == nullptr || p->width == 0)
    return refuse(hipErrorInvalidValue, "The memory to be set is a null pointer, or empty.");
  if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
    return refuse(hipErrorInvalidValue, "An element to be set has 1, 2 or 4 bytes.");
  return [fill = *p] { return process().copies.fill_elements(fill); };
}

Answer<Work> copy_work(const hipMemcpy3DParms* p) {
  if (p == nullptr) return refuse(hipErrorInvalidValue, "The parameters are a null pointer.");
  return [copy = *p] { return process().copies.copy_box(copy); };
}

Work copy_work(void* to, const void* from, std::size_t bytes) {
  return [=] { return process().copies.copy(to, from, bytes); };
}

/// The two-step protocol for lists: with a null pointer, the length is returned.
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

Outcome give_nodes(hipGraph_t graph, hipGraphNode_t* out, std::size_t* count,
                   const std::function<bool(const hipGraphNode&)>& wanted) {
  return give_list(MARGAY_TRY(process().graphs.nodes_of(graph, wanted)), out, count);
}

Outcome change_dependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                            std::size_t count, bool adds) {
  MARGAY_TRY(process().graphs.find(graph));
  if (count != 0 && (from == nullptr || to == nullptr))
    return refuse(hipErrorInvalidValue, "The nodes are a null pointer.");
  for (std::size_t n = 0; n < count; ++n)
    MARGAY_CHECK(process().graphs.change_dependency(graph, from[n], to[n], adds));
  return {};
}

Outcome give_executable(hipGraphExec_t* out, hipGraph_t graph) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  *out = MARGAY_TRY(process().graphs.instantiate(graph));
  return {};
}

Outcome launch_graph(hipGraphExec_t handle, hipStream_t stream) {
  auto executable = MARGAY_TRY(process().graphs.find(handle));
  return process().captures.on_stream(stream, hipGraphNodeTypeGraph,
                                      process().graphs.work_of(std::move(executable)));
}

Outcome destroy_node(hipGraphNode_t handle) {
  MARGAY_TRY(process().graphs.find(handle));
  return refuse(hipErrorNotSupported, "A node cannot be taken out of a graph in Margay.",
                "Build the graph again without it.");
}

Outcome clone(hipGraph_t* out, hipGraph_t graph) {
  if (out == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
  *out = MARGAY_TRY(process().graphs.clone(graph));
  return {};
}

Outcome update(hipGraphExec_t executable, hipGraph_t graph, hipGraphNode_t* error_node,
               hipGraphExecUpdateResult* result) {
  if (error_node != nullptr) *error_node = nullptr;
  Outcome updated = process().graphs.update(executable, graph);
  if (result != nullptr && updated) *result = hipGraphExecUpdateSuccess;
  if (result != nullptr && !updated && updated.error().code == hipErrorGraphExecUpdateFailure)
    *result = hipGraphExecUpdateErrorTopologyChanged;
  return updated;
}

Answer<Work> allocation_work(MemAllocNodeParams* parameters) {
  if (parameters == nullptr)
    return refuse(hipErrorInvalidValue, "The parameters are a null pointer.");
  const hipMemPoolProps& pool = parameters->pool;
  if (pool.allocType != hipMemAllocationTypePinned ||
      pool.location.type != hipMemLocationTypeDevice || pool.location.id < 0 ||
      static_cast<unsigned>(pool.location.id) >= process().devices.count())
    return refuse(hipErrorInvalidValue,
                  "A graph's memory is of hipMemAllocationTypePinned, on a device.");
  if (parameters->access_count != 0)
    return refuse(hipErrorNotSupported,
                  "Access of other devices to a graph's memory is not there in Margay.",
                  "Pass no access descriptors, or allocate the memory with hipMalloc.");
  return process().graph_memory.allocation(
      &parameters->pointer, parameters->bytes,
      process().pools.current(static_cast<unsigned>(pool.location.id)));
}

Answer<Work> release_work(void* pointer) {
  if (pointer == nullptr) return refuse(hipErrorInvalidValue, "The memory is a null pointer.");
  return process().graph_memory.release(pointer);
}

}  // namespace
}  // namespace margay::runtime

using namespace margay::runtime;  // NOLINT: the exported functions below are its C face

extern "C" {

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned int flags) {
  return api(__func__, [&]() -> Outcome {
    if (graph == nullptr || flags != 0)
      return refuse(hipErrorInvalidValue, "The graph is a null pointer, or the flags are not 0.");
    *graph = process().graphs.publish(std::make_shared<ihipGraph>());
    return {};
  });
}
hipError_t hipGraphDestroy(hipGraph_t graph) {
  return api(__func__, [&] { return process().graphs.destroy(graph); });
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
  return api(__func__, [&] { return process().graphs.destroy(executable); });
}
hipError_t hipGraphExecUpdate(hipGraphExec_t executable, hipGraph_t graph,
                              hipGraphNode_t* error_node, hipGraphExecUpdateResult* result) {
  return api(__func__, [&] { return update(executable, graph, error_node, result); });
}
// No upload to the device is needed.
hipError_t hipGraphUpload(hipGraphExec_t executable, hipStream_t stream) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_TRY(process().graphs.find(executable));
    return process().streams.check(stream);
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
    return give_list(MARGAY_TRY(process().graphs.find(node))->dependencies, out, count);
  });
}
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  const HipAbi abi = abi_of_caller(__builtin_return_address(0));
  return api(__func__, [&]() -> Outcome {
    if (type == nullptr) return refuse(hipErrorInvalidValue, "The result is a null pointer.");
    *type = node_type(MARGAY_TRY(process().graphs.find(node))->type, abi);
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
    return change(node, hipGraphNodeTypeKernel, MARGAY_TRY(kernel_work(parameters)));
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
    return change(node, hipGraphNodeTypeMemcpy, MARGAY_TRY(copy_work(parameters)));
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
             [&] { return change(node, hipGraphNodeTypeMemcpy1D, copy_work(to, from, bytes)); });
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
    return add(
        {node, graph, dependencies, count}, hipGraphNodeTypeMemcpyFromSymbol,
        copy_work(to, MARGAY_TRY(process().registry.in_symbol(symbol, bytes, offset)), bytes));
  });
}
hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                         const hipGraphNode_t* dependencies, std::size_t count,
                                         const void* symbol, const void* from, std::size_t bytes,
                                         std::size_t offset, hipMemcpyKind) {
  return api(__func__, [&]() -> Outcome {
    return add(
        {node, graph, dependencies, count}, hipGraphNodeTypeMemcpyToSymbol,
        copy_work(MARGAY_TRY(process().registry.in_symbol(symbol, bytes, offset)), from, bytes));
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
    return change(node, hipGraphNodeTypeMemset, MARGAY_TRY(fill_work(parameters)));
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
    return change(node, hipGraphNodeTypeHost, MARGAY_TRY(host_work(parameters)));
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
               MARGAY_TRY(process().graphs.work_of(child)));
  });
}
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t executable, hipGraphNode_t node,
                                               hipGraph_t child) {
  return api(__func__, [&]() -> Outcome {
    if (MARGAY_TRY(process().graphs.find(node))->type != hipGraphNodeTypeGraph)
      return refuse(hipErrorInvalidValue, "The node is not a child graph.");
    return change(executable, node, MARGAY_TRY(process().graphs.work_of(child)));
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
               MARGAY_TRY(release_work(pointer)));
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
    MARGAY_TRY(process().streams.find_event(event));
    return add({node, graph, dependencies, count}, hipGraphNodeTypeEventRecord,
               [event] { return process().captures.record_if_given(event); });
  });
}
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, std::size_t count,
                                    hipEvent_t event) {
  return api(__func__, [&]() -> Outcome {
    MARGAY_TRY(process().streams.find_event(event));
    return add({node, graph, dependencies, count}, hipGraphNodeTypeWaitEvent,
               []() -> Outcome { return {}; });
  });
}

}  // extern "C"
