"""JAX's own ROCm plugin on the virtual device: `margay run -- python3 program.py`, and `import margay.jax`.

They need jax, jax-rocm7-plugin and jax-rocm7-pjrt from PyPI, and MARGAY_HOME, the build. Without them they are
skipped, with the reason.
"""

# pylint: disable=missing-function-docstring

import os
import re
import subprocess
import sys

import pytest
from installed import HERE, MARGAY, marks

pytestmark = marks

COMPARED = """
import sys
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_default_matmul_precision", "highest")
jax.config.update("jax_enable_x64", True)
assert jax.devices()[0].platform == "gpu", jax.devices()
cpu = jax.devices("cpu")[0]
x = np.asarray(jax.random.normal(jax.random.key(0), (64, 128)), "f4")
w = np.asarray(jax.random.normal(jax.random.key(1), (128, 96)), "f4")
image, taps = x[:, :100].reshape(1, 4, 40, 40), w[:9, :8].reshape(2, 4, 3, 3)
definite = (x @ x.T)[:16, :16] + 16 * np.eye(16, dtype="f4")
wide = lambda *values: [np.asarray(v, "f8") for v in values]
pair = np.array([0, 3])
stack = lambda a: np.stack([a, 2 * a, 3 * a])
parts = lambda z: jnp.stack([z.real, z.imag])
conv = lambda a, k, stride, padding: jax.lax.conv_general_dilated(a, k, (stride, stride), padding)
wide_strides = lambda a, k: jax.lax.conv(a, k, (1, 2), "SAME")
halves = lambda a: a.astype("bfloat16")
pair_of = lambda a: jnp.concatenate([a[:, :2], a[:, 2:]])  # a group's features are an image of the batch
grouped = lambda a, k, features, batch: jax.lax.conv_general_dilated(
    a, k, (1, 1), "SAME", feature_group_count=features, batch_group_count=batch)

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
    "f64 matmul": "compare(name, lambda a, b: a @ b, *wide(x, w))",
    "f64 batched": "compare(name, lambda a, b: jnp.einsum('bij,bkj->bik', a, b), *wide(stack(x), stack(x[::-1])))",
    "c64 matmul": "compare(name, lambda a, b: parts(a @ b), x + 2j * x, w.astype('c8'))",
    "c128 conjugate": "compare(name, lambda a, b: parts(a.conj().T @ b), x + 2j * np.float64(x), wide(x)[0] + 0j)",
    "fft": "compare(name, lambda a: parts(jnp.fft.fft(a)), x)",
    "rfft": "compare(name, lambda a: parts(jnp.fft.rfft2(a)), x[:30])",
    "irfft": "compare(name, lambda a: jnp.fft.irfft(a), x + 1j * x[::-1])",
    "convolution": "compare(name, lambda a, k: conv(a, k, 1, 'SAME'), image, taps)",
    "empty convolution": "compare(name, lambda a, k: conv(a[:, :, :0], k, 1, ((0, 0), (1, 1))).sum(), image, taps)",
    "grouped convolution": "compare(name, lambda a, k: grouped(a, k, 2, 1) + grouped(pair_of(a), k, 1, 2), image, taps[:, :2])",
    # XLA's own fusion of the slices and the product aborts the process.
    "bf16 convolution": "compare(name, lambda a, k: wide_strides(halves(a), halves(k)).astype('f4'), x[:36, :10].reshape(2, 2, 9, 10), x[:8, :10].reshape(2, 2, 4, 5))",
    "strided convolution": "compare(name, lambda a, k: conv(a, k, 2, 'VALID'), image, taps)",
    "convolution's gradient": "compare(name, jax.grad(lambda k: conv(image, k, 1, 'SAME').sum() ** 2), taps)",
    "cholesky": "compare(name, jnp.linalg.cholesky, definite)",
    "solve": "compare(name, jnp.linalg.solve, definite, x[:16, :3])",
    "triangular": "compare(name, lambda a, b: jax.scipy.linalg.solve_triangular(a, b), definite, x[:16, :3])",
    "inverse": "compare(name, jnp.linalg.inv, definite)",
    "qr": "compare(name, lambda a: jnp.abs(jnp.linalg.qr(a)[1]), x[:16, :12])",
    "svd": "compare(name, lambda a: jnp.linalg.svd(a, compute_uv=False), x[:16, :12])",
    "eigh": "compare(name, lambda a: jnp.linalg.eigvalsh(a), definite)",
    "no rows": "compare(name, lambda a: jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(a[:0, :0]), a[:0]).sum(), x)",
    # XLA's kernel reads the constant indices of all its lanes, of which there are more than indices.
    "scatter by constants": "compare(name, lambda a: jnp.ones((3, 4, 5)).at[:, pair, pair + 1].multiply(a[:3, :2]), x)",
    "scatter": "compare(name, lambda a: jnp.zeros(16).at[(jnp.abs(a[0]) * 5).astype('i4') % 16].add(1.0), x)",
}
TOLERANCE = {"sort": 0, "bf16": 1e-2, "bf16 convolution": 1e-2, "f64 matmul": 1e-14, "f64 batched": 1e-14, "c128 conjugate": 1e-14, "svd": 1e-4}


def run(tmp_path, program, *command, **variables):
    file = tmp_path / "program.py"
    file.write_text(program, encoding="utf-8")
    return subprocess.run([*command, sys.executable, str(file)], capture_output=True, text=True, check=False,
                          cwd=tmp_path, env={**os.environ, **variables}, timeout=600)  # fmt: skip


@pytest.fixture(scope="module")
def differences(tmp_path_factory):
    program = COMPARED + "".join(f"name = {name!r}\n{text}\n" for name, text in PROGRAMS.items())
    done = run(tmp_path_factory.mktemp("programs"), program, MARGAY, "run", "--")
    assert done.returncode == 0, done.stdout + done.stderr
    return {name: float(value) for name, value in re.findall(r"^(.+) (\S+)$", done.stdout, re.MULTILINE)}


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
    said = done.stdout + done.stderr
    assert "========= margay check: no errors" in said
    assert "racecheck" not in said.replace("racecheck, initcheck", "")  # what XLA's own kernels repeat is no news


def test_autotuning_chooses_by_the_time_on_the_device(tmp_path):
    """The same times in each run, since none is the host's; XLA takes the configuration with the least."""
    program = "import jax.numpy as jnp, numpy as np\na = jnp.array(np.ones((128, 128), 'f4'))\nprint((a @ a)[0, 0])"
    logs, chosen = [], []
    for log, results in (("a.txt", "b.txt"), ("c.txt", "d.txt")):
        flags = {"autotune_level": 4, "dump_autotune_logs_to": tmp_path / log, "dump_autotune_results_to": tmp_path / results}
        done = run(tmp_path, program, MARGAY, "run", "--", XLA_FLAGS=" ".join(f"--xla_gpu_{f}={v}" for f, v in flags.items()))
        assert done.returncode == 0, done.stderr
        assert "hipEventElapsedTime gives modelled time" in done.stderr
        logs.append((tmp_path / log).read_text())
        chosen.append((tmp_path / results).read_text())
    assert logs[0] == logs[1] and chosen[0] == chosen[1]
    (product,) = [log for log in logs[0].split("logs {") if "gemm_fusion_dot" in log]
    times = {int(time) for time in re.findall(r"nanos: (\d+)", product)}
    assert len(times) > 1  # JAX 0.10.1 tries one configuration and the library, 0.10.2 eleven more
    tried = re.findall(r"nanos: (\d+)\s*}\s*triton {(.*?)}", product, re.DOTALL)
    least = min(times)
    best = [configuration.split() for time, configuration in tried if int(time) == least]
    assert re.search(r"triton {(.*?)}", chosen[0], re.DOTALL)[1].split() in best


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


