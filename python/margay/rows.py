"""Kernels that work on the rows of a tensor, its last dimension: margay.softmax, margay.layernorm."""

from typing import Any, Optional

from margay import arrays, kernels
from margay.types import TensorLike

_TYPES = {"bfloat16": "bf16", "float32": "f32"}  # of softmax


def softmax(x: TensorLike) -> Any:
    """softmax along the last dimension, on the virtual device, computed in float32.

    x holds bfloat16 or float32; the result is of its library, shape and type. A row of which every
    element is minus infinity, or one plus infinity or NaN, gives NaN.
    """
    source = arrays.view("x", x)
    if source.dtype not in _TYPES:
        raise TypeError(f"x: expected dtype bfloat16 or float32, got {source.dtype}")
    problem = {**_extents(source), "type": _TYPES[source.dtype]}
    kernels.check("softmax", problem)

    result = arrays.empty_like_kind(source, source.shape, source.dtype)
    if source.size > 0:
        kernels.run("softmax", problem, {"x": _dense(source), "y": arrays.view("out", result)})
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
    problem = {**_extents(source), "eps": float(eps)}
    kernels.check("layernorm", problem)
    columns = source.shape[-1:]
    others = {
        "residual": _optional("residual", residual, source.shape),
        "weight": _optional("weight", weight, columns),
        "bias": _optional("bias", bias, columns),
    }

    result = arrays.empty_like_kind(source, source.shape, "bfloat16")
    total = arrays.empty_like_kind(source, source.shape, "bfloat16") if return_sum else None
    if source.size > 0:
        results = {"y": arrays.view("out", result), "sum": arrays.view("sum", total) if return_sum else None}
        tensors = {"x": _dense(source), **others, **results}
        given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
        kernels.run("layernorm", problem, given)
    return (result, total) if return_sum else result


def _extents(x):
    if x.ndim == 0:
        raise ValueError("x: expected at least 1 dimension")
    cols = x.shape[-1]
    return {"rows": x.size // cols if cols else 0, "cols": cols}


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
