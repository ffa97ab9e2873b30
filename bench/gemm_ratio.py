#!/usr/bin/env python3
"""End-to-end ratio of `margay gemm` to oneDNN's GEMM of the same size in the same run, in bf16 where oneDNN has it on
this host, otherwise in f32.

usage: bench/gemm_ratio.py [--size 8192] [--runs 3] [--modes fast,fma,exact] [--json FILE]

Prints, per MFMA mode, the median wall times and the median of the ratios. Exits 1 when a run is not
verified.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def one_run(margay, size, mode):
    """The JSON figures of one verified run."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run(
            [margay, "gemm", "--m", str(size), "--n", str(size), "--k", str(size), "--mfma", mode, "--json",
             out.name],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return json.load(out)


def measure(margay, size, mode, runs):
    """Medians of some runs: wall_s, reference_wall_s, ratio (with its least and greatest), ns_per_mfma; and where
    the time of the last one went. CalledProcessError when a run fails or is not verified."""
    done = [one_run(margay, size, mode) for _ in range(runs)]
    ratios = [run["wall_s"] / run["reference_wall_s"] for run in done]
    wall = statistics.median(run["wall_s"] for run in done)
    return {
        "wall_s": wall,
        "reference_wall_s": statistics.median(run["reference_wall_s"] for run in done),
        "reference_dtype": done[0]["reference_dtype"],
        "ratio": statistics.median(ratios),
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "ns_per_mfma": wall * done[0]["threads"] / done[0]["mfma_instructions"] * 1e9,
        "time_shares": done[-1].get("time_shares", {}),
        "wave_instructions": done[0]["wave_instructions"],
        "mfma_instructions": done[0]["mfma_instructions"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--margay", default=str(pathlib.Path(__file__).parent.parent / "margay"))
    parser.add_argument("--size", default="8192")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--modes", default="fast,fma,exact")
    parser.add_argument("--json")
    options = parser.parse_args()

    table = {}
    print(f"{options.size}^3, medians of {options.runs} runs")
    print(f"{'mode':<6} {'margay s':>9} {'oneDNN s':>9}         {'ratio':>6} {'ns per MFMA per core':>21}")
    for mode in options.modes.split(","):
        try:
            table[mode] = row = measure(options.margay, options.size, mode, options.runs)
        except subprocess.CalledProcessError as error:
            print(f"{mode}: margay gemm exited with {error.returncode}\n{error.stderr}", file=sys.stderr)
            return 1
        print(f"{mode:<6} {row['wall_s']:>9.2f} {row['reference_wall_s']:>9.2f} in {row['reference_dtype']} {row['ratio']:>6.1f} "
              f"{row['ns_per_mfma']:>21.0f}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(table, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
