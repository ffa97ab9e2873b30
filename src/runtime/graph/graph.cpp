// See graph.h.
#include "runtime/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace margay::runtime {
namespace {

template <typename T>
Answer<std::shared_ptr<T>> find_in(const HandleTable<T>& table, const void* handle,
                                   const char* what) {
  std::shared_ptr<T> object = table.find(handle);
  if (object == nullptr)
    return refuse(hipErrorInvalidValue,
                  fmt::format("The {} was destroyed, or was never created.", what));
  return object;
}

bool contains(const ihipGraph& graph, const hipGraphNode* node) {
  return std::ranges::any_of(graph.nodes, [&](const auto& one) { return one.get() == node; });
}

using Nodes = std::vector<std::shared_ptr<hipGraphNode>>;

/// The graph's nodes in topological order: that of their creation, as far as possible.
Answer<Nodes> in_order(const ihipGraph& graph) {
  Nodes order;
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

std::vector<hipGraphExec::Step> steps_of(const Nodes& nodes) {
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

Answer<std::shared_ptr<hipGraphExec>> executable_of(const ihipGraph& graph) {
  auto executable = std::make_shared<hipGraphExec>();
  executable->steps = steps_of(MARGAY_TRY(in_order(graph)));
  return executable;
}

}  // namespace

Answer<std::shared_ptr<ihipGraph>> Graphs::find(hipGraph_t handle) const {
  return find_in(graphs_, handle, "graph");
}
Answer<std::shared_ptr<hipGraphNode>> Graphs::find(hipGraphNode_t handle) const {
  return find_in(nodes_, handle, "graph node");
}
Answer<std::shared_ptr<hipGraphExec>> Graphs::find(hipGraphExec_t handle) const {
  return find_in(executables_, handle, "executable graph");
}

hipGraph_t Graphs::publish(std::shared_ptr<ihipGraph> graph) {
  return graphs_.add(std::move(graph));
}

Outcome Graphs::destroy(hipGraph_t handle) {
  const auto graph = MARGAY_TRY(find(handle));
  const std::lock_guard lock(mutex_);
  for (const auto& node : graph->nodes) nodes_.remove(node.get());
  graphs_.remove(handle);
  return {};
}

Answer<hipGraph_t> Graphs::clone(hipGraph_t handle) {
  const auto graph = MARGAY_TRY(find(handle));
  const std::lock_guard lock(mutex_);
  auto copy = std::make_shared<ihipGraph>();
  std::map<const hipGraphNode*, hipGraphNode*> twin;
  for (const auto& node : graph->nodes)
    twin[node.get()] = add_node(*copy, node->type, node->work, {});
  for (const auto& node : graph->nodes)
    for (const hipGraphNode* const before : node->dependencies)
      twin[node.get()]->dependencies.push_back(twin[before]);
  return publish(std::move(copy));
}

Answer<hipGraphNode_t> Graphs::add(hipGraph_t handle, hipGraphNodeType type, Work work,
                                   std::vector<hipGraphNode*> dependencies) {
  const auto graph = MARGAY_TRY(find(handle));
  const std::lock_guard lock(mutex_);
  for (const hipGraphNode* const node : dependencies)
    if (!contains(*graph, node))
      return refuse(hipErrorInvalidValue, "A dependency is not a node of the same graph.");
  return add_node(*graph, type, std::move(work), std::move(dependencies));
}

hipGraphNode* Graphs::add_node(ihipGraph& graph, hipGraphNodeType type, Work work,
                               std::vector<hipGraphNode*> dependencies) {
  auto node = std::make_shared<hipGraphNode>();
  node->type = type;
  node->work = std::move(work);
  node->dependencies = std::move(dependencies);
  graph.nodes.push_back(node);
  return nodes_.add(std::move(node));
}

Outcome Graphs::change(hipGraphNode_t handle, std::initializer_list<hipGraphNodeType> types,
                       Work work) {
  const auto node = MARGAY_TRY(find(handle));
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(types, node->type) == types.end())
    return refuse(hipErrorInvalidValue, "The node is of another type.");
  node->work = std::move(work);
  return {};
}

Outcome Graphs::change(hipGraphExec_t handle, hipGraphNode_t node, Work work) {
  const auto executable = MARGAY_TRY(find(handle));
  const std::lock_guard lock(mutex_);
  for (hipGraphExec::Step& step : executable->steps) {
    if (step.node != node) continue;
    step.work = std::move(work);
    return {};
  }
  return refuse(hipErrorInvalidValue, "The graph was instantiated without this node.");
}

Outcome Graphs::change_dependency(hipGraph_t handle, hipGraphNode_t from, hipGraphNode_t to,
                                  bool adds) {
  const auto graph = MARGAY_TRY(find(handle));
  const std::lock_guard lock(mutex_);
  if (!contains(*graph, from) || !contains(*graph, to))
    return refuse(hipErrorInvalidValue, "A node is not of this graph.");
  if (adds)
    to->dependencies.push_back(from);
  else if (std::erase(to->dependencies, from) == 0)
    return refuse(hipErrorInvalidValue, "There is no such dependency between the nodes.");
  return {};
}

Answer<std::vector<hipGraphNode_t>> Graphs::nodes_of(
    hipGraph_t handle, const std::function<bool(const hipGraphNode&)>& wanted) const {
  const auto graph = MARGAY_TRY(find(handle));
  const std::lock_guard lock(mutex_);
  std::vector<hipGraphNode_t> list;
  for (const auto& node : graph->nodes)
    if (wanted(*node)) list.push_back(node.get());
  return list;
}

Answer<hipGraphExec_t> Graphs::instantiate(hipGraph_t handle) {
  const auto graph = MARGAY_TRY(find(handle));
  const std::lock_guard lock(mutex_);
  return executables_.add(MARGAY_TRY(executable_of(*graph)));
}

Outcome Graphs::destroy(hipGraphExec_t handle) {
  MARGAY_TRY(find(handle));
  executables_.remove(handle);
  return {};
}

Outcome Graphs::update(hipGraphExec_t handle, hipGraph_t graph_handle) {
  const auto executable = MARGAY_TRY(find(handle));
  const auto graph = MARGAY_TRY(find(graph_handle));
  const std::lock_guard lock(mutex_);
  const Nodes order = MARGAY_TRY(in_order(*graph));
  if (order.size() != executable->steps.size())
    return refuse(hipErrorGraphExecUpdateFailure,
                  fmt::format("The graph has {} nodes, the instantiated one {}.", order.size(),
                              executable->steps.size()),
                  "Instantiate the new graph.");
  executable->steps = steps_of(order);
  return {};
}

Work Graphs::work_of(std::shared_ptr<const hipGraphExec> executable) {
  return [this, executable = std::move(executable)]() -> Outcome {
    GraphParts parts(ordering_);
    for (const hipGraphExec::Step& step : executable->steps) {
      parts.next(step.after);
      MARGAY_CHECK(step.work());
    }
    return {};
  };
}

Answer<Work> Graphs::work_of(hipGraph_t handle) {
  const auto graph = MARGAY_TRY(find(handle));
  const std::lock_guard lock(mutex_);
  return work_of(std::shared_ptr<const hipGraphExec>(MARGAY_TRY(executable_of(*graph))));
}

}  // namespace margay::runtime
