"""The part of the HIP API that the package uses, through ctypes."""

import ctypes
import functools
import threading

from margay import library

_SUCCESS = 0
_lock = threading.Lock()
_modules = {}  # file: (handle, {symbol: function})


@functools.lru_cache(maxsize=None)
def _api():
    """Margay's library with the signatures of the calls below."""
    pointer, number = ctypes.c_void_p, ctypes.c_uint
    calls = {
        "hipModuleLoad": [ctypes.POINTER(pointer), ctypes.c_char_p],
        "hipModuleGetFunction": [ctypes.POINTER(pointer), pointer, ctypes.c_char_p],
        "hipModuleLaunchKernel": [pointer] + [number] * 7 + [pointer, pointer, pointer],
        "hipDeviceSynchronize": [],
        "hipGetLastError": [],
    }
    loaded = library.load()
    loaded.margayDescribeTensor.argtypes = [pointer] + [ctypes.c_size_t] * 5
    loaded.margayDescribeTensor.restype = None
    for name, arguments in calls.items():
        getattr(loaded, name).argtypes = arguments
        getattr(loaded, name).restype = ctypes.c_int
    for name in ("hipGetErrorName", "hipGetErrorString"):
        getattr(loaded, name).argtypes = [ctypes.c_int]
        getattr(loaded, name).restype = ctypes.c_char_p
    return loaded


def _check(status, what):
    if status != _SUCCESS:
        api = _api()
        api.hipGetLastError()  # it is reported here; the next call starts clean
        name, text = api.hipGetErrorName(status), api.hipGetErrorString(status)
        raise RuntimeError(f"{what}: {name.decode()}: {text.decode()}")


def function(file, symbol):
    """The kernel `symbol` of a code object file, which is loaded once."""
    api = _api()
    with _lock:
        if file not in _modules:
            module = ctypes.c_void_p()
            _check(api.hipModuleLoad(ctypes.byref(module), str(file).encode()), str(file))
            _modules[file] = (module, {})
        module, functions = _modules[file]
        if symbol not in functions:
            found = ctypes.c_void_p()
            status = api.hipModuleGetFunction(ctypes.byref(found), module, symbol.encode())
            _check(status, f"{symbol} in {file}")
            functions[symbol] = found
        return functions[symbol]


def describe(view):
    """Tells the checker where a tensor lies, so that an access past its end is found."""
    address, size = view.span
    # With gaps between the rows all is described as one row.
    shape = view.shape if view.is_contiguous else (size // view.item,)
    leading = 1
    for extent in shape[:-3]:
        leading *= extent
    inner = (1,) * (3 - len(shape)) + tuple(shape[-3:])
    _api().margayDescribeTensor(address, leading, *inner, view.item)


def launch(kernel, name, grid, block, dynamic_lds, arguments):
    """Launches and waits. `arguments` are the bytes of the kernel's parameters."""
    size = ctypes.c_size_t(len(arguments))
    memory = ctypes.create_string_buffer(arguments, len(arguments))
    extra = (ctypes.c_void_p * 5)(  # HIP_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END
        1, ctypes.addressof(memory), 2, ctypes.addressof(size), 3
    )
    api = _api()
    api.hipGetLastError()  # an older error is not this call's
    status = api.hipModuleLaunchKernel(kernel, *grid, *block, dynamic_lds, None, None, extra)
    _check(status or api.hipDeviceSynchronize(), name)
