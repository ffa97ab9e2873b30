"""What the checker and the profiler say of Triton's kernels: Python lines, names, shapes, silence."""

# pylint: disable=missing-function-docstring

import inspect
import json
import subprocess
import sys

import kernels
import margay
import pytest
import torch


def line_of(function, text):
    """The line of kernels.py that has `text`, inside of a kernel."""
    source, first = inspect.getsourcelines(function.fn)
    return first + next(n for n, line in enumerate(source) if text in line)


def test_right_kernels_are_silent():
    x, y = torch.rand(1000, device="cuda"), torch.rand(1000, device="cuda")
    out = torch.empty_like(x)
    a = torch.randn(64, 64, device="cuda", dtype=torch.float16)
    c = torch.empty(64, 64, device="cuda")
    with margay.check() as report:
        kernels.add[(4,)](x, y, out, 1000, BLOCK=256)
        kernels.matmul[(2, 2)](
            a, a, c, 64, 64, 64, 64, 1, 64, 1, 64, 1,
            BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, ACC=kernels.tl.float32, num_stages=2,
        )  # fmt: skip
    assert report.launches == 2
    assert report.findings == [] and report.advice == []


@pytest.mark.parametrize("size", [256, 1 << 18])
def test_tensors_that_a_table_of_pointers_leads_to_are_no_finding(size):
    given = [torch.rand(size, device="cuda") for _ in range(3)]
    results = [torch.zeros_like(x) for x in given]
    table = torch.tensor([[x.data_ptr(), y.data_ptr()] for x, y in zip(given, results)], device="cuda")
    with margay.check() as report:
        kernels.double_all[(3,)](table, SIZE=size, BLOCK=256)
    assert report.launches == 1 and report.findings == []
    for x, y in zip(given, results):
        torch.testing.assert_close(y, 2 * x, rtol=0, atol=0)


def test_integers_are_no_table_of_pointers():
    table = torch.arange(1 << 20, (1 << 20) + 8, device="cuda")
    out = torch.empty(8, dtype=torch.int64, device="cuda")
    with margay.check(raise_on_error=False) as report:
        kernels.copy_integers[(1,)](table, out, BLOCK=16)  # has to be 8
    assert "past the end of a tensor of 1 x 1 x 1 x 8 elements" in str(report)


def test_race_is_found():
    x, out = torch.rand(512, device="cuda"), torch.empty(128, device="cuda")
    with pytest.raises(margay.CheckError) as failed:
        with margay.check():
            kernels.last_one_wins[(4,)](x, out, BLOCK=128)
    (found,) = failed.value.report.errors
    assert found.tool == "racecheck"
    assert found.kernel == "last_one_wins[BLOCK=128,num_warps=4,num_stages=2]"
    frame = found.accesses[0].frames[0]
    assert frame.file.endswith("kernels.py")
    assert frame.line == line_of(kernels.last_one_wins, "tl.store")


def test_missing_mask_is_found():
    x, y = torch.rand(1000, device="cuda"), torch.rand(1000, device="cuda")
    out = torch.empty_like(x)
    with margay.check(raise_on_error=False) as report:
        kernels.add_without_mask[(4,)](x, y, out, 1000, BLOCK=256)
    lines = {found.accesses[0].frames[0].line for found in report.errors}
    assert line_of(kernels.add_without_mask, "tl.load") in lines
    assert all(found.tool == "memcheck" for found in report.errors)
    assert "past the end of a tensor of 1 x 1 x 1 x 1000 elements" in str(report)
    assert "x_ptr" in str(report)


def test_profile_has_names_shapes_and_lines():
    x, y = torch.rand(8, 128, device="cuda"), torch.rand(8, 128, device="cuda")
    out = torch.empty_like(x)
    with margay.profile() as p:
        kernels.add[(4,)](x, y, out, 1024, BLOCK=256)
        kernels.add[(8,)](x, y, out, 1024, BLOCK=128)
    assert [k.name for k in p.kernels] == [
        "add[BLOCK=256,num_warps=4,num_stages=2]", "add[BLOCK=128,num_warps=4,num_stages=2]"
    ]  # fmt: skip
    kernel = p.kernel("add", grid=4)
    assert [t.name for t in kernel.tensors] == ["x_ptr", "y_ptr", "out_ptr"]
    assert [t.shape for t in kernel.tensors] == [(1, 1, 8, 128)] * 3
    lines = {line.line for line in kernel.lines()}
    assert line_of(kernels.add, "tl.store") in lines


