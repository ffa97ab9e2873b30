"""Convolutions of XLA's own operations: a matrix product for each tap of the window, or for each place of the output
where there are fewer of these, as in the gradient of the weights."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np

_UNROLLED = 64  # products; where more are needed they are steps of a loop


def convolve(lhs, rhs, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count,
             batch_group_count, preferred_element_type=None, **_):  # fmt: skip
    """As conv_general_dilated_p of JAX."""
    out_type = np.dtype(preferred_element_type or lhs.dtype)
    lhs = jnp.transpose(lhs, dimension_numbers.lhs_spec)
    rhs = jnp.transpose(rhs, dimension_numbers.rhs_spec)
    groups = feature_group_count
    if batch_group_count > 1:  # a group of the batch for a group of output features: as groups of features
        groups = batch_group_count
        lhs = lhs.reshape(groups, lhs.shape[0] // groups, *lhs.shape[1:])
        lhs = jnp.moveaxis(lhs, 0, 1).reshape(lhs.shape[1], groups * lhs.shape[2], *lhs.shape[3:])
    lhs = jax.lax.pad(lhs, np.zeros((), lhs.dtype), [(0, 0, 0)] * 2 + [
        (low, high, dilation - 1) for (low, high), dilation in zip(padding, lhs_dilation)])  # fmt: skip
    window = rhs.shape[2:]
    reach = [(extent - 1) * dilation + 1 for extent, dilation in zip(window, rhs_dilation)]
    places = tuple(max((size - r) // stride + 1, 0)
                   for size, r, stride in zip(lhs.shape[2:], reach, window_strides))  # fmt: skip
    lhs = lhs.reshape(lhs.shape[0], groups, lhs.shape[1] // groups, *lhs.shape[2:])
    rhs = rhs.reshape(groups, rhs.shape[0] // groups, *rhs.shape[1:])
    batch, features = lhs.shape[0], groups * rhs.shape[1]
    shape = (batch, features, *places)
    if 0 in shape or 0 in lhs.shape or 0 in rhs.shape:
        out = jnp.zeros(shape, out_type)
    elif math.prod(window) <= math.prod(places):
        out = _by_taps(lhs, rhs, window, places, window_strides, rhs_dilation, out_type)
    else:
        out = _by_places(lhs, rhs, window, places, window_strides, rhs_dilation, out_type)
    spec = dimension_numbers.out_spec
    return jnp.transpose(out.reshape(shape), np.argsort(spec)).astype(out_type)


def _sum_type(dtype, out_type):
    """In which products are added up."""
    small = np.dtype(dtype).itemsize < 4 and jnp.issubdtype(dtype, jnp.floating)
    return jnp.float32 if small else out_type


def _product(lhs, rhs, contracted, dtype):
    """Of group by group: (batch, group, ...) and (group, features, ...) to (group, batch, ..., features)."""
    numbers = (contracted, ((1,), (0,)))
    # Apart from the slices in front: XLA 0.10's fusion of a strided slice into a product may abort the process
    # (triton_tiling_propagation.cc, "subdim_size_accumulator == dim_size").
    lhs, rhs = jax.lax.optimization_barrier((lhs, rhs))
    return jax.lax.dot_general(lhs, rhs, numbers, precision=jax.lax.Precision.HIGHEST, preferred_element_type=dtype)


def _by_taps(lhs, rhs, window, places, strides, dilation, out_type):
    dtype = _sum_type(lhs.dtype, out_type)
    extents = [(n - 1) * stride + 1 for n, stride in zip(places, strides)]

    def one(tap):
        start = [0, 0, 0] + [k * d for k, d in zip(tap, dilation)]
        part = jax.lax.dynamic_slice(lhs, start, (*lhs.shape[:3], *extents))
        part = jax.lax.slice(part, [0] * part.ndim, part.shape, (1, 1, 1, *strides))
        taps = jax.lax.dynamic_slice(rhs, [0, 0, 0, *tap], (*rhs.shape[:3], *(1 for _ in tap)))
        return _product(part, taps.reshape(rhs.shape[:3]), ((2,), (2,)), dtype)

    out = _added(one, window, dtype)
    return jnp.moveaxis(out, (0, -1), (1, 2))  # (group, batch, places, features) to (batch, group, features, places)


def _by_places(lhs, rhs, window, places, strides, dilation, out_type):
    dtype = _sum_type(lhs.dtype, out_type)
    reach = [(extent - 1) * d + 1 for extent, d in zip(window, dilation)]
    contracted = tuple(range(2, lhs.ndim))

    def one(place):
        start = [0, 0, 0] + [p * stride for p, stride in zip(place, strides)]
        part = jax.lax.dynamic_slice(lhs, start, (*lhs.shape[:3], *reach))
        part = jax.lax.slice(part, [0] * part.ndim, part.shape, (1, 1, 1, *dilation))
        return _product(part, rhs, (contracted, contracted), dtype)

    if math.prod(places) <= _UNROLLED:
        out = jnp.stack([one(place) for place in itertools.product(*map(range, places))])
    else:
        out = jax.lax.map(lambda number: one(jnp.unravel_index(number, places)), jnp.arange(math.prod(places)))
    return jnp.moveaxis(out, (0, 1), (3, 1)).reshape(lhs.shape[0], lhs.shape[1], -1, *places)


def _added(one, extents, dtype):
    if math.prod(extents) <= _UNROLLED:
        parts = (one(place) for place in itertools.product(*map(range, extents)))
        return sum(parts, start=jnp.zeros((), dtype))
    first = one((0,) * len(extents))
    return jax.lax.fori_loop(1, math.prod(extents), lambda n, all_: all_ + one(jnp.unravel_index(n, extents)), first)
