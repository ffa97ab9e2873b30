"""Each file name of the runtime library gives the same functions, plain and with a symbol's version."""

import ctypes
import pathlib

import margay

lib = pathlib.Path(margay.__file__).parent / "_home" / "lib"
lookup = ctypes.CDLL(None).dlvsym
lookup.argtypes, lookup.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p], ctypes.c_void_p
names = [f"{name}{end}" for name in ("libamdhip64.so", "libhiprtc.so") for end in ("", ".5", ".6", ".7")]
# The file without a version is loaded last: by then the others must have brought it.
found = set()
for name in reversed(names):
    library = ctypes.CDLL(str(lib / name))
    plain = ctypes.cast(library.hipMalloc, ctypes.c_void_p).value
    found.add((plain, lookup(library._handle, b"hipMalloc", b"hip_4.2")))  # pylint: disable=protected-access
(addresses,) = found
assert addresses[0] == addresses[1], addresses
print(len(names), "names, one library")
