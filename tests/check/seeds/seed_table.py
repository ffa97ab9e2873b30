"""What is known of each kernel of the collection: how to run it small, which bugs it has, and the text
edits that take exactly those bugs out.

A collection is a folder of kernels by other authors (CMake variable MARGAY_KERNEL_COLLECTION). None of
their text is here beyond the few words each edit has to find.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Edit:
    """Replaces `old`, which must occur `count` times."""

    old: str
    new: str
    count: int = 1


@dataclasses.dataclass(frozen=True)
class Seed:
    size: tuple[int, int, int]  # M, N, K: the smallest that shows the bug
    findings: tuple[str, ...] = ()  # as run_pair.py takes them; as written
    edits: tuple[Edit, ...] = ()  # of the fixed variant
    # What C must be. right: all of it. written: right wherever it was written, and that is `share`
    # of it. wrong: not right, always the same. any: a race decides.
    result: str = "any"
    fixed_result: str = "right"
    share: float = 1.0
    layout: str = "nt"  # nt: C = A B^T, nn: C = A B
    scalars: bool = False  # alpha and beta are passed as well
    shim: tuple[Edit, ...] = ()  # applied to both variants, so that it compiles at all
    has_fix: bool = True


# One LDS buffer is filled again while other waves still read it.
RACE = ("racecheck:write-after-read",)
# Results of the kernel's own asm ds_read are used before its s_waitcnt, which names no register. Not in
# every kernel that has such a wait: clang leaves the uses of some behind it.
ASM_WAIT = ("waitcheck:read-before-wait", "?waitcheck:write-before-wait")
# A group of eight waves' loader, called by four: half the rows of a tile are never written.
GROUP_MISMATCH = ("initcheck:uninitialised-lds",)

# The barrier between the last read of a slice and the stores of the next one.
BARRIER_BEFORE_STORES = Edit(
    'asm volatile("s_waitcnt vmcnt(1)");', 'asm volatile("s_waitcnt vmcnt(1)"); __syncthreads();'
)

# A wait that takes the registers it is for: no use of them can be moved in front of it. It has to take
# them as the load gave them, in pairs: of two halves that are named apart, clang copies one first.
TIED_WAIT = Edit(
    """__device__ inline void wait_for_ds() {
    asm volatile("s_waitcnt lgkmcnt(0)\\n");
}""",
    """template<typename RT>
__device__ inline void wait_for_ds_of(RT &tile) {
    using pair = float __attribute__((ext_vector_type(2), may_alias));
    #pragma unroll
    for (int i = 0; i < RT::height; i++) {
        #pragma unroll
        for (int j = 0; j < RT::width; j++) {
            auto &data = reinterpret_cast<pair &>(tile.tiles[i][j].data);
            asm volatile("s_waitcnt lgkmcnt(0)" : "+v"(data));
        }
    }
}
template<typename... RT>
__device__ inline void wait_for_ds(RT &...tiles) { (wait_for_ds_of(tiles), ...); }""",
)
FIRST_TIED_WAIT = Edit(
    "    wait_for_ds();\n\n    const int num_tiles",
    "    wait_for_ds(a_reg_0, a_reg_1, b_reg_0, b_reg_1);\n    __syncthreads();\n\n    const int num_tiles",
)
LOOP_TIED_WAIT = Edit(
    "        wait_for_ds();\n",
    "        wait_for_ds(a_reg_0_next, a_reg_1_next, b_reg_0_next, b_reg_1_next);\n        __syncthreads();\n",
)


# The HIP headers lack it. On a wave of 64 lanes in step it orders nothing that is not in order.
SYNC_WARP = Edit(
    "using namespace kittens;",
    "using namespace kittens;\n__device__ inline void __syncwarp() { __builtin_amdgcn_wave_barrier(); }",
)


def barrier_after(statement):
    """A barrier behind the last statement of a loop's body."""
    return Edit(statement, statement + "\n        __syncthreads();")


LAST_MMA = "mma_ABt(C_accum[3], a_reg_1, b_reg_1, C_accum[3]);"

