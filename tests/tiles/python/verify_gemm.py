"""Runs a GEMM module's dispatch_micro on whole matrices and verifies every element of C.

usage: margay run -- python3 verify_gemm.py MODULE.so [--layout nt|nn] [--size 8192] [--scalars]

C is compared with A op(B) by Freivalds' check: for random X of +-1, C X must equal A (op(B) X), which
costs a few matrix-vector products. A wrong element shows in its row with its whole error in every
column of X, so eight columns leave no room; what rounding may do to a row is bounded beside it. 64
rows are also compared element by element with f64 dot products. NaN and infinity fail both.
"""

import argparse
import importlib.util
import sys
import time

import numpy as np

COLUMNS = 8
UNIT = 2.0**-24  # of f32
LAMBDA = 10  # standard deviations of rounding: see src/apps/gemm/verify.h


def load_module(path):
    spec = importlib.util.spec_from_file_location("tk_kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_bf16(generator, shape):
    """Normal numbers / 10 as bf16 bits, round to nearest even."""
    bits = (generator.standard_normal(shape, dtype=np.float32) / 10).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def to_float(bits, dtype=np.float64):
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(dtype)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("--layout", choices=["nt", "nn"], default="nt")
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--scalars", action="store_true", help="pass alpha = 1 and beta = 0 as well")
    options = parser.parse_args()

    size = options.size
    generator = np.random.default_rng(1)
    a_bits = random_bf16(generator, (size, size))
    b_bits = random_bf16(generator, (size, size))
    c = np.full((size, size), np.nan, np.float32)
    kernel = load_module(options.module)
    start = time.time()
    kernel.dispatch_micro(a_bits, b_bits, c, *((1.0, 0.0) if options.scalars else ()))
    print(f"host time of dispatch_micro: {time.time() - start:.1f} s")

    a = to_float(a_bits)
    b = to_float(b_bits)
    b = b.T if options.layout == "nt" else b
    if not np.isfinite(c).all():
        print(f"NOT VERIFIED: {np.count_nonzero(~np.isfinite(c))} elements of C were never written")
        return 1

    a_norm = np.linalg.norm(a, axis=1)
    b_norm = np.linalg.norm(b, axis=0)
    # The rounding errors of a row's elements are independent of X: they add up like a random walk.
    row_bound = LAMBDA * UNIT * np.sqrt(size) * a_norm * np.linalg.norm(b_norm) * LAMBDA
    x = generator.choice([-1.0, 1.0], (size, COLUMNS))
    error = np.abs(c.astype(np.float64) @ x - a @ (b @ x))
    wrong_rows = np.count_nonzero((error > row_bound[:, None]).any(axis=1))

    rows = generator.choice(size, 64, replace=False)
    sample_error = np.abs(c[rows] - a[rows] @ b)
    bound = LAMBDA * UNIT * np.sqrt(size) * a_norm[rows, None] * b_norm
    large = np.count_nonzero(sample_error > bound)
    print(f"rows that fail Freivalds' check: {wrong_rows} of {size}")
    print(f"large errors in {sample_error.size} elements against f64: {large}; max {sample_error.max():.3g}, "
          f"mean {sample_error.mean():.3g}")
    verified = wrong_rows == 0 and large == 0
    print("verified" if verified else "NOT VERIFIED")
    return 0 if verified else 1


if __name__ == "__main__":
    sys.exit(main())
