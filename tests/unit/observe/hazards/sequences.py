#!/usr/bin/python3
"""Writes a machine function (LLVM MIR) of random short sequences of gfx942 instructions, one per basic
block, each ended by s_endpgm. LLVM's post-RA hazard recognizer then puts s_nop where it thinks them
needed; hazards_llvm_test.cpp compares.

usage: sequences.py COUNT SEED > sequences.mir
"""

import random
import sys

EXEC = "implicit $exec"
MODE = "implicit $mode, implicit $exec"


def tuple_of(file, first, count):
    return "_".join(f"${file}{n}" if n == first else f"{file}{n}" for n in range(first, first + count))


class Registers:
    """Few registers, so that instructions often meet in them."""

    def __init__(self, rng):
        self.rng = rng

    def v(self, count=1, file="vgpr"):
        step = 1 if count == 1 else 2
        return tuple_of(file, self.rng.randrange(0, 24 if count < 16 else 8, step), count)

    def a(self, count=1):
        return self.v(count, "agpr")

    def s(self, count=1):
        step = 4 if count == 4 else count
        return tuple_of("sgpr", self.rng.randrange(0, 8, step), count)

    def mask(self):
        return self.rng.choice(["$vcc", tuple_of("sgpr", self.rng.randrange(0, 8, 2), 2)])


# Name, registers of A, B and D.
MATRIX = [
    ("V_MFMA_F32_4X4X4F16", 2, 4),
    ("V_MFMA_F32_16X16X16F16", 2, 4),
    ("V_MFMA_F32_16X16X4F16", 2, 16),
    ("V_MFMA_F32_32X32X8F16", 2, 16),
    ("V_MFMA_F32_16X16X16BF16_1K", 2, 4),
    ("V_MFMA_F32_4X4X1F32", 1, 4),
    ("V_MFMA_F32_16X16X4F32", 1, 4),
    ("V_MFMA_F32_16X16X1F32", 1, 16),
    ("V_MFMA_F32_32X32X2F32", 1, 16),
    ("V_MFMA_I32_16X16X32I8", 2, 4),
    ("V_MFMA_I32_4X4X4I8", 1, 4),
    ("V_MFMA_F32_16X16X8XF32", 2, 4),
    ("V_MFMA_F64_16X16X4F64", 2, 8),
    ("V_MFMA_F64_4X4X4F64", 2, 2),
]


# Name, registers of D.
SPARSE = [
    ("V_SMFMAC_F32_16X16X32_F16", 4),
    ("V_SMFMAC_F32_16X16X64_FP8_BF8", 4),
    ("V_SMFMAC_I32_16X16X64_I8", 4),
    ("V_SMFMAC_F32_32X32X16_BF16", 16),
    ("V_SMFMAC_I32_32X32X32_I8", 16),
]


def sparse(r):
    name, d = r.rng.choice(SPARSE)
    result = r.a(d) if r.rng.random() < 0.3 else r.v(d)
    return f"{result} = {name}_e64 {r.v(2)}, {r.v(4)}, {r.v()}, 0, 0, {result}, {MODE}"


def matrix(r):
    if r.rng.random() < 0.25:
        return sparse(r)
    name, ab, d = r.rng.choice(MATRIX)
    acc = r.rng.random() < 0.3
    result = r.a(d) if acc else r.v(d)
    c = result if r.rng.random() < 0.5 else (r.a(d) if acc else r.v(d))
    suffix = "_e64" if acc else "_vgprcd_e64"
    return f"{result} = {name}{suffix} {r.v(ab)}, {r.v(ab)}, {c}, 0, 0, 0, {MODE}"


