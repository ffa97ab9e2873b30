#include "report/profile/analysis/bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "report/profile/analysis/sums.h"

namespace margay::profile {

using enum Counter;

double workgroups_of(const KernelProfile& k) {
  return static_cast<double>(k.grid[0]) * k.grid[1] * k.grid[2];
}
double waves_per_workgroup(const KernelProfile& k) {
  return std::ceil(static_cast<double>(k.workgroup[0]) * k.workgroup[1] * k.workgroup[2] / 64);
}
double cus_in_use(const KernelProfile& k) {
  return std::min<double>(workgroups_of(k), k.gpu->compute_units());
}

double achieved_waves_per_cu(const KernelProfile& k) {
  const double each = std::ceil(workgroups_of(k) / cus_in_use(k)) * waves_per_workgroup(k);
  return std::min<double>(std::max(1u, k.resources.waves_per_cu), each);
}

std::vector<Bound> bounds_of(const KernelProfile& kernel) {
  const Gpu& gpu = *kernel.gpu;
  const double cus = cus_in_use(kernel), hz = gpu.clock_hz();
  std::vector<Bound> bounds;
  const auto add = [&](DevicePart part, double amount, std::string_view unit, double peak) {
    if (amount > 0) bounds.push_back({part, amount, unit, peak, amount / peak});
  };
  const double simds = gpu.arch().cu.simds;
  const double matrix_quads = of(kernel, SQ_VALU_MFMA_BUSY_CYCLES) / 4;
  add(DevicePart::matrix_units, 4 * matrix_quads, "cycles", simds * cus * hz);
  add(DevicePart::vector_alu, 4 * (of(kernel, SQ_ACTIVE_INST_VALU) - matrix_quads), "cycles",
      simds * cus * hz);
  add(DevicePart::lds, of(kernel, SQ_LDS_IDX_ACTIVE), "cycles", cus * hz);
  add(DevicePart::vector_cache, static_cast<double>(vector_memory(kernel).lookup_cycles), "cycles",
      cus * hz);
  add(DevicePart::l2, 128 * of(kernel, TCC_REQ_sum), "bytes", gpu.l2_bytes_per_clock() * hz);
  add(DevicePart::memory, fabric_read_bytes(kernel) + fabric_write_bytes(kernel), "bytes",
      gpu.memory_bytes_per_second);
  add(DevicePart::scalar_issue, 4 * of(kernel, SQ_ACTIVE_INST_SCA), "cycles", simds * cus * hz);
  std::ranges::sort(bounds, std::greater{}, &Bound::seconds);
  return bounds;
}

std::vector<Operations> operations_of(const KernelProfile& kernel) {
  const double clock = kernel.gpu->clock_hz() * kernel.gpu->compute_units();
  const PeakRates& rates = kernel.gpu->arch().rates;
  std::vector<Operations> out;
  const auto add = [&](std::string type, double count, double per_clock) {
    if (count > 0) out.push_back({std::move(type), count, per_clock * clock});
  };
  add("bf16 matrix", 512 * of(kernel, SQ_INSTS_VALU_MFMA_MOPS_BF16), rates.bf16_matrix);
  add("f16 matrix", 512 * of(kernel, SQ_INSTS_VALU_MFMA_MOPS_F16), rates.f16_matrix);
  add("fp8 matrix", 512 * of(kernel, SQ_INSTS_VALU_MFMA_MOPS_F8), rates.fp8_matrix);
  add("i8 matrix", 512 * of(kernel, SQ_INSTS_VALU_MFMA_MOPS_I8), rates.i8_matrix);
  add("xf32 matrix", 512 * of(kernel, SQ_INSTS_VALU_MFMA_MOPS_XF32), rates.xf32_matrix);
  add("f32 matrix", 512 * of(kernel, SQ_INSTS_VALU_MFMA_MOPS_F32), rates.f32_matrix);
  add("f64 matrix", 512 * of(kernel, SQ_INSTS_VALU_MFMA_MOPS_F64), rates.f64_matrix);
  double vector = 0;
  for (const Site& site : kernel.sites)
    if (site.instruction_class == InstructionClass::valu) vector += static_cast<double>(site.flops);
  add("vector", vector, rates.vector);
  return out;
}

std::vector<Level> levels_of(const KernelProfile& kernel) {
  const Gpu& gpu = *kernel.gpu;
  const PeakRates& rates = gpu.arch().rates;
  const double clock = gpu.clock_hz() * gpu.compute_units();
  double lds = 0;
  for (const Site& site : kernel.sites)
    if (site.lds)
      for (const std::uint64_t dwords : site.lds->bank_dwords)
        lds += 4 * static_cast<double>(dwords);
  std::vector<Level> levels = {
      {"LDS", lds, rates.lds_bytes * clock},
      {"vL1D", static_cast<double>(vector_memory(kernel).lane_bytes),
       rates.vector_cache_bytes * clock},
      {"L2",
       128 * of(kernel, TCP_TCC_READ_REQ_sum) +
           64 * (l2_requests_of_l1(kernel) - of(kernel, TCP_TCC_READ_REQ_sum)),
       gpu.l2_bytes_per_clock() * gpu.clock_hz()},
      {"memory", fabric_read_bytes(kernel) + fabric_write_bytes(kernel),
       gpu.memory_bytes_per_second}};
  std::erase_if(levels, [](const Level& level) { return level.bytes == 0; });
  return levels;
}

}  // namespace margay::profile
