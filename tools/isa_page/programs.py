"""Test programs that execute single instructions, as tests/judges/CMakeLists.txt lists them: NAME=FILE, or
NAME=FILE?FILTER for those tests of it that GTEST_FILTER chooses."""

import os
import subprocess

# Where the results that a program expects come from: whether they are independent of the author of the executor, and
# from what.
SOURCES = {
    "exhaustive/transcendental": (True, "the host: 80-bit arithmetic and the C library's functions, rounded once"),
    "exec/float_mode": (True, "the host's arithmetic under fesetround; f16 worked out exactly"),
    "device/float": (True, "LLVM and the host: clang compiles one source for gfx942 and for the host"),
    "device/integer": (True, "LLVM and the host, likewise"),
    "device/memory": (True, "LLVM and the host, likewise"),
    "device/control": (True, "LLVM and the host: a kernel with branches, calls and exchanges, and plain loops"),
    "device/math": (True, "the host's C library in a wider type, within the bounds of OpenCL C"),
    "device/compare": (False, "the comparison that a mnemonic names, computed on the host"),
    "device/scalar": (False, "the ISA guide's pseudo-code, written a second time"),
    "device/vector": (False, "the ISA guide's pseudo-code, written a second time"),
    "device/access": (False, "the ISA guide's pseudo-code, written a second time"),
    "device/rare": (False, "the ISA guide's pseudo-code, written a second time"),
    "device/media": (False, "the ISA guide's pseudo-code, written a second time on scalars"),
    "device/fp8": (False, "the definition of the formats: the nearest of all codes"),
    "exec/matrix": (False, "the reference of the MFMA library; `tests/unit/mfma` checks that, with a second formulation "
                           "of the published model"),
    "exec/buffer": (False, "the ISA guide's formulas for addresses, written a second time; formats in f64"),
    "exec/assembly": (False, "values written down by hand from the ISA guide"),
}


class Program:
    def __init__(self, entry):
        self.name, _, file = entry.partition("=")
        self.file, _, self.filter = file.partition("?")

    @property
    def independent(self):
        return SOURCES[self.name][0]

    def run(self, variables, timeout=None):
        """Its end as subprocess has it; raises subprocess.TimeoutExpired."""
        environment = os.environ | variables | ({"GTEST_FILTER": self.filter} if self.filter else {})
        return subprocess.run([self.file, "--gtest_brief=1"], env=environment, capture_output=True,
                              text=True, errors="replace", timeout=timeout)


def rows(isa_page):
    """The mnemonics of the virtual device."""
    return subprocess.run([isa_page, "--rows"], check=True, capture_output=True, text=True).stdout.split()
