"""The steps of the ladder, kernels/gemm/levelNN_name, for margay.matmul(a, b, level=N)."""

from dataclasses import dataclass

from margay import arrays
from margay.kernels import LADDER, GlobalLayout, Kernel

# kernels/gemm/ladder.h; tests/python/test_plans.py holds the two against each other.
_MAX_EXTENT = 1 << 20
FAST_LEVEL = 13  # the kernel that runs without a level


@dataclass(frozen=True)
class Level:
    """One kernel: what its sizes must be multiples of, and how B is stored."""

    number: int
    block_m: int
    block_n: int
    step_k: int
    threads: int
    transpose_b: bool  # B is stored n x k
    grid_1d: bool

    @property
    def kernel(self):
        symbol = f"gemm_level{self.number:02}"
        return Kernel("gemm_ladder", symbol, LADDER, (self.threads, 1, 1))


_LEVELS = {
    level.number: level
    for level in [
        Level(1, 64, 64, 64, 64, False, False),
        Level(2, 128, 128, 64, 256, False, False),
        Level(3, 128, 128, 64, 256, True, False),
        Level(4, 128, 128, 32, 256, True, False),
        Level(5, 128, 128, 32, 512, True, False),
        Level(6, 128, 128, 32, 256, True, False),
        Level(7, 128, 128, 32, 512, True, False),
        Level(8, 256, 256, 32, 512, True, False),
        Level(9, 256, 256, 32, 512, True, False),
        Level(10, 256, 256, 64, 512, True, False),
        Level(11, 256, 256, 64, 512, True, True),
        Level(12, 256, 256, 64, 512, True, True),
    ]
}


def find(number):
    """The level; None for the fast kernel, which has no rules of its own."""
    if number is None or number == FAST_LEVEL:
        return None
    if number not in _LEVELS:
        raise ValueError(f"level: expected 1 to {FAST_LEVEL}, got {number}")
    return _LEVELS[number]


def dense(matrix):
    """The view, or that of a copy, as the ladder needs it: without gaps and on 16 bytes."""
    return matrix if matrix.is_contiguous and matrix.address % 16 == 0 else arrays.copied(matrix)


@dataclass(frozen=True)
class Problem:
    """C = A op(B) on one level; `matrices` is a gemm.Problem."""

    level: Level
    matrices: object

    def check(self):
        level, p = self.level, self.matrices
        for name, extent, block in (
            ("m", p.m, level.block_m), ("n", p.n, level.block_n), ("k", p.k, level.step_k)
        ):  # fmt: skip
            if extent <= 0 or extent % block or extent > _MAX_EXTENT:
                raise ValueError(
                    f"level {level.number} needs {name} in multiples of {block}, up to {_MAX_EXTENT}; "
                    f"{name} is {extent}"
                )
        if (p.alpha, p.beta, p.output) != (1, 0, "float32"):
            raise ValueError(
                f"level {level.number} makes float32 results, without alpha and beta; level "
                f"{FAST_LEVEL} has them"
            )
        if p.c % 16 or p.ldc != p.n:
            raise ValueError(f"out: level {level.number} needs it without gaps and on 16 bytes")
        if level.grid_1d and self._blocks[0] * self._blocks[1] * level.threads > 0xFFFFFFFF:
            raise ValueError("the result has too many blocks for one launch")

    @property
    def _blocks(self):
        return self.matrices.n // self.level.block_n, self.matrices.m // self.level.block_m

    def launch(self):
        p, (across, down) = self.matrices, self._blocks
        grid = (across * down, 1, 1) if self.level.grid_1d else (across, down, 1)
        rows_of_b = (p.n, p.k) if self.level.transpose_b else (p.k, p.n)
        values = LADDER(
            GlobalLayout(1, 1, p.m, p.k, p.a),
            GlobalLayout(1, 1, *rows_of_b, p.b),
            GlobalLayout(1, 1, p.m, p.n, p.c),
        )
        self.level.kernel.launch(grid, values)
