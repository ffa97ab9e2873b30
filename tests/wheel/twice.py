"""A Triton kernel on a NumPy array; with the argument `unmasked` it writes past its end."""

import sys

import numpy
import triton
import triton.language as tl


@triton.jit
def twice(x_ptr, n, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(x_ptr + at, 2 * x, mask=at < size)


data = numpy.ones(100, numpy.float32)
twice[(1,)](data, 100, 128 if "unmasked" in sys.argv else 100, BLOCK=128)
print("sum", data.sum())
