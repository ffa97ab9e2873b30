"""Triton on the virtual device: importing this package makes it Triton's active driver.

    import margay.triton
    import triton

`@triton.jit` functions are compiled by Triton's own AMD backend for the virtual device and started by
its own launcher. torch's "cuda" is the virtual device, too (`MARGAY_TORCH_CUDA=0` leaves torch alone);
NumPy arrays and anything with DLPack are taken where a kernel expects a tensor. Under
`margay run -- python3 program.py` the program does not import it: the import of `triton` is enough.
"""

from margay import hook
from margay.triton.activation import activate, is_active, on_import
from margay.triton.benchmark import NoTime, Timing, modelled

__all__ = ["NoTime", "Timing", "activate", "is_active", "modelled"]

if not hook.is_activating():  # then the hook reports what goes wrong
    activate()
