#include "mfma/fast/fast.h"

#include <memory>
#include <span>
#include <vector>

#include "gpu/matrix_shapes.h"
#include "mfma/fast/plan.h"
#include "mfma/kernels/prepare.h"

#if defined(MARGAY_LEVEL_X86_V4)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace margay {

#if defined(MARGAY_LEVEL_X86_V4)

namespace mfma_x86_bf16 {
extern const MfmaTable kFastTable;
}
namespace mfma_x86_vnni {
extern const MfmaTable kIntegerTable;
extern const MfmaTable kExactTable;
}  // namespace mfma_x86_vnni

namespace {

/// One tile of AMX's, v_mfma_f32_16x16x16_bf16.
constexpr bool is_amx_shape(const MfmaShape& shape) {
  return shape.a == MfmaType::bf16 && shape.m == 16 && shape.k == 16 && shape.blocks == 1;
}

/// Whether the CPU has AMX with bf16 and the kernel lets this process use it. Linux requires each
/// process to request it first (Documentation/arch/x86/xstate.rst).
bool amx_usable() {
  static const bool usable = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;  // leaf 7, EDX
    if ((d & (kAmxBf16 | kAmxTile)) != (kAmxBf16 | kAmxTile)) return false;
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  }();
  return usable;
}

class AmxRun final : public MfmaRun {
 public:
  explicit AmxRun(std::span<const MfmaStep> steps) : plan_(mfma_amx::make_plan(steps)) {}
  void execute(std::uint32_t* rows) const override {
    mfma_amx::run_ops(plan_.ops.data(), plan_.ops.size(), plan_.numbers.data(), rows);
  }

 private:
  mfma_amx::Plan plan_;
};
std::unique_ptr<const MfmaRun> prepare_amx(std::span<const MfmaStep> steps) {
  return std::make_unique<AmxRun>(steps);
}

}  // namespace

std::vector<FastMethod> fast_mfma_methods(std::size_t index) {
  std::vector<FastMethod> methods;
  if (is_amx_shape(kMfmaShapes[index]) && amx_usable())
    methods.push_back({"AMX bf16", {mfma_amx::run, prepare_amx}});
  const MfmaKernel pairs = mfma_x86_bf16::kFastTable.kernels[index];
  if (pairs.run && __builtin_cpu_supports("avx512bf16")) {
    // VDPBF16PS does two products where VFMADDPS does one; but the CPUs that have AMX do it at less
    // than half the rate (measured: 32x32x8 in 207 ns, as fma in 142 ns).
    if (amx_usable()) methods.push_back({"as fma", {}});
    methods.push_back({"AVX-512 BF16", pairs});
  }
  methods.push_back({"as fma", {}});
  return methods;
}

MfmaKernel vnni_kernel(std::size_t index, MfmaMode mode) {
  if (!__builtin_cpu_supports("avx512vnni")) return {};
  const MfmaKernel kernel = mfma_x86_vnni::kIntegerTable.kernels[index];
  if (kernel.run || mode != MfmaMode::exact) return kernel;
  return mfma_x86_vnni::kExactTable.kernels[index];
}

void fast_mfma_thread_begin() {
  if (amx_usable()) mfma_amx::begin();
}
void fast_mfma_thread_end() {
  if (amx_usable()) mfma_amx::end();
}

#else

std::vector<FastMethod> fast_mfma_methods(std::size_t) { return {{"as fma", {}}}; }
MfmaKernel vnni_kernel(std::size_t, MfmaMode) { return {}; }
void fast_mfma_thread_begin() {}
void fast_mfma_thread_end() {}

#endif

}  // namespace margay
