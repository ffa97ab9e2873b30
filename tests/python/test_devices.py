"""Which machine the virtual device is: margay.use_device(), margay.device(), --margay-device."""

import os
import subprocess
import sys

import pytest
from conftest import PACKAGE, needs_margay

pytestmark = needs_margay


def run(code, **environment):
    """What `code` prints in a Python of its own, and how it ends."""
    settings = {k: v for k, v in os.environ.items() if k != "MARGAY_DEVICE"}
    return subprocess.run(
        [sys.executable, "-c", "import margay, os\n" + code],
        env={**settings, "PYTHONPATH": str(PACKAGE), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


MACHINES = [
    ("mi325x", "AMD Instinct MI325X", 304, 8, 256),
    ("mi300x", "AMD Instinct MI300X", 304, 8, 192),
    ("mi300a", "AMD Instinct MI300A", 228, 6, 128),
    ("mi308x", "AMD Instinct MI308X", 80, 4, 192),
]


@pytest.mark.parametrize("option, name, compute_units, xcds, gib", MACHINES)
def test_each_device(option, name, compute_units, xcds, gib):
    wanted = f"{option} {name} {compute_units} {xcds} {gib << 30} 2100000\n"
    show = "d = margay.device(); print(d.option, d.name, d.compute_units, d.xcds, d.memory_bytes, d.clock_khz)"
    assert run(f"margay.use_device({option.upper()!r}); {show}").stdout == wanted
    assert run(show, MARGAY_DEVICE=option).stdout == wanted


def test_the_default():
    assert run("print(margay.device().option, os.environ.get('MARGAY_DEVICE'))").stdout == "mi325x None\n"


def test_an_unknown_device_changes_nothing():
    done = run("""
try:
    margay.use_device("h100")
except ValueError as error:
    print(error)
print(margay.use_device("mi300a").name)
""")
    said, name = done.stdout.splitlines()
    assert said.startswith("there is no device 'h100'; the devices are mi325x, mi300x"), done.stderr
    assert name == "AMD Instinct MI300A"
    done = run("margay.device()", MARGAY_DEVICE="h100")
    assert done.returncode == 1 and "MARGAY_DEVICE may be mi325x, mi300x" in done.stderr


def test_it_is_settled_once():
    done = run("""
margay.device()
try:
    margay.use_device("mi300x")
except RuntimeError as error:
    print(error, os.environ.get("MARGAY_DEVICE"))
print(margay.use_device("mi325x").name)
""")
    assert done.stdout == (
        "the device is the AMD Instinct MI325X already: it is settled by the first HIP call, and when "
        "a library with kernels is loaded None\n"
        "AMD Instinct MI325X\n"
    ), done.stderr


def test_kernels_run_on_it_and_profiles_name_it():
    done = run("""
margay.use_device("mi300a")
import numpy as np
x = margay.to_bfloat16(np.ones((64, 64), np.float32))
with margay.profile() as p:
    margay.matmul(x, x, transpose_b=True)
print(p.device, p.kernels[0].counters["TCP_TOTAL_WRITEBACK_INVALIDATES_sum"])
""")
    assert done.stdout == "AMD Instinct MI300A 228\n", done.stderr


def test_the_option_of_pytest(tmp_path):
    test = tmp_path / "test_it.py"
    test.write_text("import margay\ndef test_it(): assert margay.device().xcds == 6\n")

    def pytest_with(*options):
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "margay.pytest_plugin", *options, str(test)],
            env={**os.environ, "PYTHONPATH": str(PACKAGE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
        )

    assert pytest_with("--margay-device", "mi300a").returncode == 0
    assert pytest_with().returncode == 1
    done = pytest_with("--margay-device", "h100")
    assert done.returncode == 4 and "the devices are mi325x" in done.stderr
