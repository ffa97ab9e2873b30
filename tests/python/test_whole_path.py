"""From Python to a kernel and back, with Margay's own library: nothing here is a stand-in.

Needs MARGAY_TOOL (the built tool) and MARGAY_KERNELS (kernels.hip as a shared library), which ctest
sets.
"""

import os
import subprocess
import sys

import pytest
from conftest import PACKAGE

TOOL = os.environ.get("MARGAY_TOOL", "")
KERNELS = os.environ.get("MARGAY_KERNELS", "")

# Started by hand there may be no built library to test; under ctest both are set and nothing is skipped.
pytestmark = pytest.mark.skipif(
    not (TOOL and KERNELS), reason="MARGAY_TOOL and MARGAY_KERNELS are not set"
)

LOAD = """
import ctypes, os, margay
kernels = ctypes.CDLL(os.environ["MARGAY_KERNELS"])
"""


def run(*command):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    return subprocess.run(
        [TOOL, "run", "--", sys.executable, *command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_kernel_that_is_right():
    done = run("-c", LOAD + """
with margay.check() as report:
    assert kernels.copy_right() == 0
print(report.launches, len(report.errors))
""")
    assert done.stdout == "1 0\n", done.stderr


def test_a_kernel_that_reads_past_the_end():
    done = run("-c", LOAD + """
with margay.check(tools="memcheck", raise_on_error=False) as report:
    kernels.copy_past_the_end()
[error] = report.errors
print(error.tool, error.accesses[0].frames[0])
""")
    assert done.stdout.startswith("memcheck "), done.stderr
    assert "kernels.hip:10" in done.stdout


def test_what_is_outside_of_the_block_is_not_checked():
    done = run("-c", LOAD + """
with margay.check() as report:
    pass
kernels.copy_right()
print(report.launches)
with margay.check() as report:
    kernels.copy_right()
print(report.launches)
""")
    assert done.stdout == "0\n1\n", done.stderr


def test_pytest(tmp_path):
    (tmp_path / "test_kernels.py").write_text(
        "import ctypes, os\n"
        "kernels = ctypes.CDLL(os.environ['MARGAY_KERNELS'])\n"
        "def test_right(): assert kernels.copy_right() == 0\n"
        "def test_wrong(): kernels.copy_past_the_end()\n"
    )
    done = run("-m", "pytest", "-p", "margay.pytest_plugin", "--margay-check", str(tmp_path))
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "kernels.hip:10" in done.stdout
