#include "substitutes/kernels.h"

#include <dlfcn.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>

// Of the runtime that the process has loaded, which is Margay's.
extern "C" {
int hipModuleLoad(void** module, const char* path);
int hipModuleGetFunction(void** function, void* module, const char* name);
int hipModuleLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds,
                          void* stream, void** parameters, void** extra);
int hipGetDevice(int* device);
}

namespace margay::substitutes {
namespace {

/// PREFIX/lib/margay/kernels, next to this library's PREFIX/lib/margay/substitutes.
std::string code_object(const std::string& file) {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&code_object), &here) == 0) return {};
  const std::string path = here.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "../kernels/" + file + ".hsaco";
}

/// Null: HIP refused. Modules are of a device.
void* function(const std::string& file, const std::string& kernel) {
  static std::mutex mutex;
  static std::map<std::pair<int, std::string>, void*> modules;
  const std::lock_guard lock(mutex);
  int device = 0;
  if (hipGetDevice(&device) != 0) return nullptr;
  void*& module = modules[{device, file}];
  // The runtime says why it cannot.
  if (module == nullptr && hipModuleLoad(&module, code_object(file).c_str()) != 0) return nullptr;
  void* found = nullptr;
  return hipModuleGetFunction(&found, module, kernel.c_str()) == 0 ? found : nullptr;
}

}  // namespace

bool launch_kernel(std::string_view file, std::string_view kernel, Grid grid, void* argument,
                   void* stream) {
  void* const launched = function(std::string(file), std::string(kernel));
  if (launched == nullptr) return false;
  void* parameters[] = {argument};
  return hipModuleLaunchKernel(launched, grid.x, grid.y, grid.z, grid.threads, 1, 1, 0, stream,
                               parameters, nullptr) == 0;
}

}  // namespace margay::substitutes
