#!/usr/bin/env python3
"""Which test programs judge which instructions: the data behind "judged by" in docs/isa-coverage.md.

    judges.py --isa-page EXE --file tools/isa_page/judges.txt [--check] NAME=PROGRAM...

Runs the test programs, which must pass, under the profiler and asks which instructions each one
executed. Writes a line for each instruction of the virtual device: its mnemonic and the first two
programs, in the order given, that execute it; "-" where none does. Two are enough to find a judge,
and a new program changes few lines.

--check writes nothing: it fails when a program that the file names does not execute the
instruction any more, and when the file and the executor do not have the same instructions.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SUFFIX = re.compile(r"_(e32|e64|sdwa|dpp|e64_dpp)$")
JUDGES_PER_LINE = 2


def executed_by(program):
    """The mnemonics that a test program executes."""
    with tempfile.TemporaryDirectory() as folder:
        profile, listed = pathlib.Path(folder, "profile.json"), pathlib.Path(folder, "executed")
        environment = os.environ | {
            "MARGAY_PROFILE": "1",  # programs on the HIP runtime
            "MARGAY_PROFILE_JSON": str(profile),
            "MARGAY_EXECUTED": str(listed),  # those without: tests/support/executed.h
        }
        run = subprocess.run([program], env=environment, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"judges.py: error: {program} fails:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
        found = set()
        if listed.exists():
            found |= set(listed.read_text().split())
        if profile.exists():
            for kernel in json.loads(profile.read_text())["kernels"]:
                found |= {SUFFIX.sub("", site["text"].split()[0]) for site in kernel["sites"]
                          if site["executions"] > 0}
        if not found:
            sys.exit(f"judges.py: error: {program} executes nothing on the virtual device.")
        return found


def read(file):
    lines = (line.split() for line in file.read_text().splitlines() if not line.startswith("#"))
    return {words[0]: [name for name in words[1:] if name != "-"] for words in lines if words}


HEAD = """\
# Which test programs judge each instruction; a program compares its results and executes it.
# Written by tools/isa_page/judges.py (cmake --build DIR --target isa_judges_update).
"""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--isa-page", required=True)
    arguments.add_argument("--file", required=True, type=pathlib.Path)
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("programs", nargs="+", metavar="NAME=PROGRAM")
    options = arguments.parse_args()

    rows = subprocess.run([options.isa_page, "--rows"], check=True, capture_output=True,
                          text=True).stdout.split()
    listed = read(options.file) if options.check else {}
    some_unjudged = not options.check or any(not listed.get(row) for row in rows)
    judges = collections.defaultdict(list)  # in the order of the programs
    for entry in options.programs:
        name, program = entry.split("=", 1)
        # Unoptimised programs take their time: only if another did not show what the file says.
        open_lines = any(name in names and name not in judges[row] for row, names in listed.items())
        if not some_unjudged and not open_lines:
            continue
        for mnemonic in executed_by(program):
            if name not in judges[mnemonic]:  # the same source at another optimisation level
                judges[mnemonic].append(name)

    if not options.check:
        lines = (f"{row} {' '.join(judges[row][:JUDGES_PER_LINE]) or '-'}\n" for row in sorted(rows))
        options.file.write_text(HEAD + "".join(lines))
        return 0
    wrong = [f"{row}: the executor has it, the file has not" for row in rows if row not in listed]
    wrong += [f"{row}: the file has it, the executor has not" for row in listed if row not in rows]
    for row, names in listed.items():
        wrong += [f"{row}: {name} does not execute it" for name in names if name not in judges[row]]
        if not names and judges[row]:
            wrong.append(f"{row}: has no judge in the file, though {judges[row][0]} executes it")
    for line in wrong:
        print(f"{options.file}: {line}")
    if wrong:
        print("Build the target isa_judges_update, then isa_page_update, and commit both files.")
    return 1 if wrong else 0


sys.exit(main())
