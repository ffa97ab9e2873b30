#!/usr/bin/env python3
"""Turns listings of small kernels (*.kernels) into an assembly file and a list of expectations.

A listing is assembly, and lines that begin with a word of its own:

  # comment
  kernel NAME [waves=1] [grid=1] [lds=0] [scratch=0]
  mark:   s_nop 0              a label; %mark in an operand refers to it
  expect TOOL SEVERITY KIND MARK:WAVE[.LANE[.WORKGROUP]] ... xCOUNT [| words of the message]

All findings of a kernel (but advice) must be told; of one without `expect` there are none. Listings
about the order of accesses (races, barriers) run without initcheck: their flags start with whatever
LDS holds.
"""
import os
import re
import sys

HEAD = """        .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
        .amdhsa_code_object_version 5
        .text
// v1: the lane times 2^shift, as a byte offset. v0 holds the work-item.
        .macro lanes shift
        v_and_b32 v1, 63, v0
        v_lshlrev_b32 v1, \\shift, v1
        .endm
// s3: the wave.
        .macro waves
        v_readfirstlane_b32 s3, v0
        s_lshr_b32 s3, s3, 6
        .endm
        .macro unless_wave number, target
        s_cmp_lg_u32 s3, \\number
        s_cbranch_scc1 \\target
        .endm
// s[4:5]: results, written and 64 KiB long; s[6:7]: 4 KiB nobody has written; s[8:9]: 128 bytes.
        .macro arguments
        s_load_dwordx4 s[4:7], s[0:1], 0x0
        s_load_dwordx2 s[8:9], s[0:1], 0x10
        s_waitcnt lgkmcnt(0)
        .endm
"""

DESCRIPTOR = """        .section .rodata,"a",@progbits
        .p2align 6
        .amdhsa_kernel {name}
          .amdhsa_group_segment_fixed_size {lds}
          .amdhsa_private_segment_fixed_size {scratch}
          .amdhsa_enable_private_segment 1
          .amdhsa_user_sgpr_kernarg_segment_ptr 1
          .amdhsa_kernarg_size 24
          .amdhsa_system_sgpr_workgroup_id_x 1
          .amdhsa_next_free_vgpr 104
          .amdhsa_accum_offset 104
          .amdhsa_next_free_sgpr 32
        .end_amdhsa_kernel
        .text
"""

METADATA = """  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: {scratch}
    .wavefront_size: 64
    .sgpr_count: 38
    .vgpr_count: 104
    .agpr_count: 0
    .max_flat_workgroup_size: 1024
    .args:
      - {{.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global}}
"""


def main():
    assembly_path, expected_path, *listings = sys.argv[1:]
    kernels, assembly, expected = [], [HEAD], []

    def finish():
        if kernels:
            kernel = kernels[-1]
            assembly.append("        s_endpgm\n        .size {0}, .-{0}\n".format(kernel["name"]))
            assembly.append(DESCRIPTOR.format(**kernel))

    for path in listings:
        with open(path, encoding="utf-8") as listing:
            for line in listing:
                words = line.split()
                if not words or words[0].startswith("#"):
                    continue
                if words[0] == "kernel":
                    finish()
                    kernel = {"name": words[1], "waves": 1, "grid": 1, "lds": 0, "scratch": 0}
                    for word in words[2:]:
                        key, value = word.split("=")
                        assert key in kernel, line
                        kernel[key] = int(value)
                    kernels.append(kernel)
                    assembly.append("        .globl {0}\n        .p2align 8\n"
                                    "        .type {0},@function\n{0}:\n".format(kernel["name"]))
                    orders = os.path.basename(path).startswith(("races", "random_races", "barriers"))
                    expected.append("kernel {name} {waves} {grid} {initcheck}\n".format(
                        initcheck=int(not orders), **kernel))
                elif words[0] == "expect":
                    expected.append(line)
                else:
                    name = kernels[-1]["name"]
                    line = re.sub(r"^(\w+):", name + r".\1:", line)
                    assembly.append(re.sub(r"%(\w+)", name + r".\1", line))
    finish()
    with open(assembly_path, "w", encoding="utf-8") as out:
        out.writelines(assembly)
        out.write("        .amdgpu_metadata\namdhsa.version: [ 1, 2 ]\n"
                  "amdhsa.target: amdgcn-amd-amdhsa--gfx942\namdhsa.kernels:\n")
        out.writelines(METADATA.format(**kernel) for kernel in kernels)
        out.write("        .end_amdgpu_metadata\n")
    with open(expected_path, "w", encoding="utf-8") as out:
        out.writelines(expected)


main()