SEEDS = {
    # Blocks of 256 x 256; the waves of neighbouring workgroups write the same tiles of C.
    "000-1": Seed(
        size=(512, 512, 512),
        findings=RACE + ("racecheck:global-race",),
        edits=(
            BARRIER_BEFORE_STORES,
            Edit("row * 4 + warp_row", "row * 8 + warp_row", 4),
            Edit("col * 4 + warp_col", "col * 8 + warp_col", 4),
        ),
        fixed_result="written",
        share=24 / 64,
    ),
    "000-2": Seed(size=(256, 256, 512), findings=RACE, edits=(BARRIER_BEFORE_STORES,)),
    "000-3": Seed(size=(256, 256, 512), findings=RACE, edits=(BARRIER_BEFORE_STORES,)),
    "000-4": Seed(
        size=(256, 256, 512),
        findings=RACE,
        edits=(
            BARRIER_BEFORE_STORES,
            Edit("col * 8 + warp_col * 4", "col * 8 + warp_col * 2"),
            Edit("C_accum[4], {0, 0, base_row, base_col + 2}", "C_accum[4], {0, 0, base_row, base_col + 4}"),
            Edit("C_accum[5], {0, 0, base_row, base_col + 3}", "C_accum[5], {0, 0, base_row, base_col + 5}"),
            Edit(
                "C_accum[6], {0, 0, base_row + 1, base_col + 2}",
                "C_accum[6], {0, 0, base_row + 1, base_col + 4}",
            ),
            Edit(
                "C_accum[7], {0, 0, base_row + 1, base_col + 3}",
                "C_accum[7], {0, 0, base_row + 1, base_col + 5}",
            ),
        ),
    ),
    "001-1": Seed(
        size=(256, 256, 512),
        findings=RACE + ASM_WAIT + GROUP_MISMATCH,
        edits=(
            Edit("kittens::group<8>", "kittens::group<4>"),
            TIED_WAIT,
            FIRST_TIED_WAIT,
            LOOP_TIED_WAIT,
        ),
    ),
    # 16 bytes of static and 64 KiB of dynamic LDS: the launch is refused and the error is not checked.
    "001-2": Seed(size=(128, 128, 256), findings=("memcheck:launch-refused",), result="wrong", shim=(SYNC_WARP,), has_fix=False),
    "001-3": Seed(
        size=(256, 256, 512),
        findings=GROUP_MISMATCH,
        result="wrong",
        edits=(
            Edit(
                "        if (warp_id < 4) {\n            G::load(As[next_smem]",
                "        {\n            G::load(As[next_smem]",
            ),
            TIED_WAIT,
            Edit("wait_for_ds();", "wait_for_ds(a_reg_0, a_reg_1, b_reg_0, b_reg_1);", 2),
        ),
    ),
    "001-4": Seed(
        size=(256, 256, 512),
        findings=RACE + ASM_WAIT,
        edits=(
            TIED_WAIT,
            FIRST_TIED_WAIT,
            LOOP_TIED_WAIT,
            Edit("warp_row_next = warp_row + 2;", "warp_row_next = warp_row + 4;", 2),
            Edit("warp_col_next = warp_col + 2;", "warp_col_next = warp_col + 4;", 2),
        ),
        fixed_result="written",
        share=32 / 64,
    ),
    "001-5": Seed(
        size=(256, 256, 512),
        findings=RACE + ASM_WAIT,
        edits=(
            Edit("i < 4; i++) { zero", "i < 2; i++) { zero"),
            Edit("    prefetch_reg_tile(a_reg_1, As, warp_row_next, 0);\n", ""),
            TIED_WAIT,
            Edit(
                "    wait_for_ds();\n\n    const int num_tiles",
                "    wait_for_ds(a_reg_0, b_reg_0, b_reg_1);\n    __syncthreads();\n\n    const int num_tiles",
            ),
            Edit(
                "        wait_for_ds();\n",
                "        wait_for_ds(a_reg_0_next, b_reg_0_next, b_reg_1_next);\n        __syncthreads();\n",
            ),
        ),
    ),
    "002-1": Seed(size=(128, 256, 256), result="right", layout="nn", scalars=True, has_fix=False),
    "002-2": Seed(size=(128, 128, 256), result="right", layout="nn", scalars=True, has_fix=False),
    "002-5": Seed(
        size=(128, 128, 256),
        findings=RACE,
        edits=(
            Edit(
                "            }\n        }\n    }\n\n    // Store result back",
                "            }\n        }\n        __syncthreads();\n    }\n\n    // Store result back",
            ),
        ),
        layout="nn",
        scalars=True,
    ),
    "003-1": Seed(size=(128, 128, 256), result="right", has_fix=False),
    "003-2": Seed(size=(256, 256, 256), result="right", has_fix=False),
    "003-3": Seed(size=(256, 256, 256), findings=RACE, edits=(barrier_after(LAST_MMA),)),
    "004-1": Seed(
        size=(256, 256, 256),
        findings=RACE,
        edits=(
            Edit(
                f"        {LAST_MMA}\n    }}\n\n    #pragma unroll\n    for (int i",
                f"        {LAST_MMA}\n        __syncthreads();\n    }}\n\n    #pragma unroll\n    for (int i",
            ),
        ),
    ),
    # The tile coordinate counts 128 columns where 32 are meant: past the end of A and B.
    "004-3": Seed(
        size=(128, 128, 512),
        # Where the first access out of bounds ends the kernel, the race does not show.
        findings=("memcheck:out-of-bounds", "?racecheck:write-after-read"),
        result="wrong",
        edits=(
            Edit("kk = 0; kk < K_UNROLL; ++kk) {\n            G::load", "kk = 0; kk < 1; ++kk) {\n            G::load"),
            Edit("tile/K_STEP + kk", "tile/(K_STEP*K_UNROLL)", 2),
            Edit(
                f"            {LAST_MMA}\n        }}\n    }}\n\n    #pragma",
                f"            {LAST_MMA}\n        }}\n        __syncthreads();\n    }}\n\n    #pragma",
            ),
        ),
    ),
    "004-5": Seed(
        size=(256, 256, 512),
        findings=RACE,
        edits=(
            Edit(
                f"            {LAST_MMA}\n        }}\n    }}\n\n    #pragma",
                f"            {LAST_MMA}\n        }}\n        __syncthreads();\n    }}\n\n    #pragma",
            ),
        ),
    ),
}

# 001-2 with less dynamic LDS, so that it launches: then it deadlocks in its first iteration.
SEEDS["001-2-launched"] = dataclasses.replace(
    SEEDS["001-2"],
    findings=("synccheck:deadlock",) + tuple("?" + name.removeprefix("?") for name in ASM_WAIT),
    shim=(SYNC_WARP, Edit("return 65536;", "return 32768;")),
)

# They do not compile: calls that do not exist, sizes that are not defined.
REFUSED = ("002-3", "002-4")
