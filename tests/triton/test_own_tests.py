"""tools/triton_own_tests.py, on a source tree with a few cases of each outcome."""

# pylint: disable=missing-function-docstring

import pathlib
import subprocess
import sys

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "triton_own_tests.py"
CASES = """
import time, pytest, torch, triton, triton.language as tl

@triton.jit
def count(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.arange(0, BLOCK))

@pytest.mark.parametrize("n", range(30))
def test_counts(n):
    x = torch.empty(16, dtype=torch.int32, device="cuda")
    count[(1,)](x, BLOCK=16)
    assert x.sum().item() == 120
"""
OTHERS = """
import time, pytest
def test_left_out(): pytest.skip("not for this device")
def test_wrong(): assert 1 == 2
def test_slow(): time.sleep(60)
"""


def run(tree, *options):
    return subprocess.run(
        [sys.executable, str(TOOL), str(tree), *options], capture_output=True, text=True, check=False
    )


def test_outcomes_are_counted(tmp_path):
    folder = tmp_path / "python" / "test" / "unit" / "language"
    folder.mkdir(parents=True)
    (folder / "test_cases.py").write_text(CASES)
    (folder / "test_others.py").write_text(OTHERS)
    done = run(tmp_path, "--sample", "0", "--of", "test_cases.py=4", "--limit", "10")
    assert done.returncode == 1, done.stderr
    assert "| test_cases.py | 30 | 4 | 4 | 0 | 0 | 0 |" in done.stdout, done.stderr
    assert "| test_others.py | 3 | 3 | 0 | 1 | 0 | 2 |" in done.stdout
    assert "| all | 33 | 7 | 4 | 1 | 0 | 2 |" in done.stdout
    assert "test_others.py::test_wrong: E   assert 1 == 2" in done.stdout
    assert "test_others.py::test_slow: E   TimeoutError: longer than --limit" in done.stdout
    assert run(tmp_path, "--sample", "2", "test_cases.py").returncode == 0


def test_another_folder_is_refused(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 1 and "is " in done.stderr and "Triton's source tree?" in done.stderr
