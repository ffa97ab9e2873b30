"""Matrix products of the substitutes of rocBLAS and hipBLASLt against NumPy's; what they refuse."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

from conftest import needs_margay

pytestmark = needs_margay

NONE, TRANSPOSED, CONJUGATE = 111, 112, 113
# numpy, rocblas_datatype, hipDataType
TYPES = {"f4": (151, 0), "f8": (152, 1), "c8": (154, 4), "c16": (155, 5), "f2": (150, 2)}
TOLERANCE = {"f4": 1e-5, "f8": 1e-13, "c8": 1e-5, "c16": 1e-13, "f2": 2e-3}


@pytest.fixture(scope="module", name="libraries")
def _libraries():
    home = os.environ["MARGAY_HOME"]
    loaded = {}
    for name, path in {"hip": "lib/margay/substitutes/libamdhip64.so.7", "rocblas": "lib/margay/substitutes/librocblas.so.5",
                       "hipblaslt": "lib/margay/substitutes/libhipblaslt.so.1"}.items():  # fmt: skip
        loaded[name] = ctypes.CDLL(os.path.join(home, path), mode=ctypes.RTLD_GLOBAL)
    return loaded


def random(generator, shape, dtype):
    values = generator.integers(-8, 9, shape) / 4
    if dtype[0] == "c":
        values = values + 1j * generator.integers(-8, 9, shape) / 4
    return np.ascontiguousarray(values, dtype)


def by_columns(matrix, padding):
    """(memory, leading dimension) of a batch of matrices whose columns are `padding` elements apart."""
    batch, rows, columns = matrix.shape
    memory = np.full((batch, columns, rows + padding), 77, matrix.dtype)
    memory[:, :, :rows] = np.swapaxes(matrix, 1, 2)
    return memory, rows + padding


def turned(matrix, operation):
    matrix = matrix if operation == NONE else np.swapaxes(matrix, 1, 2)
    return matrix.conj() if operation == CONJUGATE else matrix


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def problem(seed, dtype):
    generator = np.random.default_rng(seed)
    m, n, k = (int(v) for v in generator.integers(1, 90, 3))
    batch = int(generator.choice([1, 3]))
    operations = [int(v) for v in generator.choice([NONE, TRANSPOSED, CONJUGATE], 2)]
    a = random(generator, (batch, m, k) if operations[0] == NONE else (batch, k, m), dtype)
    b = random(generator, (batch, k, n) if operations[1] == NONE else (batch, n, k), dtype)
    c = random(generator, (batch, m, n), dtype)
    alpha, beta = random(generator, 1, dtype), random(generator, 1, dtype) * int(generator.integers(2))
    wide = "c16" if dtype[0] == "c" else "f8"
    expected = alpha.astype(wide) * (turned(a, operations[0]).astype(wide) @ turned(b, operations[1]).astype(wide))
    return (m, n, k), batch, operations, a, b, c, alpha, beta, expected + beta.astype(wide) * c.astype(wide)


def compare(memory, rows, expected, dtype):
    got = np.swapaxes(memory[:, :, :rows], 1, 2)
    assert np.abs(got - expected).max() <= TOLERANCE[dtype] * max(np.abs(expected).max(), 1)
    assert (memory[:, :, rows:] == 77).all()  # what is between the columns is left alone


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("seed", range(3))
def test_rocblas(libraries, seed, dtype):
    (m, n, k), batch, operations, a, b, c, alpha, beta, expected = problem(seed, dtype)
    (a, lda), (b, ldb), (c, ldc) = by_columns(a, 2), by_columns(b, 0), by_columns(c, 5)
    call = getattr(libraries["rocblas"], f"rocblas_{dict(f4='s', f8='d', c8='c', c16='z', f2='h')[dtype]}gemm_strided_batched")
    handle = ctypes.c_void_p()
    assert libraries["rocblas"].rocblas_create_handle(ctypes.byref(handle)) == 0
    stride = [ctypes.c_int64(array[0].size) for array in (a, b, c)]
    status = call(handle, *operations, m, n, k, pointer(alpha), pointer(a), lda, stride[0], pointer(b), ldb, stride[1],
                  pointer(beta), pointer(c), ldc, stride[2], batch)  # fmt: skip
    assert status == 0
    compare(c, m, expected, dtype)
    assert libraries["rocblas"].rocblas_destroy_handle(handle) == 0


def test_rocblas_ex(libraries):
    (m, n, k), batch, operations, a, b, c, alpha, beta, expected = problem(11, "c16")
    (a, lda), (b, ldb), (c, ldc) = by_columns(a, 1), by_columns(b, 1), by_columns(c, 0)
    (d, ldd), size = by_columns(np.zeros((batch, m, n), "c16"), 3), [ctypes.c_int64]
    handle, kind = ctypes.c_void_p(), TYPES["c16"][0]
    libraries["rocblas"].rocblas_create_handle(ctypes.byref(handle))
    status = libraries["rocblas"].rocblas_gemm_strided_batched_ex(
        handle, *operations, m, n, k, pointer(alpha), pointer(a), kind, lda, size[0](a[0].size), pointer(b), kind, ldb,
        size[0](b[0].size), pointer(beta), pointer(c), kind, ldc, size[0](c[0].size), pointer(d), kind, ldd, size[0](d[0].size),
        batch, kind, 0, 0, 0)  # fmt: skip
    assert status == 0
    compare(d, m, expected, "c16")


class Lt:
    """hipBLASLt's handles, made as XLA makes them."""

    def __init__(self, library):
        self.library = library
        self.handle = self.made("hipblasLtCreate")

    def made(self, call, *values):
        out = ctypes.c_void_p()
        assert getattr(self.library, call)(ctypes.byref(out), *values) == 0
        return out

    def layout(self, kind, rows, columns, ld, batch, stride):
        out = self.made("hipblasLtMatrixLayoutCreate", kind, ctypes.c_uint64(rows), ctypes.c_uint64(columns), ctypes.c_int64(ld))
        for attribute, value in ((0, ctypes.c_int32(batch)), (1, ctypes.c_int64(stride))):
            assert self.library.hipblasLtMatrixLayoutSetAttribute(out, attribute, ctypes.byref(value),
                                                                  ctypes.c_size_t(ctypes.sizeof(value))) == 0  # fmt: skip
        return out

    def description(self, scale, **attributes):
        out = self.made("hipblasLtMatmulDescCreate", 2, scale)
        numbers = {"a": 0, "b": 1, "epilogue": 2, "bias": 3, "a_scale": 5}
        for name, value in attributes.items():
            assert self.library.hipblasLtMatmulDescSetAttribute(out, numbers[name], ctypes.byref(value),
                                                                ctypes.c_size_t(ctypes.sizeof(value))) == 0  # fmt: skip
        return out

    def algorithms(self, description, layouts):
        preference = self.made("hipblasLtMatmulPreferenceCreate")
        results, count = (ctypes.c_uint8 * 64)(), ctypes.c_int(-1)
        status = self.library.hipblasLtMatmulAlgoGetHeuristic(self.handle, description, *layouts, preference, 1, results,
                                                              ctypes.byref(count))  # fmt: skip
        return status, count.value, results


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("bias", [False, True])
def test_hipblaslt(libraries, dtype, bias):
    lt = Lt(libraries["hipblaslt"])
    (m, n, k), batch, operations, a, b, c, alpha, beta, expected = problem(7 + bias, dtype)
    (a, lda), (b, ldb), (c, ldc) = by_columns(a, 0), by_columns(b, 3), by_columns(c, 0)
    d, ldd = by_columns(np.zeros((batch, m, n), dtype), 1)
    kind, scale = TYPES[dtype][1], TYPES["f4" if dtype == "f2" else dtype][1]
    attributes = {"a": ctypes.c_int32(operations[0]), "b": ctypes.c_int32(operations[1])}
    if bias:
        row = random(np.random.default_rng(1), m, dtype)
        attributes |= {"epilogue": ctypes.c_uint32(4), "bias": pointer(row)}
        expected = expected + row[:, None]
    description = lt.description(scale, **attributes)
    shapes = [(m, k) if operations[0] == NONE else (k, m), (k, n) if operations[1] == NONE else (n, k), (m, n), (m, n)]
    layouts = [lt.layout(kind, *shape, ld, batch, memory[0].size)
               for shape, ld, memory in zip(shapes, (lda, ldb, ldc, ldd), (a, b, c, d))]  # fmt: skip
    status, count, algorithm = lt.algorithms(description, layouts)
    assert (status, count) == (0, 1)
    if dtype == "f2":  # scales are f32 then
        alpha, beta = alpha.astype("f4"), beta.astype("f4")
    status = libraries["hipblaslt"].hipblasLtMatmul(
        lt.handle, description, pointer(alpha), pointer(a), layouts[0], pointer(b), layouts[1], pointer(beta), pointer(c),
        layouts[2], pointer(d), layouts[3], algorithm, None, ctypes.c_size_t(0), None)  # fmt: skip
    assert status == 0
    compare(d, m, expected, dtype)


