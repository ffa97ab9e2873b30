#!/usr/bin/env python3
"""Runs one case of a test program under `margay check` and compares what is reported with what must be.

    run_pair.py MARGAY PROGRAM CASE [EXPECTATION...] [--source FILE] [--adversarial right|wrong|any]

An expectation is one of

    TOOL:KIND        an error that must be reported; shell patterns, alternatives after `|`
    ?TOOL:KIND       an error that may be reported
    note:TOOL:KIND   a note that must be reported
    no-note:TOOL:KIND  a note that must not be reported
    advice:LINES     advice must be given on just so many source lines
    line:MARK        an access of some expected finding must stand at the line of FILE that ends in
                     `// BUG MARK` (or `// BUG` for an empty MARK)
    hint:WORDS       the hint of every error must contain these words
    advice:TOOL:KIND  advice that must be reported; no other than what is named so may be
    idle:WORDS       an instruction with these words ran, and nothing depended on it

Every other error is a failure, and so is every error where none is expected: the set is exact.
Notes may always be there, except leaks: a program that frees its memory must not be told otherwise.

Without --adversarial the program's result must be right unless the case is a broken one. With it,
`margay check --adversarial` is used, the result must be as given, and findings are judged too.
"""

import argparse
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile

ERROR_EXIT = 97
WITH_PREFIX = ("note:", "no-note:", "line:", "hint:", "advice:", "idle:")


def matches(name, pattern):
    return any(fnmatch.fnmatchcase(name, one) for one in pattern.split("|"))


def names_of(finding):
    """Of the finding and of what the same cause did elsewhere."""
    kinds = [finding["kind"], *(other["kind"] for other in finding["others"])]
    return [f"{finding['tool']}:{kind}" for kind in dict.fromkeys(kinds)]


def accesses_of(finding):
    return [*finding["accesses"], *(access for other in finding["others"] for access in other["accesses"])]


def marked_lines(source, mark):
    wanted = f"// BUG {mark}".rstrip()
    lines = source.read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.rstrip().endswith(wanted)]


def points_at(finding, source, numbers):
    return any(
        pathlib.PurePath(frame["file"]).name == source.name and frame["line"] in numbers
        for access in accesses_of(finding)
        for frame in access["frames"]
    )


def judge_findings(findings, expectations, source):
    """Yields what is wrong, a sentence each."""
    required = [e for e in expectations if not e.startswith(("?", *WITH_PREFIX))]
    allowed = [e[1:] for e in expectations if e.startswith("?")]
    notes = [e.removeprefix("note:") for e in expectations if e.startswith("note:")]
    marks = [e.removeprefix("line:") for e in expectations if e.startswith("line:")]
    hints = [e.removeprefix("hint:") for e in expectations if e.startswith("hint:")]

    errors = [f for f in findings if f["severity"] == "error"]
    for pattern in required:
        if not any(matches(name, pattern) for f in errors for name in names_of(f)):
            yield f"missing: {pattern}"
    for finding in errors:
        for name in names_of(finding):
            if not any(matches(name, pattern) for pattern in required + allowed):
                yield f"not expected: {name}: {finding['message']}"

    noted = [f for f in findings if f["severity"] == "note"]
    for pattern in notes:
        if not any(matches(name, pattern) for f in noted for name in names_of(f)):
            yield f"missing note: {pattern}"
    for finding in noted:
        if "memcheck:leak" in names_of(finding) and "memcheck:leak" not in notes:
            yield f"not expected: memcheck:leak: {finding['message']}"
    wanted = errors + [f for f in noted if any(matches(name, p) for name in names_of(f) for p in notes)]

    for pattern in (e.removeprefix("no-note:") for e in expectations if e.startswith("no-note:")):
        for finding in noted:
            if any(matches(name, pattern) for name in names_of(finding)):
                yield f"not expected: {pattern} (note): {finding['message']}"

    for words in hints:
        for finding in errors:
            if words not in finding["hint"]:
                yield f"the hint does not say `{words}`: {finding['hint']}"

    for mark in marks:
        numbers = marked_lines(source, mark)
        if not numbers:
            yield f"{source.name} has no line that ends in `// BUG {mark}`"
        elif not any(points_at(f, source, numbers) for f in wanted):
            yield f"no finding points at {source.name}:{numbers[0]} (BUG {mark})"


def judge_advice(report, expectations):
    """The same for advice, and for what it is about."""
    wanted = [e.removeprefix("advice:") for e in expectations if e.startswith("advice:")]
    lines = sorted({a["accesses"][0]["frames"][0]["line"] for a in report["advice"]})
    for count in (int(one) for one in wanted if one.isdigit()):
        if len(lines) != count:
            yield f"advice on {count} lines expected, it is on {lines}"
    kinds = [one for one in wanted if not one.isdigit()]
    given = [name for advice in report["advice"] for name in names_of(advice)]
    if kinds and sorted(given) != sorted(kinds):
        yield f"advice is {given}, not {kinds}"
    for words in (e.removeprefix("idle:") for e in expectations if e.startswith("idle:")):
        if not any(words in s["instruction"] and s["executions"] and not s["ordered"] for s in report["sites"]):
            yield f"something depended on each {words}"


def check(margay, command, adversarial):
    """The report, the exit code, and what the program printed."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        options = ["--json", str(report), "--error-exitcode", str(ERROR_EXIT)]
        if adversarial:
            options.append("--adversarial")
        done = subprocess.run(
            [margay, "check", *options, "--", *command], capture_output=True, text=True, check=False
        )
        if not report.exists():
            sys.exit(f"margay check wrote no report (exit code {done.returncode})\n{done.stderr}")
        return json.loads(report.read_text()), done.returncode, done.stdout, done.stderr


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("margay")
    parser.add_argument("program")
    parser.add_argument("case")
    parser.add_argument("expectations", nargs="*", metavar="EXPECTATION")
    parser.add_argument("--source", type=pathlib.Path)
    parser.add_argument("--adversarial", choices=["right", "wrong", "any"])
    options = parser.parse_intermixed_args()

    report, code, output, errors = check(
        options.margay, [options.program, options.case], options.adversarial is not None
    )
    failures = list(judge_findings(report["findings"], options.expectations, options.source))
    failures += judge_advice(report, options.expectations)

    has_errors = any(f["severity"] == "error" for f in report["findings"])
    wanted_code = ERROR_EXIT if has_errors else 0
    if code != wanted_code:
        failures.append(f"exit code {code}, not {wanted_code}")
    if report["summary"]["errors"] != sum(f["severity"] == "error" for f in report["findings"]):
        failures.append("the summary does not count the errors that are listed")

    result = next((line for line in output.splitlines() if line.startswith("result: ")), "result: none")
    wanted = options.adversarial or ("any" if "broken" in options.case else "right")
    if wanted != "any" and result != f"result: {wanted}":
        failures.append(f"{result}, not {wanted}")

    if failures:
        print(*failures, sep="\n")
        print("--- what margay check printed", output, errors, sep="\n")
        return 1
    print(f"{options.case}: as expected ({result})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
