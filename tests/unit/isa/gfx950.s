// Instructions that only gfx950 has, for decoder_test.cpp.
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.text
.globl everything
.p2align 8
.type everything,@function
everything:
  global_load_dwordx4 v[0:3], v16, s[0:1]
  s_waitcnt vmcnt(0)
  v_mfma_f32_16x16x32_bf16 v[4:7], v[0:3], v[0:3], 0
  v_mfma_scale_f32_16x16x128_f8f6f4 v[4:7], v[20:27], v[20:27], v[4:7], v17, v18
  ds_read_b64_tr_b16 v[8:9], v16
  v_prng_b32 v10, v10
  s_endpgm
