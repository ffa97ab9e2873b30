#!/usr/bin/env python3
"""Compares Margay's counters of vcopy with those of a real MI300X.

    vcopy_judge.py MARGAY VCOPY                 exits 1 if a counter is not what it has to be
    vcopy_judge.py MARGAY VCOPY --write PAGE    writes docs/counters.md
    vcopy_judge.py MARGAY VCOPY --check PAGE    exits 1 unless the page is what --write would write

The real values are in mi300x_vcopy.csv. A counter of either side has to be equal in each of the three
launches unless vcopy_classes.json names it, which says why it is not and what holds instead:

    sum          the real values of these counters together are ours together
    more         the real value is ours or up to `limit` more
    channels     the counter is per L2 channel: each XCD's 16 have at least 16 times the real
                 least and at most 16 times the real most
    absent       Margay does not count it; the real value is 0
    time, unmodelled   Margay does not count it
    unmeasured   the sample does not have it; ours is 0

Margay adds up the launches of a kernel, so the program runs with one, two and three of them.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
LAUNCHES = 3
CHANNELS = 16  # of each XCD
UNCOUNTED = ("absent", "time", "unmodelled")

HEAD = """# Counters: Margay and a real MI300X

One kernel, `vecCopy` of rocprofiler-compute's test workload (`tests/prof/vcopy.hip`): a copy of 1 M
doubles in 4096 workgroups of 256, launched three times. The real values are that workload's sample
output (`vcopy/MI300X_A1`), measured in several passes; ours come from one run. The first launch finds
the instruction caches cold.

`cmake --build DIR --target counters_page_update` writes this page, the test `prof.counters_page` holds
that it is up to date, and `prof.vcopy` that every line of it is true: {equal} counters are equal in
every launch ({zero} of them 0), {related} differ by what the last column says and no more, {uncounted} are not counted.
Three values stand for the three launches, one for three that are equal; values of several passes are
listed by pass where they differ. Of the uncounted ones that depend on time only the names are given.