def test_configurations_with_one_grid_are_apart():
    x, y = torch.rand(1024, device="cuda"), torch.rand(1024, device="cuda")
    out = torch.empty_like(x)
    with margay.profile() as p:
        kernels.add[(4,)](x, y, out, 1024, BLOCK=256, num_stages=1)
        kernels.add[(4,)](x, y, out, 1024, BLOCK=256, num_stages=3)
    assert len(p.kernels) == 2
    assert [k.launches for k in p.kernels] == [1, 1]


def test_modelled_time():
    from margay.triton import modelled

    x, y = torch.rand(1024, device="cuda"), torch.rand(1024, device="cuda")
    out = torch.empty_like(x)
    timing = modelled(kernels.add[(4,)], x, y, out, 1024, BLOCK=256)
    assert timing.launches == 1 and 0 < timing.milliseconds < 1
    assert timing.kernels[0][0].startswith("add[BLOCK=256")


def test_what_the_compiler_widens_or_repeats_is_silent():
    """An atomic on a bfloat16 is made one on its dword; 64 elements in 256 lanes are held four times."""
    x, out = torch.ones(64, device="cuda"), torch.zeros(1, device="cuda", dtype=torch.bfloat16)
    with margay.check() as report:
        kernels.add_to_one[(3,)](x, out, BLOCK=64)
        kernels.double_in_place[(1,)](x, 64, BLOCK=64, num_warps=4)
    assert out.item() == 192 and torch.equal(x, torch.full((64,), 2.0, device="cuda"))
    assert report.findings == []


TOTAL = """
import torch, triton, triton.language as tl

@triton.jit
def total(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(x, 0))

x, out = torch.ones(512, device="cuda"), torch.zeros(1, device="cuda")
total[(1,)](x, out, BLOCK=512, num_warps=WARPS)
assert out.item() == 512
"""


def run_tool(environment, *command):
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_mutants_of_a_kernel_are_killed(tmp_path, margay_tool, environment):
    """The waits and the barrier that Triton's compiler made are taken away from its code object."""
    program = tmp_path / "total.py"
    program.write_text(TOTAL.replace("WARPS", "2"))
    found = tmp_path / "mutants.json"
    done = run_tool(environment, margay_tool, "mutate", "--json", found, "--", sys.executable, program)
    assert done.returncode == 0, done.stdout + done.stderr
    mutants = json.loads(found.read_text())["mutants"]
    barriers = [m for m in mutants if m["instruction"].startswith("s_barrier")]
    # Triton 3.7 has one more barrier than it needs: exit code 0 is that none survived.
    assert any("killed" in m["result"] for m in barriers)
    # What the kernel calls is Triton's, in standard.py; the line is the program's.
    line = TOTAL.splitlines().index("    tl.store(out_ptr, tl.sum(x, 0))") + 1
    assert {m["frames"][0]["line"] for m in barriers} == {line}
    assert all(m["frames"][0]["file"].endswith("total.py") for m in barriers)


def test_two_configurations_are_compared(tmp_path, margay_tool, environment):
    profiles = []
    for warps in ("1", "4"):
        program = tmp_path / f"total{warps}.py"
        program.write_text(TOTAL.replace("WARPS", warps))
        profiles.append(tmp_path / f"{warps}.json")
        done = run_tool(environment, margay_tool, "prof", "--json", profiles[-1], "--", sys.executable, program)
        assert done.returncode == 0, done.stderr
    done = run_tool(environment, margay_tool, "compare", *profiles)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "A total[BLOCK=512,num_warps=1" in text and "B total[BLOCK=512,num_warps=4" in text
    assert "work-items per workgroup 64 256 4.00x" in text


def test_lines_are_the_programs_own():
    """tl.max, tl.sum and others are Triton's Python, compiled into the kernel."""
    x = torch.rand(4, 256, device="cuda")
    out = torch.empty_like(x)
    with margay.profile() as p:
        kernels.softmax[(4,)](x, out, 256, 256, BLOCK=256)
    files = {line.file.rsplit("/", 1)[-1] for line in p.kernel("softmax").lines() if line.line}
    assert files == {"kernels.py"}
