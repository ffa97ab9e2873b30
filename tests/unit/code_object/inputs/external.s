// Refers to an undefined symbol, and weakly to another.
        .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
        .amdhsa_code_object_version 5
        .text
        s_endpgm
        .data
        .globl  pointer
        .p2align 3
        .type   pointer,@object
        .size   pointer, 16
pointer:
        .weak   maybe_defined
        .quad   maybe_defined
        .quad   nowhere_defined
