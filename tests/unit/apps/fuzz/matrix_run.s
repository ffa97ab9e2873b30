// Matrix instructions that the executor runs together, and one of another kind by itself.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
        .amdhsa_code_object_version 5
        .text
        .globl  matrix_run
        .p2align 8
        .type   matrix_run,@function
matrix_run:
        .rept 5
        v_mfma_f32_4x4x1_16b_f32 a[0:3], v0, v0, a[0:3]
        .endr
        v_mfma_f32_16x16x16_f16 a[4:7], v[2:3], v[2:3], a[4:7]
        s_endpgm
        .size   matrix_run, .-matrix_run

        .rodata
        .p2align 6
        .amdhsa_kernel matrix_run
          .amdhsa_next_free_vgpr 16
          .amdhsa_next_free_sgpr 16
          .amdhsa_accum_offset 8
          .amdhsa_float_denorm_mode_32 3  // the usual one: in others each is run by itself
        .end_amdhsa_kernel

        .amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: matrix_run
    .symbol: matrix_run.kd
    .kernarg_segment_size: 0
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 16
    .agpr_count: 8
    .max_flat_workgroup_size: 64
    .args: []
...
        .end_amdgpu_metadata
