"""Makes the virtual device Triton's active driver, once for a process."""

import importlib
import os
import sys
import threading

from margay import library
from margay.library import LibraryError
from margay.triton import said

OLDEST = (3, 7)  # the versions of Triton that tests/triton is run with: this one ...
NEWEST = (3, 9)  # ... to this one

_lock = threading.RLock()
_driver = None


def is_active():
    """Whether Triton's kernels run on the virtual device."""
    return _driver is not None


def activate(torch_cuda=None):
    """Makes the virtual device Triton's active driver and returns the driver.

    torch_cuda: whether torch's "cuda" becomes the virtual device; by default it does, unless
    MARGAY_TORCH_CUDA is 0. The first call settles it.
    """
    global _driver  # pylint: disable=global-statement  # one driver for a process, as Triton has it
    with _lock:
        if _driver is not None:
            return _driver
        triton = _import_triton()
        runtime = library.load()
        # Triton loads the library that this variable names, and so do child processes.
        os.environ["TRITON_LIBHIP_PATH"] = os.path.join(
            os.path.dirname(os.path.realpath(runtime._name)), "libamdhip64.so"
        )
        from margay.triton import arguments, benchmark, driver  # they import triton

        if torch_cuda is None:
            torch_cuda = os.environ.get("MARGAY_TORCH_CUDA", "1") != "0"
        if torch_cuda:
            _emulate_torch_cuda()
        made = driver.make()
        triton.runtime.driver.set_active(made)
        arguments.accept_arrays()
        benchmark.replace(triton)
        _driver = made
        return made


def _import_triton():
    try:
        triton = importlib.import_module("triton")
    except ImportError as error:
        raise ImportError(
            f"margay.triton needs Triton, which cannot be imported ({error}): pip install triton"
        ) from error
    version = tuple(int(part) for part in triton.__version__.split("+")[0].split(".")[:2])
    if version < OLDEST:
        raise ImportError(
            f"margay.triton needs Triton {'.'.join(map(str, OLDEST))} or newer, and this is "
            f"{triton.__version__}: pip install -U triton"
        )
    if version > NEWEST:
        said.once(
            f"Triton {triton.__version__} is newer than {'.'.join(map(str, NEWEST))}, the newest one that "
            "Margay was tested with"
        )
    try:
        importlib.import_module("triton.backends.amd.driver")
    except ImportError as error:
        raise ImportError(
            f"this Triton ({triton.__version__}) has no AMD backend: {error}. The wheels of PyPI have it."
        ) from error
    return triton


def _emulate_torch_cuda():
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return  # NumPy and DLPack do without
    from margay.triton import torch_cuda

    torch_cuda.install(torch)


def on_import():
    """What the import of `triton` does under `margay run`: as activate(), but a failure is said on
    stderr and the program goes on with what Triton finds itself."""
    try:
        activate()
    except (ImportError, LibraryError, OSError, RuntimeError) as error:
        print(f"margay: Triton does not run on the virtual device: {error}", file=sys.stderr)
