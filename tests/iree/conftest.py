"""Programs for IREE, compiled for the virtual device and for the host's processor.

They need iree-base-compiler and iree-base-runtime (and onnx for the imported models) from PyPI, and MARGAY_HOME,
the build. Without them the tests are skipped, with the reason.
"""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
HOME = os.environ.get("MARGAY_HOME")
MARGAY = pathlib.Path(HOME) / "bin" / "margay" if HOME else None


@pytest.fixture(scope="session")
def margay():
    """Runs `margay COMMAND -- python3 program.py`, and gives what it printed."""
    if MARGAY is None or not MARGAY.exists():
        pytest.skip("MARGAY_HOME does not name a build of Margay")
    pytest.importorskip("iree.compiler", reason="iree-base-compiler is not installed")
    pytest.importorskip("iree.runtime", reason="iree-base-runtime is not installed")

    def run(command, *arguments, cwd):
        done = subprocess.run([MARGAY, *command, "--", sys.executable, *map(str, arguments)], cwd=cwd, text=True,
                              capture_output=True, timeout=600, check=False)  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return run
