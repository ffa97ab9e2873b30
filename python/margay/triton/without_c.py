"""What Triton's AMD driver has in C (driver.c), for machines without a C compiler or Python's headers.

The functions have the arguments and results of those in C, so that Triton's launcher uses them as they
are. A launch takes some microseconds more, of milliseconds.
"""

import ctypes
import functools
import operator
import os
import shutil
import struct
import sysconfig

from margay import library

ARG_CONSTEXPR, ARG_KERNEL, ARG_TUPLE = 0, 1, 2
_INVALID_VALUE = 1  # hipErrorInvalidValue
_DEVICE_POINTER = 3  # HIP_POINTER_ATTRIBUTE_DEVICE_POINTER
_REGISTERS, _SCRATCH_BYTES, _MOST_THREADS = 4, 3, 0  # HIP_FUNC_ATTRIBUTE_NUM_REGS, LOCAL_SIZE_BYTES, MAX_THREADS_...

# hipDeviceProp_tR0600 of ROCm 6's hip_runtime_api.h: its size, and the fields by Triton's names.
_PROPERTIES_SIZE = 1472
_PROPERTIES = {
    "max_shared_mem": (296, "Q"),
    "max_num_regs": (304, "i"),
    "multiprocessor_count": (388, "i"),
    "sm_clock_rate": (348, "i"),
    "mem_clock_rate": (608, "i"),
    "mem_bus_width": (612, "i"),
    "arch": (1160, "256s"),
    "warpSize": (308, "i"),
    "max_threads_per_sm": (624, "i"),
    "cooperativeLaunch": (688, "i"),
}


def is_needed():
    """Whether Triton cannot compile its part in C; MARGAY_TRITON_WITHOUT_C=1 says that it shall not."""
    from triton import knobs

    if os.environ.get("MARGAY_TRITON_WITHOUT_C") == "1":
        return True
    if getattr(knobs.build, "impl", None):
        return False
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    scheme = sysconfig.get_default_scheme().replace("posix_local", "posix_prefix")  # as Triton has it
    headers = sysconfig.get_paths(scheme=scheme)["include"]
    return not compiler or not os.path.exists(os.path.join(headers, "Python.h"))


class PyKernelArg:
    """How one argument of a kernel is passed: not at all, as it is, or as the elements of a tuple."""

    def __init__(self, nested_tuple, type=0):  # pylint: disable=redefined-builtin  # Triton's name
        self.nested_tuple = nested_tuple
        self.type = type


class PyTDMDescriptor:
    """The type of a descriptor for hardware that gfx942 has not."""


class Utilities:
    """The functions of driver.c."""

    def __init__(self):
        self._hip = _hip()

    def get_device_properties(self, device):
        memory = ctypes.create_string_buffer(_PROPERTIES_SIZE)
        _check(self._hip.hipGetDevicePropertiesR0600(memory, device))
        found = {name: struct.unpack_from(code, memory, at)[0] for name, (at, code) in _PROPERTIES.items()}
        found["arch"] = found["arch"].split(b"\0")[0].decode()
        return found

    def load_binary(self, name, data, shared, device):  # pylint: disable=unused-argument
        module, function, value = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
        _check(self._hip.hipModuleLoadDataEx(ctypes.byref(module), data, 0, None, None))
        _check(self._hip.hipModuleGetFunction(ctypes.byref(function), module, name.encode()))
        figures = []
        for attribute in (_REGISTERS, _SCRATCH_BYTES, _MOST_THREADS):
            _check(self._hip.hipFuncGetAttribute(ctypes.byref(value), attribute, function))
            figures.append(value.value)
        registers, scratch, threads = figures
        return module.value, function.value, registers, scratch // 4, threads

    def unload_module(self, module):
        _check(self._hip.hipModuleUnload(module))

    def create_tdm_descriptor(self, *_):
        raise RuntimeError("this kernel uses the tensor data mover, which gfx942 and gfx950 do not have")

    def build_signature_metadata(self, signature):
        """What `launch` takes as the kernel's signature: a byte for each argument."""
        codes = []
        for name in signature:
            kind = "*" if name.startswith("*") else name
            if kind not in _CODES:
                raise RuntimeError(f"Unknown data type: {name!r}")
            codes.append(_CODES[kind])
        return bytes(codes)

    def launch(self, cooperative, grid_x, grid_y, grid_z, stream, function, *rest):
        # Before Triton 3.8 there is no global scratch, which is then a null pointer.
        *scratch, kernel, metadata, enter, leave, warp_size, annotations, signature, arguments = rest
        num_warps, num_ctas, shared = kernel
        if num_ctas > 1:
            raise RuntimeError(f"num_ctas={num_ctas}: this device has no clusters of workgroups")
        if enter is not None:
            enter(metadata)
        values = [_CONVERTERS[code](value) for code, value in zip(signature, _flat(annotations, arguments))]
        scratch = [*[None] * (2 - len(scratch)), *scratch]
        values += [_pointer(value) for value in scratch]
        if grid_x * grid_y * grid_z:
            parameters = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
            start = self._hip.hipModuleLaunchCooperativeKernel if cooperative else self._hip.hipModuleLaunchKernel
            _check(
                start(function, grid_x, grid_y, grid_z, warp_size * num_warps, 1, 1, shared, stream, parameters, None)
            )
        if leave is not None:
            leave(metadata)


