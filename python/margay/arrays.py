"""Tensors of any library as addresses, shapes and strides; and results of the same kind.

A tensor may come from torch (CPU), NumPy (with or without ml_dtypes), `margay.bfloat16`, or anything
with DLPack or the array interface. Neither torch nor ml_dtypes is imported unless it is in use.
"""

import sys
from dataclasses import dataclass, replace
from typing import Any, Tuple

from margay import dlpack

SIZES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2,
    "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "int64": 8, "int32": 4, "int16": 2, "int8": 1,
    "uint64": 8, "uint32": 4, "uint16": 2, "uint8": 1, "bool": 1,
}  # fmt: skip


@dataclass(frozen=True)
class View:
    """Where a tensor's elements lie. Strides count elements."""

    name: str  # of the argument, for messages
    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    dtype: str
    kind: str  # torch, numpy, bfloat16 (margay's own), other
    writable: bool
    source: Any  # keeps the memory alive

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def item(self):
        """Bytes of an element."""
        return SIZES[self.dtype]

    @property
    def span(self):
        """(address, bytes) from the lowest to the end of the highest element."""
        if self.size == 0:
            return self.address, 0
        steps = [(extent - 1) * stride for extent, stride in zip(self.shape, self.strides)]
        low = sum(step for step in steps if step < 0)
        high = sum(step for step in steps if step > 0)
        return self.address + low * self.item, (high - low + 1) * self.item

    @property
    def is_contiguous(self):
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides)):
            if extent != 1 and stride != expected and self.size:
                return False
            expected *= extent
        return True

    def at(self, offset, shape, strides):
        """The same memory seen otherwise; `offset` counts elements."""
        address = self.address + offset * self.item
        return replace(self, address=address, shape=tuple(shape), strides=tuple(strides))

    def reshaped(self, *shape):
        """Only of a contiguous tensor."""
        strides, step = [], 1
        for extent in reversed(shape):
            strides.insert(0, step)
            step *= extent
        return self.at(0, shape, strides)

    def overlaps(self, other):
        begin, size = self.span
        other_begin, other_size = other.span
        return begin < other_begin + other_size and other_begin < begin + size


