// Pairs of instructions with the wait states required between them. rules_test.cpp runs each pair
// with that many (nothing is found) and with one less (the rule is found); pairs that need none run
// back to back. Each pair ends with s_endpgm; its line says: NEEDED ROW RULE.
//
// Source of the numbers: MI300 ISA guide, tables 11 and 37.

// 2 v4 a VALU result is read by a matrix instruction
v_mov_b32 v4, v20
v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], 0
s_endpgm
// 2 a5 a VALU result is read by a matrix instruction
v_accvgpr_write_b32 a5, v20
v_mfma_f32_16x16x16_f16 a[4:7], v[0:1], v[6:7], a[4:7]
s_endpgm
// 4 exec_lo EXEC written by the VALU before a matrix instruction
v_cmpx_eq_u32 v0, v1
v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], 0
s_endpgm
// 2 v8 a matrix result is read as C by another matrix instruction
v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], 0
v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], v[8:11]
s_endpgm
// 0 - -
v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], 0
v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], v[8:11]
s_endpgm
// 0 - -
v_mfma_f32_32x32x2_f32 v[8:23], v4, v6, 0
v_mfma_f32_32x32x2_f32 v[8:23], v4, v6, v[8:23]
s_endpgm
// 3 v10 a matrix result is read as C by another matrix instruction
v_mfma_f32_4x4x4_16b_f16 v[8:11], v[4:5], v[6:7], 0
v_mfma_f32_4x4x4_16b_f16 v[12:15], v[4:5], v[6:7], v[10:13]
s_endpgm
// 5 v10 a matrix result is read as C by another matrix instruction
v_mfma_f32_16x16x16_bf16 v[8:11], v[4:5], v[6:7], 0
v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[6:7], v[10:13]
s_endpgm
// 9 v12 a matrix result is read as C by another matrix instruction
v_mfma_f32_32x32x8_f16 v[8:23], v[4:5], v[6:7], 0
v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[6:7], v[12:15]
s_endpgm
// 17 v12 a matrix result is read as C by another matrix instruction
v_mfma_f32_32x32x4_2b_f16 v[8:39], v[4:5], v[6:7], 0
v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[6:7], v[12:15]
s_endpgm
// 8 v12 a matrix result is read as C by another matrix instruction
v_mfma_f32_16x16x4_f32 v[10:13], v4, v6, 0
v_mfma_f32_16x16x4_f32 v[12:15], v4, v6, v[12:15]
s_endpgm
// 0 - -
v_mfma_f32_16x16x4_f32 v[10:13], v4, v6, 0
v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[6:7], v[12:15]
s_endpgm
// 7 v4 a matrix result is read as A or B by another matrix instruction
v_mfma_f32_16x16x16_f16 v[2:5], v[8:9], v[10:11], 0
v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[6:7], 0
s_endpgm
// 11 v4 a matrix result is read as A or B by another matrix instruction
v_mfma_i32_32x32x16_i8 v[2:17], v[28:29], v[20:21], 0
v_mfma_f32_16x16x16_f16 v[32:35], v[22:23], v[4:5], 0
s_endpgm
// 18 v4 a matrix result is read as A or B by another matrix instruction
v_mfma_f32_32x32x2_f32 v[2:17], v28, v20, 0
v_mfma_f32_16x16x16_f16 v[32:35], v[22:23], v[4:5], 0
s_endpgm
// 4 v8 a matrix result is read as C by another matrix instruction
v_mfma_f64_4x4x4_4b_f64 v[8:9], v[4:5], v[6:7], 0
v_mfma_f64_4x4x4_4b_f64 v[8:9], v[4:5], v[6:7], v[8:9]
s_endpgm
// 0 - -
v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], 0
v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], v[8:15]
s_endpgm
// 9 v10 a matrix result is read as C by another matrix instruction
v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], 0
v_mfma_f64_16x16x4_f64 v[18:25], v[4:5], v[6:7], v[10:17]
s_endpgm
// 11 v8 a matrix result is read as A or B by another matrix instruction
v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], 0
v_mfma_f64_16x16x4_f64 v[18:25], v[8:9], v[6:7], 0
s_endpgm
// 6 v8 a matrix result is read as A or B by another matrix instruction
v_mfma_f64_4x4x4_4b_f64 v[8:9], v[4:5], v[6:7], 0
v_mfma_f64_4x4x4_4b_f64 v[18:19], v[8:9], v[6:7], 0
s_endpgm
// 7 v9 a matrix result is read by the VALU
v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], 0
v_add_f32 v1, v9, v2
s_endpgm
// 7 a9 a matrix result is read by the VALU
v_mfma_f32_16x16x16_f16 a[8:11], v[4:5], v[6:7], 0
v_accvgpr_read_b32 v1, a9
s_endpgm
// 4 v9 a matrix result is read by the VALU
v_mfma_f32_4x4x1_16b_f32 v[8:11], v4, v6, 0
v_add_f32 v1, v9, v2
s_endpgm
// 19 v9 a matrix result is read by a memory instruction
v_mfma_f32_32x32x4_2b_bf16 v[8:39], v[4:5], v[6:7], 0
global_store_dword v[0:1], v9, off
s_endpgm
// 10 v9 a matrix result is read by a memory instruction
v_mfma_f32_16x16x4_f32 v[8:11], v4, v6, 0
ds_write_b32 v9, v0
s_endpgm
// 18 v9 a matrix result is read by a memory instruction
v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], 0
buffer_store_dword v9, v0, s[0:3], 0 offen
s_endpgm
// 9 v9 a matrix result is read by a memory instruction
v_mfma_f64_4x4x4_4b_f64 v[8:9], v[4:5], v[6:7], 0
global_store_dword v[0:1], v9, off
s_endpgm
// 11 v8 a matrix result is read by the VALU
v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], 0
v_add_f64 v[0:1], v[8:9], v[2:3]
s_endpgm
// 7 v9 a matrix result is overwritten by the VALU
v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], 0
v_mov_b32 v9, 0
s_endpgm
// 3 v9 C of a matrix instruction is overwritten by the VALU
v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[6:7], v[8:11]
v_mov_b32 v9, 0
s_endpgm
// 15 v9 C of a matrix instruction is overwritten by the VALU
v_mfma_f32_32x32x4_2b_f16 v[40:71], v[4:5], v[6:7], v[8:39]
v_mov_b32 v9, 0
s_endpgm
// 0 - -
v_mfma_f32_32x32x2_f32 v[40:55], v4, v6, v[8:23]
v_mov_b32 v9, 0
s_endpgm
// 2 - an f64 matrix instruction before v_fma_f64
v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[6:7], 0
v_fma_f64 v[20:21], v[22:23], v[24:25], v[26:27]
s_endpgm
// 3 v9 a dot product's result is read
v_dot4_i32_i8 v9, v4, v5, v6
v_add_u32 v1, v9, v2
s_endpgm
// 3 v9 a dot product's result is read
v_dot4_i32_i8 v9, v4, v5, v6
v_dot4_i32_i8 v10, v9, v5, v6
s_endpgm
// 0 - -
v_dot4_i32_i8 v9, v4, v5, v6
v_dot4_i32_i8 v9, v4, v5, v9
s_endpgm
// 3 v9 a dot product's result is read
v_dot4_i32_i8 v9, v4, v5, v6
global_store_dword v[0:1], v9, off
s_endpgm
// 3 v9 a dot product's result is overwritten
v_dot8_u32_u4 v9, v4, v5, v6
v_mov_b32 v9, 0
s_endpgm
// 1 v9 a transcendental result is read by another kind of instruction
v_exp_f32 v9, v4
v_add_f32 v1, v9, v2
s_endpgm
// 0 - -
v_exp_f32 v9, v4
v_rcp_f32 v1, v9
s_endpgm
// 1 v9 a result that SDWA or op_sel placed in part of a register is read
v_add_u16_sdwa v9, v4, v5 dst_sel:WORD_1 src0_sel:DWORD src1_sel:DWORD
v_add_u32 v1, v9, v2
s_endpgm
// 1 v9 a result that SDWA or op_sel placed in part of a register is read
v_mad_i16 v9, v4, v5, v6 op_sel:[0,0,0,1]
v_add_u32 v1, v9, v2
s_endpgm
// 0 - -
v_mad_i16 v9, v4, v5, v6
v_add_u32 v1, v9, v2
s_endpgm
// 1 v9 a VALU result is read by v_readlane
v_mov_b32 v9, v4
v_readlane_b32 s0, v9, 3
s_endpgm
// 1 v9 a VALU result is read by v_readlane
v_mov_b32 v9, v4
v_readfirstlane_b32 s0, v9
s_endpgm
// 2 v9 a VALU result is read by DPP
v_mov_b32 v9, v4
v_mov_b32_dpp v1, v9 row_shr:1 row_mask:0xf bank_mask:0xf
s_endpgm
// 2 v9 a VALU result is read by DPP
v_mov_b32 v9, v4
v_mul_f32_dpp v1, v2, v9 row_shr:1 row_mask:0xf bank_mask:0xf
s_endpgm
// 5 exec_lo EXEC written by the VALU before DPP
v_cmpx_eq_u32 v0, v1
v_mov_b32_dpp v1, v9 row_shr:1 row_mask:0xf bank_mask:0xf
s_endpgm
// 4 exec_lo EXEC written by the VALU before v_readlane or v_writelane
v_cmpx_eq_u32 v0, v1
v_writelane_b32 v1, 3, 4
s_endpgm
// 2 v10 data of a store wider than 64 bits is overwritten by the VALU
global_store_dwordx4 v[0:1], v[8:11], off
v_mov_b32 v10, 0
s_endpgm
// 2 v10 data of a store wider than 64 bits is overwritten by the VALU
buffer_store_dwordx3 v[8:10], v0, s[0:3], 0 offen
v_mov_b32 v10, 0
s_endpgm
// 2 v10 data of a store wider than 64 bits is overwritten by the VALU
global_atomic_cmpswap_x2 v[0:1], v[8:11], off
v_mov_b32 v10, 0
s_endpgm
// 0 - -
buffer_store_dwordx4 v[8:11], v0, s[0:3], s4 offen
v_mov_b32 v10, 0
s_endpgm
// 0 - -
global_store_dwordx2 v[0:1], v[8:9], off
v_mov_b32 v8, 0
s_endpgm
// 2 s4 a scalar register written by the VALU is read by the VALU
v_readfirstlane_b32 s4, v0
v_add_u32 v1, s4, v2
s_endpgm
// 2 vcc_lo a mask written by the VALU selects lanes' values
v_cmp_eq_u32 vcc, v0, v1
v_cndmask_b32 v2, v3, v4, vcc
s_endpgm
// 0 - -
v_add_co_u32 v0, vcc, v1, v2
v_addc_co_u32 v3, vcc, v4, v5, vcc
s_endpgm
// 0 - -
s_mov_b32 s4, 1
v_add_u32 v1, s4, v2
s_endpgm
// 4 s4 a scalar register written by the VALU selects a lane
v_readfirstlane_b32 s4, v0
v_readlane_b32 s5, v1, s4
s_endpgm
// 4 vcc_lo VCC written by the VALU is read by v_div_fmas
v_cmp_eq_u32 vcc, v0, v1
v_div_fmas_f32 v2, v3, v4, v5
s_endpgm
// 5 s5 a scalar register written by the VALU is read by vector memory
v_readlane_b32 s5, v0, 3
global_load_dword v1, v2, s[4:5]
s_endpgm
// 5 m0 a scalar register written by the VALU is read by vector memory
.long 0x7ef80500  // v_readfirstlane_b32 m0, v0, which LLVM 22 does not assemble
buffer_load_dword v2, s[4:7], 0 offen lds
s_endpgm
// 1 m0 M0 written by the SALU is used by a load to LDS or a message
s_mov_b32 m0, s0
buffer_load_dword v2, s[4:7], 0 offen lds
s_endpgm
// 1 m0 M0 written by the SALU is used by a load to LDS or a message
s_mov_b32 m0, s0
s_sendmsg sendmsg(MSG_INTERRUPT)
s_endpgm
// 2 - a hardware register is used after s_setreg
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5
s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 2)
s_endpgm
// 0 - -
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5
s_getreg_b32 s0, hwreg(HW_REG_STATUS, 4, 2)
s_endpgm
// Sparse: C is D, and the register of indices is waited for like A and B.
// 2 v9 a VALU result is read by a matrix instruction
v_mov_b32 v9, v20
v_smfmac_f32_16x16x32_f16 v[12:15], v[4:5], v[0:3], v9
s_endpgm
// 7 v9 a matrix result is read as sparse indices by another matrix instruction
v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[6:7], 0
v_smfmac_f32_16x16x32_f16 v[12:15], v[4:5], v[0:3], v9
s_endpgm
// 11 v2 a matrix result is read as A or B by another matrix instruction
v_smfmac_i32_32x32x32_i8 v[2:17], v[28:29], v[20:23], v30
v_smfmac_f32_16x16x32_f16 v[32:35], v[24:25], v[0:3], v31
s_endpgm
// 0 - -
v_smfmac_f32_32x32x16_bf16 v[2:17], v[28:29], v[20:23], v30
v_smfmac_f32_32x32x16_bf16 v[2:17], v[28:29], v[20:23], v30
s_endpgm
// 5 v12 a matrix result is read as C by another matrix instruction
v_smfmac_f32_16x16x64_fp8_fp8 v[10:13], v[28:29], v[20:23], v30
v_smfmac_f32_16x16x64_fp8_fp8 v[12:15], v[28:29], v[20:23], v30
s_endpgm
// 7 v2 a matrix result is read by the VALU
v_smfmac_f32_16x16x32_f16 v[2:5], v[28:29], v[20:23], v30
v_mov_b32 v9, v2
s_endpgm
