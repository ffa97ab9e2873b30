// A program compiled and linked against HIP 6: its symbols carry ROCm's versions, and it expects
// the memory types as HIP 6 numbers them.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "runtime/base/hip.h"

int main() {
  hipDeviceProp_tR0600 properties;
  if (hipGetDevicePropertiesR0600(&properties, 0) != hipSuccess ||
      std::strcmp(properties.gcnArchName, "gfx942:sramecc+:xnack-") != 0) {
    std::puts("wrong properties");
    return 1;
  }
  void* memory = nullptr;
  if (hipMalloc(&memory, 64) != hipSuccess) return 1;
  hipPointerAttribute_t attributes;
  if (hipPointerGetAttributes(&attributes, memory) != hipSuccess) return 1;
  int type = -1;
  std::memcpy(&type, &attributes.memoryType, sizeof type);
  if (type != margay::hip6::kMemoryTypeDevice) {
    std::printf("memory type %d, not %d\n", type, margay::hip6::kMemoryTypeDevice);
    return 1;
  }
  // In HIP 6 an unknown pointer is "unregistered", not an error.
  if (hipPointerGetAttributes(&attributes, &type) != hipSuccess) return 1;
  std::memcpy(&type, &attributes.memoryType, sizeof type);
  if (type != margay::hip6::kMemoryTypeUnregistered) return 1;
  // HIP 6 counts types of nodes from 0.
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  if (hipGraphCreate(&graph, 0) != hipSuccess ||
      hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory, memory, 16,
                              hipMemcpyDeviceToDevice) != hipSuccess)
    return 1;
  hipGraphNodeType node_type{};
  if (hipGraphNodeGetType(node, &node_type) != hipSuccess) return 1;
  if (node_type != static_cast<hipGraphNodeType>(margay::hip6::kGraphNodeTypeMemcpy)) {
    std::printf("node type %d, not %d\n", node_type, margay::hip6::kGraphNodeTypeMemcpy);
    return 1;
  }
  if (hipGraphDestroy(graph) != hipSuccess) return 1;
  return hipFree(memory) == hipSuccess ? 0 : 1;
}
