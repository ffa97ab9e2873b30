// Hand-written kernels: mistakes that a compiler does not make, and instructions that it rarely uses.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
        .amdhsa_code_object_version 5
        .text

// Runs into the next function, whose first word is no instruction.
        .globl  off_the_end
        .p2align 8
        .type   off_the_end,@function
off_the_end:
        .fill 63, 4, 0xbf800000  // s_nop 0
        v_mov_b32 v1, v0
        .size   off_the_end, .-off_the_end

        .globl  illegal_word
        .p2align 8
        .type   illegal_word,@function
illegal_word:
        .long 0xffffffff
        s_endpgm
        .size   illegal_word, .-illegal_word

        .globl  reserved_selection
        .p2align 8
        .type   reserved_selection,@function
reserved_selection:
        .long 0x020202f9  // v_add_f32_sdwa, whose first selection is 7
        .long 0x06070606
        s_endpgm
        .size   reserved_selection, .-reserved_selection

        .globl  branch_away
        .p2align 8
        .type   branch_away,@function
branch_away:
        s_branch illegal_word
        s_endpgm
        .size   branch_away, .-branch_away

        .globl  scratch_before_its_start
        .p2align 8
        .type   scratch_before_its_start,@function
scratch_before_its_start:
        s_mov_b32 s4, -4
        scratch_store_dword off, v0, s4
        s_endpgm
        .size   scratch_before_its_start, .-scratch_before_its_start

        .globl  scratch_before_its_start_by_lane
        .p2align 8
        .type   scratch_before_its_start_by_lane,@function
scratch_before_its_start_by_lane:
        v_mov_b32 v1, -4
        scratch_store_dword v1, v0, off
        s_endpgm
        .size   scratch_before_its_start_by_lane, .-scratch_before_its_start_by_lane

// Direct loads and flat accesses just below LDS: dropped, as the hardware does.
        .globl  lds_before_its_start
        .p2align 8
        .type   lds_before_its_start,@function
lds_before_its_start:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v1, 8
        s_mov_b32 m0, 0
        s_nop 0
        global_load_lds_dword v1, s[4:5] offset:-4
        s_waitcnt vmcnt(0)
        v_mov_b32 v2, -4         // the last dword of the LDS aperture
        v_mov_b32 v3, 0x00010000 // kSharedApertureHigh
        flat_atomic_add v[2:3], v0
        flat_store_dword v[2:3], v0
        s_waitcnt vmcnt(0) lgkmcnt(0)
        s_endpgm
        .size   lds_before_its_start, .-lds_before_its_start

        .globl  misaligned_atomic
        .p2align 8
        .type   misaligned_atomic,@function
misaligned_atomic:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v1, 2
        global_atomic_add v1, v0, s[4:5]
        s_endpgm
        .size   misaligned_atomic, .-misaligned_atomic

// What compilers make rarely, with results known by hand.
        .globl  modes
        .p2align 8
        .type   modes,@function
// MODE: what the descriptor says, what s_setreg makes of it, across branches, calls and VSKIP.
modes:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v10, 6, v0
        s_waitcnt lgkmcnt(0)
        v_mov_b32 v1, 1                    // an f32 denormal
        v_add_f32 v2, v1, v1               // flushed: the assembler's float mode is 0xc0
        s_getreg_b32 s6, hwreg(HW_REG_MODE, 0, 10)
        v_mov_b32 v3, s6
        global_store_dword v10, v2, s[4:5]
        global_store_dword v10, v3, s[4:5] offset:4
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15
        v_add_f32 v2, v1, v1               // kept
        global_store_dword v10, v2, s[4:5] offset:8
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3
        v_mov_b32 v4, 0xb0800000           // -2^-30
        v_add_f32 v5, 1.0, v4              // toward zero
        global_store_dword v10, v5, s[4:5] offset:12
        s_mov_b32 s7, 3                    // a loop in this mode: one unit in the last place each
        v_mov_b32 v6, 1.0
modes_loop:
        v_add_f32 v6, v6, v4
        s_sub_u32 s7, s7, 1
        s_cmp_lg_u32 s7, 0
        s_cbranch_scc1 modes_loop
        global_store_dword v10, v6, s[4:5] offset:16
        s_getpc_b64 s[8:9]
