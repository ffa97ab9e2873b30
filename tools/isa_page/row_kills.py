#!/usr/bin/env python3
"""The kill rate of the executor's tests: breaks each part of each instruction's result in turn, and looks
which test programs fail. Writes tools/isa_page/kills.txt.

    row_kills.py --isa-page EXE --file tools/isa_page/kills.txt [OPTIONS] NAME=PROGRAM[?FILTER]...

What the file already says is kept, so that a run that was stopped goes on: --again PATTERN asks anew for
the rows that match (a shell pattern; '*' for all). A line is

    MNEMONIC PART +PROGRAM... -PROGRAM...

programs that failed when the part was broken, and programs that execute the instruction and did not notice;
the part "nothing" with =PROGRAM... that execute an instruction which leaves nothing that could be broken.
Behind the name of one that failed it says how, where it was not by a comparison: :fault (the device stopped
the kernel), :hang, :crash. Programs are tried in the order given until two have failed by a comparison, and
one whose expectations are independent of the executor's authors (programs.SOURCES), if there is one; those that
take long only as long as none has failed, and two that hang are enough.

--check N [--seed S] writes nothing: it breaks N parts, chosen at random, that the file says are noticed, and
fails when one is not, or when instructions, parts or programs have changed.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import programs

WANTED_KILLS = 2
SLOW_SECONDS = 1.0
HEAD = """\
# Which tests fail when a part of an instruction's result is broken (+), and which do not (-). Written by
# tools/isa_page/row_kills.py (cmake --build DIR --target isa_kills_update).
"""
NOTHING = "nothing"


class Survey:
    """What each program executes: the parts of results that it leaves, and how long it takes."""

    def __init__(self, all_programs):
        self.seconds = {}
        self.parts = {}  # of a program: (mnemonic, part) -> None, in no order
        for program in all_programs:
            begin = time.monotonic()
            self.parts[program] = self._ask(program)
            self.seconds[program] = time.monotonic() - begin

    @staticmethod
    def _ask(program):
        with tempfile.TemporaryDirectory() as folder:
            report = pathlib.Path(folder, "report")
            run = program.run({"MARGAY_BREAK_ROW": "*", "MARGAY_BREAK_ROW_REPORT": str(report)})
            if run.returncode != 0 or not report.exists():
                sys.exit(f"row_kills.py: error: {program.file} fails:\n{run.stdout[-2000:]}{run.stderr[-2000:]}")
            return {tuple(line.split()[:2]) for line in report.read_text().splitlines()}

    def mutants(self, all_rows):
        """(mnemonic, part) -> the programs that can notice, in order. The part is "nothing" where an
        instruction never leaves any."""
        found = collections.defaultdict(list)
        for program, parts in self.parts.items():
            for mutant in parts:
                found[mutant].append(program)
        with_parts = {mnemonic for mnemonic, part in found if part != NOTHING}
        return {(mnemonic, part): found[mnemonic, part] for mnemonic, part in found
                if mnemonic in all_rows and (part != NOTHING or mnemonic not in with_parts)}

    def timeout(self, program):
        return 10 + 10 * self.seconds[program]


def how_it_ends(program, mutant, timeout):
    """"" where no test notices, else how one did."""
    try:
        run = program.run({"MARGAY_BREAK_ROW": ":".join(mutant), "GTEST_FAIL_FAST": "1"}, timeout)
    except subprocess.TimeoutExpired:
        return "hang"
    if "are wrong on purpose" not in run.stderr:
        sys.exit(f"row_kills.py: error: {program.file} does not break {':'.join(mutant)}: is it up to date?")
    if run.returncode == 0:
        return ""
    if run.returncode < 0:
        return "crash"
    # The first failure: what the device says where it stops a kernel comes with a PC.
    return "fault" if re.search(r"PC 0x[0-9a-f]+ \(", run.stderr) else "comparison"


def judge(mutant, candidates, survey):
    """The line's words behind mnemonic and part."""
    failed, unnoticed = {}, {}
    for program in candidates:
        strong = [name for name, how in failed.items() if how == "comparison"]
        enough = len(strong) >= WANTED_KILLS and (
            not program.independent or any(programs.SOURCES[name][0] for name in strong))
        if enough or list(failed.values()).count("hang") >= WANTED_KILLS:
            continue
        if failed and survey.seconds[program] > SLOW_SECONDS:
            continue
        if failed.get(program.name) in ("comparison", "hang"):
            continue  # the same source at another optimisation level
        how = how_it_ends(program, mutant, survey.timeout(program))
        if how:
            unnoticed.pop(program.name, None)
            if how == "comparison" or program.name not in failed:
                failed[program.name] = how
        elif program.name not in failed:
            unnoticed[program.name] = None
    order = sorted(failed, key=lambda name: failed[name] != "comparison")
    words = [f"+{name}" + ("" if failed[name] == "comparison" else f":{failed[name]}") for name in order]
    return words + [f"-{name}" for name in unnoticed]


