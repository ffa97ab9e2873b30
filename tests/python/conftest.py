"""Finds the package in this clone, and builds stand-ins for libamdhip64."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python"
RECORDED = pathlib.Path(__file__).parent / "recorded.json"
RECORDED_PROFILE = pathlib.Path(__file__).parent / "recorded_profile.json"
sys.path.insert(0, str(PACKAGE))

# The tests that launch kernels do it in their own process, with the library of the tool that ctest
# names. A test without kernels starts a Python of its own, with an environment of its own.
if tool := os.environ.get("MARGAY_TOOL"):
    os.environ["MARGAY_HOME"] = str(pathlib.Path(tool).parents[1])
# Started by hand there may be no built tool to test; ctest names it, and nothing is skipped.
needs_margay = pytest.mark.skipif(not tool, reason="MARGAY_TOOL is not set")

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory):
    """Directories "margay", "old" (it cannot profile) and "rocm", each with a libamdhip64.so.5."""
    compiler = next(filter(shutil.which, ["clang-19", "gcc", "cc"]))
    top = tmp_path_factory.mktemp("stand_ins")
    source = pathlib.Path(__file__).parent / "stand_in.c"
    for name, options in {
        "margay": [],
        "old": ["-DNO_PROFILER"],
        "rocm": ["-DNOT_MARGAY"],
    }.items():
        (top / name / "lib").mkdir(parents=True)
        library = top / name / "lib" / "libamdhip64.so.5"
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-w", "-Wl,-soname,libamdhip64.so.5", *options, "-o"]
            + [str(library), str(source)],
            check=True,
        )
        library.with_suffix("").symlink_to(library.name)
    return top


@pytest.fixture
def clean_report(tmp_path):
    """The recorded report without its errors."""
    report = json.loads(RECORDED.read_text())
    report["findings"] = [f for f in report["findings"] if f["severity"] != "error"]
    path = tmp_path / "clean.json"
    path.write_text(json.dumps(report))
    return path


@pytest.fixture
def python(stand_ins):
    """Runs a script in a Python of its own: a library stays loaded in the process that loads it."""

    def run(script, report=RECORDED, **environment):
        variables = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(PACKAGE),
            "STAND_IN_REPORT": str(report),
            "STAND_IN_PROFILE": str(RECORDED_PROFILE),
            "STAND_INS": str(stand_ins),
            **{name: str(value) for name, value in environment.items()},
        }
        return subprocess.run(
            [sys.executable, "-c", script],
            env=variables,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run
