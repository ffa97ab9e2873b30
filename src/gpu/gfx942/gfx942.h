// gfx942: the processor of MI300X, MI325X, MI300A and MI308X. This folder has its figures and
// tables. Programs that run on a device do not name it: they use the Architecture of their Gpu.
#pragma once

#include "gpu/architecture.h"
#include "gpu/gfx942/matrix.h"
#include "gpu/gfx942/wait_rules.h"

namespace margay {

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
    .matrix = kGfx942Matrix,
    .wait_rules = wait_states::kGfx942,
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
    .abi = {.architected_flat_scratch = true, .packed_work_item_ids = true, .most_user_sgprs = 16},
};

}  // namespace margay
