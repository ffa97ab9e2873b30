"""From Python to a kernel and back, with Margay's own library: nothing here is a stand-in.

Needs MARGAY_TOOL (the built tool) and MARGAY_KERNELS (kernels.hip as a shared library), which ctest
sets.
"""

import os
import subprocess
import sys

import pytest
from conftest import PACKAGE

TOOL = os.environ.get("MARGAY_TOOL", "")
KERNELS = os.environ.get("MARGAY_KERNELS", "")

# Started by hand there may be no built library to test; under ctest both are set and nothing is skipped.
pytestmark = pytest.mark.skipif(
    not (TOOL and KERNELS), reason="MARGAY_TOOL and MARGAY_KERNELS are not set"
)

LOAD = """
import ctypes, os, margay
kernels = ctypes.CDLL(os.environ["MARGAY_KERNELS"])
"""


def run(*command):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    return subprocess.run(
        [TOOL, "run", "--", sys.executable, *command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_kernel_that_is_right():
    done = run("-c", LOAD + """
with margay.check() as report:
    assert kernels.copy_right() == 0
print(report.launches, len(report.errors))
""")
    assert done.stdout == "1 0\n", done.stderr


def test_a_kernel_that_reads_past_the_end():
    done = run("-c", LOAD + """
with margay.check(tools="memcheck", raise_on_error=False) as report:
    kernels.copy_past_the_end()
[error] = report.errors
print(error.tool, error.accesses[0].frames[0])
""")
    assert done.stdout.startswith("memcheck "), done.stderr
    assert "kernels.hip:10" in done.stdout


def test_what_is_outside_of_the_block_is_not_checked():
    done = run("-c", LOAD + """
with margay.check() as report:
    pass
kernels.copy_right()
print(report.launches)
with margay.check() as report:
    kernels.copy_right()
print(report.launches)
""")
    assert done.stdout == "0\n1\n", done.stderr


def test_pytest(tmp_path):
    (tmp_path / "test_kernels.py").write_text(
        "import ctypes, os\n"
        "kernels = ctypes.CDLL(os.environ['MARGAY_KERNELS'])\n"
        "def test_right(): assert kernels.copy_right() == 0\n"
        "def test_wrong(): kernels.copy_past_the_end()\n"
    )
    done = run("-m", "pytest", "-p", "margay.pytest_plugin", "--margay-check", str(tmp_path))
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "kernels.hip:10" in done.stdout


def test_pytest_with_modelled_time(tmp_path):
    (tmp_path / "test_kernels.py").write_text(
        "import ctypes, os\n"
        "kernels = ctypes.CDLL(os.environ['MARGAY_KERNELS'])\n"
        "def test_one(margay_profile):\n"
        "    with margay_profile(kernel='exchange') as p:\n"
        "        assert kernels.exchange_in_strides(1, 4) == 0\n"
        "    time = p.kernel('exchange').time\n"
        "    print('modelled' if time else 'without')\n"
    )
    plugin = ("-m", "pytest", "-p", "margay.pytest_plugin", "-rA", str(tmp_path))
    timed = run(*plugin, "--margay-time").stdout
    assert "\nmodelled\n" in timed and "margay: modelled time, nothing is measured" in timed, timed
    [line] = [line for line in timed.splitlines() if "us sustained" in line]
    assert "error about " in line and " %  exchange, grid 4, workgroup 64" in line and "test_kernels.py::test_one" in line
    plain = run(*plugin).stdout
    assert "\nwithout\n" in plain and "nothing is measured" not in plain, plain


def test_profile():
    done = run("-c", LOAD + """
with margay.profile() as p:
    assert kernels.copy_right() == 0
    assert kernels.exchange_in_strides(32, 1) == 0
    assert kernels.exchange_in_strides(1, 4) == 0
k = p.kernel("copy")
assert k.coalescing == 1.0 and k.lds_instructions == 0
assert k["SQ_WAVES"] == 4 and k.vmem_instructions == 8
assert k.requested_bytes == 2 * 256 * 4
[read] = [site for site in k.sites if site.is_read and site.memory]
assert read.text.startswith("global_load_dword ") and read.frames[0].line == 10, read
bad, good = p.kernel("exchange", grid=1), p.kernel("exchange", grid=4)
assert bad.lds_bank_conflicts == 2 * 2 * 31 and good.lds_bank_conflicts == 0
assert [line.lds_conflict_cycles for line in bad.lines()[:2]] == [62, 62]
assert "lost to bank conflicts" in str(bad)
print(len(p.kernels))
""")
    assert done.stdout == "3\n", done.stdout + done.stderr


def test_only_the_block_and_the_kernel_are_profiled():
    done = run("-c", LOAD + """
with margay.profile(kernel="exchange") as p:
    kernels.copy_right()
    kernels.exchange_in_strides(1, 1)
kernels.exchange_in_strides(1, 1)
print([k.launches for k in p.kernels])
with margay.profile(trace=1) as p:
    kernels.copy_right()
print([k.launches for k in p.kernels], len(p.document["kernels"][0]["traces"]))
""")
    assert done.stdout == "[1]\n[1] 4\n", done.stdout + done.stderr


def test_modelled_time():
    done = run("-c", LOAD + """
with margay.profile(time=True) as p:
    assert kernels.copy_right() == 0
    assert kernels.exchange_in_strides(32, 2) == 0
    assert kernels.exchange_in_strides(32, 2) == 0
time = p.kernel("exchange").time
assert isinstance(time, margay.ModelledTime) and time.bound == "launch", time
assert 1 < time.us_boost <= time.us_sustained < 100 and time.error_percent > 0
assert abs(time.cycles - time.us_boost * time.boost_ghz * 1e3) < 1e-3 * time.cycles
assert time.tflops_boost is None and time.flops == 0
assert abs(sum(one.latency for one in time.lines) - sum(one.latency for one in time.instructions)) < 1
assert {line.line for line in time.lines if line.file} and time.lines[0].latency >= time.lines[-1].latency
assert sum(time.stalls.values()) > 0 and set(time.busy) >= {"valu", "lds", "memory"}
screen = str(p.kernel("exchange"))
assert "modelled: " in screen and "error about" in screen, screen
with margay.profile() as p:
    kernels.copy_right()
assert p.kernel("copy").time is None and "modelled" not in str(p)
print("right")
""")
    assert done.stdout == "right\n", done.stdout + done.stderr


def test_modelled_event_time():
    done = run("-c", LOAD + """
assert margay.event_time() == "host"
few = margay.modelled_ms(lambda: kernels.exchange_in_strides(1, 4))
twice = margay.modelled_ms(lambda: kernels.exchange_in_strides(1, 4) or kernels.exchange_in_strides(1, 4))
assert 1e-3 < few < 0.1 and abs(twice - 2 * few) < 0.01 * few, (few, twice)
assert margay.modelled_ms(lambda: None) == 0
assert margay.modelled_ms(kernels.copy_right, sustained=True) > 0
assert margay.event_time() == "host"
assert margay.use_event_time("modelled") == "host" and margay.event_time() == "modelled"
try:
    margay.use_event_time("wall")
except ValueError as error:
    print(error)
""")
    assert done.stdout == (
        "there is no event time 'wall'; there are host, modelled, modelled-sustained, modelled-warm, "
        "modelled-warm-sustained\n"
    ), done.stderr
    assert done.stderr.count("nothing is measured; the error is about") == 1, done.stderr


def test_a_check_within_a_profile():
    done = run("-c", LOAD + """
with margay.profile() as p:
    with margay.check(raise_on_error=False) as report:
        kernels.copy_past_the_end()
    kernels.copy_right()
print([k.launches for k in p.kernels], len(report.errors))
""")
    assert done.stdout == "[2] 1\n", done.stdout + done.stderr


def test_a_profile_within_a_check():
    done = run("-c", LOAD + """
with margay.check(raise_on_error=False) as report:
    kernels.copy_right()
    with margay.profile() as p:
        kernels.copy_right()
    kernels.copy_past_the_end()
[kernel] = p.kernels
print(kernel.launches, kernel["SQ_WAVES"] > 0)
print(report.launches, len(report.errors))
""")
    assert done.stdout == "1 True\n3 1\n", done.stderr


def test_a_profile_that_cannot_begin_leaves_the_check_running():
    done = run("-c", LOAD + """
with margay.check(raise_on_error=False) as report:
    with margay.profile():
        try:
            with margay.profile():
                pass
        except ValueError as error:
            print(error)
    kernels.copy_past_the_end()
print(report.launches, len(report.errors))
""")
    assert "margay.profile cannot begin: This process is being profiled already." in done.stdout, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "1 1"


def test_the_page_of_a_profile(tmp_path):
    page = tmp_path / "report.html"
    done = run("-c", LOAD + f"""
with margay.profile() as p:
    kernels.copy_right()
p.to_html({str(page)!r})
try:
    p.to_html({str(tmp_path / "no" / "folder.html")!r})
except OSError as error:
    print(error)
""")
    assert "the page was not written" in done.stdout, done.stderr
    text = page.read_text()
    assert text.lstrip().lower().startswith("<!doctype html") and "copy" in text
