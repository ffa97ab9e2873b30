// What the drivers share: code objects, device arrays, launches that `margay time` tells apart.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace driver {

inline void check(hipError_t status, const char* what) {
  if (status == hipSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(status));
  std::exit(1);
}

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

/// Memory of the virtual device, which is the host's. Lives as long as the process.
template <typename T>
std::span<T> array(std::size_t count) {
  void* data = nullptr;
  check(hipMalloc(&data, count * sizeof(T)), "hipMalloc");
  return {static_cast<T*>(data), count};
}

/// A kernel of a code object.
class Kernel {
 public:
  Kernel(const std::string& object, const char* symbol) {
    hipModule_t module = nullptr;
    check(hipModuleLoad(&module, object.c_str()), object.c_str());
    check(hipModuleGetFunction(&function_, module, symbol), symbol);
  }

  template <typename... Arguments>
  void launch(dim3 grid, dim3 block, unsigned lds, Arguments... arguments) {
    void* pointers[] = {&arguments...};
    check(hipModuleLaunchKernel(function_, grid.x, grid.y, grid.z, block.x, block.y, block.z, lds,
                                nullptr, pointers, nullptr),
          "hipModuleLaunchKernel");
    check(hipDeviceSynchronize(), "hipDeviceSynchronize");
  }

 private:
  hipFunction_t function_ = nullptr;
};

/// LDS to ask for in the n-th launch of a kernel: `margay time` times one launch of each size, LDS
/// included, so this makes it time each of them.
inline unsigned told_apart(unsigned n) { return 4 * n; }

}  // namespace driver
