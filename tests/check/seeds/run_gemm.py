"""Runs dispatch_micro of a kernel module on small matrices and says what became of C.

usage: margay check|run -- python3 run_gemm.py MODULE.so M N K nt|nn [--scalars]

It prints "result: right", "result: written SHARE" (right wherever it was written) or "result: wrong".
Each matrix ends where its memory ends: what lies behind may not be touched.
"""

import argparse
import ctypes
import importlib.util
import mmap
import sys

import numpy as np

GUARD_BYTES = 1 << 20
PROTECTION_NONE = 0
UNWRITTEN = np.float32(-0.5)  # no sum of whole numbers


def guarded(values):
    """A copy of `values` in memory of its own, with inaccessible pages before and behind."""
    page = mmap.PAGESIZE
    inside = -(-values.nbytes // page) * page
    memory = mmap.mmap(-1, inside + 2 * GUARD_BYTES)
    start = ctypes.addressof(ctypes.c_byte.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for guard in (start, start + GUARD_BYTES + inside):
        if protect(ctypes.c_void_p(guard), ctypes.c_size_t(GUARD_BYTES), PROTECTION_NONE) != 0:
            sys.exit(f"mprotect failed: {ctypes.get_errno()}")
    offset = GUARD_BYTES + inside - values.nbytes
    array = np.frombuffer(memory, values.dtype, values.size, offset).reshape(values.shape)
    array[...] = values
    return array


def random_bf16(generator, shape):
    """Whole numbers from -4 to 4 as bf16 bits: products and sums are exact, in any order."""
    values = generator.integers(-4, 5, shape).astype(np.float32)
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def to_float(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("sizes", nargs=3, type=int)
    parser.add_argument("layout", choices=["nt", "nn"])
    parser.add_argument("--scalars", action="store_true", help="pass alpha = 1 and beta = 0 as well")
    options = parser.parse_args()

    spec = importlib.util.spec_from_file_location("tk_kernel", options.module)
    kernel = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(kernel)

    m, n, k = options.sizes
    generator = np.random.default_rng(1)
    a_bits = guarded(random_bf16(generator, (m, k)))
    b_bits = guarded(random_bf16(generator, (n, k) if options.layout == "nt" else (k, n)))
    got = guarded(np.full((m, n), UNWRITTEN, np.float32))
    try:
        kernel.dispatch_micro(a_bits, b_bits, got, *((1.0, 0.0) if options.scalars else ()))
    except RuntimeError as error:
        print(f"dispatch_micro failed: {error}")  # C is judged all the same

    wanted = to_float(a_bits) @ (to_float(b_bits).T if options.layout == "nt" else to_float(b_bits))
    written = got != UNWRITTEN
    if np.array_equal(got, wanted):
        print("result: right")
    elif np.array_equal(got[written], wanted[written]) and written.any():
        print(f"result: written {written.mean():.4f}")
    else:
        wrong = (got != wanted) & written
        print("result: wrong")
        print(f"{wrong.sum()} elements of {got.size} are wrong, {(~written).sum()} were never written")


if __name__ == "__main__":
    main()
