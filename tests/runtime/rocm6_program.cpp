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
  return hipFree(memory) == hipSuccess ? 0 : 1;
}
