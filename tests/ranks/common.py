"""What the tests of ranks share: the program, with and without ranks, and the processes of workers."""

import functools
import os
import pathlib
import re
import subprocess
import sys
import time

MARGAY, PROGRAM = sys.argv[1:3]
# What is said of a rank that was lost while it had workgroups.
LOST = r"rank [12] \(.*\) was lost during launch \d+ of .*mix.*: .*; its \d+ workgroups? runs? again elsewhere"


def command(what, ranks, *options):
    words = [MARGAY, "run", "--stats", "--threads", "1", *options]
    return [*words, *(["--ranks", str(ranks)] if ranks > 1 else []), "--", PROGRAM, what]


def environment(mark):
    # Short launches are shared as well.
    return {**os.environ, "MARGAY_RANKS_AFTER": "0", "MARGAY_TEST_MARK": mark}


@functools.cache  # what one process prints is compared with over and over
def run(what, ranks, *options):
    return subprocess.run(command(what, ranks, *options), env=environment(""), capture_output=True, text=True,
                          timeout=300)


def numbers(key, text):
    return [int(number) for number in re.findall(rf" {key}=(\d+) ", text)]


def rank_processes(mark):
    """The parents of a run's processes margay-rank."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if f"MARGAY_TEST_MARK={mark}".encode() not in (process / "environ").read_bytes():
                continue
            fields = (process / "stat").read_text()
            if "(margay-rank)" in fields:
                found[int(process.name)] = int(fields.rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    return found


def workers(mark):
    """The processes that run workgroups: children of a rank's server."""
    found = rank_processes(mark)
    return [child for child, parent in found.items() if parent in found]


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


def said_of_a_loss(lose_a_rank, pattern=LOST):
    """What a run says whose rank is lost. On a machine that has other work the rank may have no workgroup then, so that
    nothing is to be said: it is tried some times."""
    for _ in range(20):
        said = lose_a_rank()
        if re.search(pattern, said):
            break
    return said
