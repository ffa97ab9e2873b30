"""Discrete Fourier transforms of XLA's own operations: matrix products and twiddle factors."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

_LARGEST_FACTOR = 64  # of one step, which is a product with a matrix of so many rows
_LARGEST_PRIME = 1024  # above, Bluestein's algorithm


def fft(x, *, fft_type, fft_lengths):
    """As fft_p of JAX: over the last len(fft_lengths) axes."""
    kind = fft_type.name
    if not fft_lengths:
        return x
    axes = [x.ndim - len(fft_lengths) + n for n in range(len(fft_lengths))]
    if kind == "RFFT":
        length = fft_lengths[-1]
        x = _along(x.astype(_complex_of(x.dtype)), axes[-1], inverse=False)[..., : length // 2 + 1]
        return _all_along(x, axes[:-1], inverse=False)
    if kind == "IRFFT":
        x = _all_along(x, axes[:-1], inverse=True)
        return _along(_whole_spectrum(x, fft_lengths[-1]), axes[-1], inverse=True).real
    return _all_along(x, axes, inverse=kind == "IFFT")


def _complex_of(dtype):
    return np.dtype("complex128" if dtype in (np.float64, np.complex128) else "complex64")


def _whole_spectrum(x, length):
    """What a real signal's half of the spectrum stands for."""
    if length < 2:
        return x.real[..., :length].astype(x.dtype)
    ends = x.real.astype(x.dtype)
    half = x[..., 1 : (length + 1) // 2]
    middle = ends[..., length // 2 : length // 2 + 1] if length % 2 == 0 else x[..., :0]
    return jnp.concatenate([ends[..., :1], half, middle, half[..., ::-1].conj()], axis=-1)


def _all_along(x, axes, inverse):
    for axis in axes:
        x = _along(x, axis, inverse)
    return x


def _along(x, axis, inverse):
    x = jnp.moveaxis(x, axis, -1)
    length = x.shape[-1]
    if x.size:
        x = _transform(x, inverse)
        x = x / length if inverse else x
    return jnp.moveaxis(x, -1, axis)


def _transform(x, inverse):
    """Without the scale of an inverse."""
    length = x.shape[-1]
    if length == 1:
        return x
    factor = _factor(length)
    if factor == length:
        return _times_matrix(x, length, inverse) if length <= _LARGEST_PRIME else _bluestein(x, inverse)
    rest = length // factor
    x = x.reshape(*x.shape[:-1], factor, rest)
    x = jnp.swapaxes(_transform(jnp.swapaxes(x, -1, -2), inverse), -1, -2)
    twiddle = _roots(length, np.outer(np.arange(factor), np.arange(rest)), inverse, x.dtype)
    x = _transform(x * twiddle, inverse)
    return jnp.swapaxes(x, -1, -2).reshape(*x.shape[:-2], length)


@functools.lru_cache(maxsize=None)
def _factor(length):
    """The largest divisor that one step can do; the length itself if that is short or a prime."""
    if length <= _LARGEST_FACTOR:
        return length
    return next((n for n in range(_LARGEST_FACTOR, 1, -1) if length % n == 0), _smallest_divisor(length))


def _smallest_divisor(length):
    return next((n for n in range(2, int(length**0.5) + 1) if length % n == 0), length)


def _roots(length, powers, inverse, dtype):
    angle = (2 if inverse else -2) * np.pi * (np.asarray(powers) % length) / length
    return jnp.asarray(np.exp(1j * angle).astype(dtype))


def _times_matrix(x, length, inverse):
    """Real products: XLA has kernels of its own for these."""
    matrix = _roots(length, np.outer(np.arange(length), np.arange(length)), inverse, x.dtype)
    both = jnp.concatenate([x.real, x.imag], axis=-1)
    top = jnp.concatenate([matrix.real, matrix.imag], axis=-1)
    bottom = jnp.concatenate([-matrix.imag, matrix.real], axis=-1)
    out = jnp.matmul(both, jnp.concatenate([top, bottom], axis=0), precision=jax.lax.Precision.HIGHEST)
    return jax.lax.complex(out[..., :length], out[..., length:])


def _bluestein(x, inverse):
    length = x.shape[-1]
    padded = 1 << (2 * length - 1).bit_length()
    squares = np.arange(length, dtype=np.int64) ** 2 % (2 * length)
    chirp = _roots(2 * length, squares, inverse, x.dtype)
    kernel = jnp.zeros(padded, x.dtype).at[:length].set(chirp.conj()).at[padded - length + 1 :].set(chirp[1:][::-1].conj())
    spread = jnp.zeros((*x.shape[:-1], padded), x.dtype).at[..., :length].set(x * chirp)
    product = _transform(_transform(spread, False) * _transform(kernel, False), True) / padded
    return product[..., :length] * chirp