modes_here:
        s_add_u32 s8, s8, modes_call-modes_here
        s_addc_u32 s9, s9, 0
        s_swappc_b64 s[14:15], s[8:9]
        v_add_f32 v8, 1.0, v4              // to nearest again
        global_store_dword v10, v8, s[4:5] offset:24
        v_mov_b32 v9, 5
        s_mov_b32 s12, 1
        s_nop 1
        s_setvskip -1, 3
        v_mov_b32 v9, 99                   // none of these
        global_store_dword v10, v9, s[4:5] offset:12
        ds_write_b32 v10, v9
        s_mov_b32 s12, 7                   // but this
        s_setvskip 0, 0
        s_nop 1
        v_mov_b32 v11, s12
        global_store_dword v10, v9, s[4:5] offset:28
        global_store_dword v10, v11, s[4:5] offset:32
        v_mov_b32 v13, 0x7bff
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1
        v_add_f16 v12, v13, v13
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0
        v_add_f16 v13, v13, v13
        global_store_dword v10, v12, s[4:5] offset:36
        global_store_dword v10, v13, s[4:5] offset:40
        s_endpgm
modes_call:
        v_add_f32 v7, 1.0, v4              // still toward zero
        global_store_dword v10, v7, s[4:5] offset:20
        s_mov_b32 s7, 0
        s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s7
        s_setpc_b64 s[14:15]
        .size   modes, .-modes

        .globl  enable_exceptions
        .p2align 8
        .type   enable_exceptions,@function
enable_exceptions:
        s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 1
        s_endpgm
        .size   enable_exceptions, .-enable_exceptions

        .globl  scalar_memory
        .p2align 8
        .type   scalar_memory,@function
scalar_memory:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_mov_b32 s8, 0x11
        s_mov_b32 s9, 0x22
        s_mov_b32 s10, 0x33
        s_mov_b32 s11, 0x44
        s_mov_b32 s12, 0
        s_mov_b32 s13, -2
        s_waitcnt lgkmcnt(0)
        s_store_dwordx4 s[8:11], s[4:5], 0x0     // 0..3
        s_store_dword s8, s[4:5], 0x13           // 4: the lower bits are ignored
        s_movk_i32 m0, 0x18
        s_nop 0
        s_store_dwordx2 s[10:11], s[4:5], m0     // 6, 7
        s_mov_b32 m0, 1
        s_nop 0
        s_scratch_store_dword s10, s[4:5], m0    // 16: M0 counts 64 bytes
        s_scratch_store_dwordx2 s[8:9], s[4:5], 0x20 // 8, 9
        s_dcache_wb
        s_scratch_load_dword s16, s[4:5], m0
        s_waitcnt lgkmcnt(0)
        s_store_dword s16, s[4:5], 0x28          // 10
        s_mov_b32 s17, s8                        // returns to its data with glc, and only then
        s_mov_b32 s18, s8
        s_atomic_add s17, s[4:5], 0x0 glc        // 0: 0x22; 0x11 is returned
        s_atomic_add s18, s[4:5], 0x0            // 0: 0x33
        s_waitcnt lgkmcnt(0)
        s_store_dword s17, s[4:5], 0x2c          // 11
        s_store_dword s18, s[4:5], 0x30          // 12
        s_mov_b32 s20, 0x99                      // data, compared with
        s_mov_b32 s21, 0x22
        s_atomic_cmpswap s[20:21], s[4:5], 0x4 glc // 1: 0x99, for it is 0x22
        s_mov_b32 s22, 0x98
        s_mov_b32 s23, 0x22
        s_atomic_cmpswap s[22:23], s[4:5], 0x8   // 2 stays 0x33
        s_waitcnt lgkmcnt(0)
        s_store_dwordx2 s[20:21], s[4:5], 0x34   // 13, 14
        s_atomic_smin s13, s[4:5], 0xc           // 3: -2
        s_atomic_umax s10, s[4:5], 0x10          // 4: 0x33
        s_mov_b32 s24, -1
        s_mov_b32 s25, 0
        s_atomic_add_x2 s[24:25], s[4:5], 0x18   // 6, 7: 0x44_00000033 + 0xffffffff
        s_atomic_dec s12, s[4:5], 0x14           // 5: 0 wraps to the data, 0
        s_atomic_inc s8, s[4:5], 0x3c            // 15: 0 becomes 1
        s_waitcnt lgkmcnt(0)
        // A buffer of 72 bytes that begins at result 0.
        s_mov_b32 s28, s4
        s_and_b32 s29, s5, 0xffff
        s_movk_i32 s30, 72
        s_mov_b32 s31, 0x00020000
        s_buffer_store_dwordx4 s[8:11], s[28:31], 0x44 // 17; 18 and on are beyond the end
        s_mov_b32 s26, 3
        s_mov_b32 s27, 3
        s_buffer_atomic_swap s26, s[28:31], 0x40 glc // 16: 3; 0x33 is returned
        s_buffer_atomic_swap s27, s[28:31], 0x48 glc // beyond: 0
        s_dcache_discard s[4:5], 0x100
        s_atc_probe 1, s[4:5], 0x0
        s_waitcnt lgkmcnt(0)
        s_store_dwordx2 s[26:27], s[4:5], 0x50   // 20, 21
        s_movk_i32 s30, 128
        s_mov_b32 s8, 0x61
        s_mov_b32 s9, 0x62
        s_mov_b32 s10, 0x63
        s_mov_b32 s11, 0x64
        s_buffer_store_dwordx4 s[8:11], s[28:31], 0x58 // 22 to 25
        s_dcache_wb
        s_endpgm
        .size   scalar_memory, .-scalar_memory

        // The widths that scalar_memory leaves out.
        .globl  scalar_memory_widths
        .p2align 8
        .type   scalar_memory_widths,@function
