#!/usr/bin/python3
"""What `margay check`, `margay prof` and `margay time` cost: a GEMM's launches watched and not, as ratios.

    bench/watch_cost.py BUILD [--watch check|prof|time] [--size 1024] [--rounds 5] [--tool all]

Runs BUILD/tests/check/gemm with and without the observer in turn, in each MFMA mode, and prints the median of
the ratios. The time is that of the launches alone, as the program itself prints it.
"""

import argparse
import os
import re
import statistics
import subprocess

WATCH = {"check": ["check"], "prof": ["prof", "--quiet"], "time": ["time", "--quiet"]}


def seconds(command, environment):
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(re.search(r"launches: ([0-9.]+) s", run.stdout).group(1))


def measure(build, watch, mode, size, rounds, arguments=()):
    """Medians: plain_s, watched_s, ratio (with its least and greatest), each pair measured together.
    `arguments`: of the watching command."""
    # It models the first launch of each kernel and size: one is all there is to measure.
    launches = "1" if watch == "time" else "3"
    program = [os.path.join(build, "tests", "check", "gemm"), "nt", str(size), str(size), str(size), launches]
    margay = os.path.join(build, "bin", "margay")
    environment = dict(os.environ, MARGAY_MFMA=mode)
    plain, watched = [], []
    for _ in range(rounds):
        plain.append(seconds([margay, "run", "--", *program], environment))
        watched.append(seconds([margay, *WATCH[watch], *arguments, "--", *program], environment))
    ratios = [there / here for here, there in zip(plain, watched)]
    return {"plain_s": statistics.median(plain), "watched_s": statistics.median(watched),
            "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--watch", choices=list(WATCH), default="check")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tool", help="of margay check (default: all)")
    options = parser.parse_args()

    arguments = ["--tool", options.tool] if options.tool else []
    for mode in ("exact", "fma", "fast"):
        row = measure(options.build, options.watch, mode, options.size, options.rounds, arguments)
        print(f"{mode:5}  plain {row['plain_s']:.3f} s  {options.watch} {row['watched_s']:.3f} s  "
              f"ratio {row['ratio']:.1f} (from {row['ratio_min']:.1f} to {row['ratio_max']:.1f})")


if __name__ == "__main__":
    main()
