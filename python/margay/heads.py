"""Kernels that work on heads, tensors of (batch, heads, length, dim): margay.attention, margay.rotary.

They take two orders in memory: that one, and (batch, length, heads, dim), which is what a projection
gives and `x.transpose(1, 2)` turns into the first without moving anything.
"""

import math
from typing import Any, Optional

from margay import arrays, kernels
from margay.types import TensorLike


def attention(
    q: TensorLike,
    k: TensorLike,
    v: TensorLike,
    *,
    causal: bool = False,
    scale: Optional[float] = None,
    return_lse: bool = False,
) -> Any:
    """softmax(scale q k^T) v for each batch and head, on the virtual device; sums are float32.

    q is (batch, heads, q_len, dim), k and v are (batch, kv_heads, kv_len, dim), all bfloat16; dim is
    64 or 128, kv_heads divides heads. Tensors whose memory is (batch, length, heads, dim), such as
    `x.transpose(1, 2)`, are read in place. With `causal`, query i sees the keys up to
    i + kv_len - q_len; one that sees none gives zeros. scale is 1 / sqrt(dim) unless given.
    Returns a bfloat16 tensor of q's library and shape; with return_lse also the logsumexp of the
    scores, float32, (batch, heads, q_len).
    """
    queries, keys, values = _view("q", q), _view("k", k), _view("v", v)
    if scale is None:
        scale = 0.0  # the plan's default
    elif 0 < scale < math.inf:
        scale = max(float(scale), 2.0**-149)  # the least float; 0 would be the default
    else:
        raise ValueError(f"scale: expected a positive number, got {scale}")
    batch, heads, q_len, dim = queries.shape
    problem = {
        "batch": batch, "heads": heads, "kv_heads": keys.shape[1], "q_len": q_len, "kv_len": keys.shape[2],
        "dim": dim, "causal": bool(causal), "scale": scale,
    }  # fmt: skip
    _check_shapes(queries, keys, values)
    kernels.check("attention", problem)

    result = arrays.empty_like_kind(queries, queries.shape, "bfloat16")
    lse = arrays.empty_like_kind(queries, queries.shape[:3], "float32") if return_lse else None
    if queries.size > 0:
        tensors = {name: _dense(each) for name, each in (("q", queries), ("k", keys), ("v", values))}
        tensors["o"] = arrays.view("out", result)
        layouts = {f"layout_{name}": _layout(each) for name, each in tensors.items()}
        if return_lse:
            tensors["lse"] = arrays.view("lse", lse)
        kernels.run("attention", {**problem, **layouts}, tensors)
    return (result, lse) if return_lse else result


def _check_shapes(q, k, v):
    if k.shape != v.shape:
        raise ValueError(f"k and v: expected the same shape, got {k.shape} and {v.shape}")
    if k.shape[0] != q.shape[0] or k.shape[3] != q.shape[3]:
        raise ValueError(f"q and k do not fit: batch and dim of {q.shape} and {k.shape} differ")


def rotary(x: TensorLike, cos: TensorLike, sin: TensorLike, *, position: int = 0) -> Any:
    """Rotary position embedding, the half-split form of GPT-NeoX and Llama, on the virtual device:

        y[i]         = x[i] cos[p][i] - x[i + dim/2] sin[p][i]
        y[i + dim/2] = x[i + dim/2] cos[p][i] + x[i] sin[p][i]      p = position + place in x

    x is (batch, heads, length, dim), cos and sin are (positions, dim/2), all bfloat16; dim is 64 or
    128. position is that of x's first row; the tables must reach position + length. A tensor whose
    memory is (batch, length, heads, dim), such as `x.transpose(1, 2)`, is read in place, and the
    result lies in memory as x does. Computed in float32; returns bfloat16 of x's library.
    """
    source = _view("x", x)
    batch, heads, length, dim = source.shape
    problem = {
        "batch": batch, "heads": heads, "length": length, "dim": dim, "position": position,
    }  # fmt: skip
    # Of x alone: what size the tables have to be follows from a dim that a kernel has.
    kernels.check("rotary", {**problem, "table_rows": max(position, 0) + length})
    tables = [_table("cos", cos, source), _table("sin", sin, source)]
    shorter = min(tables, key=lambda table: table.shape[0])
    problem["table_rows"] = shorter.shape[0]
    kernels.check("rotary", problem, names={"tables": shorter.name})

    operand = _dense(source)
    result = _empty_like(operand)
    if source.size > 0:
        tensors = dict(zip(("x", "cos", "sin", "y"), (operand, *tables, arrays.view("out", result))))
        kernels.run("rotary", {**problem, "layout": _layout(operand)}, tensors)
    return result


def _table(name, tensor, x):
    found = arrays.bfloat16_view(name, tensor)
    half = x.shape[3] // 2
    if found.ndim != 2 or found.shape[1] != half:
        raise ValueError(f"{name}: expected (positions, {half}), got shape {found.shape}")
    return found if found.is_contiguous and found.address % 16 == 0 else arrays.copied(found)


def _view(name, tensor):
    """The view of an argument. TypeError or ValueError in words when no kernel takes it."""
    found = arrays.bfloat16_view(name, tensor)
    if found.ndim != 4:
        raise ValueError(f"{name}: expected (batch, heads, length, dim), got shape {found.shape}")
    return found


def _turned(tensor):
    """(batch, length, heads, dim) of (batch, heads, length, dim), without a copy."""
    swap = lambda values: (values[0], values[2], values[1], values[3])  # noqa: E731
    return tensor.at(0, swap(tensor.shape), swap(tensor.strides))


def _dense(tensor):
    """The view, or that of a copy: without gaps in one of the two orders, on 16 bytes."""
    without_gaps = tensor.is_contiguous or _turned(tensor).is_contiguous
    return tensor if without_gaps and tensor.address % 16 == 0 else arrays.copied(tensor)


def _empty_like(tensor):
    """A new tensor of the view's library and shape, in memory in the view's order; it is dense."""
    if tensor.is_contiguous:
        return arrays.empty_like_kind(tensor, tensor.shape, tensor.dtype)
    memory = arrays.empty_like_kind(tensor, _turned(tensor).shape, tensor.dtype)
    return arrays.permuted(memory, (0, 2, 1, 3))


def _layout(tensor):
    """How a dense tensor is in memory, in the kernels' words."""
    return "batch_heads_sequence" if tensor.is_contiguous else "batch_sequence_heads"
