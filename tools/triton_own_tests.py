#!/usr/bin/env python3
"""Runs Triton's own unit tests of the language on the virtual device, or those of another collection.

    triton_own_tests.py CHECKOUT [--python PYTHON] [--sample N] [--of FILE=N ...] [--seed N] [--limit SECONDS]
                        [--seconds N] [--json FILE] [--tests FOLDER] [--check] [FILE ...]

CHECKOUT is Triton's source tree, of the version that PYTHON has installed; FILEs are of
python/test/unit/language (default: all of them). Of each file N cases are run, taken at random (default 20;
--of test_core.py=200), the same ones with the same seed; with --sample 0 all. Prints a row for each file and each
failure's last line; exit code 1 where a case failed. test_line_info.py needs an llvm-objdump that knows
gfx942 on PATH. Like all of Triton's tests it needs torch, NumPy, SciPy and pytest.

--tests FOLDER: another folder of CHECKOUT, such as that of a collection of kernels. CHECKOUT, and its folder src, are
then on PYTHONPATH, and pytest runs in CHECKOUT. --check: as `pytest --margay-check`; a finding fails the case.
--seconds N: no case begins later than after N seconds.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANGUAGE = "python/test/unit/language"
OUTCOMES = ("passed", "skipped", "xfailed", "failed")

# ---- In pytest: this file is a plugin there, with its options in the environment --------------------


def pytest_collection_modifyitems(config, items):
    options = json.loads(os.environ["TRITON_OWN_TESTS"])
    files = collections.defaultdict(list)
    for item in items:
        files[item.path.name].append(item)
    chosen = []
    for name in sorted(files):
        cases = files[name]
        if "only" in options:  # what was chosen elsewhere
            chosen += [case for case in cases if case.nodeid.partition("::")[2] in options["only"].get(name, ())]
        else:
            number = min(options["of"].get(name, options["sample"]) or len(cases), len(cases))
            numbers = random.Random(f"{options['seed']}{name}").sample(range(len(cases)), number)
            chosen += [cases[n] for n in sorted(numbers)]
        _write({"file": name, "collected": len(cases)})
    kept = set(map(id, chosen))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]


_BEGIN = time.monotonic()


def pytest_runtest_setup():
    options = json.loads(os.environ["TRITON_OWN_TESTS"])

    def late(*_):
        raise TimeoutError("longer than --limit")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(options["limit"])


def pytest_runtest_teardown(item):
    seconds = json.loads(os.environ["TRITON_OWN_TESTS"])["seconds"]
    if seconds and time.monotonic() - _BEGIN > seconds:
        item.session.shouldstop = "the time of --seconds is over"


def pytest_runtest_logreport(report):
    if report.when == "teardown":
        signal.alarm(0)
    if report.when == "call" or report.outcome != "passed":
        outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        why = report.longreprtext.strip().splitlines() if report.outcome == "failed" else []
        file, _, case = report.nodeid.partition("::")
        _write({
            "file": file.rsplit("/", 1)[-1], "case": case, "outcome": outcome, "why": why[-1] if why else "",
            "text": why,
        })  # fmt: skip


def _write(record):
    with open(json.loads(os.environ["TRITON_OWN_TESTS"])["results"], "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


# ---- As a command --------------------------------------------------------------------------------


def run(options, results):
    home = pathlib.Path(os.environ.get("MARGAY_HOME", ROOT / "build" / "release"))
    folder = options.checkout / options.tests
    files = [folder / file for file in options.files] or sorted(folder.glob("test_*.py"))
    if not files:
        raise SystemExit(f"{folder} has no tests: is {options.checkout} Triton's source tree?")
    own = options.tests == LANGUAGE
    plugin = {"seed": options.seed, "sample": options.sample, "of": dict(options.of), "limit": options.limit,
              "seconds": options.seconds, "results": str(results)}  # fmt: skip
    environment = {"TRITON_DEFAULT_FP_FUSION": "1", "MARGAY_QUIET": "1", **os.environ}
    environment["TRITON_OWN_TESTS"] = json.dumps(plugin)
    before = environment.get("PYTHONPATH")
    paths = [pathlib.Path(__file__).parent, *([] if own else [options.checkout, options.checkout / "src"])]
    if options.check:
        paths.append(home / "lib" / "margay" / "python")
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, paths), *([before] if before else [])])
    command = [home / "bin" / "margay", "run", "--", options.python, "-m", "pytest", "-q", "-p", "triton_own_tests", "-p",
               "no:cacheprovider", "--tb=short", *files]  # fmt: skip
    if options.check:
        command += ["-p", "margay.pytest_plugin", "--margay-check"]
    cwd = folder if own else options.checkout
    return subprocess.run(command, cwd=cwd, env=environment, stdout=sys.stderr, check=False).returncode


def report(records):
    """The table and the failures as text; how many cases failed."""
    collected, counts, failures = {}, collections.defaultdict(collections.Counter), []
    for record in records:
        if "collected" in record:
            collected[record["file"]] = record["collected"]
            continue
        counts[record["file"]][record["outcome"]] += 1
        if record["outcome"] == "failed":
            failures.append(f"{record['file']}::{record['case']}: {record['why']}")
    lines = ["| file | cases | run | " + " | ".join(OUTCOMES) + " |", "| --- |" + " --- |" * (2 + len(OUTCOMES))]
    total = collections.Counter()
    for file in sorted(counts):
        total += counts[file]
        row = [collected.get(file, 0), sum(counts[file].values()), *(counts[file][name] for name in OUTCOMES)]
        lines.append(f"| {file} | " + " | ".join(map(str, row)) + " |")
    row = [sum(collected.values()), sum(total.values()), *(total[name] for name in OUTCOMES)]
    lines.append("| all | " + " | ".join(map(str, row)) + " |")
    return "\n".join(lines + failures), total["failed"]


def part(text):
    name, _, number = text.partition("=")
    if not number.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not FILE=N")
    return name, int(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("files", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--of", type=part, action="append", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=240)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--tests", default=LANGUAGE)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results"
        results.touch()
        code = run(options, results)
        records = [json.loads(line) for line in results.read_text().splitlines()]
    text, failed = report(records)
    print(text)
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n")
    if not any("outcome" in record for record in records):
        raise SystemExit(f"pytest ran no case (exit code {code}): its words are above")
    raise SystemExit(1 if failed or code not in (0, 1, 2) else 0)


if __name__ == "__main__":
    main()
