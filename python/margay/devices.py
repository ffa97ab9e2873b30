"""The virtual device: which machine it is, and how another one is chosen."""

import ctypes
import os
from dataclasses import dataclass

from margay import library
from margay.library import LibraryError

_VARIABLE = "MARGAY_DEVICE"
# hipDeviceAttribute_t; the number of XCDs is ROCm 6's.
_ATTRIBUTES = {"clock_khz": 5, "compute_units": 63, "xcds": 10018}


@dataclass(frozen=True)
class Device:
    """What the HIP runtime says of the device."""

    option: str  # what use_device() and --device call it: "mi325x"
    name: str  # "AMD Instinct MI325X"
    compute_units: int
    xcds: int
    memory_bytes: int
    clock_khz: int


def _library():
    loaded = library.load()
    if not hasattr(loaded, "margayDevices"):
        raise LibraryError(
            f"{loaded._name} is Margay's, but too old to have several devices. Build Margay anew."
        )
    for function in (loaded.margayDevice, loaded.margayDevices):
        function.argtypes, function.restype = [], ctypes.c_char_p
    return loaded


def device() -> Device:
    """The device of this process. Asking settles which one it is: use_device() comes first."""
    loaded = _library()
    option = loaded.margayDevice()
    if option is None:
        raise ValueError(f"a MARGAY_ variable has no such value; {_VARIABLE} may be {names()}")
    text, number, size = ctypes.create_string_buffer(256), ctypes.c_int(), ctypes.c_size_t()
    failed = loaded.hipDeviceGetName(text, len(text), 0)
    failed = failed or loaded.hipDeviceTotalMem(ctypes.byref(size), 0)
    figures = {}
    for name, attribute in _ATTRIBUTES.items():
        failed = failed or loaded.hipDeviceGetAttribute(ctypes.byref(number), attribute, 0)
        figures[name] = number.value
    if failed:
        raise RuntimeError(f"the device's properties cannot be read: HIP error {failed}")
    return Device(option.decode(), text.value.decode(), memory_bytes=size.value, **figures)


def names() -> str:
    """What use_device() takes, with commas between."""
    return _library().margayDevices().decode()


def use_device(name: str) -> Device:
    """Makes the machine `name` this process's device, before its first HIP call."""
    if name.lower() not in names().split(", "):
        raise ValueError(f"there is no device {name!r}; the devices are {names()}")
    before = os.environ.get(_VARIABLE)
    os.environ[_VARIABLE] = name
    found = device()
    if found.option == name.lower():
        return found
    if before is None:
        del os.environ[_VARIABLE]
    else:
        os.environ[_VARIABLE] = before
    raise RuntimeError(
        f"the device is the {found.name} already: it is settled by the first HIP call, and when a "
        "library with kernels is loaded"
    )
