"""Reads DLPack capsules, so that any library's CPU tensors can be used without NumPy's help, which
refuses bfloat16. The structures are those of dlpack.h, version 0.8."""

import ctypes
from dataclasses import dataclass
from typing import Any, Tuple

_CPU, _PINNED = 1, {3, 11}  # kDLCPU; kDLCUDAHost, kDLROCMHost
_CODES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 6: "bool"}
_CAPSULE = b"dltensor"


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


@dataclass(frozen=True)
class Found:
    """What a capsule says. The capsule is not consumed: while it lives, so does the memory."""

    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    dtype: str
    capsule: Any


def read(name, tensor):
    """The tensor behind `tensor.__dlpack__()`. TypeError when its memory is not the host's."""
    device, _ = tensor.__dlpack_device__()
    if device != _CPU and device not in _PINNED:
        raise TypeError(
            f"{name}: expected host memory, because that is the virtual device's; got DLPack device "
            f"type {int(device)}"
        )
    capsule = tensor.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.POINTER(_Tensor)
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    inner = pointer(capsule, _CAPSULE).contents
    kind = _CODES.get(inner.code)
    if kind is None or inner.lanes != 1:
        raise TypeError(
            f"{name}: DLPack type code {inner.code} with {inner.lanes} lanes is not one that kernels "
            "know"
        )
    shape = tuple(inner.shape[: inner.ndim])
    if inner.strides:
        strides = tuple(inner.strides[: inner.ndim])
    else:  # then it is contiguous
        steps = [1]
        for extent in shape[:0:-1]:
            steps.insert(0, steps[0] * extent)
        strides = tuple(steps[: inner.ndim])
    dtype = "bool" if kind == "bool" else f"{kind}{inner.bits}"
    return Found((inner.data or 0) + inner.byte_offset, shape, strides, dtype, capsule)
