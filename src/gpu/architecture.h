// What all machines of one processor have in common: its names, its register files, LDS and caches,
// and the tables that apply to it. Hardware figures are only here; the parts that need them receive
// a Gpu (gpu.h).
#pragma once

#include <cstdint>
#include <string_view>

namespace margay {

/// Which table of instructions holds (row_table() of exec/instructions/all_rows.h gives it); the
/// shapes and passes of matrix instructions are part of their rows. row_table() returns null when
/// the executor has no such table.
enum class RowSet : std::uint8_t { gfx942 };

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
  std::uint32_t vector_bytes = 0, vector_ways = 0;
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

/// Wait states after a matrix instruction, where processors of one family differ: in addition to
/// its passes, or for the f64 instructions of 16x16 and 4x4. "Memory" is the address or data of an
/// access. The rules that use them are observe/check/instructions/hazards.cpp's.
struct MatrixWaits {
  unsigned xdl_to_c = 0, xdl_to_ab = 0, sgemm_to_ab = 0;  ///< More than the passes.
  unsigned f64_16_to_c = 0, f64_16_to_ab = 0, f64_16_to_memory = 0;
  unsigned f64_4_to_c = 0, f64_4_to_ab = 0, f64_4_to_memory = 0;
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
  std::uint32_t wavefront_size = 0;
  ComputeUnit cu;
  Caches caches;
  PeakRates rates;
  LoadCycles load_cycles;
  MatrixWaits matrix_waits;
  Abi abi;
};

/// Sources, unless a line names another: AMD CDNA 3 white paper; MI300 ISA guide, 3.6; LLVM,
/// AMDGPUBaseInfo (IsaInfo, gfx90a and later) and its resource remarks for gfx942.
inline constexpr Architecture kGfx942{
    .processor = "gfx942",
    .target_id = "gfx942:sramecc+:xnack-",  // hipinfo on MI300X (ROCm 6)
    .series = "CDNA3",
    .elf_machine = 0x4c,  // LLVM, ELF.h: EF_AMDGPU_MACH_AMDGCN_GFX942
    .version = {9, 4, 2},
    .sramecc = true,
    .xnack = false,
    .rows = RowSet::gfx942,
    .wavefront_size = 64,
    .cu = {.simds = 4,
           .wave_slots_per_simd = 8,
           .vgprs_per_lane = 512,
           .vgpr_granule = 8,
           .sgprs_per_simd = 800,
           .sgpr_granule = 16,
           .barrier_slots = 16,
           .max_workgroup_size = 1024,
           .lds_bytes = 64 * 1024,
           .lds_granule_bytes = 512,
           .lds_banks = 32},
    .caches = {.line_bytes = 128,
               // rocprofiler-compute's MI300X sample data: 64-byte writes from vL1D to L2, 128-byte
               // reads, 64-byte instruction requests.
               .sector_bytes = 64,
               .scalar_line_bytes = 64,
               .fetch_bytes = 32,
               // The same data's vcopy run: four requests of 64 bytes per miss, and one miss
               // covered its 120 bytes of code.
               .instruction_fill_bytes = 256,
               .vector_bytes = 32 * 1024,
               // Not published for CDNA3. Latency steps up sharply at 32 KiB (RRZE gpu-benches), as
               // it does with many ways and least-recently-used replacement.
               .vector_ways = 64,
               .scalar_bytes = 16 * 1024,
               .scalar_ways = 4,  // as in earlier GCN devices
               .instruction_bytes = 64 * 1024,
               .l2_channels = 16,
               .l2_channel_bytes = 256 * 1024,
               .l2_ways = 16},
    // docs/prof.md lists the measurements that differ.
    .rates = {.lds_bytes = 128,
              .vector_cache_bytes = 64,  // measured 61 (RRZE)
              .l2_channel_bytes = 128,
              .bf16_matrix = 2048,
              .f16_matrix = 2048,
              .fp8_matrix = 4096,
              .i8_matrix = 4096,
              .xf32_matrix = 1024,
              .f32_matrix = 256,
              .f64_matrix = 256,
              .vector = 256},
    // At 2.1 GHz on an MI300X: RRZE gpu-benches (116 to 120; 201 to 228; 835 to 890), mt4g.
    .load_cycles = {.vector_cache = 120, .l2 = 210, .memory = 850},
    // MI300 ISA guide, 4.5 (required software-inserted wait states); LLVM, GCNHazardRecognizer,
    // gfx940.
    .matrix_waits = {.xdl_to_c = 1,
                     .xdl_to_ab = 3,
                     .sgemm_to_ab = 2,
                     .f64_16_to_c = 9,
                     .f64_16_to_ab = 11,
                     .f64_16_to_memory = 18,
                     .f64_4_to_c = 4,
                     .f64_4_to_ab = 6,
                     .f64_4_to_memory = 9},
    .abi = {.architected_flat_scratch = true, .packed_work_item_ids = true, .most_user_sgprs = 16},
};

/// All supported processors.
inline constexpr const Architecture* kArchitectures[] = {&kGfx942};

}  // namespace margay
