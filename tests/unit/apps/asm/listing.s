// A hand-written kernel with what a listing has to show: a loop, a forward branch, a call, matrix,
// LDS and memory instructions, and a word that is no instruction.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
        .amdhsa_code_object_version 5
        .text
        .p2align 8
        .type   helper,@function
helper:
        s_setpc_b64 s[30:31]
        .size   helper, .-helper

        .globl  _Z4listIfEviPT_
        .p2align 8
        .type   _Z4listIfEviPT_,@function
_Z4listIfEviPT_:
        s_mov_b32 s4, 0  // MARK: first
.Lloop:
        v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[6:7], v[0:3]
        ds_read_b64 v[8:9], v10
        s_waitcnt lgkmcnt(0)
        s_barrier
        global_load_dword v11, v[12:13], off
        s_load_dword s5, s[0:1], 0x0
        s_cbranch_scc1 .Lskip
        s_call_b64 s[30:31], helper
.Lskip:
        s_add_u32 s4, s4, 1
        s_cbranch_scc0 .Lloop
        .long 0xffffffff
        s_endpgm  // MARK: end
        .size   _Z4listIfEviPT_, .-_Z4listIfEviPT_

        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel _Z4listIfEviPT_
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_kernarg_size 24
          .amdhsa_group_segment_fixed_size 40960
          .amdhsa_next_free_vgpr 200
          .amdhsa_next_free_sgpr 32
          .amdhsa_accum_offset 136
        .end_amdhsa_kernel

        .amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: _Z4listIfEviPT_
    .symbol: _Z4listIfEviPT_.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 40960
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 200
    .agpr_count: 64
    .vgpr_spill_count: 3
    .max_flat_workgroup_size: 256
    .args:
      - .size: 4
        .offset: 0
        .value_kind: by_value
      - .size: 8
        .offset: 8
        .value_kind: global_buffer
        .address_space: global
        .name: out
      - .size: 4
        .offset: 16
        .value_kind: hidden_block_count_x
        .end_amdgpu_metadata
