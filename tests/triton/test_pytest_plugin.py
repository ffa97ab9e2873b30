"""`pytest --margay-check` over a suite of Triton tests, also with pytest-xdist."""

# pylint: disable=missing-function-docstring

import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.any_version

SUITE = """
import kernels, torch

def test_right():
    x = torch.rand(1000, device="cuda")
    out = torch.empty_like(x)
    kernels.add[(4,)](x, x, out, 1000, BLOCK=256)
    assert torch.equal(out, x + x)

def test_race():
    x, out = torch.rand(512, device="cuda"), torch.empty(128, device="cuda")
    kernels.last_one_wins[(4,)](x, out, BLOCK=128)
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_errors_fail_the_test(tmp_path, margay_tool, environment, workers):
    if workers:
        pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "kernels.py").write_text((pathlib.Path(__file__).parent / "kernels.py").read_text())
    python = pathlib.Path(margay_tool).parents[1] / "lib" / "margay" / "python"
    done = subprocess.run(
        [margay_tool, "run", "--", sys.executable, "-m", "pytest", "-p", "margay.pytest_plugin", "--margay-check",
         "-p", "no:cacheprovider", *(["-n", str(workers)] if workers else []), "test_suite.py"],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**environment, "PYTHONPATH": str(python)},
    )  # fmt: skip
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "racecheck" in done.stdout and "kernels.py:" in done.stdout


def test_right_kernels_are_silent(margay_tool, environment):
    """All of test_kernels.py, under the checker."""
    here = pathlib.Path(__file__).parent
    python = pathlib.Path(margay_tool).parents[1] / "lib" / "margay" / "python"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "margay.pytest_plugin", "--margay-check", "-q",
         "-p", "no:cacheprovider", "test_kernels.py"],
        capture_output=True, text=True, check=False, cwd=here,
        env={**environment, "PYTHONPATH": str(python), "MARGAY_HOME": str(pathlib.Path(margay_tool).parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
