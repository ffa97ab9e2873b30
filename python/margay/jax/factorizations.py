"""Cholesky's factor and triangular systems of XLA's own operations, a column or a row at a time."""

import jax
import jax.numpy as jnp


def cholesky(a, **_):
    """The lower factor, of the lower triangle; NaN where the matrix is not positive definite."""
    if a.size == 0:
        return a
    rows = jnp.arange(a.shape[-1])

    def column(n, factor):
        row = jax.lax.dynamic_slice_in_dim(factor, n, 1, -2)
        left = jax.lax.dynamic_slice_in_dim(a, n, 1, -1)[..., 0] - jnp.sum(factor * row.conj(), -1)
        diagonal = jnp.sqrt(jnp.take(left, n, axis=-1).real)[..., None].astype(a.dtype)
        values = jnp.where(rows >= n, jnp.where(rows == n, diagonal, left / diagonal), 0)
        return jax.lax.dynamic_update_slice_in_dim(factor, values[..., None], n, -1)

    factor = jax.lax.fori_loop(0, a.shape[-1], column, jnp.zeros_like(a))
    is_definite = jnp.all(jnp.isfinite(jnp.diagonal(factor, axis1=-2, axis2=-1).real), -1)
    return jnp.where(is_definite[..., None, None], factor, jnp.nan)


def triangular_solve(a, b, *, left_side, lower, transpose_a, conjugate_a, unit_diagonal):
    """As triangular_solve_p of JAX: x of op(a) x = b, or of x op(a) = b."""
    if b.size == 0:
        return b
    a = a.conj() if conjugate_a else a
    if not left_side:
        b = jnp.swapaxes(b, -1, -2)
        transpose_a = not transpose_a
    if transpose_a:
        a, lower = jnp.swapaxes(a, -1, -2), not lower
    size = a.shape[-1]

    def step(n, x):
        n = n if lower else size - 1 - n
        row = jax.lax.dynamic_slice_in_dim(a, n, 1, -2)
        known = jnp.arange(size) < n if lower else jnp.arange(size) > n
        # Rows that are not known yet, and the other triangle, may hold anything.
        products = jnp.where(known[:, None], jnp.swapaxes(row, -1, -2) * x, 0)
        value = jax.lax.dynamic_slice_in_dim(b, n, 1, -2) - jnp.sum(products, -2, keepdims=True)
        if not unit_diagonal:
            value = value / jax.lax.dynamic_slice_in_dim(row, n, 1, -1)
        return jax.lax.dynamic_update_slice_in_dim(x, value, n, -2)

    x = jax.lax.fori_loop(0, size, step, jnp.zeros_like(b))
    return x if left_side else jnp.swapaxes(x, -1, -2)
