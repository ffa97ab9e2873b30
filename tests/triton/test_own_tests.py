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


RACING = """
import pytest, torch, triton, mine

@pytest.mark.parametrize("kernel", [mine.right, mine.racing], ids=["right", "racing"])
def test_stores(kernel):
    x = torch.empty(64, dtype=torch.int32, device="cuda")
    kernel[(4,)](x, BLOCK=16)
"""
MINE = """
import triton, triton.language as tl

@triton.jit
def right(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(0))

@triton.jit
def racing(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.program_id(0))
"""


def test_another_collection_is_checked(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "mine.py").write_text(MINE)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_mine.py").write_text(RACING)
    assert run(tmp_path, "--tests", "tests").returncode == 0
    done = run(tmp_path, "--tests", "tests", "--check")
    assert done.returncode == 1 and "| test_mine.py | 2 | 2 | 1 | 0 | 0 | 1 |" in done.stdout, done.stderr
    assert "test_stores[racing]" in done.stdout


def test_another_folder_is_refused(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 1 and "is " in done.stderr and "Triton's source tree?" in done.stderr
