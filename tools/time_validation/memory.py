#!/usr/bin/env python3
"""Compares the model's memory curves, read bandwidth against waves, with RRZE's measurements, and
the life of a wave and the busy cycles of a copy with AMD's counters."""

import sys

import common

MEASURED = common.RESULTS / "measured-memory.csv"
CURVES, VCOPY = "memory-curves.csv", "vcopy.csv"
COUNTERS = common.RESULTS / "measured-vcopy.csv"

ELEMENTS = 8 << 20  # about as many are run, and half of them; the measured kernels read more, at the same pace
COMPUTE_UNITS = {"MI300X": 304, "MI300A": 228}
MEASURED_ELEMENTS = {"HBM": 256 << 20, "L2": 1024 << 20}
CHECKED = ((128, 2), (512, 2))
QUICK = ((64, 1), (64, 2), (128, 2), (256, 2), (512, 2), (1024, 2))


def modelled_gb(margay, driver, row):
    """Bandwidth of the measured kernel: the begin once, the rest as long as there are elements."""
    level = row["level"]
    # The same number of workgroups for each compute unit: otherwise the two launches differ in their tails.
    once = COMPUTE_UNITS[row["device"]] * int(row["work_items"]) * int(row["workgroups_per_cu"])
    half = max(round(ELEMENTS / 2 / once), 1) * once
    short, long = (margay.times(row["device"].lower(), [
        driver, {"HBM": "own", "L2": "first"}[level], row["work_items"], row["workgroups_per_cu"],
        elements], warm=level == "L2")[0][0] for elements in (half, 2 * half))
    elements = MEASURED_ELEMENTS[level]
    pace = (long["us_boost"] - short["us_boost"]) / half
    us = long["us_boost"] + pace * (elements - 2 * half)
    return 8 * elements / us / 1e3, long["bound"]


def curves(margay, shapes):
    driver = margay.compiled("memory_driver.cpp")
    rows = []
    print(f"{'device':7} {'level':5} {'work-items x workgroups':24} {'measured':>9} {'modelled':>9} GB/s")
    for row in common.read_table(MEASURED):
        shape = int(row["work_items"]), int(row["workgroups_per_cu"])
        if shapes and shape not in shapes:
            continue
        modelled, bound = modelled_gb(margay, driver, row)
        measured = float(row["read_gb_per_s"])
        rows.append({
            "device": row["device"], "level": row["level"], "work_items": shape[0],
            "workgroups_per_cu": shape[1], "measured_gb_per_s": round(measured),
            "modelled_gb_per_s": round(modelled),
            "error_percent": round(common.error(modelled, measured), 1), "bound": bound,
            "source": row["source"],
        })
        print(f"{row['device']:7} {row['level']:5} {shape[0]:8} x {shape[1]:<13} {measured:9.0f} "
              f"{modelled:9.0f} {rows[-1]['error_percent']:+6.1f}%  {bound}", flush=True)
    return rows


def copy(margay):
    """vcopy -n 1048576 -b 256, which is tests/prof/vcopy.hip. Cold: a profiler empties caches between launches, and
    the counters show the latency of HBM (SQ_INST_LEVEL_VMEM). The runtime of that time kept kernel arguments in the
    host's memory: the scalar caches of the MI300X wait for them ten times as long as those of the MI300A."""
    source = common.ROOT / "tests/prof/vcopy.hip"
    program = margay.directory / "vcopy"
    common.run([margay.binary, "hipcc", "-O2", source, "-o", program])
    rows = []
    for row in common.read_table(COUNTERS):
        (launch,), _ = margay.times(row["device"].lower(), [program],
                                    environment={"HIP_FORCE_DEV_KERNARG": "0"})
        waves = max(one["hits"] for one in launch["instructions"])  # those recorded
        cycles = {
            "cycles of a wave": (launch["issue"] + sum(launch["stalls"].values())) / waves,
            "busy cycles": launch["cycles"] * (1 - launch["launch_us"] / launch["us_boost"]),
        }
        modelled, measured = cycles[row["what"]], float(row["cycles"])
        rows.append({
            "device": row["device"], "what": row["what"], "launch": row["launch"],
            "measured_cycles": round(measured),
            "modelled_cycles": round(modelled),
            "error_percent": round(common.error(modelled, measured), 1), "source": row["source"],
        })
        print(f"{row['device']:7} vcopy {row['what']:18} {row['launch']:6} {measured:9.0f} {modelled:9.0f} "
              f"{rows[-1]['error_percent']:+6.1f}%", flush=True)
    return rows


def groups(rows):
    """Plateau and slope of each curve: what is within 15 % of the best, and the rest."""
    out = []
    for device in ("MI300X", "MI300A"):
        for level in ("HBM", "L2"):
            curve = [row for row in rows if (row["device"], row["level"]) == (device, level)]
            top = max((float(row["measured_gb_per_s"]) for row in curve), default=0)
            for name, is_plateau in (("plateau", True), ("slope", False)):
                part = [row for row in curve
                        if (float(row["measured_gb_per_s"]) > 0.85 * top) == is_plateau]
                if part:
                    out.append((f"{device} {level} {name}", part))
    return out


def summary(rows):
    for name, part in groups(rows):
        worst = max((row["error_percent"] for row in part), key=abs)
        mean = sum(abs(row["error_percent"]) for row in part) / len(part)
        print(f"{name:20} mean {mean:5.1f} %, worst {worst:+.1f} %")


def check(name, rows, keys):
    """Holds that the table in the repository has what the model says now."""
    written = {tuple(row[key] for key in keys): row for row in common.read_table(common.RESULTS / name)}
    for row in rows:
        key = tuple(str(row[key]) for key in keys)
        for column in [column for column in row if column.startswith("modelled")]:
            was = float(written[key][column]) if key in written else 0.0
            if abs(row[column] - was) > 0.01 * was:
                sys.exit(f"docs/time-validation/{name}: {' '.join(key)}: {column} is {was:g} there, the "
                         f"model says {row[column]}.\nWrite the tables and the page again: "
                         "python3 tools/time_validation/memory.py --write, then build time_page_update.")


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--check", action="store_true",
                        help="hold that the written tables have what the model says of a few points")
    arguments = parser.parse_args()
    margay = common.Margay(arguments.margay, arguments.margay_option)
    shapes = CHECKED if arguments.check else QUICK if arguments.quick else ()
    rows = curves(margay, shapes)
    counters = copy(margay)
    summary(rows)
    if arguments.check:
        check(CURVES, rows, ("device", "level", "work_items", "workgroups_per_cu"))
        check(VCOPY, counters, ("device", "what", "launch"))
    if arguments.write:
        common.write_table(margay, CURVES, rows)
        common.write_table(margay, VCOPY, counters)


if __name__ == "__main__":
    main()
