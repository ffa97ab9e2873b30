"""The package as pip installs it from the clone, far from the clone."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from conftest import PACKAGE, needs_margay

TOOL = os.environ.get("MARGAY_TOOL", "")
MISSING = [name for name in ("pip", "setuptools", "wheel") if not importlib.util.find_spec(name)]

pytestmark = [
    needs_margay,
    # What is tested is `pip install`, which these make up; packages.txt installs them, so CI skips nothing.
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]

MULTIPLY = """
import margay, numpy
x = margay.to_bfloat16(numpy.ones((4, 4)))
print(margay.__file__)
print(margay.matmul(x, x).sum())
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pip")
    shutil.copytree(PACKAGE, folder / "python")  # pip builds in place
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation"]
    command += ["--no-deps", "--target", str(folder / "site"), str(folder / "python")]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def run(installed, *words, **environment):
    kept = {"PATH": os.path.dirname(sys.executable), "PYTHONPATH": str(installed), "HOME": str(installed)}
    return subprocess.run(
        [sys.executable, *words],
        env={**kept, **environment},
        cwd=installed,
        capture_output=True,
        text=True,
        check=False,
    )


def test_version(installed):
    done = run(installed, "-c", "import importlib.metadata as m, margay; print(m.version('margay'), margay.__version__)")
    named, found = done.stdout.split()
    assert named == found


def test_by_environment_and_by_path(installed, tmp_path):
    tool = pathlib.Path(TOOL).resolve()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "margay").symlink_to(tool)  # as in /usr/local/bin
    for environment in (
        {"MARGAY_HOME": str(tool.parents[1])},
        {"PATH": str(tool.parent)},
        {"PATH": str(tmp_path / "bin")},
        {"LD_LIBRARY_PATH": str(tool.parents[1] / "lib")},
    ):
        done = run(installed, "-c", MULTIPLY, **environment)
        assert done.stdout == f"{installed}/margay/__init__.py\n64.0\n", (environment, done.stderr)


def test_a_clone_by_its_launcher(installed, tmp_path):
    """PATH or MARGAY_HOME may name a clone, whose build is in build/release."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "release").symlink_to(pathlib.Path(TOOL).resolve().parents[1])
    (tmp_path / "margay").write_text("#!/bin/sh\n")
    (tmp_path / "margay").chmod(0o755)
    for environment in ({"PATH": str(tmp_path)}, {"MARGAY_HOME": str(tmp_path)}):
        done = run(installed, "-c", MULTIPLY, **environment)
        assert done.stdout.endswith("\n64.0\n"), (environment, done.stderr)


def test_nowhere(installed):
    done = run(installed, "-c", MULTIPLY)
    assert "LibraryError: Margay's libamdhip64 was not found: there is none." in done.stderr
    assert "set MARGAY_HOME" in done.stderr


def test_parts_that_are_missing(installed, tmp_path):
    (tmp_path / "lib").mkdir()
    library = pathlib.Path(TOOL).resolve().parents[1] / "lib" / "libamdhip64.so"
    shutil.copy(library, tmp_path / "lib" / "libamdhip64.so")
    done = run(installed, "-c", MULTIPLY, MARGAY_HOME=str(tmp_path))
    plans = "libmargay_kernels.so"
    assert f"This Margay lacks the plans of its kernels: there is no {tmp_path}/lib/{plans}" in done.stderr
    shutil.copy(library.parent / plans, tmp_path / "lib" / plans)
    done = run(installed, "-c", MULTIPLY, MARGAY_HOME=str(tmp_path))
    assert f"This Margay lacks its compiled kernels: there is no {tmp_path}/lib/margay/kernels" in done.stderr
    done = run(installed, "-m", "margay", "build", __file__, MARGAY_HOME=str(tmp_path))
    assert f"lacks its tool: there is no {tmp_path}/bin/margay" in done.stderr and done.returncode == 1


def test_checking_needs_no_numpy(installed, tmp_path):
    (tmp_path / "numpy.py").write_text("raise ImportError('hidden')\n")
    done = run(
        installed,
        "-c",
        "import margay\nwith margay.check() as report: pass\nprint(report.launches)",
        MARGAY_HOME=str(pathlib.Path(TOOL).parents[1]),
        PYTHONPATH=f"{tmp_path}:{installed}",
    )
    assert done.stdout == "0\n", done.stderr


def test_pytest_finds_the_plugin(installed):
    done = run(installed, "-m", "pytest", "--help", "-p", "no:cacheprovider")
    assert "--margay-check" in done.stdout, done.stderr