scalar_memory_widths:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_mov_b32 s8, 0x11
        s_mov_b32 s9, 0x22
        s_mov_b32 s10, 0x33
        s_mov_b32 s11, 0x44
        s_waitcnt lgkmcnt(0)
        s_scratch_store_dwordx4 s[8:11], s[4:5], 0x0 // 0..3
        s_mov_b32 s28, s4                        // a buffer of 40 bytes
        s_and_b32 s29, s5, 0xffff
        s_movk_i32 s30, 40
        s_mov_b32 s31, 0x00020000
        s_buffer_store_dword s9, s[28:31], 0x10  // 4
        s_buffer_store_dword s9, s[28:31], 0x28  // 10 is beyond the end
        s_buffer_store_dwordx2 s[10:11], s[28:31], 0x18 // 6, 7
        s_dcache_wb
        s_scratch_load_dwordx4 s[12:15], s[4:5], 0x0
        s_scratch_load_dwordx2 s[16:17], s[4:5], 0x18
        s_atc_probe_buffer 1, s[28:31], 0x0
        s_dcache_discard_x2 s[4:5], 0x100
        s_waitcnt lgkmcnt(0)
        s_store_dwordx4 s[12:15], s[4:5], 0x30   // 12..15
        s_store_dwordx2 s[16:17], s[4:5], 0x40   // 16, 17
        s_dcache_wb
        s_endpgm
        .size   scalar_memory_widths, .-scalar_memory_widths

// Offsets in any scalar register, alone and with an immediate, of stores and atomics.
        .globl  scalar_memory_offsets
        .p2align 8
        .type   scalar_memory_offsets,@function
scalar_memory_offsets:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_mov_b32 s8, 0x11
        s_mov_b32 s9, 0x22
        s_mov_b32 s10, 5
        s_mov_b32 m0, 0x3c                       // what is not meant
        s_movk_i32 s21, 8
        s_movk_i32 s22, 16
        s_waitcnt lgkmcnt(0)
        s_store_dword s8, s[4:5], s21            // 2
        s_store_dwordx2 s[8:9], s[4:5], s22 offset:0x8 // 6, 7
        s_mov_b32 s28, s4                        // a buffer of 40 bytes
        s_and_b32 s29, s5, 0xffff
        s_movk_i32 s30, 40
        s_mov_b32 s31, 0x00020000
        s_buffer_store_dword s9, s[28:31], s22   // 4
        s_store_dword s10, s[4:5], 0x14          // 5
        s_dcache_wb
        s_movk_i32 s23, 20
        s_atomic_add s10, s[4:5], s23            // 5 + 5
        s_movk_i32 s11, 7
        s_buffer_atomic_or s11, s[28:31], s22    // 4: 0x22 | 7
        s_mov_b32 s12, 9
        s_atomic_swap s12, s[4:5], s21 offset:0x4 glc // 3
        s_waitcnt lgkmcnt(0)
        s_store_dword s12, s[4:5], 0x20          // 8: what was there
        s_dcache_wb
        s_endpgm
        .size   scalar_memory_offsets, .-scalar_memory_offsets

