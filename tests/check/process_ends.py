#!/usr/bin/env python3
"""However a program ends, `margay check` reports what was found and says it by its exit code.

    process_ends.py MARGAY PROGRAM CASE

PROGRAM is made of process_ends.hip; of each case there is a broken form and a fixed one.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

CODE = 9
# The exit code of a program whose launch was right.
ENDS = {
    "return": 0, "_exit": 0, "quick_exit": 0, "exec": 0, "exec-again": 0, "fork": 0, "fork-exit": 0,
    "fork-after": 0, "orphan": 0, "abort": 128 + signal.SIGABRT, "killed": 128 + signal.SIGKILL,
    "killed-inside": 128 + signal.SIGKILL, "interrupted": 128 + signal.SIGINT,
    "terminated": 128 + signal.SIGTERM, "refused": 0,
}
# A signal stops their launch.
STOPPED = ("interrupted", "terminated")


def fail(text, output=""):
    sys.exit(f"{text}\n{output}")


def check(margay, program, how, form, *options):
    """Exit code, stderr, and the JSON report, which is None where there is none."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "report.json")
        run = subprocess.run(
            [margay, "check", "--error-exitcode", str(CODE), "--json", path, *options, "--", program,
             how, form], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        report = json.loads(path.read_text()) if path.exists() else None
        left = sorted(p.name for p in pathlib.Path(directory).iterdir())
        if left not in ([], ["report.json"]):
            fail(f"files are left: {left}")
    return run.returncode, run.stdout + run.stderr, report


def errors(report):
    return [f for f in report["findings"] if f["severity"] == "error"]


def ending(margay, program, how):
    for form in ("broken", "fixed"):
        code, output, report = check(margay, program, how, form)
        found = errors(report)
        if form == "fixed":
            if code != ENDS[how] or found:
                fail(f"{how}, fixed: exit code {code}, not {ENDS[how]}; {found}", output)
            if how not in ("killed-inside", *STOPPED) and " no errors" not in output:
                fail(f"{how}, fixed: it does not say that there are no errors", output)
            continue
        kind = "launch-refused" if how == "refused" else "out-of-bounds"
        if code != CODE or [f["kind"] for f in found] != [kind]:
            fail(f"{how}, broken: exit code {code}; {[f['kind'] for f in found]}", output)
        if output.count("out-of-bounds") + output.count("past the end") == 0 and kind != "launch-refused":
            fail(f"{how}: the finding is not printed", output)
        if " 1 error" not in output:
            fail(f"{how}: the last line does not count the error", output)
        if report["launches"] < 1 and kind != "launch-refused":
            fail(f"{how}: {report['launches']} launches", output)
    notes = [f for f in report["findings"] if f["kind"] == "launch-interrupted"]
    if (how in STOPPED) != (len(notes) == 1):
        fail(f"{how}: {len(notes)} notes of launches that were interrupted", output)
    if notes and (notes[0]["severity"] != "note" or "workgroups: the others were not checked" not in output):
        fail(f"{how}: it does not say that the rest was not checked", output)
    if how == "killed-inside":
        if "in the middle of a launch of go_on" not in output:
            fail(f"{how}: it does not say which launch was cut off", output)


def no_room(margay, program):
    """The process cannot write its report: that is said, and the exit code says it as well."""
    for form, wanted in (("broken", CODE), ("fixed", 1)):
        code, output, _ = check(margay, program, "no-room", form)
        if code != wanted or "could not be written: File too large" not in output:
            fail(f"no-room, {form}: exit code {code}, not {wanted}", output)


def special_files(margay, program):
    """What is not a file is written to, never replaced; a full disk is an error."""
    before = os.stat("/dev/full")
    run = subprocess.run([margay, "check", "--json", "/dev/full", "--", program, "return", "fixed"],
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
    after = os.stat("/dev/full")
    if (before.st_mode, before.st_rdev) != (after.st_mode, after.st_rdev):
        fail("/dev/full is another file now")
    if run.returncode == 0 or "cannot be written: No space left on device" not in run.stdout:
        fail(f"/dev/full: exit code {run.returncode}", run.stdout)
    run = subprocess.run([margay, "prof", "--json", "/dev/full", "--", program, "return", "fixed"],
                         text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
    if run.returncode == 0 or "cannot be written: No space left on device" not in run.stdout:
        fail(f"prof: /dev/full: exit code {run.returncode}", run.stdout)
    run = subprocess.run(
        [margay, "check", "--json", "/dev/stdout", "--", program, "return", "fixed"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=100)
    if json.loads(run.stdout)["launches"] != 1:
        fail("/dev/stdout holds no report", run.stdout)


def tools(margay, program):
    """A kernel that did not run was not checked, whichever tools there are."""
    code, output, report = check(margay, program, "refused", "broken", "--tool", "racecheck")
    if code != CODE or [f["kind"] for f in errors(report)] != ["launch-refused"]:
        fail(f"refused: exit code {code}", output)
    code, output, report = check(margay, program, "_exit", "fixed", "--leak-check")
    if "was not looked through for leaks" not in output:
        fail("leaks: _exit passes for a program without any", output)


def profile(margay, program):
    """A profile of what has run so far, which says what it lacks."""
    with tempfile.TemporaryDirectory() as directory:
        for how, code in (("_exit", 0), ("exec", 0), ("fork", 0), ("quick_exit", 0),
                          ("killed", 137), ("interrupted", 130)):
            path = pathlib.Path(directory, how)
            run = subprocess.run([margay, "prof", "--json", path, "--", program, how, "fixed"],
                                 text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 timeout=100)
            if run.returncode != code:
                fail(f"prof, {how}: exit code {run.returncode}, not {code}", run.stderr)
            document = json.loads(path.read_text())
            kernels = document["kernels"]
            if len(kernels) != 1 or kernels[0]["launches"] != 1:
                fail(f"prof, {how}: {kernels}", run.stdout)
            interrupted = how == "interrupted"
            if kernels[0]["failed_launches"] != int(interrupted):
                fail(f"prof, {how}: {kernels[0]['failed_launches']} failed launches", run.stdout)
            if interrupted and (kernels[0]["counters"]["SQ_WAVES"] < 1 or "failed" not in run.stdout):
                fail("prof, interrupted: no counts, or nothing that says they are partial", run.stdout)
            partial = "go_on: the launch was interrupted after "
            if interrupted != (partial in document.get("partial", "")) or interrupted != (partial in run.stdout):
                fail(f"prof, {how}: partial is {document.get('partial')}", run.stdout)
        # A launch that could not be stopped is named.
        run = subprocess.run([margay, "prof", "--", program, "killed-inside", "fixed"], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
        if run.returncode != 137 or "in the middle of a launch of go_on" not in run.stderr:
            fail(f"prof, killed-inside: exit code {run.returncode}", run.stderr)


def plain(_, program):
    """Without margay check: Ctrl-C ends a launch, and with it the program, at once."""
    began = time.monotonic()
    run = subprocess.run([program, "interrupted", "fixed"], text=True, stderr=subprocess.PIPE,
                         timeout=60)
    if run.returncode != -signal.SIGINT or time.monotonic() - began > 30:
        fail(f"interrupted: exit code {run.returncode}", run.stderr)
    run = subprocess.run([program, "handler", "fixed"], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=60)
    if run.stdout != "hipErrorLaunchTimeOut, handler 1 kept, then hipSuccess\n":
        fail(f"handler: it printed {run.stdout}", run.stderr)
    if "interrupted after" not in run.stderr:
        fail("handler: no sentence", run.stderr)


def endless(_, program):
    """Where a launch without end hangs is said once, not again by whoever waits for it."""
    run = subprocess.run([program, "endless", "fixed"], text=True, stderr=subprocess.PIPE, timeout=60)
    if run.stderr.count("margay: ") != 1 or "has been running for" not in run.stderr:
        fail("endless: not one notice", run.stderr)


PYTHON = """
import ctypes, os, signal, sys, threading, time
hip = ctypes.CDLL(sys.argv[1])
module, function, data = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
assert hip.hipModuleLoad(ctypes.byref(module), sys.argv[2].encode()) == 0
assert hip.hipModuleGetFunction(ctypes.byref(function), module, b"go_on") == 0
assert hip.hipMalloc(ctypes.byref(data), 4096) == 0
def launch(workgroups):
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(data))
    return hip.hipModuleLaunchKernel(function, workgroups, 1, 1, 64, 1, 1, 0, None, arguments, None)
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
code = None
try:
    code = launch(1 << 24)
    time.sleep(30)
    print("no KeyboardInterrupt")
except KeyboardInterrupt:
    print("KeyboardInterrupt", time.monotonic() - began < 25, code, launch(1), hip.hipDeviceSynchronize())
"""


def python(margay, program):
    """From Python: KeyboardInterrupt, and the device can be used as before."""
    library = pathlib.Path(margay).parent.parent / "lib" / "libamdhip64.so"
    run = subprocess.run([sys.executable, "-c", PYTHON, library, program], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    # The exception comes with the call's return, before its result is kept.
    if run.stdout not in ("KeyboardInterrupt True None 0 0\n", "KeyboardInterrupt True 702 0 0\n"):
        fail(f"it printed {run.stdout}", run.stderr)


def fork_beside(margay, program):
    """A child that is made while another thread's launch runs can launch as well."""
    for command in ([program], [margay, "check", "--", program], [margay, "prof", "--", program]):
        run = subprocess.run([*command, "fork-beside", "fixed"], text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=90)
        lines = [line for line in run.stdout.splitlines() if ":" in line][:2]
        if run.returncode != 0 or lines[:2] != ["child: hipSuccess", "parent: hipSuccess"]:
            fail(f"{command}: exit code {run.returncode}", run.stdout + run.stderr)


def main():
    margay, program, case = sys.argv[1:]
    os.environ.pop("MARGAY_QUIET", None)
    others = {"no-room": no_room, "special-files": special_files, "tools": tools, "profile": profile,
              "plain": plain, "endless": endless, "python": python, "fork-beside": fork_beside}
    if case in others:
        others[case](margay, program)
    else:
        ending(margay, program, case)


if __name__ == "__main__":
    main()
