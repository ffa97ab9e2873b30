"""`margay run -- python3 program.py`: nothing imported; and programs that are not to be touched."""

# pylint: disable=missing-function-docstring

import subprocess
import sys

import pytest

PROGRAM = """
import torch, triton, triton.language as tl

@triton.jit
def twice(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)

x = torch.ones(100, device="cuda")
assert x.is_cuda and torch.cuda.is_available()
twice[(1,)](x, 100, BLOCK=128)
print("sum", x.sum().item(), triton.runtime.driver.active.get_current_target().arch)
"""


@pytest.fixture
def run(tmp_path, margay_tool, environment):
    """Runs a Python program under `margay COMMAND`."""

    def run_it(program, *command, **variables):
        file = tmp_path / "program.py"
        file.write_text(program)
        return subprocess.run(
            [margay_tool, *command, "--", sys.executable, str(file)],
            capture_output=True, text=True, check=False, cwd=tmp_path, env={**environment, **variables},
        )  # fmt: skip

    return run_it


def test_run(run):
    done = run(PROGRAM, "run")
    assert done.stdout == "sum 200.0 gfx942\n", done.stderr
    assert done.stderr.count('torch\'s "cuda" is the virtual') == 1


def test_check(run):
    done = run(PROGRAM.replace("mask=at < n)", ")"), "check")
    assert done.returncode != 0
    assert "program.py:7 in twice" in done.stderr and "argument" not in done.stderr.split("program.py:7")[0]
    assert run(PROGRAM, "check").returncode == 0


def test_prof(run):
    done = run(PROGRAM, "prof")
    assert done.returncode == 0, done.stderr
    assert "twice[BLOCK=128" in done.stdout + done.stderr and "x_ptr" in done.stdout + done.stderr


def test_time(run):
    done = run(PROGRAM, "time")
    assert done.returncode == 0, done.stderr
    assert "twice" in done.stdout + done.stderr


def test_switched_off(run):
    done = run(PROGRAM, "run", MARGAY_TRITON="0")
    assert done.returncode != 0 and "sum" not in done.stdout
    off = PROGRAM.replace('device="cuda"', 'device="cpu"').replace("x.is_cuda and torch", "not torch")
    done = run(off, "run", MARGAY_TORCH_CUDA="0")
    assert done.stdout == "sum 200.0 gfx942\n", done.stderr
    assert "cuda" not in done.stderr


def test_a_program_without_triton_is_not_touched(run):
    program = "import torch, sys; print(torch.cuda.is_available(), 'margay' in sys.modules, 'triton' in sys.modules)"
    done = run(program, "run")
    assert (done.stdout, done.stderr) == ("False False False\n", "")


def test_what_lies_beside_the_package_is_not_imported(run):
    # In the wheel that is a site-packages, of another Python than the program's.
    program = "import sys, triton, margay, os; print(os.path.dirname(os.path.dirname(margay.__file__)) in sys.path)"
    assert run(program, "run").stdout == "False\n"


def test_the_hidden_sitecustomize_runs(run, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("print('mine')")
    assert run("print('program')", "run", PYTHONPATH=str(tmp_path / "site")).stdout == "mine\nprogram\n"


def test_an_error_of_the_program_is_its_own(run):
    done = run("import triton\nraise SystemExit(3)", "run")
    assert done.returncode == 3 and done.stderr == ""


def test_what_triton_refuses_is_a_sentence(run):
    if not hasattr(__import__("torch"), "float8_e8m0fnu"):
        pytest.skip("this torch has no such type")
    fp8 = PROGRAM.replace("x = torch.ones(100, device=\"cuda\")", "x = torch.ones(100, device='cuda').to(torch.float8_e8m0fnu)")
    done = run(fp8, "run")
    assert done.returncode != 0 and done.stderr.strip().splitlines()[-1].count("float8_e8m0fnu") == 1


def test_an_autotuned_program_is_profiled(run):
    tuned = PROGRAM.replace(
        "@triton.jit",
        "@triton.autotune([triton.Config({'BLOCK': 128}), triton.Config({'BLOCK': 256})], key=['n'])\n@triton.jit",
    ).replace("twice[(1,)](x, 100, BLOCK=128)", "twice[(1,)](x.clone(), 100)\ntwice[(1,)](x, 100)")
    assert run(tuned, "run").stdout == "sum 200.0 gfx942\n"
    done = run(tuned, "prof")
    assert done.returncode == 0 and "autotuners take their first configuration" in done.stderr, done.stderr
