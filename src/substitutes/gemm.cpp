#include "substitutes/gemm.h"

#include <dlfcn.h>

#include <array>
#include <map>
#include <mutex>
#include <string>

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

constexpr long kTile = 64, kThreads = 256;

struct Kind {
  Element a, c;
  std::string_view kernel;
};
constexpr std::array kKinds = {
    Kind{Element::f32, Element::f32, "margay_gemm_f32"},
    Kind{Element::f64, Element::f64, "margay_gemm_f64"},
    Kind{Element::c64, Element::c64, "margay_gemm_c64"},
    Kind{Element::c128, Element::c128, "margay_gemm_c128"},
    Kind{Element::bf16, Element::bf16, "margay_gemm_bf16"},
    Kind{Element::bf16, Element::f32, "margay_gemm_bf16_f32"},
    Kind{Element::f16, Element::f16, "margay_gemm_f16"},
    Kind{Element::f16, Element::f32, "margay_gemm_f16_f32"},
    Kind{Element::i8, Element::i32, "margay_gemm_i8_i32"},
};

/// PREFIX/lib/margay/kernels, next to this library's PREFIX/lib/margay/substitutes.
std::string code_object() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&code_object), &here) == 0) return {};
  const std::string path = here.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "../kernels/gemm_any.hsaco";
}

/// Null: HIP refused. Modules are of a device.
void* function(std::string_view kernel) {
  static std::mutex mutex;
  static std::map<int, void*> modules;
  const std::lock_guard lock(mutex);
  int device = 0;
  if (hipGetDevice(&device) != 0) return nullptr;
  void*& module = modules[device];
  // The runtime says why it cannot.
  if (module == nullptr && hipModuleLoad(&module, code_object().c_str()) != 0) return nullptr;
  void* found = nullptr;
  return hipModuleGetFunction(&found, module, std::string(kernel).c_str()) == 0 ? found : nullptr;
}

}  // namespace

std::string_view gemm_kernel(Element a, Element b, Element c, Element d) {
  if (a != b || c != d) return {};
  for (const Kind& kind : kKinds)
    if (kind.a == a && kind.c == c) return kind.kernel;
  return {};
}

bool launch_gemm(std::string_view kernel, blas::GemmArguments arguments, long batch, void* stream) {
  if (arguments.m == 0 || arguments.n == 0 || batch == 0) return true;
  void* const launched = function(kernel);
  if (launched == nullptr) return false;
  const auto tiles = [](long n) { return static_cast<unsigned>((n + kTile - 1) / kTile); };
  void* parameters[] = {&arguments};
  return hipModuleLaunchKernel(launched, tiles(arguments.m), tiles(arguments.n),
                               static_cast<unsigned>(batch), kThreads, 1, 1, 0, stream, parameters,
                               nullptr) == 0;
}

}  // namespace margay::substitutes
