"""margay.matmul: the bf16 GEMM kernel of kernels/gemm, launched on the virtual device."""

import itertools
from typing import Any, Optional

from margay import arrays, hip, kernels
from margay.types import DType, TensorLike

_OUTPUTS = {"float32": "f32", "bfloat16": "bf16"}


def matmul(
    a: TensorLike,
    b: TensorLike,
    *,
    transpose_b: bool = False,
    out: Optional[TensorLike] = None,
    out_dtype: DType = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    level: Optional[int] = None,
) -> Any:
    """alpha a @ b + beta out, on the virtual device; sums are float32.

    a is (..., m, k), b is (..., k, n), or (..., n, k) with transpose_b; leading dimensions broadcast.
    Both hold bfloat16: torch.bfloat16, ml_dtypes.bfloat16, or `margay.bfloat16` of uint16 bits.
    The result is of a's library: float32, or bfloat16 with out_dtype="bfloat16"; out, when given,
    is written and returned, and decides its type itself. beta needs out.
    level, 1 to 13, takes a step of the ladder in kernels/gemm instead, for comparing them: m, n and k
    in multiples of its blocks, a float32 result, no alpha and beta. 13 is the kernel of no level.
    """
    step = None if level is None else _step(level)
    left, right = _input("a", a), _input("b", b)
    right = right if transpose_b else _swapped(right)  # from here on b is (..., n, k)
    (m, k), (n, k_of_b) = left.shape[-2:], right.shape[-2:]
    if k != k_of_b:
        axis = -1 if transpose_b else -2
        raise ValueError(
            f"a and b do not fit: a has k = {k} columns (shape {left.shape}), b has k = {k_of_b} "
            f"along dimension {axis} (shape {tuple(b.shape)})"
        )
    batch = _broadcast(left.shape[:-2], right.shape[:-2])
    result, target = _result(left, (*batch, m, n), out, out_dtype, beta)
    for operand in (left, right):
        if out is not None and target.overlaps(operand):
            raise ValueError(f"out: its memory overlaps that of {operand.name}")
    if step is None:
        left, right = _with_rows(left), _with_rows_or_columns(right)
    else:
        left = _dense(left)
        right = _dense(right) if step.multiplies_abt else _swapped(_dense(_swapped(right)))
    rest = {"alpha": float(alpha), "beta": float(beta), **({"level": level} if step else {})}
    launches = [
        kernels.plan("gemm", {**problem, **rest}, names={"c": "out"})
        for problem in _problems(left, right, target, batch)
    ]
    for operand in (left, right, target):
        hip.describe(operand)
    for launch in filter(None, launches):
        launch.run()
    return result


def _step(level):
    """A step of the ladder; None for the last, which is the kernel of no level."""
    steps = kernels.levels()
    if level not in steps:
        raise ValueError(f"level: expected {min(steps)} to {max(steps)}, got {level}")
    return None if level == max(steps) else steps[level]


def _input(name, tensor):
    found = arrays.bfloat16_view(name, tensor)
    if found.ndim < 2:
        raise ValueError(f"{name}: expected at least 2 dimensions, got shape {found.shape}")
    return found


def _swapped(matrix):
    """The transpose of the last two dimensions, without a copy."""
    swap = lambda values: (*values[:-2], values[-1], values[-2])  # noqa: E731
    return matrix.at(0, swap(matrix.shape), swap(matrix.strides))


def _broadcast(first, second):
    shape = []
    for one, other in itertools.zip_longest(reversed(first), reversed(second), fillvalue=1):
        if one != other and 1 not in (one, other):
            raise ValueError(f"a and b do not fit: leading dimensions {first} and {second}")
        shape.insert(0, other if one == 1 else one)
    return tuple(shape)


def _result(left, shape, out, out_dtype, beta):
    """The tensor to return, and its view."""
    wanted = None if out_dtype is None else arrays.dtype_name(out_dtype)
    if wanted not in (None, *_OUTPUTS):
        raise TypeError(f"out_dtype: expected float32 or bfloat16, got {wanted}")
    if out is None:
        if beta != 0:
            raise ValueError("beta: needs out, whose old values it multiplies")
        result = arrays.empty_like_kind(left, shape, wanted or "float32")
        return result, arrays.view("out", result)
    target = arrays.view("out", out)
    if target.dtype not in _OUTPUTS or (wanted and wanted != target.dtype):
        raise TypeError(f"out: expected dtype {wanted or 'float32 or bfloat16'}, got {target.dtype}")
    if target.shape != shape:
        raise ValueError(f"out: expected shape {shape}, got {target.shape}")
    if not target.writable:
        raise ValueError("out: is read-only")
    if not _has_rows(target) or (len(shape) > 2 and not target.is_contiguous):
        raise ValueError("out: the elements of a row must follow each other in memory")
    return out, target


def _has_rows(matrix):
    """Whether each matrix is row-major, its rows at a constant distance that holds a row."""
    (rows, columns), (down, right) = matrix.shape[-2:], matrix.strides[-2:]
    return (columns <= 1 or right == 1) and (rows <= 1 or down >= max(columns, 1))


def _with_rows(matrix):
    return matrix if _has_rows(matrix) else arrays.contiguous(matrix)


def _with_rows_or_columns(matrix):
    if _has_rows(matrix) or _has_rows(_swapped(matrix)):
        return matrix
    return arrays.contiguous(matrix)


def _dense(matrix):
    """The view, or that of a copy, as the ladder needs it: without gaps and on 16 bytes."""
    return matrix if matrix.is_contiguous and matrix.address % 16 == 0 else arrays.copied(matrix)


def _leading(matrix):
    """A leading dimension that the kernel accepts, also for a matrix of one row."""
    (rows, columns), down = matrix.shape[-2:], matrix.strides[-2]
    return down if rows > 1 else max(columns, 1)


def _problems(left, right, target, batch):
    """The problems of kernels/gemm/plan.h, one for each matrix of the batch."""
    transpose_b = _has_rows(right)
    (m, k), n = left.shape[-2:], right.shape[-2]
    stored = right if transpose_b else _swapped(right)
    if right.ndim == 2 and left.is_contiguous and target.is_contiguous:
        # One matrix b for all: the rows of all of a are one matrix.
        for extent in batch:
            m *= extent
        batch = ()
        left, target = left.reshaped(m, k), target.reshaped(m, n)
    common = {
        "m": m, "n": n, "k": k, "lda": _leading(left), "ldb": _leading(stored),
        "ldc": _leading(target), "transpose_b": transpose_b, "output": _OUTPUTS[target.dtype],
    }  # fmt: skip
    for index in itertools.product(*map(range, batch)):
        addresses = {"a": _address(left, index), "b": _address(stored, index), "c": _address(target, index)}
        yield {**common, **addresses}


def _address(matrix, index):
    """Of the matrix at a place of the batch; a dimension of 1 is used for all of that dimension."""
    own = matrix.ndim - 2
    offset = 0
    for place, extent, stride in zip(index[len(index) - own :], matrix.shape, matrix.strides):
        offset += place * stride if extent > 1 else 0
    return matrix.address + offset * matrix.item