def bf16_bits(values):
    return (np.ascontiguousarray(values, "f4").view("u4") >> 16).astype("u2")  # of values that it holds exactly


def bf16_values(bits):
    return (bits.astype("u4") << 16).view("f4")


# hipDataType and numpy's type in memory of A and B, of C, D and the bias, and of the scale; the relative error allowed
MIXED = {
    "bf16": ((14, "u2"), (14, "u2"), (0, "f4"), 2**-8),
    "bf16_f32": ((14, "u2"), (0, "f4"), (0, "f4"), 0),
    "f16_f32": ((2, "f2"), (0, "f4"), (0, "f4"), 0),
    "i8_i32": ((3, "i1"), (10, "i4"), (10, "i4"), 0),
}


@pytest.mark.parametrize("epilogue", [1, 2, 4, 6], ids=["plain", "relu", "bias", "relu and bias"])
@pytest.mark.parametrize("name", MIXED)
def test_hipblaslt_of_two_types(libraries, name, epilogue):
    """Small whole numbers, so that every sum is exact; rows and columns that fill no tile."""
    (narrow, stored), (wide, kept), (scale, scalar), error = MIXED[name]
    generator, (m, n, k) = np.random.default_rng(5), (70, 19, 45)
    a, b, c, row = (generator.integers(-9, 10, shape) for shape in ((m, k), (n, k), (m, n), (m,)))
    expected = 3 * (a @ b.T) - 2 * c + (row[:, None] if epilogue & 4 else 0)
    expected = np.maximum(expected, 0) if epilogue & 2 else expected
    store = lambda values, to: bf16_bits(values) if to == "u2" else np.ascontiguousarray(values, to)
    a, b, c, row = store(a.T, stored), store(b.T, stored), store(c.T, kept), store(row, kept)  # by columns; B is transposed
    d = np.full((n, m), 77, kept)
    lt = Lt(libraries["hipblaslt"])
    description = lt.description(scale, b=ctypes.c_int32(TRANSPOSED), epilogue=ctypes.c_uint32(epilogue), bias=pointer(row))
    layouts = [lt.layout(kind, rows, columns, rows, 1, 0)
               for kind, rows, columns in ((narrow, m, k), (narrow, n, k), (wide, m, n), (wide, m, n))]  # fmt: skip
    status, count, algorithm = lt.algorithms(description, layouts)
    assert (status, count) == (0, 1)
    alpha, beta = np.full(1, 3, scalar), np.full(1, -2, scalar)
    status = libraries["hipblaslt"].hipblasLtMatmul(
        lt.handle, description, pointer(alpha), pointer(a), layouts[0], pointer(b), layouts[1], pointer(beta), pointer(c),
        layouts[2], pointer(d), layouts[3], algorithm, None, ctypes.c_size_t(0), None)  # fmt: skip
    assert status == 0
    got = bf16_values(d) if kept == "u2" else d
    assert (np.abs(got.T.astype("f8") - expected) <= error * np.abs(expected)).all()


