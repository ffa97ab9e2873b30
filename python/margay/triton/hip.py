"""The HIP calls behind Triton's driver and torch.cuda: devices, streams and events."""

import ctypes
import functools
import math
import os
import threading

from margay import library
from margay.triton import said

_NOT_READY = 600  # hipErrorNotReady
_DISABLE_TIMING = 2  # hipEventDisableTiming


class _Current(threading.local):
    device = 0

    def __init__(self):
        self.streams = {}  # device: handle; what is missing is the null stream


_current = _Current()


@functools.lru_cache(maxsize=None)
def _api():
    loaded = library.load()
    pointer, number = ctypes.c_void_p, ctypes.c_int
    out = ctypes.POINTER
    calls = {
        "hipDeviceSynchronize": [],
        "hipDriverGetVersion": [out(number)],
        "hipEventCreateWithFlags": [out(pointer), ctypes.c_uint],
        "hipEventDestroy": [pointer],
        "hipEventElapsedTime": [out(ctypes.c_float), pointer, pointer],
        "hipEventQuery": [pointer],
        "hipEventRecord": [pointer, pointer],
        "hipEventSynchronize": [pointer],
        "hipGetDeviceCount": [out(number)],
        "hipMemGetInfo": [out(ctypes.c_size_t), out(ctypes.c_size_t)],
        "hipSetDevice": [number],
        "hipDeviceGetAttribute": [out(number), number, number],
        "hipStreamCreate": [out(pointer)],
        "hipStreamDestroy": [pointer],
        "hipStreamQuery": [pointer],
        "hipStreamSynchronize": [pointer],
        "hipStreamWaitEvent": [pointer, pointer, ctypes.c_uint],
    }
    for name, parameters in calls.items():
        getattr(loaded, name).argtypes = parameters
        getattr(loaded, name).restype = number
    loaded.hipGetErrorString.argtypes = [number]
    loaded.hipGetErrorString.restype = ctypes.c_char_p
    return loaded


def call(name, *parameters, allowed=()):
    """Calls HIP; RuntimeError with HIP's own sentence unless it succeeds or returns an allowed code."""
    status = getattr(_api(), name)(*parameters)
    if status and status not in allowed:
        _api().hipGetLastError()
        raise RuntimeError(f"{name}: {_api().hipGetErrorString(status).decode()}")
    return status


def device_count():
    number = ctypes.c_int()
    call("hipGetDeviceCount", ctypes.byref(number))
    return number.value


def attribute(number, device=0):
    """A hipDeviceAttribute_t."""
    value = ctypes.c_int()
    call("hipDeviceGetAttribute", ctypes.byref(value), number, device)
    return value.value


def driver_version():
    """(major, minor, patch) of the HIP that the runtime says to be."""
    number = ctypes.c_int()
    call("hipDriverGetVersion", ctypes.byref(number))
    return number.value // 10_000_000, number.value // 100_000 % 100, number.value % 100_000


def memory():
    """(free, total) bytes."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("hipMemGetInfo", ctypes.byref(free), ctypes.byref(total))
    return free.value, total.value


def current_device():
    return _current.device


def set_device(device):
    if not 0 <= device < device_count():
        raise RuntimeError(
            f"there is no device {device}: the virtual devices are 0 to {device_count() - 1} "
            "(MARGAY_DEVICES says how many)"
        )
    call("hipSetDevice", device)
    _current.device = device


def current_stream(device=None):
    """The handle of the thread's stream on a device; 0 is the null stream."""
    return _current.streams.get(current_device() if device is None else device, 0)


def set_stream(handle, device=None):
    _current.streams[current_device() if device is None else device] = handle


def capability(device=None):  # pylint: disable=unused-argument  # all devices are alike
    """(major, minor) of the processor: gfx942 and gfx950 say 9.4 and 9.5."""
    compute = attribute(23), attribute(61)  # hipDeviceAttributeComputeCapabilityMajor, Minor
    return compute


class Stream:
    """A stream of the device."""

    def __init__(self, device=None):
        made = ctypes.c_void_p()
        with _on(device):
            call("hipStreamCreate", ctypes.byref(made))
        self.handle = made.value or 0

    def __del__(self):
        if getattr(self, "handle", 0):
            _api().hipStreamDestroy(self.handle)


class _on:  # pylint: disable=invalid-name  # reads as a function: with _on(device)
    def __init__(self, device):
        self._device = device
        self._before = None

    def __enter__(self):
        self._before = current_device()
        if self._device is not None and self._device != self._before:
            set_device(self._device)

    def __exit__(self, *_):
        if current_device() != self._before:
            set_device(self._before)


def is_done(name, handle):
    """Of hipStreamQuery and hipEventQuery."""
    return call(name, handle, allowed=(_NOT_READY,)) == 0


def events_are_modelled():
    """Lets events give modelled time from now on, unless MARGAY_EVENT_TIME says what they give; false
    with a runtime library that cannot."""
    loaded = _api()
    if not hasattr(loaded, "margayEventTime"):
        return False
    loaded.margayEventTime.argtypes, loaded.margayEventTime.restype = [ctypes.c_char_p], ctypes.c_char_p
    if "MARGAY_EVENT_TIME" not in os.environ:
        loaded.margayEventTime(b"modelled")
    return True


class Event:
    """A point in the order of a stream. Kernels behind the first timed one are modelled."""

    def __init__(self, timed):
        self._has_time = timed and events_are_modelled()
        made = ctypes.c_void_p()
        call("hipEventCreateWithFlags", ctypes.byref(made), 0 if timed else _DISABLE_TIMING)
        self.handle = made.value

    def __del__(self):
        if getattr(self, "handle", None):
            _api().hipEventDestroy(self.handle)

    def milliseconds_until(self, end):
        if not self._has_time:  # the host's time says nothing
            said.once("events have no time: nan is given; triton.testing.do_bench models it")
            return math.nan
        time = ctypes.c_float()
        call("hipEventElapsedTime", ctypes.byref(time), self.handle, end.handle)
        return time.value
