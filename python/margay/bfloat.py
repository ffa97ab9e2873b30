"""bfloat16 for NumPy, which has no such type: conversions, and a declaration of what uint16 bits are.

With ml_dtypes or torch installed their bfloat16 does the same and more.
"""

from typing import Any

import numpy as np


class Bfloat16Array:
    """A NumPy array of uint16 that holds the bits of bfloat16 numbers. Nothing is copied.

    NumPy sees the bits (`numpy.asarray(x)`); `x.float()` gives the numbers. Margay's functions and
    the modules of `margay.load` take it as bfloat16.
    """

    class dtype:  # pylint: disable=invalid-name,too-few-public-methods
        """What a kernel binding asks: `x.dtype.name`."""

        name = "bfloat16"

    def __init__(self, bits):
        if not isinstance(bits, np.ndarray) or bits.dtype != np.uint16:
            given = f"dtype {bits.dtype}" if isinstance(bits, np.ndarray) else type(bits).__name__
            raise TypeError(
                f"bits: expected a NumPy array of uint16 with the bits of bfloat16, got {given}; "
                "margay.to_bfloat16 converts numbers"
            )
        self.bits = bits

    @property
    def __array_interface__(self):
        return self.bits.__array_interface__

    @property
    def shape(self):
        return self.bits.shape

    @property
    def ndim(self):
        return self.bits.ndim

    @property
    def T(self):  # pylint: disable=invalid-name  # NumPy's name
        return Bfloat16Array(self.bits.T)

    def __getitem__(self, index):
        return Bfloat16Array(np.asarray(self.bits[index]))

    def __len__(self):
        return len(self.bits)

    def float(self):
        """The numbers, as float32, which holds each of them exactly."""
        return (self.bits.astype(np.uint32) << 16).view(np.float32)

    def __repr__(self):
        return f"Bfloat16Array(shape={self.shape})\n{self.float()!r}"


def bfloat16(bits: Any) -> "Bfloat16Array":
    """Declares a uint16 array to hold the bits of bfloat16 numbers."""
    return Bfloat16Array(bits)


def to_bfloat16(values: Any) -> "Bfloat16Array":
    """Rounds numbers to bfloat16: to nearest, ties to even; NaN stays NaN."""
    numbers = np.ascontiguousarray(values, np.float32)
    bits = numbers.view(np.uint32)
    rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) >> 16
    quiet = (bits >> 16) | 0x40
    return Bfloat16Array(np.where(np.isnan(numbers), quiet, rounded).astype(np.uint16))