def test_what_is_not_served_is_refused(libraries, capfd):
    lt = Lt(libraries["hipblaslt"])
    fp8 = 1000  # HIP_R_8F_E4M3_FNUZ
    layouts = [lt.layout(fp8, 16, 16, 16, 1, 0)] * 2 + [lt.layout(0, 16, 16, 16, 1, 0)] * 2
    assert lt.algorithms(lt.description(0), layouts)[:2] == (7, 0)  # HIPBLAS_STATUS_NOT_SUPPORTED
    assert "hipblasLtMatmul with these types, scales or epilogue of hipBLASLt is not implemented" in capfd.readouterr().err
    plain = [lt.layout(0, 16, 16, 16, 1, 0)] * 4
    for attributes in ({"epilogue": ctypes.c_uint32(32)}, {"a_scale": ctypes.c_void_p(4096)}):
        assert lt.algorithms(lt.description(0, **attributes), plain)[:2] == (7, 0)
    assert lt.algorithms(lt.description(0), plain)[:2] == (0, 1)


def test_products_are_launches_that_check_sees(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(f"""
import ctypes, os, numpy as np
folder = os.path.join({os.environ['MARGAY_HOME']!r}, "lib/margay/substitutes")
for name in ("libamdhip64.so.7", "librocblas.so.5"):
    library = ctypes.CDLL(os.path.join(folder, name), mode=ctypes.RTLD_GLOBAL)
hip = ctypes.CDLL(os.path.join(folder, "libamdhip64.so.7"))
a, one = ctypes.c_void_p(), np.ones(1)
hip.hipMalloc(ctypes.byref(a), ctypes.c_size_t(8 * 16 * 16))
handle = ctypes.c_void_p()
library.rocblas_create_handle(ctypes.byref(handle))
p = ctypes.c_void_p(one.ctypes.data)
print(library.rocblas_dgemm(handle, 111, 111, 16, 16, 17, p, a, 16, a, 17, p, a, 16))
""")
    done = subprocess.run([os.environ["MARGAY_TOOL"], "check", "--", sys.executable, program], capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert "kernel margay_gemm_f64" in done.stdout + done.stderr
    assert "memcheck" in done.stdout + done.stderr
