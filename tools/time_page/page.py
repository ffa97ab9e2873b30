#!/usr/bin/env python3
"""Writes the generated parts of docs/time.md, or holds that they are up to date.

    page.py TIME_PAGE [--write]

TIME_PAGE is the program of this folder: it has the parameters and what the model says of sequences and
strides. The other points are in docs/time-validation, written by tools/time_validation. Text outside the
marks `<!-- parameters -->`, `<!-- errors -->` and `<!-- points -->` is written by hand."""

import csv
import io
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "time_validation"))

import common  # noqa: E402
import i8gemm  # noqa: E402
import memory  # noqa: E402
import mgpusim  # noqa: E402

PAGE = ROOT / "docs" / "time.md"
END = "<!-- end -->"


def table(head, rows):
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}",
            *(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows), ""]


def of_program(program, what):
    done = subprocess.run([program, what], capture_output=True, text=True, check=True)
    return done.stdout, list(csv.DictReader(io.StringIO(done.stdout)))


def parameters(rows):
    devices = list(rows[0])[3:-2]
    return table(["what", "unit", *(d.upper() for d in devices), "confidence", "source"],
                 [[row["meaning"], row["unit"], *(row[d] for d in devices), row["confidence"],
                   row["source"]] for row in rows])


def percent(value):
    return f"{value:.1f} %"


def points_error(name, pairs, asked, run):
    """A row of the summary for points where each one counts the same."""
    errors = [abs(common.error(*pair)) for pair in pairs]
    return [name, len(pairs), f"mean {percent(sum(errors) / len(errors))}",
            percent(max(errors)), asked, run]


def times_error(name, pairs, asked, run):
    long = [pair for pair in pairs if pair[1] >= 6]
    text = f"WMAPE {percent(common.wmape(pairs))}"
    if len(long) < len(pairs):
        text += f", without points below 6 us {percent(common.wmape(long))}"
    return [name, len(pairs), text, percent(max(abs(common.error(*pair)) for pair in pairs)), asked,
            run]


def pairs_of(rows, unit):
    return [(float(row[f"modelled_{unit}"]), float(row[f"measured_{unit}"])) for row in rows]


class Results:
    """The tables of docs/time-validation and with which parameters each was made."""

    def __init__(self, parameters_id):
        self.id = parameters_id
        self.runs = {row["table"]: row["parameters"] for row in common.read_table(common.RUNS)}

    def rows(self, name):
        return common.read_table(common.RESULTS / name)

    def run(self, name):
        return "these" if self.runs.get(name) == self.id else "earlier ones"


def errors(results, replayed):
    out = []
    for group, asked in (("co-issue", "0.3 cycles"), ("co-issue of two waves", ""), ("LDS stride", "5 %")):
        pairs = pairs_of([row for row in replayed if row["group"] == group], "cycles")
        out.append(points_error(f"{group}, cycles", pairs, asked, "these"))
    run = results.run(memory.CURVES)
    curves = memory.groups(results.rows(memory.CURVES))
    for name, rows in curves:
        out.append(points_error(f"{name}, GB/s", pairs_of(rows, "gb_per_s"),
                                "10 %" if "plateau" in name else "15 %", run))
    out.append(points_error("vcopy, counters", pairs_of(results.rows(memory.VCOPY), "cycles"), "20 %",
                            results.run(memory.VCOPY)))
    rows, run = results.rows(mgpusim.TABLE), results.run(mgpusim.TABLE)
    for name, group in mgpusim.groups(rows):
        asked = "12 %" if name in (mgpusim.ALONE, mgpusim.ALL) else ""
        out.append(times_error(f"MI300A {name}", pairs_of(group, "us"), asked, run))
    rows, run = results.rows(i8gemm.TABLE), results.run(i8gemm.TABLE)
    out.append(times_error("MI300X int8 GEMM, boost", pairs_of(rows, "us"), "", run))
    sustained = [(float(row["sustained_us"]), float(row["measured_us"])) for row in rows]
    out.append(times_error("MI300X int8 GEMM, sustained", sustained, "12 %", run))
    return table(["group", "points", "error", "worst", "asked", "run with parameters"], out)


def points(results, replayed):
    out = ["### Sequences and strides", ""]
    out += table(["group", "what", "measured cycles", "modelled", "error", "source"],
                 [[row["group"], row["what"], row["measured_cycles"], row["modelled_cycles"],
                   f"{common.error(*pairs_of([row], 'cycles')[0]):+.1f} %", row["source"]]
                  for row in replayed])
    out += ["### Memory", ""]
    out += table(["device", "level", "work-items x workgroups per CU", "measured GB/s", "modelled",
                  "error", "bound", "source"],
                 [[row["device"], row["level"], f"{row['work_items']} x {row['workgroups_per_cu']}",
                   row["measured_gb_per_s"], row["modelled_gb_per_s"], f"{row['error_percent']} %",
                   row["bound"], row["source"]] for row in results.rows(memory.CURVES)])
    out += table(["device", "what", "launch", "measured cycles", "modelled", "error", "source"],
                 [[row["device"], row["what"], row["launch"], row["measured_cycles"],
                   row["modelled_cycles"], f"{row['error_percent']} %", row["source"]]
                  for row in results.rows(memory.VCOPY)])
    head = ["kernel", "size", "measured us", "modelled", "error", "bound"]
    for title, name in (("Kernels on MI300A", mgpusim.TABLE), ("int8 GEMMs on MI300X", i8gemm.TABLE)):
        rows = results.rows(name)
        out += [f"### {title}", "", f"Code objects and times: {rows[0]['source']}.", ""]
        out += table(head, [[row["kernel"], row["size"], row["measured_us"], row["modelled_us"],
                             f"{row['error_percent']} %", row["bound"]] for row in rows])
    return out


def with_part(text, mark, lines):
    start = f"<!-- {mark} -->\n"
    if text.count(start) != 1 or END not in text.split(start)[1]:
        sys.exit(f"{PAGE}: needs one line {start.strip()} and {END} behind it")
    before, rest = text.split(start)
    return before + start + "\n".join(lines).rstrip("\n") + "\n" + END + rest.split(END, 1)[1]


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--write"]):
        sys.exit(__doc__)
    printed, figures = of_program(sys.argv[1], "parameters")
    _, replayed = of_program(sys.argv[1], "points")
    results = Results(common.id_of(printed))
    old = PAGE.read_text(encoding="utf-8")
    text = with_part(old, "parameters", parameters(figures))
    text = with_part(text, "errors", errors(results, replayed))
    text = with_part(text, "points", points(results, replayed))
    if sys.argv[2:]:
        PAGE.write_text(text, encoding="utf-8")
        return
    wanted, found = text.splitlines(), old.splitlines()
    for number in range(max(len(wanted), len(found))):
        if wanted[number:number + 1] != found[number:number + 1]:
            line = wanted[number] if number < len(wanted) else "the end of the file"
            sys.exit(f"{PAGE}:{number + 1}, which should be: {line}\n"
                     "Write it with `cmake --build DIR --target time_page_update`.")


if __name__ == "__main__":
    main()
