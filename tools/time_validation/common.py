"""What the programs of this folder share: a tree's margay, the drivers, errors, tables."""

import argparse
import csv
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "time-validation"
RUNS = RESULTS / "runs.csv"  # with which parameters each table was made


def parser(description):
    out = argparse.ArgumentParser(description=description)
    out.add_argument("--margay", type=pathlib.Path, default=ROOT / "build/release/bin/margay",
                     help="the program of the tree whose model is looked at (default: this tree)")
    out.add_argument("--quick", action="store_true", help="a few sizes of each kernel; minutes")
    out.add_argument("--write", action="store_true",
                     help=f"write the table to {RESULTS.relative_to(ROOT)}")
    out.add_argument("--margay-option", action="append", default=[], metavar="OPTION",
                     help="a further option of `margay time`, such as --margay-option=--threads=1")
    return out


class Margay:
    """A build of margay; what is compiled for it is kept in a directory of its own."""

    def __init__(self, binary, options=()):
        self.binary = binary.resolve()
        self.options = list(options)
        self.build = self.binary.parents[1]
        if (self.build / "CMakeCache.txt").exists():
            self.directory = self.build / "time_validation"
        else:
            self.directory = pathlib.Path(tempfile.gettempdir()) / "margay-time-validation"
        self.directory.mkdir(parents=True, exist_ok=True)
        self.has_warm = "--warm" in run([self.binary, "time", "--help"])
        if not self.has_warm:
            print("this build has no `margay time --warm`: caches are cold, as they were not when measured",
                  file=sys.stderr)

    def parameters_id(self):
        """Names the parameters of this build's model."""
        program = self.build / "tools/time_page/time_page"
        if not program.exists():
            sys.exit(f"{program} is not there; build the target time_page of that tree")
        return id_of(run([program, "parameters"]))

    def compiled(self, source):
        """The program made of a driver of this folder."""
        source = pathlib.Path(__file__).with_name(source)
        out = self.directory / source.stem
        newest = max(file.stat().st_mtime for file in (source, source.with_name("driver.h")))
        if not out.exists() or out.stat().st_mtime < newest:
            run([self.binary, "hipcc", "-O2", "-std=c++20", source, "-o", out])
        return out

    def linked(self, name, data):
        """The code object `data`, linked if it is relocatable, as a file."""
        out = self.directory / f"{name}.co"
        if data[16] != 1:  # e_type: not ET_REL
            out.write_bytes(data)
            return out
        relocatable = out.with_suffix(".o")
        relocatable.write_bytes(data)
        lld = next(filter(None, map(shutil.which, ("ld.lld-22", "ld.lld-19", "ld.lld"))), None)
        if lld is None:
            sys.exit("ld.lld, which links code objects, is not installed")
        run([lld, "-shared", relocatable, "-o", out])
        return out

    def times(self, device, command, warm=False, environment=None):
        """The timed launches of a program, in their order, and what it printed. Where a launch was measured
        in a loop, its caches are warm. `environment`: further variables."""
        with tempfile.NamedTemporaryFile(suffix=".json") as report:
            output = run([self.binary, "time", "--quiet", "--device", device, "--json", report.name,
                          *(["--warm"] if warm and self.has_warm else []), *self.options, "--", *command],
                         environment)
            return json.loads(pathlib.Path(report.name).read_text())["kernels"], output

    def event_times(self, device, command):
        """What a program prints that measures with events: words and microseconds, one pair in a line."""
        output = run([self.binary, "run", "--device", device, "--event-time", "modelled", "--", *command])
        return {name: float(us) for name, us in map(str.split, output.splitlines())}


def run(command, environment=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def blob(repository, path):
    """A file of the newest commit of a git repository, which needs no work tree."""
    done = subprocess.run(["git", "-C", str(repository), "show", f"HEAD:{path}"],
                          capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr.decode().strip()}")
    return done.stdout


def commit(repository):
    return run(["git", "-C", repository, "rev-parse", "--short", "HEAD"]).strip()


def error(modelled, measured):
    return 100 * (modelled - measured) / measured


def wmape(pairs):
    """Of (modelled, measured): the sum of the errors, as a percentage of what was measured."""
    pairs = list(pairs)
    total = sum(measured for _, measured in pairs)
    return 100 * sum(abs(a - b) for a, b in pairs) / total if total else float("nan")


def mean_error(pairs):
    pairs = list(pairs)
    return sum(abs(error(*pair)) for pair in pairs) / len(pairs) if pairs else float("nan")


def id_of(parameters):
    """Names the values of the table that time_page prints; what is said of them may change."""
    table = csv.DictReader(parameters.splitlines())
    values = [[text for column, text in row.items() if column not in ("meaning", "confidence", "source")] for row in table]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:12]


def write_table(margay, name, rows):
    """Writes a table of results and which parameters it was made with."""
    write_csv(RESULTS / name, rows)
    runs = {row["table"]: row for row in read_table(RUNS)} if RUNS.exists() else {}
    runs[name] = {"table": name, "parameters": margay.parameters_id()}
    write_csv(RUNS, [runs[key] for key in sorted(runs)])


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
