// A hand-written kernel: no HIP, no hidden arguments, a symbol without size, relocations against a
// named symbol, and a metadata key that does not exist yet.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
        .amdhsa_code_object_version 5
        .text
        .globl  store_one
        .p2align 8
        .type   store_one,@function
store_one:
        s_load_dwordx2 s[2:3], s[0:1], 0x0
        v_mov_b32_e32 v0, 0
        v_mov_b32_e32 v1, 1
        s_waitcnt lgkmcnt(0)
        global_store_dword v0, v1, s[2:3]
        s_endpgm  // MARK: end

        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel store_one
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_kernarg_size 8
          .amdhsa_next_free_vgpr 2
          .amdhsa_next_free_sgpr 8
          .amdhsa_accum_offset 4
        .end_amdhsa_kernel

        .data
        .globl  value
        .p2align 3
        .type   value,@object
        .size   value, 8
value:  .quad   0x1122334455667788
        .globl  pointers
        .type   pointers,@object
        .size   pointers, 16
pointers:
        .quad   value
        .quad   value+4

        .amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: store_one
    .symbol: store_one.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 2
    .max_flat_workgroup_size: 64
    .args:
      - .size: 8
        .offset: 0
        .value_kind: global_buffer
        .address_space: global
        .name: out
        .type_name: 'int*'
        .future_field: { a: [ 1, 2, { b: c } ], d: ~ }
        .actual_access: write_only
        .access: write_only
...
        .end_amdgpu_metadata