def view(name, tensor):
    """The View of a tensor. TypeError in words when it is none or its memory is not the host's."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        found = _view_torch(torch, name, tensor)
    elif hasattr(tensor, "__array_interface__"):
        found = _view_interface(name, tensor)
    elif hasattr(tensor, "__dlpack__"):
        found = _view_dlpack(name, tensor)
    else:
        raise TypeError(
            f"{name}: expected a torch.Tensor, a NumPy array or an object with DLPack or "
            f"__array_interface__, got {type(tensor).__name__}"
        )
    if found.dtype not in SIZES:
        raise TypeError(f"{name}: dtype {found.dtype} is not one that kernels know")
    return found


def bfloat16_view(name, tensor):
    """The View of a tensor that has to hold bfloat16."""
    found = view(name, tensor)
    if found.dtype != "bfloat16":
        hint = "margay.bfloat16(...) declares uint16 bits" if found.dtype == "uint16" else (
            f"{name}.to(torch.bfloat16)" if found.kind == "torch" else "margay.to_bfloat16 rounds"
        )
        raise TypeError(f"{name}: expected dtype bfloat16, got {found.dtype} ({hint})")
    return found


def _view_torch(torch, name, tensor):
    # With margay.triton tensors of the CPU say that they are on cuda: here it counts where they are.
    device = torch._C._TensorBase.device.__get__(tensor)  # pylint: disable=no-member
    if device.type != "cpu":
        raise TypeError(
            f"{name}: expected a CPU tensor, because the virtual device's memory is the host's; got "
            f"one on {device}"
        )
    if tensor.layout != torch.strided:
        raise TypeError(f"{name}: expected a dense tensor, got {tensor.layout}")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise RuntimeError(
            f"{name}: requires a gradient, and the kernel has no derivative; pass {name}.detach() or "
            "use torch.no_grad()"
        )
    dtype = str(tensor.dtype).replace("torch.", "")
    strides = tuple(tensor.stride())
    return View(name, tensor.data_ptr(), tuple(tensor.shape), strides, dtype, "torch", True, tensor)


def _view_interface(name, tensor):
    import numpy as np

    from margay.bfloat import Bfloat16Array

    array = np.asarray(tensor)
    dtype = getattr(getattr(tensor, "dtype", array.dtype), "name", str(array.dtype))
    if array.dtype.byteorder == ">":
        raise TypeError(f"{name}: its bytes are in the other order; use {name}.byteswap().newbyteorder()")
    own = isinstance(tensor, Bfloat16Array)
    kind = "bfloat16" if own else "numpy" if isinstance(tensor, np.ndarray) else "other"
    item = array.dtype.itemsize
    if any(stride % item for stride in array.strides) and array.size:
        raise TypeError(f"{name}: its strides are not multiples of its element size")
    strides = tuple(stride // item for stride in array.strides) if item else (0,) * array.ndim
    return View(
        name, array.ctypes.data, array.shape, strides, dtype, kind, array.flags.writeable, tensor
    )


def _view_dlpack(name, tensor):
    found = dlpack.read(name, tensor)
    return View(
        name, found.address, found.shape, found.strides, found.dtype, "other", True, found.capsule
    )


def contiguous(tensor_view):
    """The view itself, or that of a copy whose rows follow each other."""
    return tensor_view if tensor_view.is_contiguous else copied(tensor_view)


def copied(tensor_view):
    """The view of a copy whose rows follow each other, aligned as the library aligns new memory."""
    if tensor_view.kind == "torch":
        source, item = tensor_view.source, tensor_view.item
        offset = source.storage_offset() + (tensor_view.address - source.data_ptr()) // item
        same = source.detach().as_strided(tensor_view.shape, tensor_view.strides, offset)
        return view(tensor_view.name, same.clone(memory_format=sys.modules["torch"].contiguous_format))
    import numpy as np

    item = tensor_view.item

    class Bits:  # pylint: disable=too-few-public-methods
        """The elements as unsigned numbers of their size."""

        __array_interface__ = {
            "version": 3,
            "data": (tensor_view.address, True),
            "shape": tensor_view.shape,
            "strides": tuple(stride * item for stride in tensor_view.strides),
            "typestr": f"<u{item}",
        }

    copy = np.array(np.asarray(Bits()), order="C", copy=True)
    strides = tuple(stride // item for stride in copy.strides)
    return replace(tensor_view, address=copy.ctypes.data, strides=strides, source=copy)


def empty_like_kind(tensor_view, shape, dtype):
    """A new tensor of the library that the given one is from; NumPy's when it is from no known one."""
    if tensor_view.kind == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype))
    import numpy as np

    if dtype != "bfloat16":
        return np.empty(shape, dtype)
    if tensor_view.kind == "numpy":
        import ml_dtypes  # the given array's type is its bfloat16, so it is installed

        return np.empty(shape, ml_dtypes.bfloat16)
    from margay.bfloat import Bfloat16Array

    return Bfloat16Array(np.empty(shape, np.uint16))


def permuted(tensor, order):
    """A tensor that empty_like_kind has made, its dimensions in another order, without a copy."""
    if hasattr(tensor, "permute"):  # torch
        return tensor.permute(order)
    if hasattr(tensor, "transpose"):  # NumPy
        return tensor.transpose(order)
    return type(tensor)(tensor.bits.transpose(order))


def dtype_name(dtype):
    """"float32" for "float32", torch.float32, numpy.float32 and so on."""
    if isinstance(dtype, str):
        return dtype
    if isinstance(dtype, type):
        return dtype.__name__
    return getattr(dtype, "name", str(dtype)).replace("torch.", "")
