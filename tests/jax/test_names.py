"""Reports on JAX programs name operations, lines of the program and buffers."""

# pylint: disable=missing-function-docstring

import json
import subprocess
import sys

import pytest
from installed import HERE, MARGAY, marks

pytestmark = marks

PROGRAM = """\
import jax
import jax.numpy as jnp

@jax.jit
def step(state, x):
    h = jnp.tanh(x @ state["w"])
    return jnp.sort(h, axis=1)

@jax.jit
def scale(x):
    return 3 * x + 1

@jax.jit
def shift(x):
    return x * 5 - 2

w = jax.random.normal(jax.random.key(0), (128, 64))
x = jax.random.normal(jax.random.key(1), (32, 128))
# Compiled first, run last: what is named follows what runs.
late = scale.lower(x).compile()
print(step({"w": w}, x).shape, shift(x).shape, late(x).shape)
"""


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory):
    file = tmp_path_factory.mktemp("names") / "program.py"
    file.write_text(PROGRAM)
    return file


def margay(*words, program):
    done = subprocess.run([MARGAY, *words, "--", sys.executable, program], capture_output=True, text=True, check=False,
                          cwd=program.parent, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module", name="profile")
def _profile(program):
    file = program.parent / "profile.json"
    margay("prof", "--quiet", "--json", file, program=program)
    return json.loads(file.read_text())


def kernels_of(profile, line):
    return [k for k in profile["kernels"]
            if any(c["file"].endswith("/program.py") and c["line"] == line for c in k.get("computes", [])[:1])]  # fmt: skip


def test_operations_and_lines(profile):
    (product,) = [k for k in kernels_of(profile, 6) if "dot_general" in k["computes"][0]["function"]]
    assert product["name"].startswith("jit_step/")
    assert product["computes"][0]["function"] == "jit(step)/dot_general"
    assert any("sort" in k["symbol"] for k in kernels_of(profile, 7))


def test_buffers(profile):
    (product,) = [k for k in kernels_of(profile, 6) if "dot_general" in k["computes"][0]["function"]]
    sizes = {tensor["name"]: tensor["bytes"] for tensor in product["tensors"]}
    assert sizes["x"] == 4 * 32 * 128
    assert sizes["state['w']"] == 4 * 128 * 64


def test_kernels_of_one_name_in_several_functions(profile):
    (scaled,), (shifted,) = kernels_of(profile, 11), kernels_of(profile, 15)
    assert scaled["name"].startswith("jit_scale/")
    assert shifted["name"].startswith("jit_shift/")
    assert scaled["symbol"].split("_")[0] == shifted["symbol"].split("_")[0] == "loop"


def test_one_kernel_by_its_line(program):
    text = margay("prof", "--kernel", "program.py:11", program=program).stdout
    assert "jit_scale/" in text
    assert "computes jit(scale)/add at program.py:11" in text
    assert "jit_shift" not in text


def test_a_table_of_many_kernels():
    step = HERE / "transformer_step.py"
    done = subprocess.run([MARGAY, "time", "--", sys.executable, step, "--alone"], capture_output=True, text=True, check=False,
                          cwd=HERE, timeout=600)  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) < 50
    (heading,) = [n for n, line in enumerate(lines) if line.endswith("(--kernel NAME shows one)")]
    assert lines[heading + 1].split() == ["modelled", "share", "launches", "kernel"]
    assert any("jit(loss)/" in line and "transformer_step.py:" in line for line in lines[heading:])
