#!/usr/bin/env python3
"""End-to-end ratio of `margay gemm` to oneDNN's bf16 GEMM of the same size in the same run.

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
            [margay, "gemm", "--m", size, "--n", size, "--k", size, "--mfma", mode, "--json", out.name],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.load(out)


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
    print(f"{'mode':<6} {'margay s':>9} {'oneDNN s':>9} {'ratio':>6} {'ns per MFMA per core':>21}")
    for mode in options.modes.split(","):
        try:
            runs = [one_run(options.margay, options.size, mode) for _ in range(options.runs)]
        except subprocess.CalledProcessError as error:
            print(f"{mode}: margay gemm exited with {error.returncode}", file=sys.stderr)
            return 1
        wall = statistics.median(r["wall_s"] for r in runs)
        reference = statistics.median(r["reference_wall_s"] for r in runs)
        ratio = statistics.median(r["wall_s"] / r["reference_wall_s"] for r in runs)
        per_mfma = wall * runs[0]["threads"] / runs[0]["mfma_instructions"] * 1e9
        table[mode] = {"wall_s": wall, "reference_wall_s": reference, "ratio": ratio}
        print(f"{mode:<6} {wall:>9.2f} {reference:>9.2f} {ratio:>6.1f} {per_mfma:>21.0f}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(table, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
