// The supported machines. A new one of a known processor is an entry of this list and nothing else:
// the options' checks and help, `margay devices` and the tests iterate over the list.
#include <algorithm>
#include <cctype>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gpu/gfx942/gfx942.h"
#include "gpu/gpu.h"

namespace margay {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30, kMiB = std::uint64_t{1} << 20;

constexpr const Architecture* kArchitectures[] = {&kGfx942};

// Names, CUs, memory: AMD's data sheets and "AMD GPU specifications" (ROCm documentation). XCDs and
// PCI ids: rocprofiler-compute, mi_gpu_spec.yaml (partition mode SPX). Shader engines, SQCs,
// clocks: rocprofiler-compute's recorded runs on MI300X and MI300A (sysinfo.csv). The memory's size
// is the data sheet's; a driver reserves some of it (an MI300X shows 191.98 GiB).
constexpr Gpu kMachines[] = {
    {.option = "mi325x",
     .name = "AMD Instinct MI325X",
     .architecture = &kGfx942,
     .xcds = 8,
     .cus_per_xcd = 38,
     .shader_engines_per_xcd = 4,
     .sqcs_per_xcd = 20,
     .clock_khz = 2'100'000,
     .memory_bytes = 256 * kGiB,
     .memory_kind = "HBM3E",
     // Half of 6.0 Gb/s per pin. What ROCm reports on an MI325X is not published; an MI300X
     // reports a quarter of its data rate.
     .memory_clock_khz = 3'000'000,
     .memory_bus_bits = 8192,
     .memory_bytes_per_second = 6.0e12,
     .infinity_cache_bytes = 256 * kMiB,
     .pci_device_id = 0x74a5},
    {.option = "mi300x",
     .name = "AMD Instinct MI300X",
     .architecture = &kGfx942,
     .xcds = 8,
     .cus_per_xcd = 38,
     .shader_engines_per_xcd = 4,
     .sqcs_per_xcd = 20,
     .clock_khz = 2'100'000,
     .memory_bytes = 192 * kGiB,
     .memory_kind = "HBM3",
     .memory_clock_khz = 1'300'000,  // sysinfo.csv: the highest mclk
     .memory_bus_bits = 8192,
     .memory_bytes_per_second = 5.3e12,
     .infinity_cache_bytes = 256 * kMiB,
     .pci_device_id = 0x74a1},
    {.option = "mi300a",
     .name = "AMD Instinct MI300A",
     .architecture = &kGfx942,
     .xcds = 6,
     .cus_per_xcd = 38,
     .shader_engines_per_xcd = 4,
     .sqcs_per_xcd = 20,
     .clock_khz = 2'100'000,
     .memory_bytes = 128 * kGiB,
     .memory_kind = "HBM3",
     .memory_clock_khz = 1'300'000,  // AMD in ROCm/rocm_smi_lib issue 209: 900 to 1300 MHz
     .memory_bus_bits = 8192,
     .memory_bytes_per_second = 5.3e12,
     .infinity_cache_bytes = 256 * kMiB,
     .pci_device_id = 0x74a0,
     .is_apu = true},
    {.option = "mi308x",
     .name = "AMD Instinct MI308X",  // rccl-tests' output on such a machine
     .architecture = &kGfx942,
     // 80 CUs (AITER's tuning tables, cu_num) on the four XCDs that mi_gpu_spec.yaml gives it.
     .xcds = 4,
     .cus_per_xcd = 20,
     // Not published: taken to be as on the other machines, CUs switched off in pairs.
     .shader_engines_per_xcd = 4,
     .sqcs_per_xcd = 10,
     // Not published: that of the MI300X. Public measurements run at 1.8 GHz.
     .clock_khz = 2'100'000,
     .memory_bytes = 192 * kGiB,
     .memory_kind = "HBM3",
     // Clock, bus and Infinity Cache are not published: those of the MI300X, as its 128 channels
     // are (rocprofiler-compute, get_hbm_channels).
     .memory_clock_khz = 1'300'000,
     .memory_bus_bits = 8192,
     .memory_bytes_per_second = 5.3e12,
     .infinity_cache_bytes = 256 * kMiB,
     .pci_device_id = 0x74a2},
};

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::span<const Architecture* const> all_architectures() { return kArchitectures; }
std::span<const Gpu> all_gpus() { return kMachines; }
const Gpu& default_gpu() { return kMachines[0]; }

Result<const Gpu*> find_gpu(std::string_view option) {
  if (option.empty()) return &default_gpu();
  for (const Gpu& gpu : kMachines)
    if (same_word(gpu.option, option)) return &gpu;
  return fail(ErrorCode::invalid_argument, fmt::format("there is no device \"{}\"", option), {},
              fmt::format("the devices are {}", gpu_options()));
}

const Gpu* gpu_named(std::string_view name) {
  const auto found = std::ranges::find(kMachines, name, &Gpu::name);
  return found == std::end(kMachines) ? nullptr : &*found;
}

std::string gpu_options() {
  return fmt::format("{}", fmt::join(kMachines | std::views::transform(&Gpu::option), ", "));
}

}  // namespace margay
