"""What a Triton launch is called and works on: names of arguments, shapes of tensors, configuration."""

import ctypes
import functools
import sys

from triton.runtime import jit

from margay import library
from margay.triton import torch_cuda
from margay.triton.arrays import Array

_OPTIONS = ("num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
_UNSAID = {"waves_per_eu": 0, "matrix_instr_nonkdim": 0, "kpack": 1}  # defaults, which titles leave out


@functools.lru_cache(maxsize=None)
def _api():
    loaded = library.load()
    pointer = ctypes.c_void_p
    loaded.margayDescribeTensor.argtypes = [pointer] + [ctypes.c_size_t] * 5
    loaded.margayDescribeTensor.restype = None
    loaded.margayDescribeKernel.argtypes = [
        pointer, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t
    ]  # fmt: skip
    loaded.margayDescribeKernel.restype = ctypes.c_int
    return loaded


class Described:
    """A compiled kernel as reports show it: `matmul[BLOCK=64,num_warps=4]` and its arguments' names."""

    def __init__(self, src, metadata):
        parameters = list(getattr(getattr(src, "fn", None), "arg_names", ())) or [
            f"arg{n}" for n in range(len(src.signature))
        ]
        self.parameters = parameters
        self.name = metadata.name
        self.title = f"{metadata.name}[{','.join(_configuration(src, metadata, parameters))}]"
        self.variant = str(metadata.hash)
        signature = self.kinds = list(src.signature.values())
        self.names = [
            name for parameter, kind in zip(parameters, signature) for name in _flat(parameter, kind)
        ]
        self._named = set()

    def tell(self, function, values):
        """Before a launch of `function` with the values of all its parameters."""
        if function not in self._named:
            self._named.add(function)
            names = (ctypes.c_char_p * len(self.names))(*(name.encode() for name in self.names))
            _api().margayDescribeKernel(
                function, self.title.encode(), self.variant.encode(), names, len(self.names)
            )
        for parameter, value in zip(self.parameters, values):
            self._describe(parameter, value)

    def _describe(self, parameter, value):
        if isinstance(value, (int, float, str, bytes)) or value is None:
            return
        if isinstance(value, tuple):
            for n, part in enumerate(value):
                self._describe(f"{parameter}.{n}", part)
            return
        if hasattr(value, "base") and not hasattr(value, "untyped_storage"):  # a descriptor, a reinterpretation
            value = value.base
        if isinstance(value, Array):
            low, size = value.view.span
            _tell_tensor(low, size, value.view.address, value.view.shape, value.view.item)
        elif (torch := sys.modules.get("torch")) and isinstance(value, torch.Tensor):
            self._describe_torch(torch, parameter, value)

    def _describe_torch(self, torch, parameter, tensor):
        where = torch._C._TensorBase.device.__get__(tensor)  # not what torch_cuda says it is
        if where.type != "cpu" and not (where.type == "cuda" and torch_cuda.is_installed()):
            raise RuntimeError(
                f"{self.name}: argument {parameter} is a tensor on the device {where.type!r}, which has no "
                "memory of this host's: the virtual device takes CPU tensors (and, with torch.cuda "
                "replaced, those on device='cuda')"
            )
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        shape = tuple(tensor.shape) if tensor.is_contiguous() else None
        _tell_tensor(storage.data_ptr(), storage.nbytes(), tensor.data_ptr(), shape, tensor.element_size())


def _tell_tensor(memory, size, address, shape, item):
    """Its shape where it fills its memory; else the memory, which other views may share."""
    elements = 1
    for extent in shape or ():
        elements *= extent
    if shape is None or memory != address or elements * item != size:
        shape = (size // item,)
    leading = 1
    for extent in shape[:-3]:
        leading *= extent
    if size:
        _api().margayDescribeTensor(
            memory, leading, *(1,) * (3 - len(shape)), *shape[-3:], item
        )


def _configuration(src, metadata, parameters):
    """BLOCK=64, ..., num_warps=4: constants and options of the kernel, as an autotuner chose them."""
    for key, value in getattr(src, "constants", {}).items():
        path = key if isinstance(key, tuple) else (key,)
        name = parameters[path[0]] if isinstance(path[0], int) and path[0] < len(parameters) else str(path[0])
        kind = src.signature.get(name)
        if len(path) == 1 and isinstance(value, (bool, int, str)) and kind == "constexpr" and _is_constexpr(src, name):
            yield f"{name}={value}"
    for option in _OPTIONS:
        value = getattr(metadata, option, None)
        if value is not None and _UNSAID.get(option) != value:
            yield f"{option}={value}"


def _is_constexpr(src, name):
    """Declared so; an argument that happens to be 1 is made a constant, too."""
    return any(p.name == name and p.is_constexpr for p in getattr(src.fn, "params", ()))


def _flat(parameter, kind):
    """The names of the kernel's arguments that a parameter becomes, in order."""
    if isinstance(kind, tuple):
        for n, part in enumerate(kind):
            yield from _flat(f"{parameter}.{n}", part)
    elif kind != "constexpr":
        yield parameter
        if kind.startswith("tensordesc"):
            rank = kind.split("[")[1].split("]")[0].count(",") + 1
            for what in ("shape", "stride"):
                yield from (f"{parameter}.{what}{n}" for n in range(rank))
            yield from (f"{parameter}.padding", f"{parameter}.rounding")
            for what in ("shape", "stride"):
                yield from (f"{parameter}.{what}{n}" for n in range(rank))


def accept_arrays():
    """Lets kernels be called with NumPy arrays and with objects that have DLPack."""
    interface = jit.KernelInterface
    original = interface.__getitem__

    @functools.wraps(original)
    def getitem(self, grid):
        run = original(self, grid)

        def launch(*args, **kwargs):
            return run(*map(_tensor, args), **{name: _tensor(value) for name, value in kwargs.items()})

        return launch

    interface.__getitem__ = getitem


def _tensor(value):
    """Something with data_ptr() where `value` is an array of a library that Triton does not know."""
    if isinstance(value, (int, float, str)) or value is None or hasattr(value, "data_ptr"):
        return value
    return Array.of(value) if hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__") else value