// The arguments are in SGPRs already: the code before byte 256 is for firmware that leaves them
// out, as LLVM 17 to 19 write it.
        .globl  preloads
        .p2align 8
        .type   preloads,@function
preloads:
        s_trap 2
        .fill 63, 4, 0xbf800000  // s_nop 0
        v_mov_b32 v1, 42
        v_lshlrev_b32 v2, 2, v0
        global_store_dword v2, v1, s[2:3]
        s_endpgm
        .size   preloads, .-preloads

// A lane of the register that M0 counts from v11 on is written, and read.
        .globl  indexed_lanes
        .p2align 8
        .type   indexed_lanes,@function
indexed_lanes:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v10, 2, v0
        v_mov_b32 v11, 2
        v_mov_b32 v12, 3
        v_add_u32 v13, 100, v0
        s_mov_b32 s20, 1
        s_mov_b32 s22, 5
        s_set_gpr_idx_on s20, gpr_idx(DST)
        v_writelane_b32 v11, 63, s22             // of v12
        s_set_gpr_idx_mode gpr_idx(SRC0)
        v_readlane_b32 s6, v12, s22              // of v13
        v_readfirstlane_b32 s7, v12
        s_set_gpr_idx_off
        v_writelane_b32 v12, s6, 6
        v_writelane_b32 v12, s7, 7
        v_add_u32 v12, v12, v11
        s_waitcnt lgkmcnt(0)
        global_store_dword v10, v12, s[4:5]
        s_endpgm
        .size   indexed_lanes, .-indexed_lanes

        // Every scalar atomic on a place of its own of 32 bytes: memory, what is returned, data and
        // what it is compared with.
        .globl  scalar_atomics
        .p2align 8
        .type   scalar_atomics,@function
        .macro place instruction:vararg
        s_mov_b32 s12, s4
        s_and_b32 s13, s5, 0xffff
        s_load_dwordx4 s[8:11], s[4:5], 0x10
        s_waitcnt lgkmcnt(0)
        \instruction
        s_waitcnt lgkmcnt(0)
        s_store_dwordx2 s[8:9], s[4:5], 0x8
        s_add_u32 s4, s4, 32
        s_addc_u32 s5, s5, 0
        .endm
scalar_atomics:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_movk_i32 s14, 8                        // the buffer is the place's memory
        s_mov_b32 s15, 0x00020000
        s_waitcnt lgkmcnt(0)
        .irp op, swap, add, sub, smin, umin, smax, umax, and, or, xor, inc, dec
        place s_atomic_\op s8, s[4:5], 0x0 glc
        place s_atomic_\op\()_x2 s[8:9], s[4:5], 0x0 glc
        place s_buffer_atomic_\op s8, s[12:15], 0x0 glc
        place s_buffer_atomic_\op\()_x2 s[8:9], s[12:15], 0x0 glc
        .endr
        place s_atomic_cmpswap s[8:9], s[4:5], 0x0 glc
        place s_atomic_cmpswap_x2 s[8:11], s[4:5], 0x0 glc
        place s_buffer_atomic_cmpswap s[8:9], s[12:15], 0x0 glc
        place s_buffer_atomic_cmpswap_x2 s[8:11], s[12:15], 0x0 glc
        s_dcache_wb
        s_endpgm
        .size   scalar_atomics, .-scalar_atomics

        .globl  scalar_store_outside
        .p2align 8
        .type   scalar_store_outside,@function
scalar_store_outside:
        s_mov_b32 s4, 0
        s_mov_b32 s5, 0
        s_store_dword s4, s[4:5], 0x8
        s_endpgm
        .size   scalar_store_outside, .-scalar_store_outside

        .globl  scalar_atomic_misaligned
        .p2align 8
        .type   scalar_atomic_misaligned,@function
scalar_atomic_misaligned:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        s_waitcnt lgkmcnt(0)
        s_atomic_or_x2 s[8:9], s[4:5], 0x4
        s_endpgm
        .size   scalar_atomic_misaligned, .-scalar_atomic_misaligned

        .globl  saturating
        .p2align 8
        .type   saturating,@function