| counter | real | Margay | |
| --- | --- | --- | --- |
"""


class Real:
    """A row of the sample: one counter in one pass."""

    def __init__(self, row):
        def numbers(key):
            return [int(row[f"{key}_{n}"]) for n in range(LAUNCHES)]

        self.counter = row["counter"]
        self.sums = numbers("sum")
        self.per_channel = row["instances"] != "1"
        self.least = numbers("least") if self.per_channel else None
        self.most = numbers("most") if self.per_channel else None


def read_sample():
    sample = {}
    with open(FOLDER / "mi300x_vcopy.csv", newline="") as file:
        for row in csv.DictReader(file):
            sample.setdefault(row["counter"], []).append(Real(row))
    return sample


def read_classes():
    groups = json.loads((FOLDER / "vcopy_classes.json").read_text())
    names = [name for group in groups for name in group["counters"]]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        sys.exit(f"vcopy_classes.json names {', '.join(twice)} more than once")
    return {name: group for group in groups for name in group["counters"]}


def profile(margay, program, launches):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "profile.json"
        command = [margay, "prof", "--quiet", "--json", str(path), "--", program, str(launches)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not path.exists():
            sys.exit(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        kernels = json.loads(path.read_text())["kernels"]
    if len(kernels) != 1 or kernels[0]["launches"] != launches:
        sys.exit(f"{len(kernels)} kernels, {kernels[0]['launches']} launches instead of {launches}")
    if kernels[0]["resources"]["code_bytes"] != 120:
        sys.exit("the compiler makes other code of vcopy than the 120 bytes that were measured")
    return kernels[0]


class Ours:
    """The counters of each launch: of the device, and of each XCD."""

    def __init__(self, margay, program):
        runs = [profile(margay, program, n + 1) for n in range(LAUNCHES)]
        self.metrics = runs[0]["metrics"]
        self.device = self.by_launch([run["counters"] for run in runs])
        xcds = [self.by_launch([run["xcds"][x] for run in runs]) for x in range(8)]
        self.xcds = {name: [xcd[name] for xcd in xcds] for name in xcds[0]}

    @staticmethod
    def by_launch(totals):
        return {
            name: [first] + [b[name] - a[name] for a, b in zip(totals, totals[1:])]
            for name, first in totals[0].items()
        }


def judge_channels(real, xcds):
    """What is wrong, or None."""
    for launch in range(LAUNCHES):
        low, high = CHANNELS * real.least[launch], CHANNELS * real.most[launch]
        for number, values in enumerate(xcds):
            if not low <= values[launch] <= high:
                return f"XCD {number} has {values[launch]} in launch {launch}, not {low} to {high}"
    return None


def judge_sum(group, sample, ours):
    names = group["counters"]
    real = [sum(sample[name][0].sums[n] for name in names) for n in range(LAUNCHES)]
    here = [sum(ours.device.get(name, [0] * LAUNCHES)[n] for name in names) for n in range(LAUNCHES)]
    return None if real == here else f"together with the others {here}, real {real}"


def judge_one(name, sample, classes, ours):
    """What is wrong with one counter, or None."""
    group = classes.get(name)
    kind = group["kind"] if group else "equal"
    rows, here = sample.get(name, []), ours.device.get(name)
    if kind == "unmeasured":
        return f"{here}" if here != [0] * LAUNCHES or rows else None
    if not rows:
        return "it is not in mi300x_vcopy.csv and vcopy_classes.json does not say why"
    if kind in UNCOUNTED:
        if here is not None:
            return "Margay counts it, so it has to be compared"
        if kind == "absent" and any(row.sums != [0] * LAUNCHES for row in rows):
            return f"it happened on the real device: {rows[0].sums}"
        return None
    if kind == "channels":
        return judge_channels(rows[0], ours.xcds[name + "_sum"])
    if kind == "sum":
        return judge_sum(group, sample, ours)
    if here is None:
        return "Margay does not count it and vcopy_classes.json does not say why"
    for row in rows:
        if kind == "equal" and row.sums != here:
            return f"{here}, real {row.sums}"
        if kind == "more" and not all(0 <= r - h <= group["limit"] for r, h in zip(row.sums, here)):
            return f"{here}, real {row.sums}: not up to {group['limit']} more"
    return None


def judge(sample, classes, ours):
    """Yields a sentence for everything that is wrong."""
    for name in sorted(classes.keys() - sample.keys() - ours.device.keys()):
        yield f"{name}: vcopy_classes.json names it, but nobody has such a counter"
    for name in sorted(sample.keys() | ours.device.keys()):
        wrong = judge_one(name, sample, classes, ours)
        if wrong:
            yield f"{name}: {wrong}"
    # What rocprofiler-compute makes of the real counters with the same formulas.
    derived = {"vl1d_hit_rate": 62.5, "vl1d_coalescing": 25, "instructions_per_wave": 20}
    for name, value in derived.items():
        if ours.metrics[name] != value:
            yield f"{name}: {ours.metrics[name]}, real {value}"


def short(values):
    return str(values[0]) if len(set(values)) == 1 else " / ".join(map(str, values))


def real_text(rows):
    if rows[0].per_channel:
        return f"{short(rows[0].least)} to {short(rows[0].most)}"
    return "; ".join(dict.fromkeys(short(row.sums) for row in rows))


def page(sample, classes, ours):
    lines, counts = [], {"equal": 0, "zero": 0, "related": 0, "uncounted": 0}
    for name in sorted(sample):
        group = classes.get(name)
        kind = group["kind"] if group else "equal"
        part = kind if kind == "equal" else "uncounted" if kind in UNCOUNTED else "related"
        counts[part] += 1
        counts["zero"] += kind == "equal" and ours.device[name] == [0] * LAUNCHES
        if kind == "time":
            continue
        if kind == "channels":
            xcds = [[xcd[n] for xcd in ours.xcds[name + "_sum"]] for n in range(LAUNCHES)]
            low = short([min(values) for values in xcds])
            high = short([max(values) for values in xcds])
            here = f"{low} per XCD" if low == high else f"{low} to {high} per XCD"
        else:
            here = short(ours.device[name]) if name in ours.device else ""
        why = group["why"] if group else "equal"
        lines.append(f"| {name} | {real_text(sample[name])} | {here} | {why} |")
    time = sorted(name for name in sample if name in classes and classes[name]["kind"] == "time")
    unmeasured = sorted(name for name in classes if classes[name]["kind"] == "unmeasured")
    tail = (
        f"\n{len(time)} depend on time, of which there is no model yet: {', '.join(time)}.\n"
        f"\nNot in the sample, because that version of the tool did not ask for them: "
        f"{', '.join(unmeasured)}.\n"
    )
    return HEAD.format(**counts) + "\n".join(lines) + "\n" + tail


def check_page(path, wanted):
    """What is wrong with the page, or None."""
    there = path.read_text().splitlines() if path.exists() else []
    wanted = wanted.splitlines()
    for number, (old, new) in enumerate(zip(there, wanted), 1):
        if old != new:
            return f"{path}:{number}, which should be: {new}"
    return None if len(there) == len(wanted) else f"{path} has {len(there)} lines, not {len(wanted)}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("margay")
    parser.add_argument("vcopy")
    parser.add_argument("--write", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--check", type=pathlib.Path, metavar="PAGE")
    options = parser.parse_args()
    sample, classes, ours = read_sample(), read_classes(), Ours(options.margay, options.vcopy)
    if options.check:
        wrong = check_page(options.check, page(sample, classes, ours))
        hint = "update it: cmake --build DIR --target counters_page_update"
        failures = [wrong, hint] if wrong else []
    else:
        failures = list(judge(sample, classes, ours))
    if failures:
        print(*failures, sep="\n")
        return 1
    if options.write:
        options.write.write_text(page(sample, classes, ours))
    return 0


if __name__ == "__main__":
    sys.exit(main())
