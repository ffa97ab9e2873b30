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

/// The instructions for AMX: A and B of two registers, and one block.
constexpr bool is_amx_shape(const MfmaShape& shape) {
  return shape.a_registers == 2 && shape.blocks == 1;
}
constexpr bool is_byte_float(MfmaType type) {
  return type == MfmaType::fp8 || type == MfmaType::bf8;
}

/// Whether the CPU has AMX for a type and the kernel lets this process use it. Linux requires each
/// process to request it first (Documentation/arch/x86/xstate.rst).
bool amx_usable(mfma_amx::Type type) {
  static const unsigned usable = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kAmxTile = 1u << 24;  // leaf 7, EDX
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & kAmxTile) == 0) return 0u;
    constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0 ? d : 0u;
  }();
  return (usable & (type == mfma_amx::Type::i8 ? 1u << 25 : 1u << 22)) != 0;
}

template <mfma_amx::Types types>
class AmxRun final : public MfmaRun {
 public:
  AmxRun(mfma_amx::Size size, std::span<const MfmaStep> steps)
      : plan_(mfma_amx::make_plan(types, size, steps)) {}
  void execute(std::uint32_t* rows) const override {
    mfma_amx::run_ops(types, plan_.ops.data(), plan_.ops.size(), plan_.numbers.data(), rows);
  }

 private:
  mfma_amx::Plan plan_;
};
template <mfma_amx::Types types, mfma_amx::Size size>
constexpr MfmaKernel kAmxKernel = {
    .run = types.are_split() ? MfmaFunction{}
                             : [](const MfmaOperands& op) { mfma_amx::run(types, size, op); },
    .prepare = [](std::span<const MfmaStep> steps) -> std::unique_ptr<const MfmaRun> {
      return std::make_unique<AmxRun<types>>(size, steps);
    }};
template <mfma_amx::Type a, mfma_amx::Type b>
MfmaKernel amx_kernel(const MfmaShape& shape) {
  using mfma_amx::Size;
  constexpr mfma_amx::Types types{a, b};
  return shape.m == 16 ? kAmxKernel<types, Size::one> : kAmxKernel<types, Size::four>;
}
MfmaKernel amx_byte_float_kernel(const MfmaShape& shape) {
  using enum mfma_amx::Type;
  if (shape.a == MfmaType::fp8)
    return shape.b == MfmaType::fp8 ? amx_kernel<fp8, fp8>(shape) : amx_kernel<fp8, bf8>(shape);
  return shape.b == MfmaType::fp8 ? amx_kernel<bf8, fp8>(shape) : amx_kernel<bf8, bf8>(shape);
}

}  // namespace

std::vector<FastMethod> fast_mfma_methods(std::size_t index) {
  std::vector<FastMethod> methods;
  const bool has_amx = amx_usable(mfma_amx::Type::bf16);
  const MfmaShape& shape = kMfmaShapes[index];
  if (has_amx && is_amx_shape(shape)) {
    using enum mfma_amx::Type;
    if (shape.a == MfmaType::bf16) methods.push_back({"AMX bf16", amx_kernel<bf16, bf16>(shape)});
    if (shape.a == MfmaType::f16)
      methods.push_back({"f16 on AMX bf16", amx_kernel<f16, f16>(shape)});
    if (is_byte_float(shape.a))
      methods.push_back({"bytes on AMX bf16", amx_byte_float_kernel(shape)});
  }
  const MfmaKernel pairs = mfma_x86_bf16::kFastTable.kernels[index];
  if (pairs.run && __builtin_cpu_supports("avx512bf16")) {
    // VDPBF16PS does two products where VFMADDPS does one; but the CPUs that have AMX do it at less
    // than half the rate (measured: 32x32x8 in 207 ns, as fma in 142 ns).
    if (has_amx) methods.push_back({"as fma", {}});
    methods.push_back({"AVX-512 BF16", pairs});
  }
  methods.push_back({"as fma", {}});
  return methods;
}

MfmaKernel vnni_kernel(std::size_t index, MfmaMode mode) {
  const MfmaShape& shape = kMfmaShapes[index];
  using enum mfma_amx::Type;
  if (shape.a == MfmaType::i8 && is_amx_shape(shape) && amx_usable(i8))
    return amx_kernel<i8, i8>(shape);
  if (!__builtin_cpu_supports("avx512vnni")) return {};
  const MfmaKernel kernel = mfma_x86_vnni::kIntegerTable.kernels[index];
  if (kernel.run || mode != MfmaMode::exact) return kernel;
  return mfma_x86_vnni::kExactTable.kernels[index];
}

void fast_mfma_thread_begin() {
  if (amx_usable(mfma_amx::Type::bf16)) mfma_amx::begin();
}
void fast_mfma_thread_end() {
  if (amx_usable(mfma_amx::Type::bf16)) mfma_amx::end();
}

#else

std::vector<FastMethod> fast_mfma_methods(std::size_t) { return {{"as fma", {}}}; }
MfmaKernel vnni_kernel(std::size_t, MfmaMode) { return {}; }
void fast_mfma_thread_begin() {}
void fast_mfma_thread_end() {}

#endif

}  // namespace margay