@functools.lru_cache(maxsize=None)
def _hip():
    # Functions of their own, which keep Python's lock during a call, as Triton's do.
    loaded = ctypes.PyDLL(library.load()._name)  # pylint: disable=protected-access
    pointer, number, size = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint
    launch = [pointer, *[size] * 7, pointer, pointer, pointer]
    for name, parameters in {
        "hipGetDevicePropertiesR0600": [pointer, number],
        "hipModuleLoadDataEx": [pointer, ctypes.c_char_p, size, pointer, pointer],
        "hipModuleUnload": [pointer],
        "hipModuleGetFunction": [pointer, pointer, ctypes.c_char_p],
        "hipFuncGetAttribute": [pointer, number, pointer],
        "hipModuleLaunchKernel": launch,
        "hipModuleLaunchCooperativeKernel": launch,  # which does not read the last one
        "hipPointerGetAttribute": [pointer, number, pointer],
        "hipGetLastError": [],
    }.items():
        getattr(loaded, name).argtypes = parameters
    loaded.hipGetErrorString.argtypes, loaded.hipGetErrorString.restype = [number], ctypes.c_char_p
    return loaded


def _check(status):
    if status:
        text = _hip().hipGetErrorString(status).decode()
        raise RuntimeError(f"Triton Error [HIP]:  Code: {status}, Message: {text}")


def _flat(annotations, arguments):
    """The arguments that are passed to the kernel: without constexpr, and the elements of tuples."""
    for annotation, argument in zip(annotations, arguments):
        if annotation.type == ARG_KERNEL:
            yield argument
        elif annotation.type == ARG_TUPLE:
            yield from _flat(annotation.nested_tuple, argument)


def _pointer(value):
    if value is None:
        return ctypes.c_void_p()
    if isinstance(value, int):
        return ctypes.c_void_p(value)
    if not hasattr(value, "data_ptr"):
        raise TypeError("Pointer argument must be either uint64 or have data_ptr method")
    address = ctypes.c_void_p(value.data_ptr())
    if address:
        status = _hip().hipPointerGetAttribute(ctypes.byref(ctypes.c_void_p()), _DEVICE_POINTER, address)
        if status == _INVALID_VALUE:
            _hip().hipGetLastError()
            raise ValueError("Pointer argument cannot be accessed from Triton (cpu tensor?)")
    return address


def _integer(kind):
    return lambda value: kind(operator.index(value))


def _packed(code):
    return lambda value: ctypes.create_string_buffer(struct.pack(code, value))


def _bfloat16(value):
    # The upper half, not rounded: so does Triton's.
    return ctypes.create_string_buffer(bytes(ctypes.c_float(value))[2:])


_KINDS = {
    "*": _pointer,
    "i1": _integer(ctypes.c_int32),
    "i8": _integer(ctypes.c_int8),
    "i16": _integer(ctypes.c_int16),
    "i32": _integer(ctypes.c_int32),
    "i64": _integer(ctypes.c_int64),
    "u1": _integer(ctypes.c_uint32),
    "u8": _integer(ctypes.c_uint8),
    "u16": _integer(ctypes.c_uint16),
    "u32": _integer(ctypes.c_uint32),
    "u64": _integer(ctypes.c_uint64),
    "fp16": _packed("<e"),
    "bf16": _bfloat16,
    "fp32": ctypes.c_float,
    "f32": ctypes.c_float,
    "fp64": ctypes.c_double,
}
_CODES = {name: code for code, name in enumerate(_KINDS)}
_CONVERTERS = list(_KINDS.values())
