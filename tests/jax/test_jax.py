"""JAX's own ROCm plugin on the virtual device: `margay run -- python3 program.py`, and `import margay.jax`.

They need jax, jax-rocm7-plugin and jax-rocm7-pjrt from PyPI, and MARGAY_HOME, the build. Without them they are
skipped, with the reason.
"""

# pylint: disable=missing-function-docstring

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
HOME = os.environ.get("MARGAY_HOME")
MARGAY = pathlib.Path(HOME) / "bin" / "margay" if HOME else None

pytestmark = [
    pytest.mark.skipif(MARGAY is None or not MARGAY.exists(), reason="MARGAY_HOME does not name a build of Margay"),
    pytest.mark.skipif(importlib.util.find_spec("jax_rocm7_plugin") is None, reason="jax-rocm7-plugin is not installed"),
]

COMPARED = """
import sys
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_default_matmul_precision", "highest")
assert jax.devices()[0].platform == "gpu", jax.devices()
cpu = jax.devices("cpu")[0]
x = np.asarray(jax.random.normal(jax.random.key(0), (64, 128)))
w = np.asarray(jax.random.normal(jax.random.key(1), (128, 96)))

def compare(name, function, *values):
    here, there = ([np.asarray(y, "f8") for y in jax.tree.leaves(jax.jit(function)(*jax.device_put(values, where)))]
                   for where in (jax.devices()[0], cpu))
    print(name, max(abs(a - b).max() / max(abs(b).max(), 1e-30) for a, b in zip(here, there)))
"""

PROGRAMS = {
    "matmul": "compare(name, lambda a, b: a @ b, x, w)",
    "bf16": "compare(name, lambda a, b: (a.astype('bfloat16') @ b.astype('bfloat16')).astype('f4'), x, w)",
    "sort": "compare(name, lambda a: jnp.sort(a, axis=1), x)",
    "cumsum": "compare(name, lambda a: jnp.cumsum(a, axis=1), x)",
    "random": "compare(name, lambda a: a + jax.random.normal(jax.random.key(7), a.shape), x)",
    "scan": "compare(name, lambda a: jax.lax.scan(lambda c, r: (c * 0.9 + r, c.sum()), a[0], a)[1], x)",
    "gradient": "compare(name, jax.grad(lambda b: jnp.sum(jnp.tanh(x @ b) ** 2)), w)",
    "scatter": "compare(name, lambda a: jnp.zeros(16).at[(jnp.abs(a[0]) * 5).astype('i4') % 16].add(1.0), x)",
}
TOLERANCE = {"sort": 0, "bf16": 1e-2}


def run(tmp_path, program, *command, **variables):
    file = tmp_path / "program.py"
    file.write_text(program)
    return subprocess.run([*command, sys.executable, str(file)], capture_output=True, text=True, check=False,
                          cwd=tmp_path, env={**os.environ, **variables}, timeout=600)  # fmt: skip


@pytest.fixture(scope="module")
def differences(tmp_path_factory):
    program = COMPARED + "".join(f"name = {name!r}\n{text}\n" for name, text in PROGRAMS.items())
    done = run(tmp_path_factory.mktemp("programs"), program, MARGAY, "run", "--")
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", done.stdout, re.MULTILINE)}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(differences, name):
    assert differences[name] <= TOLERANCE.get(name, 1e-5)


def test_training_step():
    done = subprocess.run([MARGAY, "run", "--", sys.executable, HERE / "transformer_step.py"], capture_output=True,
                          text=True, check=False, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "devices gpu cpu" in done.stdout
    assert float(re.search(r"^difference (\S+)$", done.stdout, re.MULTILINE)[1]) < 1e-5


def test_a_training_step_has_no_error():
    done = subprocess.run([MARGAY, "check", "--", sys.executable, HERE / "transformer_step.py", "--alone"],
                          capture_output=True, text=True, check=False, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "========= margay check: no errors" in done.stdout + done.stderr


def test_import(tmp_path):
    program = "import margay.jax\nimport jax\nprint(jax.devices()[0].platform, jax.numpy.arange(8.0).sum())\n"
    clone = {"PYTHONPATH": str(HERE.parents[1] / "python")}
    done = run(tmp_path, program, **clone)
    assert done.stdout == "gpu 28.0\n", done.stderr
    late = run(tmp_path, "import jax\njax.devices()\nimport margay.jax\n", JAX_PLATFORMS="cpu", **clone)
    assert "import margay.jax before the first use of jax" in late.stderr


def test_off(tmp_path):
    program = "import jax\nprint(jax.devices()[0].platform)\n"
    done = run(tmp_path, program, MARGAY, "run", "--", MARGAY_JAX="0")
    assert done.stdout == "cpu\n", done.stderr


# What needs an AMD library's real work is refused: by JAX with an error, and by the library's name.
REFUSED = {
    "jnp.abs(jnp.fft.fft(x))": "hipfftExecC2C of hipFFT",
    "jax.lax.conv(x.reshape(1, 8, 32, 32), w[:72, :16].reshape(16, 8, 3, 3), (1, 1), 'SAME')": "of MIOpen",
    "jnp.linalg.cholesky(x @ x.T)": "hipsolverCreate of hipSOLVER",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_refused(tmp_path, expression):
    program = COMPARED + f"""
try:
    jax.block_until_ready({expression})
except jax.errors.JaxRuntimeError as error:
    print("refused")
"""
    done = run(tmp_path, program, MARGAY, "run", "--")
    assert done.stdout == "refused\n", done.stderr
    said = [line for line in done.stderr.splitlines() if REFUSED[expression] in line]
    assert said == [said[0]]
    assert said[0].endswith("is not implemented by the virtual device; it returns that it is not supported")
