#!/usr/bin/env python3
"""Writes docs/isa-kill-rate.md from tools/isa_page/kills.txt and survivors.txt; --check: says where it differs.

    kill_page.py SOURCE_ROOT [--check]
"""

import collections
import fnmatch
import pathlib
import sys

from programs import SOURCES
from row_kills import NOTHING, read

PARTS = {
    "vgpr": "VGPRs: bit 0 of the first register of the result, in every lane that is written",
    "vgpr-last": "VGPRs: bit 31 of the last register",
    "scalar": "SGPRs, VCC, M0: bit 0 of the first; of a lane mask the bit of the first active lane",
    "scalar-last": "the same: bit 31 of the last; the bit of the last active lane",
    "exec": "EXEC: the bit of the first lane that was active",
    "scc": "SCC",
    "memory": "memory and LDS: the first byte that each lane stores is one more",
    "flow": "a branch goes the other way or on, a barrier is passed",
    "skipped": "MODE, a message: it is not done",
}

HEAD = """\
# Kill rate of the executor's tests

Does a test notice when an instruction is wrong? For every instruction of the virtual device each part of what it
leaves was broken on purpose, one at a time, in every execution, and the programs that execute it ran again. A part
is *killed* when a program fails. Made by `tools/isa_page/row_kills.py` (target `isa_kills_update`), which reads the
parts off the executions themselves; `tools/isa_page/kills.txt` has every result. The test `isa.kills` breaks
40 parts again, others each day.

To do the same by hand: `MARGAY_BREAK_ROW=v_add_f32:vgpr ./program`. Without that variable the
executor's tables are as they always are.

What the figures do not say: an instruction that compilers use everywhere (moves, address arithmetic) is killed by
any program, most easily by one that stops with a fault; that is counted apart. And a test that notices a wrong bit
may still expect the wrong thing, see [below](#where-expectations-come-from).
"""


def table(head, lines):
    rule = "| " + " | ".join("---" if n == 0 else "---:" for n in range(len(head))) + " |"
    return "\n".join(["| " + " | ".join(head) + " |", rule, *("| " + " | ".join(map(str, line)) + " |" for line in lines)])


def killers(words):
    """(program, how) of those that failed."""
    for word in words:
        if word[0] == "+":
            name, _, how = word[1:].partition(":")
            yield name, how or "comparison"


def fate(words):
    hows = [how for _, how in killers(words)]
    return "survived" if not hows else "comparison" if "comparison" in hows else hows[0]


def by_part(results):
    counts = collections.defaultdict(collections.Counter)
    for (_, part), words in results.items():
        for key in (part, "all"):
            counts[key][fate(words)] += 1
    lines = []
    for part, what in [*PARTS.items(), ("all", "**all**")]:
        c = counts[part]
        total = sum(c.values())
        if total:
            rate = 100 * (total - c["survived"]) / total
            lines.append((what, total, c["comparison"], c["fault"], c["hang"] + c["crash"], c["survived"], f"{rate:.1f} %"))
    return table(("part", "broken", "a comparison fails", "the kernel stops", "hangs, crashes", "survived", "kill rate"), lines)


def by_program(results):
    counts = collections.Counter()
    for words in results.values():
        counts.update(name for name, how in killers(words) if how == "comparison")
    return "\n".join(["| program | independent | parts it noticed | expects |", "| --- | --- | ---: | --- |"] + [
        f"| {name} | {'yes' if independent else 'no'} | {counts[name]} | {what} |"
        for name, (independent, what) in SOURCES.items()])


def strength(results):
    """How many instructions are compared with what, by the best of it."""
    best = collections.defaultdict(int)
    for (row, _), words in results.items():
        compared = [name for name, how in killers(words) if how == "comparison"]
        grade = 0 if not compared else 2 if any(SOURCES[name][0] for name in compared) else 1
        best[row] = max(best[row], grade)
    counts = collections.Counter(best.values())
    return counts[2], counts[1], counts[0]


def reasons(root):
    """Patterns of MNEMONIC PART, each with the reason why no test notices."""
    file = root / "tools/isa_page/survivors.txt"
    lines = (line.split(maxsplit=2) for line in file.read_text().splitlines() if line and line[0] != "#")
    return [(mnemonic, part, reason) for mnemonic, part, reason in lines]


def survivors(results, known):
    lines, used = collections.defaultdict(list), set()
    for (row, part), words in sorted(results.items()):
        if fate(words) != "survived":
            continue
        found = next((k for k in known if fnmatch.fnmatch(row, k[0]) and fnmatch.fnmatch(part, k[1])), None)
        used.add(found)
        lines[part, found[2] if found else "**not known**"].append(row)
    unused = [f"{k[0]} {k[1]}" for k in known if k not in used]
    if unused:
        sys.exit(f"survivors.txt: these do not survive: {', '.join(unused)}")
    return "\n".join(["| instructions | part | why |", "| --- | --- | --- |"] + [
        f"| {', '.join(f'`{row}`' for row in rows)} | {part} | {why} |" for (part, why), rows in lines.items()])


def page(root):
    every = read(root / "tools/isa_page/kills.txt")
    results = {mutant: words for mutant, words in every.items() if mutant[1] != NOTHING}
    silent = {mutant[0]: words for mutant, words in every.items() if mutant[1] == NOTHING}
    independent, second, uncompared = strength(results)
    left = survivors(results, reasons(root)) if any(fate(w) == "survived" for w in results.values()) else "None."
    once = sum(1 for words in results.values()
               if len({name for name, how in killers(words) if how == "comparison"}) == 1)
    return f"""{HEAD}
{by_part(results)}

{once} parts are noticed by a comparison of one program alone.

## Where expectations come from

A second formulation by the hand that wrote the executor finds slips, not misreadings of the manual. The others are
independent of it: LLVM decides which instructions a C++ expression becomes, and the host's processor what the
expression is. Of {independent + second + uncompared} instructions with a result, {independent} are compared with an \
independent expectation, {second} with a second formulation only, and {uncompared} with none.
AMD publishes no results of single instructions; its published counters of a real MI300X hold the
[profiler](prof.md), and its published numerical model `--mfma exact`.

{by_program(results)}

Programs are tried until two have noticed and, if there is one, an independent one; the others are not counted.

## Survivors

{left}

## Instructions without a result

Waits, hints and work on caches leave nothing that could be broken: in the executor every instruction completes before
the next one starts. That they change nothing is checked where they run.

{', '.join(f'`{row}`' for row in sorted(silent))}.
"""


def main():
    root = pathlib.Path(sys.argv[1])
    text, file = page(root), root / "docs/isa-kill-rate.md"
    if sys.argv[2:] != ["--check"]:
        file.write_text(text)
        return 0
    for number, (there, wanted) in enumerate(zip([*file.read_text().splitlines(), ""], [*text.splitlines(), ""]), 1):
        if there != wanted:
            print(f"{file}:{number}: it should be: {wanted}\nRun kill_page.py SOURCE_ROOT and commit the page.")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
