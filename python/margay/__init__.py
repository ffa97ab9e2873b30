"""Margay from Python: a virtual GPU for HIP kernels that Python programs launch.

    with margay.check() as report:
        launch_my_kernel()

watches every launch for memory errors, races, uninitialised reads, barriers and waits.

    with margay.profile() as p:
        launch_my_kernel()
    assert p.kernel("my_kernel").lds_bank_conflicts == 0

counts what its kernels do: instructions, bank conflicts, cache and memory traffic.

    c = margay.matmul(a, b)

runs the kernels that ship with Margay, on torch tensors or arrays;

    tk_kernel = margay.load("kernel.cpp")

compiles and imports your own.
"""

import importlib
from typing import TYPE_CHECKING

from margay._version import __version__
from margay.checker import Access, CheckError, Finding, Frame, Report, Site, check
from margay.devices import Device, device, use_device
from margay.event_time import event_time, modelled_ms, use_event_time
from margay.library import LibraryError
from margay.modelled import LineTime, ModelledTime
from margay.profiler import (
    KernelProfile,
    LdsUse,
    Line,
    MemoryTraffic,
    NotInProfile,
    Profile,
    ProfiledSite,
    Resources,
    Tensor,
    profile,
)

if TYPE_CHECKING:  # what type checkers and editors see of the functions below
    from margay.bfloat import Bfloat16Array, bfloat16, to_bfloat16
    from margay.comparison import Comparison, TileError, compare_with_reference
    from margay.extension import CompileError, build, load
    from margay.gemm import matmul
    from margay.heads import attention, rotary
    from margay.rows import layernorm, softmax

# What needs NumPy, or is not needed for checking and profiling, is imported when it is used.
_LAZY = {
    "Bfloat16Array": "bfloat",
    "Comparison": "comparison",
    "CompileError": "extension",
    "TileError": "comparison",
    "attention": "heads",
    "bfloat16": "bfloat",
    "build": "extension",
    "compare_with_reference": "comparison",
    "layernorm": "rows",
    "load": "extension",
    "matmul": "gemm",
    "rotary": "heads",
    "softmax": "rows",
    "to_bfloat16": "bfloat",
}


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError(f"module 'margay' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"margay.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *_LAZY})


__all__ = [
    *_LAZY,
    "Access",
    "CheckError",
    "Device",
    "Finding",
    "Frame",
    "KernelProfile",
    "LdsUse",
    "LibraryError",
    "Line",
    "LineTime",
    "MemoryTraffic",
    "ModelledTime",
    "NotInProfile",
    "Profile",
    "ProfiledSite",
    "Report",
    "Resources",
    "Site",
    "Tensor",
    "__version__",
    "check",
    "device",
    "event_time",
    "modelled_ms",
    "profile",
    "use_device",
    "use_event_time",
]
