#!/usr/bin/python3
"""What `margay check` and `margay prof` cost: the time of a GEMM's launches watched and not, as ratios.

    bench/watch_cost.py BUILD [--watch check|prof] [--size 1024] [--rounds 5] [--tool all]

Runs BUILD/tests/check/gemm with and without the observer in turn, in each MFMA mode, and prints the median of
the ratios. The time is that of the launches alone, as the program itself prints it.
"""

import argparse
import os
import re
import statistics
import subprocess


def seconds(command, environment):
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(re.search(r"launches: ([0-9.]+) s", run.stdout).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--watch", choices=["check", "prof"], default="check")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tool", default="all", help="of margay check")
    options = parser.parse_args()

    size = str(options.size)
    program = [os.path.join(options.build, "tests", "check", "gemm"), "nt", size, size, size, "3"]
    margay = os.path.join(options.build, "bin", "margay")
    watch = ["check", "--tool", options.tool] if options.watch == "check" else ["prof", "--quiet"]
    for mode in ("exact", "fma", "fast"):
        environment = dict(os.environ, MARGAY_MFMA=mode)
        ratios, plain_times, watched_times = [], [], []
        for _ in range(options.rounds):
            plain = seconds([margay, "run", "--", *program], environment)
            watched = seconds([margay, *watch, "--", *program], environment)
            plain_times.append(plain)
            watched_times.append(watched)
            ratios.append(watched / plain)
        print(
            f"{mode:5}  plain {statistics.median(plain_times):.3f} s  {options.watch} {statistics.median(watched_times):.3f} s  "
            f"ratio {statistics.median(ratios):.1f} (from {min(ratios):.1f} to {max(ratios):.1f})"
        )


if __name__ == "__main__":
    main()
