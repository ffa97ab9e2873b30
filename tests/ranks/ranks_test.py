#!/usr/bin/env python3
"""`margay run --ranks N`: the same bits for every N, launches that stay on one rank, and ranks that are killed.

    ranks_test.py MARGAY PROGRAM [NAME...]
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest
import uuid

MARGAY, PROGRAM = sys.argv[1:3]


def command(what, ranks, *options):
    words = [MARGAY, "run", "--stats", "--threads", "1", *options]
    return [*words, *(["--ranks", str(ranks)] if ranks > 1 else []), "--", PROGRAM, what]


def environment(mark):
    # Short launches are shared as well.
    return {**os.environ, "MARGAY_RANKS_AFTER": "0", "MARGAY_TEST_MARK": mark}


def run(what, ranks, *options):
    return subprocess.run(command(what, ranks, *options), env=environment(""), capture_output=True, text=True,
                          timeout=300)


def numbers(key, text):
    return [int(number) for number in re.findall(rf" {key}=(\d+) ", text)]


def workers(mark):
    """The processes that run workgroups: children of a rank's server."""
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
    return [child for child, parent in found.items() if parent in found]


class SameBits(unittest.TestCase):
    def compare(self, what, ranks):
        alone, shared = run(what, 1), run(what, ranks)
        self.assertEqual(alone.returncode, shared.returncode, shared.stderr)
        self.assertEqual(alone.stdout, shared.stdout)
        self.assertEqual(numbers("wave_instructions", alone.stderr), numbers("wave_instructions", shared.stderr))
        return shared.stderr

    def test_products(self):
        for ranks in (2, 4):
            self.assertGreater(max(numbers("elsewhere", self.compare("products", ranks))), 0)

    def test_host_memory_and_variables(self):
        for ranks in (2, 4):
            self.assertGreater(max(numbers("elsewhere", self.compare("memories", ranks))), 0)

    def test_pages_are_kept_until_they_change(self):
        sent = numbers("sent", run("products", 2).stderr)
        self.assertEqual(len(sent), 3)
        # The second and third launch need what the first has fetched, but for what it changed.
        self.assertLess(sent[2], sent[0])

    def test_atomics_stay_on_one_rank(self):
        self.assertIn("ranks=1 alone=atomics", self.compare("atomics", 2))

    def test_workgroups_that_wait_stay_on_one_rank(self):
        self.assertIn("ranks=1 alone=coherent-reads", self.compare("flags", 2))

    def test_a_fault_is_said_as_without_ranks(self):
        without, shared = run("fault", 1), run("fault", 2)
        self.assertEqual(shared.stdout, "hipErrorIllegalAddress\n")
        said = [[line for line in text.splitlines() if not line.startswith("margay: launch")]
                for text in (without.stderr, shared.stderr)]
        self.assertEqual(said[0], said[1])

    def test_without_workers_the_program_runs(self):
        ended = subprocess.run([MARGAY, "run", "--stats", "--", PROGRAM, "products"], capture_output=True, text=True,
                               timeout=300, env={**environment(""), "MARGAY_RANKS": "unix:@margay-none"})
        self.assertEqual(ended.stdout, run("products", 1).stdout)
        self.assertIn("rank 1 is not used", ended.stderr)
        self.assertIn("alone=no-workers", ended.stderr)


class Lost(unittest.TestCase):
    def test_a_killed_rank_costs_time_only(self):
        expected = run("long", 1).stdout
        mark = uuid.uuid4().hex
        program = subprocess.Popen(command("long", 3), env=environment(mark), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while len(workers(mark)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        # It has begun a workgroup, most likely; if not, the launch is as good without it.
        time.sleep(0.2)
        victims = workers(mark)
        self.assertEqual(len(victims), 2)
        os.kill(victims[0], signal.SIGKILL)
        output, said = program.communicate(timeout=300)
        self.assertEqual(program.returncode, 0, said)
        self.assertEqual(output, expected)
        self.assertRegex(said, r"rank [12] \(this machine\) was lost during launch \d+ of .*mix.*: .*; its \d+ "
                               r"workgroups? run again on other ranks")

    def test_workers_end_with_the_program(self):
        mark = uuid.uuid4().hex
        subprocess.run(command("products", 3), env=environment(mark), capture_output=True, timeout=300, check=True)
        deadline = time.monotonic() + 30
        while workers(mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(workers(mark), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
