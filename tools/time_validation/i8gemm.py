#!/usr/bin/env python3
"""Runs AITER's prebuilt int8 GEMMs on the virtual MI300X and compares modelled with measured times.

Needs a clone of ROCm/aiter (its git directory is enough); nothing of it is kept here."""

import csv
import io
import pathlib
import sys

import common

MEASURED = common.RESULTS / "measured-i8gemm-mi300x.csv"
TABLE = "i8gemm-mi300x.csv"
FOLDER = "hsa/gfx942/i8gemm"
QUICK = {(64, 1536), (64, 5120), (512, 1536), (512, 5120), (1024, 5120), (1664, 1536), (4096, 5120)}


def tiles(aiter):
    """(m, n) of the tile of each kernel."""
    manifest = io.StringIO(common.blob(aiter, f"{FOLDER}/i8gemm_bf16_perTokenI8.csv").decode())
    return {row["knl_name"]: (row["tile_m"], row["tile_n"]) for row in csv.DictReader(manifest)}


def main():
    parser = common.parser(__doc__)
    parser.add_argument("aiter", type=pathlib.Path, help="a clone of ROCm/aiter")
    parser.add_argument("--largest", type=int, default=40960, metavar="M",
                        help="leave out larger M (default: %(default)s)")
    arguments = parser.parse_args()
    margay = common.Margay(arguments.margay, arguments.margay_option)
    driver = margay.compiled("i8gemm_driver.cpp")
    source, tile_of = f"ROCm/aiter {common.commit(arguments.aiter)}", tiles(arguments.aiter)
    rows = []
    print(f"{'tile':9} {'M N K':18} {'measured':>9} {'boost':>9} {'sustained':>19} us")
    for row in common.read_table(MEASURED):
        m, n, k = (int(row[name]) for name in "MNK")
        if arguments.quick and (m, n) not in QUICK:
            continue
        if m > arguments.largest:
            print(f"left out: {m} {n} {k}: larger than is run here", file=sys.stderr)
            continue
        tile = tile_of[row["kernel"]]
        name = "x".join(tile)
        code = margay.linked(f"i8gemm-{name}", common.blob(arguments.aiter, row["code_object"]))
        (launch,), _ = margay.times("mi300x", [driver, code, row["kernel"], *tile, m, n, k])
        measured = float(row["us"])
        rows.append({
            "kernel": f"i8gemm {name}", "size": f"{m} {n} {k}", "measured_us": round(measured, 2),
            "modelled_us": round(launch["us_boost"], 2),
            "error_percent": round(common.error(launch["us_boost"], measured), 1),
            "sustained_us": round(launch["us_sustained"], 2),
            "sustained_error_percent": round(common.error(launch["us_sustained"], measured), 1),
            "bound": launch["bound"], "source": source,
        })
        last = rows[-1]
        print(f"{name:9} {last['size']:18} {measured:9.1f} {last['modelled_us']:9.1f} "
              f"{last['error_percent']:+6.1f}% {last['sustained_us']:9.1f} "
              f"{last['sustained_error_percent']:+6.1f}%  {last['bound']}", flush=True)
    for name in ("modelled_us", "sustained_us"):
        print(f"WMAPE {name}: {common.wmape((r[name], r['measured_us']) for r in rows):.1f} %")
    if arguments.write:
        common.write_table(margay, TABLE, rows)


if __name__ == "__main__":
    main()
