"""Triton's kernels on the virtual device. Without Triton, or torch, all are skipped with a sentence."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("MARGAY_HOME", str(ROOT / "build" / "release"))
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # Triton 3.9 warns where it is not set
sys.path.insert(0, str(ROOT / "python"))

pytest.importorskip("triton", reason="Triton is not installed (pip install triton)")
pytest.importorskip("torch", reason="torch is not installed (pip install torch)")

import margay.triton  # noqa: E402,F401  # pylint: disable=wrong-import-position,unused-import


def pytest_configure(config):
    """The marks of these tests."""
    config.addinivalue_line("markers", "any_version: does not depend on Triton's version; .ci/run tests it with one")


@pytest.fixture
def margay_tool():
    """The command `margay` of the build that is tested."""
    return os.path.join(os.environ["MARGAY_HOME"], "bin", "margay")


@pytest.fixture
def environment():
    """For a program that knows nothing of Margay."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MARGAY_HOME")}
