"""Kernels that work on heads, tensors of (batch, heads, length, dim): margay.attention, margay.rotary.

They take two orders in memory: that one, and (batch, length, heads, dim), which is what a projection
gives and `x.transpose(1, 2)` turns into the first without moving anything.
"""

import math
from typing import Any, Optional

from margay import arrays, hip
from margay.kernels import ATTENTION, KERNELS, ROTARY, GlobalLayout
from margay.types import TensorLike

# kernels/attention/plan.h, kernels/rotary/plan.h; tests/python/test_plans.py holds them against these.
_DIMS = (64, 128)
_BLOCK_Q = 128
_ATTENTION_MAX_LENGTH = 0x7FFFFFFF - _BLOCK_Q
_ATTENTION_MAX_ROW = (1 << 31) // (2 * _BLOCK_Q)
_ATTENTION_MAX_BLOCKS = 0xFFFFFFFF // 256
_ROTARY_BLOCK_ROWS, _ROTARY_HEADS_PER_BLOCK = 64, 8
_ROTARY_MAX_LENGTH = (1 << 30) - 1
_ROTARY_MAX_BATCH = 65535
_ROTARY_MAX_HEADS = 65535 * _ROTARY_HEADS_PER_BLOCK
_ROTARY_MAX_ROW = (1 << 31) // (2 * _ROTARY_BLOCK_ROWS)


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
    batch, count, q_len, dim = queries.shape
    _check_attention(queries, keys, values)
    if scale is None:
        scale = 1 / math.sqrt(dim)
    if not 0 < scale < math.inf:
        raise ValueError(f"scale: expected a positive number, got {scale}")
    workgroups = -(-q_len // _BLOCK_Q) * count * batch
    if workgroups > _ATTENTION_MAX_BLOCKS:
        raise ValueError("q: has too many blocks of 128 queries for one launch")

    result = arrays.empty_like_kind(queries, queries.shape, "bfloat16")
    target = arrays.view("out", result)
    lse = arrays.empty_like_kind(queries, queries.shape[:3], "float32") if return_lse else None
    lse_view = arrays.view("lse", lse) if return_lse else None
    if workgroups > 0:
        operands = [_dense(each) for each in (queries, keys, values)]
        for tensor in [*operands, target] + ([lse_view] if lse_view else []):
            hip.describe(tensor)
        arguments = ATTENTION(
            *map(_layout, [*operands, target]),
            GlobalLayout(batch, count, 1, q_len, lse_view.address if lse_view else None),
            scale,
        )
        kernel = KERNELS[f"attention_bf16_d{dim}{'_causal' if causal else ''}"]
        kernel.launch((workgroups, 1, 1), arguments)
    return (result, lse) if return_lse else result


def _check_attention(q, k, v):
    batch, count, q_len, dim = q.shape
    if k.shape != v.shape:
        raise ValueError(f"k and v: expected the same shape, got {k.shape} and {v.shape}")
    if k.shape[0] != batch or k.shape[3] != dim:
        raise ValueError(f"q and k do not fit: batch and dim of {q.shape} and {k.shape} differ")
    kv_heads, kv_len = k.shape[1:3]
    if q.size and (kv_heads == 0 or count % kv_heads):
        raise ValueError(f"k: has {kv_heads} heads, which does not divide q's {count}")
    if max(q_len, kv_len) > _ATTENTION_MAX_LENGTH:
        raise ValueError(f"lengths must not exceed {_ATTENTION_MAX_LENGTH}")
    if count * dim > _ATTENTION_MAX_ROW:
        raise ValueError(f"heads times dim must not exceed {_ATTENTION_MAX_ROW}")


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
    tables = [_table("cos", cos, source), _table("sin", sin, source)]
    _check_rotary(source, tables, position)

    operand = _dense(source)
    result = _empty_like(operand)
    if source.size == 0:
        return result
    target = arrays.view("out", result)
    for tensor in (operand, *tables, target):
        hip.describe(tensor)
    batch, count, length, dim = source.shape
    rows = [
        GlobalLayout(1, 1, length, dim // 2, each.at(position * dim // 2, (), ()).address)
        for each in tables
    ]
    grid = (-(-length // _ROTARY_BLOCK_ROWS), -(-count // _ROTARY_HEADS_PER_BLOCK), batch)
    arguments = ROTARY(_layout(operand), *rows, _layout(target))
    KERNELS[f"rotary_bf16_d{dim}"].launch(grid, arguments)
    return result


def _table(name, tensor, x):
    found = arrays.bfloat16_view(name, tensor)
    half = x.shape[3] // 2
    if found.ndim != 2 or found.shape[1] != half:
        raise ValueError(f"{name}: expected (positions, {half}), got shape {found.shape}")
    return found if found.is_contiguous and found.address % 16 == 0 else arrays.copied(found)


def _check_rotary(x, tables, position):
    batch, count, length, dim = x.shape
    if position < 0:
        raise ValueError(f"position: must not be negative, got {position}")
    for table in tables:
        if position + length > table.shape[0]:
            raise ValueError(
                f"{table.name}: has {table.shape[0]} positions; x needs those from {position} to "
                f"{position + length - 1}"
            )
    if length > _ROTARY_MAX_LENGTH:
        raise ValueError(f"x: its length must not exceed {_ROTARY_MAX_LENGTH}")
    if batch > _ROTARY_MAX_BATCH:
        raise ValueError(f"x: its batch must not exceed {_ROTARY_MAX_BATCH}")
    if count > _ROTARY_MAX_HEADS:
        raise ValueError(f"x: its heads must not exceed {_ROTARY_MAX_HEADS}")
    if count * dim > _ROTARY_MAX_ROW:
        raise ValueError(f"x: heads times dim must not exceed {_ROTARY_MAX_ROW}")


def _view(name, tensor):
    """The view of an argument. TypeError or ValueError in words when no kernel takes it."""
    found = arrays.bfloat16_view(name, tensor)
    if found.ndim != 4:
        raise ValueError(f"{name}: expected (batch, heads, length, dim), got shape {found.shape}")
    if found.shape[3] not in _DIMS:
        raise ValueError(
            f"{name}: its last dimension is {found.shape[3]}; the kernels have dim 64 and 128"
        )
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
    """As kernels take a dense tensor: a row holds one head (depth is the heads) or all of them."""
    batch, heads, length, dim = tensor.shape
    if tensor.is_contiguous:
        return GlobalLayout(batch, heads, length, dim, tensor.address)
    return GlobalLayout(batch, 1, length, heads * dim, tensor.address)
