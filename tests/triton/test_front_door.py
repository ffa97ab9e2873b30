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
    program = "import torch, sys; torch.manual_seed(1); print('margay' in sys.modules, 'triton' in sys.modules)"
    done = run(program, "run")
    assert (done.stdout, done.stderr) == ("False False\n", "")


@pytest.mark.parametrize("question", ["is_available", "device_count"])
def test_a_program_may_ask_for_a_gpu_before_it_imports_triton(run, question):
    first = f"import torch\nDEVICE = 'cuda' if torch.cuda.{question}() else 'cpu'\nassert DEVICE == 'cuda'\n"
    assert run(first + PROGRAM, "run").stdout == "sum 200.0 gfx942\n"
    program = "import torch, sys; print(torch.cuda.is_available(), 'triton' in sys.modules)"
    assert run(program, "run", MARGAY_TORCH_CUDA="0").stdout == "False False\n"
    assert run(program, "run", MARGAY_TRITON="0").stdout == "False False\n"


def test_what_lies_beside_the_package_is_not_imported(run):
    # In the wheel that is a site-packages, of another Python than the program's.
    program = "import sys, triton, margay, os; print(os.path.dirname(os.path.dirname(margay.__file__)) in sys.path)"
    assert run(program, "run").stdout == "False\n"


def test_torch_may_import_triton_first(run):
    """Its import for itself changes nothing; the program's first kernel does, and so does asking for a GPU."""
    first = "exec('import triton', {'__name__': 'torch._inductor.runtime'})"
    untouched = f"import torch, sys\n{first}\nassert 'triton' in sys.modules and 'margay' not in sys.modules\n"
    assert run(untouched, "run").stderr == ""
    assert run(untouched + PROGRAM, "run").stdout == "sum 200.0 gfx942\n"
    assert run(untouched + "assert torch.cuda.is_available()\n" + PROGRAM, "run").stdout == "sum 200.0 gfx942\n"


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


TUNED = PROGRAM.replace(
    "@triton.jit",
    "@triton.autotune([triton.Config({'BLOCK': b}, num_warps=w) for b, w in ((64, 1), (1024, 4))], key=['n'])\n"
    "@triton.jit",
).replace("torch.ones(100, ", "torch.ones(100000, ").replace(
    "twice[(1,)](x, 100, BLOCK=128)",
    "launch = lambda y: twice[lambda meta: (triton.cdiv(100000, meta['BLOCK']),)](y, 100000)\n"
    "launch(x.clone()); launch(x)\n"
    "print(triton.testing.do_bench(lambda: launch(x.clone())) > 0.001)",
)
TUNED_SAYS = "True\nsum 200000.0 gfx942\n"
CHOSEN = "twice[BLOCK=1024,num_warps=4,"  # by modelled time: fewer workgroups to begin


@pytest.mark.parametrize("command", ["prof", "time"])
def test_the_profile_is_of_what_an_autotuner_chose(run, command):
    assert run(TUNED, "run").stdout == TUNED_SAYS
    done = run(TUNED, command)
    text = done.stdout + done.stderr
    assert done.returncode == 0 and TUNED_SAYS in done.stdout, text
    assert CHOSEN in text and "BLOCK=64" not in text
    assert text.count("the configurations that an autotuner tries are not in the profile") == 1
    assert text.count("times are those of Margay's model") == 1


def test_a_section_of_a_profile_has_what_an_autotuner_chose(run):
    profiled = TUNED.replace("launch(x.clone()); launch(x)", """
import margay
with margay.profile() as p:
    launch(x.clone()); launch(x)
print([(k.name, k.launches) for k in p.kernels])""")
    done = run(profiled, "run")
    assert CHOSEN in done.stdout and "BLOCK=64" not in done.stdout and ", 2)]" in done.stdout, done.stdout + done.stderr


def test_each_configuration_that_an_autotuner_tries_is_checked(run):
    assert run(TUNED, "check").returncode == 0
    racing = TUNED.replace("mask=at < n)\n", "mask=at < n)\n    if BLOCK == 64: tl.store(x_ptr, tl.program_id(0))\n")
    assert "if BLOCK" in racing
    done = run(racing, "check")
    assert done.returncode != 0 and "kernel twice[BLOCK=64,num_warps=1" in done.stderr, done.stderr
    assert CHOSEN not in done.stderr