def valu(r):
    v, s, mask = r.v, r.s, r.mask
    return r.rng.choice([
        lambda: f"{v()} = V_MOV_B32_e32 {v()}, {EXEC}",
        lambda: f"{v()} = V_MOV_B32_e32 {s()}, {EXEC}",
        lambda: f"{v()} = V_ADD_F32_e32 {v()}, {v()}, {MODE}",
        lambda: f"{v()} = V_FMA_F32_e64 0, {v()}, 0, {v()}, 0, {v()}, 0, 0, {MODE}",
        lambda: f"{v()} = V_EXP_F32_e32 {v()}, {MODE}",
        lambda: f"{v(2)} = V_RCP_F64_e32 {v(2)}, {MODE}",
        lambda: f"{v(2)} = V_FMA_F64_e64 0, {v(2)}, 0, {v(2)}, 0, {v(2)}, 0, 0, {MODE}",
        lambda: f"{v(2)} = V_LSHLREV_B64_e64 {v()}, {v(2)}, {EXEC}",
        lambda: f"{v(2)} = V_PK_FMA_F32 8, {v(2)}, 8, {v(2)}, 8, {v(2)}, 0, 0, 0, 0, 0, {MODE}",
        lambda: f"{v()} = V_DOT4_I32_I8 8, {v()}, 8, {v()}, 8, {v()}, 0, 0, 0, {EXEC}",
        lambda: f"{v()} = V_DOT8_U32_U4 8, {v()}, 8, {v()}, 8, {v()}, 0, 0, 0, {EXEC}",
        lambda: f"{v()} = V_ADD_U16_sdwa 0, {v()}, 0, {v()}, 0, {r.rng.choice([4, 6])}, 0, 4, 5, {EXEC}",
        lambda: f"{v()} = V_MAD_I16_gfx9_e64 {r.rng.choice([0, 8])}, {v()}, 0, {v()}, 0, {v()}, 0, 0, {EXEC}",
        lambda: (lambda d: f"{d} = V_MOV_B32_dpp {d}, {v()}, 273, 15, 15, 0, {EXEC}")(v()),
        lambda: f"V_CMP_EQ_U32_e32 {v()}, {v()}, implicit-def $vcc, {EXEC}",
        lambda: f"{mask()} = V_CMP_LT_I32_e64 {v()}, {v()}, {EXEC}",
        lambda: f"V_CMPX_EQ_U32_e32 {v()}, {v()}, implicit-def $vcc, implicit-def $exec, {EXEC}",
        lambda: f"{v()} = V_CNDMASK_B32_e32 {v()}, {v()}, implicit $vcc, {EXEC}",
        lambda: f"{v()} = V_CNDMASK_B32_e64 0, {v()}, 0, {v()}, {mask()}, {EXEC}",
        lambda: f"{v()}, {mask()} = V_ADD_CO_U32_e64 {v()}, {v()}, 0, {EXEC}",
        lambda: f"{v()}, {mask()} = V_ADDC_U32_e64 {v()}, {v()}, {mask()}, 0, {EXEC}",
        lambda: f"{v()} = V_DIV_FMAS_F32_e64 0, {v()}, 0, {v()}, 0, {v()}, 0, 0, implicit $mode, implicit $vcc, {EXEC}",
        lambda: f"{s()} = V_READFIRSTLANE_B32 {v()}, {EXEC}",
        lambda: f"{s()} = V_READLANE_B32 {v()}, {s()}",
        lambda: (lambda d: f"{d} = V_WRITELANE_B32 {r.rng.choice(['1', '$sgpr2'])}, $sgpr2, {d}")(v()),
        lambda: f"{r.a()} = V_ACCVGPR_WRITE_B32_e64 {v()}, {EXEC}",
        lambda: f"{v()} = V_ACCVGPR_READ_B32_e64 {r.a()}, {EXEC}",
    ])()


def memory(r):
    v, s = r.v, r.s
    return r.rng.choice([
        lambda: f"{v()} = GLOBAL_LOAD_DWORD {v(2)}, 0, 0, {EXEC}",
        lambda: f"{v(4)} = GLOBAL_LOAD_DWORDX4_SADDR {s(2)}, {v()}, 0, 0, {EXEC}",
        lambda: f"GLOBAL_STORE_DWORD {v(2)}, {v()}, 0, 0, {EXEC}",
        lambda: f"GLOBAL_STORE_DWORDX4 {v(2)}, {v(4)}, 0, 0, {EXEC}",
        lambda: f"GLOBAL_STORE_DWORDX3_SADDR {v()}, {v(3)}, {s(2)}, 0, 0, {EXEC}",
        lambda: f"BUFFER_STORE_DWORDX4_OFFEN_exact {v(4)}, {v()}, {s(4)}, {r.rng.choice(['0', s()])}, 0, 0, 0, {EXEC}",
        lambda: f"{v()} = BUFFER_LOAD_DWORD_OFFEN {v()}, {s(4)}, {s()}, 0, 0, 0, {EXEC}",
        lambda: f"BUFFER_LOAD_DWORD_LDS_OFFEN {v()}, {s(4)}, {s()}, 0, 0, 0, {EXEC}, implicit $m0",
        lambda: f"{v()} = DS_READ_B32_gfx9 {v()}, 0, 0, {EXEC}",
        lambda: f"DS_WRITE_B64_gfx9 {v()}, {v(2)}, 0, 0, {EXEC}",
    ])()


def scalar(r):
    return r.rng.choice([
        lambda: f"$m0 = S_MOV_B32 {r.s()}",
        lambda: f"{r.s()} = S_MOV_B32 {r.s()}",
        lambda: "S_SETREG_IMM32_B32 0, 6145, implicit-def $mode, implicit $mode",
        lambda: f"{r.s()} = S_GETREG_B32 6145, implicit $mode",
        lambda: "S_SENDMSG 1, implicit $exec, implicit $m0",
        lambda: f"$exec = S_MOV_B64 {r.s(2)}",
    ])()


def main():
    count, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    registers = Registers(rng)
    print("---\nname: sequences\ntracksRegLiveness: false\nbody: |")
    for n in range(count):
        print(f"  bb.{n}:")
        weights = rng.choice([(5, 3, 2, 0), (2, 4, 2, 1), (0, 5, 3, 1), (0, 3, 3, 4)])
        for _ in range(rng.randrange(3, 9)):
            print("    " + rng.choices((matrix, valu, memory, scalar), weights)[0](registers))
        print("    S_ENDPGM 0\n")
    print("...")


main()
