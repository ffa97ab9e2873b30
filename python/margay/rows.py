"""Kernels that work on the rows of a tensor, its last dimension: margay.softmax, margay.layernorm."""

from typing import Any, Optional

from margay import arrays, hip
from margay.kernels import KERNELS, LAYERNORM, SOFTMAX, GlobalLayout
from margay.types import TensorLike

# kernels/softmax/plan.h, kernels/layernorm/plan.h; tests/python/test_plans.py holds them against these.
_ELEMENTS = {"bfloat16": "bf16", "float32": "f32"}
_PART = 1024
_SOFTMAX_MEDIUM = 4096
_SOFTMAX_SHORT_ROWS = 4
_SOFTMAX_MAX_COLUMNS = 0x3FFFFFFF - 8 * _SOFTMAX_MEDIUM
_LAYERNORM_MAX_COLUMNS = 8192
_LAYERNORM_MAX_ROWS = 0xFFFFFFFF // 512


def softmax(x: TensorLike) -> Any:
    """softmax along the last dimension, on the virtual device, computed in float32.

    x holds bfloat16 or float32; the result is of its library, shape and type. A row of which every
    element is minus infinity, or one plus infinity or NaN, gives NaN.
    """
    source = arrays.view("x", x)
    if source.dtype not in _ELEMENTS:
        raise TypeError(f"x: expected dtype bfloat16 or float32, got {source.dtype}")
    cols = _columns(source, _SOFTMAX_MAX_COLUMNS)
    rows = source.size // cols if cols else 0
    size = "1024" if cols <= _PART else "4096" if cols <= _SOFTMAX_MEDIUM else "long"
    workgroups = -(-rows // _SOFTMAX_SHORT_ROWS) if size == "1024" else rows
    kernel = KERNELS[f"softmax_{_ELEMENTS[source.dtype]}_{size}"]
    if workgroups * kernel.block[0] > 0xFFFFFFFF:
        raise ValueError(f"x: its {rows} rows are too many for one launch")

    result = arrays.empty_like_kind(source, source.shape, source.dtype)
    if workgroups > 0:
        operands = [_dense(source), arrays.view("out", result)]
        for tensor in operands:
            hip.describe(tensor)
        kernel.launch((workgroups, 1, 1), SOFTMAX(*(_layout(each, rows, cols) for each in operands)))
    return result


def layernorm(
    x: TensorLike,
    weight: Optional[TensorLike] = None,
    bias: Optional[TensorLike] = None,
    *,
    residual: Optional[TensorLike] = None,
    eps: float = 1e-5,
    return_sum: bool = False,
) -> Any:
    """With s = x + residual: (s - mean(s)) / sqrt(var(s) + eps) * weight + bias along the last
    dimension, on the virtual device; computed in float32, s is not rounded before.

    All hold bfloat16: x is (..., columns), columns up to 8192; residual has x's shape, weight and
    bias are (columns,). Without one it is zero, one and zero. Returns a bfloat16 tensor of x's
    library and shape; with return_sum also s, rounded.
    """
    source = arrays.bfloat16_view("x", x)
    cols = _columns(source, _LAYERNORM_MAX_COLUMNS)
    rows = source.size // cols if cols else 0
    if rows > _LAYERNORM_MAX_ROWS:
        raise ValueError(f"x: its {rows} rows are too many for one launch")
    if not eps >= 0:
        raise ValueError(f"eps: must not be negative, got {eps}")
    others = [
        _optional("residual", residual, source.shape),
        _optional("weight", weight, (cols,)),
        _optional("bias", bias, (cols,)),
    ]

    result = arrays.empty_like_kind(source, source.shape, "bfloat16")
    total = arrays.empty_like_kind(source, source.shape, "bfloat16") if return_sum else None
    if rows > 0:
        results = [arrays.view("out", result), arrays.view("sum", total) if return_sum else None]
        operands = [_dense(source), *others, *results]
        for tensor in filter(None, operands):
            hip.describe(tensor)
        extents = [rows, rows, 1, 1, rows, rows]
        size = next(size for size in (1024, 2048, 4096, 8192) if cols <= size)
        arguments = LAYERNORM(*(_layout(each, n, cols) for each, n in zip(operands, extents)), eps)
        KERNELS[f"layernorm_bf16_{size}"].launch((rows, 1, 1), arguments)
    return (result, total) if return_sum else result


def _columns(x, most):
    if x.ndim == 0:
        raise ValueError("x: expected at least 1 dimension")
    if x.shape[-1] > most:
        raise ValueError(f"x: its rows have {x.shape[-1]} elements; the kernel's limit is {most}")
    return x.shape[-1]


def _optional(name, tensor, shape):
    if tensor is None:
        return None
    found = arrays.bfloat16_view(name, tensor)
    if found.shape != shape:
        raise ValueError(f"{name}: expected shape {shape}, got {found.shape}")
    return _dense(found)


def _dense(tensor):
    aligned = tensor.address % tensor.item == 0
    return tensor if tensor.is_contiguous and aligned else arrays.copied(tensor)


def _layout(tensor, rows, cols):
    return GlobalLayout(1, 1, rows, cols, tensor.address if tensor else None)
