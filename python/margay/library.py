"""Finds Margay's libamdhip64 in this process, or loads it.

The kernels that a Python program launches go through whichever libamdhip64 the process has loaded,
so that one counts: ROCm's own cannot be asked to check anything.
"""

import ctypes
import mmap
import os
import pathlib

from margay import installation
from margay.installation import HOW as _HOW
from margay.installation import LibraryError

_NAME = installation.RUNTIME
_MARK = b"margayCheckBegin"  # what only Margay's library exports
_PROFILER = "margayProfileBegin"  # what those that can profile export


def loaded_paths():
    """The libamdhip64 files that this process has loaded."""

    class Info(ctypes.Structure):  # the beginning of struct dl_phdr_info, see dl_iterate_phdr(3)
        _fields_ = [("address", ctypes.c_void_p), ("name", ctypes.c_char_p)]

    found = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Info), ctypes.c_size_t, ctypes.c_void_p)
    def visit(info, _size, _data):
        path = os.fsdecode(info.contents.name or b"")
        if os.path.basename(path).startswith(_NAME):
            found.append(path)
        return 0

    ctypes.CDLL(None).dl_iterate_phdr(visit, None)
    return found


def candidate_paths(environment=os.environ):
    """Where Margay's library may lie when none is loaded, in the order in which they are tried."""
    directories = [prefix / "lib" for prefix in installation.named(environment)]
    directories += [pathlib.Path(p) for p in environment.get("LD_LIBRARY_PATH", "").split(":") if p]
    directories += [prefix / "lib" for prefix in installation.neighbours(environment)]
    return [directory / _NAME for directory in directories]


def is_margays(path):
    """Whether the file is Margay's, without loading it: ROCm's would start to look for a GPU."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data.find(_MARK) >= 0
    except (OSError, ValueError):  # missing, unreadable, empty
        return False


def _declare(library):
    library.margayCheckBegin.argtypes = [ctypes.c_char_p]
    library.margayCheckBegin.restype = ctypes.c_int
    library.margayCheckEnd.argtypes = []
    library.margayCheckEnd.restype = ctypes.c_char_p
    library.margayCheckError.argtypes = []
    library.margayCheckError.restype = ctypes.c_char_p
    if hasattr(library, _PROFILER):
        library.margayProfileBegin.argtypes = [ctypes.c_char_p]
        library.margayProfileBegin.restype = ctypes.c_int
        library.margayProfileEnd.argtypes = []
        library.margayProfileEnd.restype = ctypes.c_char_p
        library.margayProfileError.argtypes = []
        library.margayProfileError.restype = ctypes.c_char_p
    return library


def load(environment=os.environ):
    """Margay's libamdhip64 as a ctypes library: the loaded one, otherwise one that is found."""
    others = []
    for path in loaded_paths():
        library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        if hasattr(library, _MARK.decode()):
            return _declare(library)
        others.append(path)
    if others:
        raise LibraryError(
            f"This process uses {others[0]}, which is not Margay's HIP runtime, or one that is too "
            f"old to check anything. {_HOW}"
        )
    candidates = candidate_paths(environment)
    for path in candidates:
        if is_margays(path):
            try:
                return _declare(ctypes.CDLL(str(path), mode=os.RTLD_GLOBAL | os.RTLD_NOW))
            except OSError as error:
                raise LibraryError(f"{path} cannot be loaded: {error}") from error
    foreign = [str(path) for path in candidates if path.exists()]
    reason = f"{foreign[0]} is not Margay's" if foreign else "there is none"
    raise LibraryError(f"Margay's libamdhip64 was not found: {reason}. {_HOW}")


def load_profiler(environment=os.environ):
    """As load(); the library can profile."""
    library = load(environment)
    if not hasattr(library, _PROFILER):
        raise LibraryError(
            f"{library._name} is Margay's, but too old to profile anything. Build Margay anew and "
            f"use that libamdhip64. {_HOW}"
        )
    return library


def installed():
    """The installation of Margay's library, which is loaded if it was not."""
    return installation.of_library(load()._name)  # pylint: disable=protected-access