saturating:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v10, 6, v0
        v_mov_b32 v2, 0x7bff
        v_add_f16 v2, v2, v2
        s_getreg_b32 s6, hwreg(HW_REG_MODE)
        v_mov_b32 v3, s6
        s_waitcnt lgkmcnt(0)
        global_store_dwordx2 v10, v[2:3], s[4:5]
        s_endpgm
        .size   saturating, .-saturating

        .globl  exceptions_from_the_start
        .p2align 8
        .type   exceptions_from_the_start,@function
exceptions_from_the_start:
        s_endpgm
        .size   exceptions_from_the_start, .-exceptions_from_the_start

        .globl  d16_loads
        .p2align 8
        .type   d16_loads,@function
// Sixteen bits of a register that held ones: the other half becomes 0.
d16_loads:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v10, 6, v0
        v_mov_b32 v1, 0x8899aabb
        s_waitcnt lgkmcnt(0)
        global_store_dword v10, v1, s[4:5]
        s_waitcnt vmcnt(0) lgkmcnt(0)
        v_mov_b32 v2, -1
        v_mov_b32 v3, -1
        v_mov_b32 v4, -1
        v_mov_b32 v5, -1
        v_mov_b32 v6, -1
        v_mov_b32 v7, -1
        v_mov_b32 v8, 0
        ds_write_b32 v8, v1
        s_waitcnt lgkmcnt(0)
        global_load_short_d16 v2, v10, s[4:5]
        global_load_short_d16_hi v3, v10, s[4:5]
        global_load_sbyte_d16 v4, v10, s[4:5]
        global_load_ubyte_d16_hi v5, v10, s[4:5]
        ds_read_u16_d16 v6, v8
        ds_read_i8_d16_hi v7, v8
        s_waitcnt vmcnt(0) lgkmcnt(0)
        global_store_dword v10, v2, s[4:5] offset:4
        global_store_dword v10, v3, s[4:5] offset:8
        global_store_dword v10, v4, s[4:5] offset:12
        global_store_dword v10, v5, s[4:5] offset:16
        global_store_dword v10, v6, s[4:5] offset:20
        global_store_dword v10, v7, s[4:5] offset:24
        s_endpgm
        .size   d16_loads, .-d16_loads

        .globl  results
        .p2align 8
        .type   results,@function
