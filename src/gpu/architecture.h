// What all machines of one processor have in common: its names, its register files, LDS and caches,
// and the tables that apply to it. The figures are in a folder for each processor (gfx942/); the
// parts that need them receive a Gpu (gpu.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "gpu/matrix_shapes.h"
#include "gpu/wait_states.h"

namespace margay {

/// Which instructions the processor has, except for matrix instructions, which it lists itself.
/// row_table() of exec/instructions/all_rows.h makes the table, or returns null when the executor
/// has no such rows.
enum class RowSet : std::uint8_t { none, gfx942 };

struct Version {
  int major = 0, minor = 0, stepping = 0;
};

/// The resources that a compute unit shares among its waves.
struct ComputeUnit {
  std::uint32_t simds = 0;
  std::uint32_t wave_slots_per_simd = 0;
  std::uint32_t vgprs_per_lane = 0;  ///< Architected and accumulation, of one SIMD.
  std::uint32_t vgpr_granule = 0;
  std::uint32_t sgprs_per_simd = 0;
  std::uint32_t sgpr_granule = 0;
  /// Workgroups of more than one wave need a barrier slot.
  std::uint32_t barrier_slots = 0;
  std::uint32_t max_workgroup_size = 0;  ///< Work-items.
  std::uint32_t lds_bytes = 0;           ///< Also the most that one workgroup may have.
  std::uint32_t lds_granule_bytes = 0;
  std::uint32_t lds_banks = 0;

  [[nodiscard]] constexpr std::uint32_t wave_slots() const { return simds * wave_slots_per_simd; }
};

struct Caches {
  std::uint32_t line_bytes = 0;    ///< vL1D and L2.
  std::uint32_t sector_bytes = 0;  ///< What vL1D writes to L2.
  std::uint32_t scalar_line_bytes = 0;
  std::uint32_t fetch_bytes = 0;             ///< One instruction fetch.
  std::uint32_t instruction_fill_bytes = 0;  ///< What one L1I miss brings in.
  std::uint32_t vector_bytes = 0;
  std::uint32_t scalar_bytes = 0, scalar_ways = 0;
  std::uint32_t instruction_bytes = 0;
  std::uint32_t l2_channels = 0;  ///< Per XCD.
  std::uint32_t l2_channel_bytes = 0, l2_ways = 0;

  [[nodiscard]] constexpr std::uint32_t l2_bytes() const { return l2_channels * l2_channel_bytes; }
};

/// Operations or bytes per clock.
struct PeakRates {
  double lds_bytes = 0;           ///< Per CU.
  double vector_cache_bytes = 0;  ///< Per CU.
  double l2_channel_bytes = 0;
  double bf16_matrix = 0, f16_matrix = 0, fp8_matrix = 0, i8_matrix = 0, xf32_matrix = 0,
         f32_matrix = 0, f64_matrix = 0;  ///< Per CU.
  double vector = 0;                      ///< Per CU: f32, packed.
};

/// Latency in cycles of a load on an idle device, by the level that holds the data.
struct LoadCycles {
  double vector_cache = 0, l2 = 0, memory = 0;
};

/// The initial state of a kernel. Source: LLVM, "User Guide for AMDGPU Backend", Initial Kernel
/// Execution State.
struct Abi {
  bool architected_flat_scratch = false;  ///< No SGPRs for it: hardware sets FLAT_SCRATCH.
  bool packed_work_item_ids = false;      ///< All three in v0, ten bits each.
  std::uint32_t most_user_sgprs = 0;
};

struct Architecture {
  std::string_view processor;     ///< LLVM's name, and the value of --offload-arch: "gfx942".
  std::string_view target_id;     ///< With the features of the device: "gfx942:sramecc+:xnack-".
  std::string_view series;        ///< "CDNA3"
  std::uint32_t elf_machine = 0;  ///< EF_AMDGPU_MACH of e_flags.
  Version version;
  bool sramecc = false, xnack = false;
  RowSet rows{};
  std::span<const MatrixInstruction> matrix;  ///< Dense and sparse.
  wait_states::Rules wait_rules;
  std::uint32_t wavefront_size = 0;
  ComputeUnit cu;
  Caches caches;
  PeakRates rates;
  LoadCycles load_cycles;
  Abi abi;
};

}  // namespace margay
