// The device, as one object: a machine that users choose with --device or MARGAY_DEVICE. The
// decoder, the executor, the checker, the profiler and the HIP runtime receive it and have no
// hardware constants of their own. machines/ lists the machines.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "gpu/architecture.h"

namespace margay {

struct Gpu {
  std::string_view option;  ///< Its name for --device and MARGAY_DEVICE: "mi325x".
  std::string_view name;    ///< Its name in the HIP runtime: "AMD Instinct MI325X".
  const Architecture* architecture = nullptr;

  std::uint32_t xcds = 0;  ///< Accelerator complex dies; workgroup n runs on XCD n modulo this.
  std::uint32_t cus_per_xcd = 0;
  std::uint32_t shader_engines_per_xcd = 0;
  /// Pairs of L1I and sL1D; the CUs of an XCD share them, two to one at most.
  std::uint32_t sqcs_per_xcd = 0;
  std::uint32_t clock_khz = 0;  ///< The highest of the compute units.

  std::uint64_t memory_bytes = 0;
  std::string_view memory_kind;        ///< "HBM3E"
  std::uint32_t memory_clock_khz = 0;  ///< As hipDeviceProp_t has it; see machines/.
  std::uint32_t memory_bus_bits = 0;
  double memory_bytes_per_second = 0;
  std::uint64_t infinity_cache_bytes = 0;

  std::uint32_t pci_device_id = 0;
  bool is_apu = false;  ///< CPU and GPU share the memory.

  [[nodiscard]] constexpr const Architecture& arch() const { return *architecture; }
  /// "MI325X"
  [[nodiscard]] constexpr std::string_view short_name() const {
    return name.substr(name.rfind(' ') + 1);
  }
  [[nodiscard]] constexpr std::uint32_t compute_units() const { return xcds * cus_per_xcd; }
  [[nodiscard]] constexpr double clock_hz() const { return 1e3 * clock_khz; }
  [[nodiscard]] constexpr double l2_bytes_per_clock() const {
    return arch().rates.l2_channel_bytes * arch().caches.l2_channels * xcds;
  }
};

/// All supported processors.
[[nodiscard]] std::span<const Architecture* const> all_architectures();

/// All machines; the default is the first.
[[nodiscard]] std::span<const Gpu> all_gpus();
[[nodiscard]] const Gpu& default_gpu();

/// The machine that --device or MARGAY_DEVICE calls `option`, ignoring case; an empty string is the
/// default. The error lists the available machines.
[[nodiscard]] Result<const Gpu*> find_gpu(std::string_view option);
/// The machine with this full name, as in profiles; null when there is none.
[[nodiscard]] const Gpu* gpu_named(std::string_view name);
/// "mi325x, mi300x, ...", for help and errors.
[[nodiscard]] std::string gpu_options();

}  // namespace margay
