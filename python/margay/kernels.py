"""The kernels that ship with Margay as code objects, and how each is launched.

A kernel is one line of KERNELS: the code object's file, the symbol, the structure of its parameters,
its block and its LDS. What chooses between kernels and computes the grid stands with the function
that users call (gemm.py, heads.py, rows.py).
"""

import ctypes
from dataclasses import dataclass
from typing import Tuple

from margay import hip, library


class GlobalLayout(ctypes.Structure):
    """kittens::gl<T, -1, -1, -1, -1>: four extents and an address."""

    _fields_ = [
        ("batch", ctypes.c_int32),
        ("depth", ctypes.c_int32),
        ("rows", ctypes.c_int32),
        ("cols", ctypes.c_int32),
        ("data", ctypes.c_void_p),
    ]


def arguments(name, fields):
    """A structure with C's layout, from "a: p, m: i32, ...": p is a pointer, gl a GlobalLayout."""
    types = {
        "p": ctypes.c_void_p, "i32": ctypes.c_int32, "i64": ctypes.c_int64, "f32": ctypes.c_float,
        "gl": GlobalLayout,
    }  # fmt: skip
    pairs = [field.split(":") for field in fields.split(",")]
    members = [(field.strip(), types[kind.strip()]) for field, kind in pairs]
    return type(name, (ctypes.Structure,), {"_fields_": members})


@dataclass(frozen=True)
class Kernel:
    """One kernel of a code object in PREFIX/lib/margay/kernels."""

    code_object: str
    symbol: str
    arguments: type
    block: Tuple[int, int, int]
    dynamic_lds: int = 0

    def launch(self, grid, values):
        """Runs it and waits. RuntimeError when the launch or the kernel fails."""
        file = library.installed().kernels / f"{self.code_object}.hsaco"
        hip.launch(
            hip.function(file, self.symbol), self.symbol, grid, self.block, self.dynamic_lds, values
        )


# kernels/gemm/plan.h: Arguments.
GEMM = arguments(
    "GemmArguments",
    "a: p, b: p, c: p, m: i32, n: i32, k: i32, lda: i64, ldb: i64, ldc: i64, alpha: f32, beta: f32",
)

# kernels/gemm/ladder.h: Arguments.
LADDER = arguments("LadderArguments", "a: gl, b: gl, c: gl")

# Arguments in kernels/attention/plan.h and the others'.
ATTENTION = arguments("AttentionArguments", "q: gl, k: gl, v: gl, o: gl, lse: gl, scale: f32")
SOFTMAX = arguments("SoftmaxArguments", "x: gl, y: gl")
LAYERNORM = arguments(
    "LayernormArguments", "x: gl, residual: gl, weight: gl, bias: gl, y: gl, sum: gl, eps: f32"
)
ROTARY = arguments("RotaryArguments", "x: gl, cos: gl, sin: gl, y: gl")

KERNELS = {
    kernel.symbol: kernel
    for kernel in [
        *(
            Kernel("gemm_bf16", f"gemm_bf16_{layout}_{output}{reads}", GEMM, (512, 1, 1))
            for layout in ("nt", "nn")
            for output in ("f32", "bf16")
            for reads in ("", "_unaligned")
        ),
        *(
            Kernel("attention_bf16", f"attention_bf16_d{dim}{masked}", ATTENTION, (256, 1, 1))
            for dim in (64, 128)
            for masked in ("", "_causal")
        ),
        *(
            Kernel("softmax", f"softmax_{element}_{size}", SOFTMAX, (threads, 1, 1))
            for element in ("bf16", "f32")
            for size, threads in (("1024", 256), ("4096", 256), ("long", 512))
        ),
        *(
            Kernel("layernorm_bf16", f"layernorm_bf16_{size}", LAYERNORM, (size // 16, 1, 1))
            for size in (1024, 2048, 4096, 8192)
        ),
        *(Kernel("rotary_bf16", f"rotary_bf16_d{dim}", ROTARY, (256, 1, 1)) for dim in (64, 128)),
    ]
}