# Where JAX is left its own lowerings, AMD's libraries are asked, and refuse: with an error of JAX and their name.
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
    done = run(tmp_path, program, MARGAY, "run", "--", MARGAY_JAX_LIBRARIES="1")
    assert done.stdout == "refused\n", done.stderr
    said = [line for line in done.stderr.splitlines() if REFUSED[expression] in line]
    assert said == [said[0]]
    assert said[0].endswith("is not implemented by the virtual device; it returns that it is not supported")


def test_more_memory_than_there_is(tmp_path):
    program = """
import jax, jax.numpy as jnp
try:
    jnp.zeros((1 << 38,), jnp.float32).block_until_ready()
except jax.errors.JaxRuntimeError as error:
    print(str(error).splitlines()[0])
print(jnp.arange(4.0).sum())
"""
    done = run(tmp_path, program, MARGAY, "run", "--")
    refused, after = done.stdout.splitlines()
    assert refused.startswith("RESOURCE_EXHAUSTED: Out of memory")
    assert after == "6.0"


def test_without_the_plugin(tmp_path):
    program = "import importlib.util, sys\nfind = importlib.util.find_spec\n"
    program += "importlib.util.find_spec = lambda name, *a: None if name == 'jax_rocm7_plugin' else find(name, *a)\n"
    said = "JAX has no plugin for AMD's devices, so it does not use the virtual one: pip install jax-rocm7-plugin"
    assert said in run(tmp_path, program + "import jax\n", MARGAY, "run", "--").stderr
    assert said not in run(tmp_path, program + "import jax\n", MARGAY, "run", "--", JAX_PLATFORMS="cpu").stderr