results:
        s_load_dwordx2 s[4:5], s[0:1], 0x0
        v_lshlrev_b32 v10, 6, v0           // 64 bytes of results per lane
        // 0: from AccVGPR to AccVGPR
        v_mov_b32 v1, 7
        v_add_u32 v1, v1, v0
        v_accvgpr_write_b32 a0, v1
        v_accvgpr_write_b32 a1, 0
        v_mov_b32 v2, 99                   // what a wrong register file would read
        v_accvgpr_mov_b32 a1, a0
        v_accvgpr_read_b32 v2, a1
        // 1: a field beyond bit 31 is filled with the sign
        v_mov_b32 v3, 0x90000000
        v_bfe_i32 v3, v3, 28, 8
        // 2: an indexed source out of range reads v0
        v_mov_b32 v4, 1
        s_movk_i32 s6, 0xc8
        s_set_gpr_idx_on s6, gpr_idx(SRC0)
        v_mov_b32 v4, v1
        s_set_gpr_idx_off
        // 3: an indexed destination out of range is not written; 4: one in range is
        v_mov_b32 v5, 5
        v_mov_b32 v6, 6
        s_set_gpr_idx_on s6, gpr_idx(DST)
        v_mov_b32 v5, v1
        s_set_gpr_idx_idx 1
        v_mov_b32 v5, v1
        s_set_gpr_idx_off
        // 5: SDWA, byte 2 of one plus the sign-extended byte 1 of another, into word 1, the rest kept
        v_mov_b32 v7, 0x11223344
        v_mov_b32 v8, 0x5566f788
        v_mov_b32 v9, 0xabcdef01
        v_add_u32_sdwa v9, v7, sext(v8) dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2 src1_sel:BYTE_1
        // 6: the same, with zeros in the other bytes; 7: into byte 1, sign-extended
        v_mov_b32 v11, -1
        v_add_u32_sdwa v11, v7, sext(v8) dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:BYTE_2 src1_sel:BYTE_1
        v_mov_b32 v12, -1
        v_sub_u32_sdwa v12, v7, v8 dst_sel:BYTE_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_0 src1_sel:BYTE_0
        // 8, 9: clamped sums
        v_mov_b32 v13, -3
        v_add_u32_e64 v13, v13, 5 clamp
        v_mov_b32 v14, 0x7ffffffd
        v_add_i32 v14, v14, 5 clamp
        // 10: constants of packed f32 apply to both halves only when selected
        v_mov_b32 v16, 2.0
        v_mov_b32 v17, 4.0
        v_pk_mul_f32 v[16:17], v[16:17], 0.5 op_sel_hi:[1,0]
        v_add_f32 v16, v16, v17
        s_waitcnt lgkmcnt(0)
        global_store_dword v10, v2, s[4:5]
        global_store_dword v10, v3, s[4:5] offset:4
        global_store_dword v10, v4, s[4:5] offset:8
        global_store_dword v10, v5, s[4:5] offset:12
        global_store_dword v10, v6, s[4:5] offset:16
        global_store_dword v10, v9, s[4:5] offset:20
        global_store_dword v10, v11, s[4:5] offset:24
        global_store_dword v10, v12, s[4:5] offset:28
        global_store_dword v10, v13, s[4:5] offset:32
        global_store_dword v10, v14, s[4:5] offset:36
        global_store_dword v10, v16, s[4:5] offset:40
        s_endpgm
        .size   results, .-results

        .macro descriptor name, overflow=0, exception=0, preload=0
        .amdhsa_kernel \name
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_user_sgpr_kernarg_preload_length \preload
          .amdhsa_kernarg_size 8
          .amdhsa_group_segment_fixed_size 64
          .amdhsa_private_segment_fixed_size 16
          .amdhsa_enable_private_segment 1
          .amdhsa_next_free_vgpr 28
          .amdhsa_next_free_sgpr 32
          .amdhsa_accum_offset 20
          .amdhsa_fp16_overflow \overflow
          .amdhsa_exception_fp_ieee_overflow \exception
        .end_amdhsa_kernel
        .endm
        .section .rodata,"a",@progbits
        .p2align 6
        descriptor off_the_end
        descriptor illegal_word
        descriptor reserved_selection
        descriptor branch_away
        descriptor scratch_before_its_start
        descriptor scratch_before_its_start_by_lane
        descriptor lds_before_its_start
        descriptor misaligned_atomic
        descriptor results
        descriptor modes
        descriptor d16_loads
        descriptor exceptions_from_the_start exception=1
        descriptor saturating overflow=1
        descriptor enable_exceptions
        descriptor scalar_memory
        descriptor scalar_memory_widths
        descriptor scalar_memory_offsets
        descriptor preloads preload=2
        descriptor indexed_lanes
        descriptor scalar_atomics
        descriptor scalar_store_outside
        descriptor scalar_atomic_misaligned

        .amdgpu_metadata
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx942
amdhsa.kernels:
  - .name: off_the_end
    .symbol: off_the_end.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: illegal_word
    .symbol: illegal_word.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: reserved_selection
    .symbol: reserved_selection.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: branch_away
    .symbol: branch_away.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: scratch_before_its_start
    .symbol: scratch_before_its_start.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: scratch_before_its_start_by_lane
    .symbol: scratch_before_its_start_by_lane.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: lds_before_its_start
    .symbol: lds_before_its_start.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: misaligned_atomic
    .symbol: misaligned_atomic.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: results
    .symbol: results.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: modes
    .symbol: modes.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: d16_loads
    .symbol: d16_loads.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: saturating
    .symbol: saturating.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: exceptions_from_the_start
    .symbol: exceptions_from_the_start.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: enable_exceptions
    .symbol: enable_exceptions.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: scalar_memory
    .symbol: scalar_memory.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: scalar_memory_widths
    .symbol: scalar_memory_widths.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: scalar_memory_offsets
    .symbol: scalar_memory_offsets.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: preloads
    .symbol: preloads.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: indexed_lanes
    .symbol: indexed_lanes.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: scalar_atomics
    .symbol: scalar_atomics.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: scalar_store_outside
    .symbol: scalar_store_outside.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
  - .name: scalar_atomic_misaligned
    .symbol: scalar_atomic_misaligned.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 64
    .private_segment_fixed_size: 16
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 28
    .agpr_count: 8
    .max_flat_workgroup_size: 256
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
        .end_amdgpu_metadata
