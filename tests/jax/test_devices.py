"""JAX with several devices: jax.sharding, and the collectives that XLA asks RCCL for."""

# pylint: disable=missing-function-docstring

import os
import re
import subprocess
import sys

import pytest
from installed import MARGAY, marks

pytestmark = marks

# Each prints a name and the largest difference from what NumPy says.
COMPARED = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
jax.config.update("jax_default_matmul_precision", "highest")
devices = jax.devices()
assert len(devices) == 4 and devices[0].platform == "gpu", devices
line, square = Mesh(devices, "d"), Mesh(np.array(devices).reshape(2, 2), ("a", "b"))
x = np.random.default_rng(0).normal(size=(32, 16)).astype("f4")
w = np.random.default_rng(1).normal(size=(16, 24)).astype("f4")
parts = x.reshape(4, 8, 16)

def placed(value, *spec, mesh=line):
    return jax.device_put(value, NamedSharding(mesh, P(*spec)))

def mapped(function, *out):
    return jax.jit(jax.shard_map(function, mesh=line, in_specs=P("d"), out_specs=P(*out), check_vma=False))(placed(x, "d"))

def compare(name, got, expected):
    assert got.shape == expected.shape, (got.shape, expected.shape)
    print(name, abs(np.asarray(got, "f8") - expected).max())
"""

PROGRAMS = {
    "sum": "compare(name, jax.jit(jnp.sum)(placed(x, 'd')), np.sum(x, dtype='f8'))",
    "psum": "compare(name, mapped(lambda a: jax.lax.psum(a, 'd')), parts.sum(0))",
    "large psum": "big = np.tile(x, (256, 32)); compare(name, jax.jit(lambda a: a.reshape(4, -1, 512).sum(0))(placed(big, 'd')), big.reshape(4, -1, 512).sum(0))",
    "pmax": "compare(name, mapped(lambda a: jax.lax.pmax(a, 'd')), parts.max(0))",
    "pmin of integers": "compare(name, mapped(lambda a: jax.lax.pmin((a * 100).astype('i4'), 'd')), (parts * 100).astype('i4').min(0))",
    "bf16 psum": "compare(name, mapped(lambda a: jax.lax.psum(a.astype('bfloat16'), 'd')), parts.sum(0))",
    "all_gather": "compare(name, mapped(lambda a: jax.lax.all_gather(a, 'd', tiled=True)), x)",
    "psum_scatter": "compare(name, mapped(lambda a: jax.lax.psum_scatter(a, 'd', tiled=True), 'd'), parts.sum(0))",
    "all_to_all": "compare(name, mapped(lambda a: jax.lax.all_to_all(a, 'd', 1, 0, tiled=True), None, 'd'), x)",
    "ppermute": "compare(name, mapped(lambda a: jax.lax.ppermute(a, 'd', [(i, (i + 1) % 4) for i in range(4)]), 'd'), np.roll(x, 8, 0))",
    "ppermute of some": "compare(name, mapped(lambda a: jax.lax.ppermute(a, 'd', [(0, 2)]), 'd'), np.concatenate([0 * x[:16], x[:8], 0 * x[:8]]))",
    "pmap": "compare(name, jax.pmap(lambda a: jax.lax.pmean(a, 'i'), axis_name='i')(parts)[3], parts.mean(0))",
    "groups": "compare(name, mapped(lambda a: jax.lax.psum(a, 'd', axis_index_groups=[[0, 3], [1, 2]])), parts[0] + parts[3])",
    "matmul": "f = jax.jit(jnp.matmul, out_shardings=NamedSharding(square, P('a', 'b')))\n"
    "compare(name, f(placed(x, 'a', 'b', mesh=square), placed(w, 'b', None, mesh=square)), x @ w)",
    "gradient": "loss = lambda w, a: jnp.sum(jnp.tanh(a @ w) ** 2)\n"
    "compare(name, jax.jit(jax.grad(loss))(placed(w, None, 'b', mesh=square), placed(x, 'a', mesh=square)),"
    " (lambda t: x.T @ (2 * t * (1 - t * t)))(np.tanh(x.astype('f8') @ w)))",
    # Data and model divided: reductions over rows of the square and over its columns are in flight at the same time.
    "training": "v = np.random.default_rng(2).normal(size=(24, 16)).astype('f4')\n"
    "loss = lambda p, a: jnp.mean((jnp.tanh(a @ p[0]) @ p[1] - a) ** 2)\n"
    "step = jax.jit(lambda p, a: jax.tree.map(lambda q, g: q - 0.1 * g, p, jax.grad(loss)(p, a)))\n"
    "p = (placed(w, None, 'b', mesh=square), placed(v, 'b', mesh=square))\n"
    "e = (w.astype('f8'), v.astype('f8'))\n"
    "for _ in range(5):\n"
    "    p = step(p, placed(x, 'a', mesh=square))\n"
    "    h = np.tanh(x @ e[0]); r = 2 * (h @ e[1] - x) / x.size\n"
    "    e = (e[0] - 0.1 * x.T @ (r @ e[1].T * (1 - h * h)), e[1] - 0.1 * h.T @ r)\n"
    "compare(name, p[0], e[0])",
}
TOLERANCE = {"pmax": 0, "pmin of integers": 0, "bf16 psum": 0.05, "all_gather": 0, "all_to_all": 0, "ppermute": 0, "ppermute of some": 0,
             "sum": 1e-4}  # fmt: skip
WHOLE = COMPARED + "".join(f"name = {name!r}\n{text}\n" for name, text in PROGRAMS.items())


def run(tmp_path, program, *command, devices="4", **variables):
    file = tmp_path / "program.py"
    file.write_text(program, encoding="utf-8")
    return subprocess.run([MARGAY, *command, "--", sys.executable, str(file)], capture_output=True, text=True, check=False,
                          cwd=tmp_path, env={**os.environ, "MARGAY_DEVICES": devices, **variables}, timeout=600)  # fmt: skip


def compared(done):
    """What each program printed, among the lines of a report."""
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.findall(r"^(.+) ([0-9.e-]+)$", done.stdout, re.MULTILINE)
    return {name: float(value) for name, value in found if name in PROGRAMS}


@pytest.fixture(scope="module")
def differences(tmp_path_factory):
    """Of the programs, with XLA's own kernels where it has some, and with RCCL only."""
    flag = "--xla_gpu_unsupported_use_all_reduce_one_shot_kernel="
    return [compared(run(tmp_path_factory.mktemp("programs"), WHOLE, "run", XLA_FLAGS=flag + own)) for own in ("true", "false")]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(differences, name):
    for one in differences:
        assert one[name] <= TOLERANCE.get(name, 2e-5)


