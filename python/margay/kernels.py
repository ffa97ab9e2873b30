"""The kernels that ship with Margay as code objects: which of them runs a problem, and its launch.

What the kernels can do and how each is launched is asked of libmargay_kernels (include/margay/kernels.h),
which is compiled from their own headers, kernels/*/plan.h. Nothing of it is written here again.
"""

import ctypes
import functools
import operator
from dataclasses import dataclass
from typing import Tuple

from margay import hip, library

_NAME = "lib/libmargay_kernels.so"
_VERSION = 1  # MARGAY_KERNELS_VERSION: of the structures below


class _Launch(ctypes.Structure):
    """margay_kernels_launch."""

    _fields_ = [
        ("code_object", ctypes.c_char_p),
        ("kernel", ctypes.c_char_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("dynamic_lds", ctypes.c_uint),
        ("arguments_size", ctypes.c_size_t),
        ("arguments", ctypes.c_ubyte * 256),
    ]


class _Kernel(ctypes.Structure):
    """margay_kernels_kernel."""

    _fields_ = [
        ("operation", ctypes.c_char_p),
        ("code_object", ctypes.c_char_p),
        ("kernel", ctypes.c_char_p),
        ("block_x", ctypes.c_uint),
        ("arguments_size", ctypes.c_size_t),
    ]


class _Level(ctypes.Structure):
    """margay_kernels_level."""

    _fields_ = [
        ("number", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("idea", ctypes.c_char_p),
        ("block_m", ctypes.c_int),
        ("block_n", ctypes.c_int),
        ("step_k", ctypes.c_int),
        ("threads", ctypes.c_uint),
        ("multiplies_ab", ctypes.c_int),
        ("multiplies_abt", ctypes.c_int),
    ]


@functools.lru_cache(maxsize=None)
def _library():
    """The libmargay_kernels of the installation that this process's libamdhip64 belongs to."""
    path = library.installed().part(_NAME, "the plans of its kernels")
    loaded = ctypes.CDLL(str(path))
    loaded.margay_kernels_version.argtypes = []
    if (version := loaded.margay_kernels_version()) != _VERSION:
        raise library.LibraryError(
            f"{path} has interface {version}, this package needs {_VERSION}: they are of different versions of "
            "Margay. Install the package from the clone that Margay was built in: pip install ./python"
        )
    loaded.margay_kernels_list.argtypes = [ctypes.POINTER(ctypes.c_size_t)]
    loaded.margay_kernels_list.restype = ctypes.POINTER(_Kernel)
    loaded.margay_kernels_levels.argtypes = [ctypes.POINTER(ctypes.c_size_t)]
    loaded.margay_kernels_levels.restype = ctypes.POINTER(_Level)
    loaded.margay_kernels_plan.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(_Launch)]
    loaded.margay_kernels_plan.restype = ctypes.c_char_p
    loaded.margay_kernels_check.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
    loaded.margay_kernels_check.restype = ctypes.c_char_p
    return loaded


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel; `arguments` are its parameters as they are in memory."""

    code_object: str
    symbol: str
    grid: Tuple[int, int, int]
    block: Tuple[int, int, int]
    dynamic_lds: int
    arguments: bytes

    def run(self):
        """Launches and waits. RuntimeError when the launch or the kernel fails."""
        file = library.installed().kernels / self.code_object
        hip.launch(
            hip.function(file, self.symbol),
            self.symbol,
            self.grid,
            self.block,
            self.dynamic_lds,
            self.arguments,
        )


def check(operation, problem, names=None):
    """ValueError in words if no kernel runs a problem of these numbers, wherever its tensors are."""
    _refuse(_library().margay_kernels_check(operation.encode(), _text(problem)), names)


def plan(operation, problem, names=None):
    """The Launch for a problem, a dictionary; None if the result has no elements. ValueError in words
    if no kernel runs it; `names` are those of the caller for the problem's fields."""
    found = _Launch()
    _refuse(_library().margay_kernels_plan(operation.encode(), _text(problem), ctypes.byref(found)), names)
    if found.code_object is None:
        return None
    return Launch(
        found.code_object.decode(),
        found.kernel.decode(),
        tuple(found.grid),
        tuple(found.block),
        found.dynamic_lds,
        bytes(found.arguments[: found.arguments_size]),
    )


def run(operation, problem, tensors):
    """Launches the kernel for a problem whose result has elements, and waits. The checker is told where the
    tensors, views by the problem's fields, are."""
    addresses = {name: tensor.address for name, tensor in tensors.items()}
    launch = plan(operation, {**problem, **addresses})
    for tensor in tensors.values():
        hip.describe(tensor)
    launch.run()


def symbols(operation):
    """Of the kernels that a plan of this operation may choose."""
    return [kernel.kernel.decode() for kernel in _all("list") if kernel.operation.decode() == operation]


def levels():
    """The steps of the ladder of GEMM kernels by number; the last is the fast kernel."""
    return {level.number: level for level in _all("levels")}


def _all(what):
    count = ctypes.c_size_t()
    first = getattr(_library(), f"margay_kernels_{what}")(ctypes.byref(count))
    return first[: count.value]


def _text(problem):
    return " ".join(f"{name}={_word(value)}" for name, value in problem.items()).encode()


def _word(value):
    if isinstance(value, (str, float)):
        return value if isinstance(value, str) else repr(float(value))
    return str(operator.index(value))  # True is 1


def _refuse(text, names):
    if text is None:
        return
    field, colon, sentence = text.decode().partition(": ")
    raise ValueError((names or {}).get(field, field) + colon + sentence)
