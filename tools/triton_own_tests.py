#!/usr/bin/env python3
"""Runs Triton's own unit tests of the language on the virtual device.

    triton_own_tests.py CHECKOUT [--python PYTHON] [--sample N] [--of FILE=N ...] [--seed N] [--limit SECONDS]
                        [--json FILE] [FILE ...]

CHECKOUT is Triton's source tree, of the version that PYTHON has installed; FILEs are of
python/test/unit/language (default: all of them). Of each file N cases are run, taken at random (default 20;
--of test_core.py=200), the same ones with the same seed; with --sample 0 all. Prints a row for each file and each
failure's last line; exit code 1 where a case failed. test_line_info.py needs an llvm-objdump that knows
gfx942 on PATH. Like all of Triton's tests it needs torch, NumPy, SciPy and pytest.
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
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
        number = min(options["of"].get(name, options["sample"]) or len(cases), len(cases))
        numbers = random.Random(f"{options['seed']}{name}").sample(range(len(cases)), number)
        chosen += [cases[n] for n in sorted(numbers)]
        _write({"file": name, "collected": len(cases)})
    kept = set(map(id, chosen))
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]


def pytest_runtest_setup(item):  # pylint: disable=unused-argument
    def late(*_):
        raise TimeoutError("longer than --limit")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(json.loads(os.environ["TRITON_OWN_TESTS"])["limit"])


def pytest_runtest_logreport(report):
    if report.when == "teardown":
        signal.alarm(0)
    if report.when == "call" or report.outcome != "passed":
        outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        why = report.longreprtext.strip().splitlines() if report.outcome == "failed" else []
        file, _, case = report.nodeid.partition("::")
        _write({"file": file.rsplit("/", 1)[-1], "case": case, "outcome": outcome, "why": why[-1] if why else ""})


def _write(record):
    with open(json.loads(os.environ["TRITON_OWN_TESTS"])["results"], "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


# ---- As a command --------------------------------------------------------------------------------


def run(options, results):
    margay = pathlib.Path(os.environ.get("MARGAY_HOME", ROOT / "build" / "release")) / "bin" / "margay"
    folder = options.checkout / "python" / "test" / "unit" / "language"
    files = options.files or sorted(file.name for file in folder.glob("test_*.py"))
    if not files:
        raise SystemExit(f"{folder} has no tests: is {options.checkout} Triton's source tree?")
    plugin = {"seed": options.seed, "sample": options.sample, "of": dict(options.of), "limit": options.limit,
              "results": str(results)}  # fmt: skip
    environment = {"TRITON_DEFAULT_FP_FUSION": "1", "MARGAY_QUIET": "1", **os.environ}
    environment["TRITON_OWN_TESTS"] = json.dumps(plugin)
    before = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(__file__).parent), *([before] if before else [])])
    command = [margay, "run", "--", options.python, "-m", "pytest", "-q", "-p", "triton_own_tests", "-p",
               "no:cacheprovider", "--tb=short", *files]  # fmt: skip
    return subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr, check=False).returncode


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
    parser.add_argument("--json", type=pathlib.Path)
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
    raise SystemExit(1 if failed or code not in (0, 1) else 0)


if __name__ == "__main__":
    main()