def assert_right(found):
    assert found.keys() == PROGRAMS.keys()
    assert all(value <= TOLERANCE.get(name, 2e-5) for name, value in found.items())


def test_nothing_is_said_of_what_is_served(tmp_path):
    said = run(tmp_path, WHOLE, "run").stderr
    assert "margay:" not in said


def test_check(tmp_path):
    """Reports name the kernels of the collectives, and there is no error."""
    done = run(tmp_path, WHOLE, "check")
    assert_right(compared(done))
    assert "========= margay check: no errors" in done.stdout + done.stderr


def test_profile(tmp_path):
    done = run(tmp_path, WHOLE, "time")
    assert_right(compared(done))
    for kernel in ("margay_reduce_f32", "margay_reduce_bf16", "margay_copy_pieces"):
        assert kernel in done.stdout + done.stderr


def test_modelled_event_time(tmp_path):
    assert_right(compared(run(tmp_path, WHOLE, "run", MARGAY_EVENT_TIME="modelled")))


def test_one_device(tmp_path):
    program = "import jax\nprint(len(jax.devices()))\nprint(jax.pmap(lambda a: jax.lax.psum(a, 'i'), axis_name='i')(jax.numpy.ones((1, 2))))\n"
    done = run(tmp_path, program, "run", devices="1")
    assert done.stdout == "1\n[[1. 1.]]\n", done.stderr