def read(file):
    if not file.exists():
        return {}
    lines = (line.split() for line in file.read_text().splitlines() if line and not line.startswith("#"))
    return {(words[0], words[1]): words[2:] for words in lines}


def write(file, results):
    lines = (" ".join([*mutant, *words]) + "\n" for mutant, words in sorted(results.items()))
    file.write_text(HEAD + "".join(lines))


def executed_by(candidates):
    return [f"={name}" for name in dict.fromkeys(program.name for program in candidates)][:WANTED_KILLS]


def update(options, all_rows, survey):
    mutants = survey.mutants(all_rows)
    results = {m: words for m, words in read(options.file).items()
               if m in mutants and not any(fnmatch.fnmatch(m[0], p) for p in options.again)}
    results |= {m: executed_by(c) for m, c in mutants.items() if m[1] == NOTHING}
    wanted = sorted(m for m in mutants if m not in results)
    print(f"{len(mutants)} parts of {len(all_rows)} instructions, {len(wanted)} to break", flush=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = {pool.submit(judge, m, mutants[m], survey): m for m in wanted}
        for count, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            results[jobs[job]] = job.result()
            if not job.result()[:1] or job.result()[0][0] != "+":
                print("survives:", *jobs[job], *job.result(), flush=True)
            if count % 50 == 0:
                print(f"{count} of {len(wanted)}", flush=True)
                write(options.file, results)
    write(options.file, results)
    return 0


def check(options, all_rows, survey):
    mutants = survey.mutants(all_rows)
    listed = read(options.file)
    wrong = [f"{' '.join(m)}: left in a test, and not in the file" for m in sorted(set(mutants) - set(listed))]
    wrong += [f"{' '.join(m)}: in the file, and left in no test" for m in sorted(set(listed) - set(mutants))]
    executed = {mnemonic for mnemonic, _ in mutants}
    wrong += [f"{row}: no test executes it" for row in sorted(all_rows - executed)]
    noticed = [(m, words[0][1:].partition(":")[0]) for m, words in sorted(listed.items())
               if m in mutants and words and words[0][0] == "+"]
    # In programs that take long, only what none of the others detects.
    chosen = random.Random(options.seed).sample(noticed, min(options.check, len(noticed)))

    def broken(entry):
        mutant, name = entry
        candidates = [p for p in mutants[mutant] if p.name == name]
        if any(how_it_ends(p, mutant, survey.timeout(p)) for p in candidates):
            return None
        return f"{' '.join(mutant)}: {name} does not notice when it is broken"

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        wrong += filter(None, pool.map(broken, chosen))
    for line in wrong:
        print(f"{options.file}: {line}")
    print(f"{len(chosen)} of {len(noticed)} parts broken, seed {options.seed}")
    if wrong:
        print("Build the target isa_kills_update (--again PATTERN for rows that changed) and commit the file.")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isa-page", required=True)
    parser.add_argument("--file", required=True, type=pathlib.Path)
    parser.add_argument("--again", action="append", default=[], metavar="PATTERN")
    parser.add_argument("--check", type=int, metavar="N")
    parser.add_argument("--seed", type=int, default=int(time.time() // 86400), help="default: the day")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("programs", nargs="+", metavar="NAME=PROGRAM[?FILTER]")
    options = parser.parse_args()
    all_programs = [programs.Program(entry) for entry in options.programs]
    all_rows = set(programs.rows(options.isa_page))
    survey = Survey(all_programs)
    return update(options, all_rows, survey) if options.check is None else check(options, all_rows, survey)


if __name__ == "__main__":
    sys.exit(main())
