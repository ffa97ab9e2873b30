#!/usr/bin/env python3
"""Runs JAX's own tests on the virtual device, and compares with the host's processor.

    jax_own_tests.py CHECKOUT [--python PYTHON] [--sample N] [--of FILE=N ...] [--seed N] [--limit SECONDS]
                     [--seconds N] [--json FILE] [FILE ...]

CHECKOUT is JAX's source tree, of the version that PYTHON has installed, with absl-py, hypothesis, SciPy and pytest; FILEs
are of its folder tests (default: those in FILES below). Of each file N cases are run, taken at random (default 20;
--of lax_test.py=60), the same ones with the same seed; with --sample 0 all. What passes on the processor has to pass
on the device. --seconds N: no case of a file begins later than after N seconds, on each. Prints a row for each
file, and the last line of each failure that the processor does not have; exit code 1 where there is one.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import triton_own_tests as sampled  # the sampling and its plugin of pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = ("lax_test.py", "lax_numpy_test.py", "lax_numpy_operators_test.py", "lax_numpy_reducers_test.py",
         "lax_numpy_indexing_test.py", "lax_control_flow_test.py", "lax_scipy_test.py", "lax_autodiff_test.py", "nn_test.py",
         "random_test.py", "linalg_test.py", "fft_test.py", "api_test.py", "scipy_stats_test.py")  # fmt: skip
PLACES = ("processor", "device")  # in this order: on the device JAX collects other cases, so that the sample is the processor's


def run(options, place, results, only=None):
    """Runs a sample of the cases, or those in `only`: names by file."""
    margay = pathlib.Path(os.environ.get("MARGAY_HOME", ROOT / "build" / "release")) / "bin" / "margay"
    folder = options.checkout / "tests"
    files = [file for file in options.files or FILES if (folder / file).exists()]
    if not files:
        raise SystemExit(f"{folder} has no tests: is {options.checkout} JAX's source tree?")
    plugin = {"seed": options.seed, "sample": options.sample, "of": dict(options.of), "limit": options.limit,
              "seconds": options.seconds, "results": str(results)}  # fmt: skip
    if only is not None:
        plugin["only"] = only
    environment = {"MARGAY_QUIET": "1", "MARGAY_SUBSTITUTES": "quiet", "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_NUM_GENERATED_CASES": "10",
                   "JAX_SKIP_SLOW_TESTS": "1", **os.environ}  # fmt: skip
    environment["TRITON_OWN_TESTS"] = json.dumps(plugin)
    before = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(__file__).parent), *([before] if before else [])])
    prefix = []
    if place == "processor":
        environment["JAX_PLATFORMS"] = "cpu"
    else:
        prefix = [margay, "run", "--"]
    for file in files:  # a process each: what one of them breaks is not counted against the others
        command = [*prefix, options.python, "-m", "pytest", "-q", "-p", "triton_own_tests", "-p", "no:cacheprovider",
                   "--tb=short", file]  # fmt: skip
        subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr, check=False)


def compare(records):
    """The table and the device's own failures as text; how many there are."""
    outcomes = {place: {(r["file"], r["case"]): r for r in records[place] if "outcome" in r} for place in PLACES}
    counts, failures = collections.defaultdict(collections.Counter), []
    for case, there in outcomes["processor"].items():
        counted = counts[case[0]]
        here = outcomes["device"].get(case)
        counted["run"] += 1
        if there["outcome"] != "passed":
            counted["not on the processor"] += 1
        elif here is None:
            counted["not reached"] += 1
        elif here["outcome"] in ("skipped", "xfailed"):
            counted["skipped on the device"] += 1
        elif here["outcome"] == "passed":
            counted["passed"] += 1
        else:
            counted["failed"] += 1
            failures.append(f"{case[0]}::{case[1]}: {here['why']}")
    columns = ("run", "not on the processor", "not reached", "skipped on the device", "passed", "failed")
    lines = ["| file | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    total = collections.Counter()
    for file in sorted(counts):
        total += counts[file]
        lines.append(f"| {file} | " + " | ".join(str(counts[file][column]) for column in columns) + " |")
    lines.append("| all | " + " | ".join(str(total[column]) for column in columns) + " |")
    return "\n".join(lines + failures), total["failed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("files", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--of", type=sampled.part, action="append", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=240)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    records = {}
    with tempfile.TemporaryDirectory() as folder:
        for place in PLACES:
            results = pathlib.Path(folder) / place
            results.touch()
            only = None
            if place == "device":
                only = {}
                for record in records["processor"]:
                    if record.get("outcome") == "passed":
                        only.setdefault(record["file"], []).append(record["case"])
            run(options, place, results, only)
            records[place] = [json.loads(line) for line in results.read_text().splitlines()]
    text, failed = compare(records)
    print(text)
    if options.json:
        options.json.write_text(json.dumps(records, indent=1) + "\n")
    if not any("outcome" in record for record in records["device"]):
        raise SystemExit("pytest ran no case on the device: its words are above")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
