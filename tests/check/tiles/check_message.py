#!/usr/bin/env python3
"""Runs a command under `margay check` and looks for words in what it reports.

    check_message.py MARGAY [--says TEXT]... -- COMMAND...

One out-of-bounds finding must say all the texts, each in one line. Without any text there must be no
error, and the result that the command prints must be right.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import run_pair  # noqa: E402  (the path comes first)


def says_all(finding, texts):
    lines = [finding["message"], *finding["detail"], finding["hint"]]
    return all(any(text in line for line in lines) for text in texts)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("margay")
    parser.add_argument("--says", action="append", default=[], metavar="TEXT")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()

    report, _, output, errors = run_pair.check(options.margay, options.command, False)
    found = [f for f in report["findings"] if f["severity"] == "error"]
    if options.says:
        out_of_bounds = [f for f in found if "memcheck:out-of-bounds" in run_pair.names_of(f)]
        good = any(says_all(f, options.says) for f in out_of_bounds)
    else:
        good = not found and "result: right" in output
    if not good:
        print("missing:", *(options.says or ["a right result without errors"]), sep="\n  ")
        print("--- what margay check printed", output, errors, sep="\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
