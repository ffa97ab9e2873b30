#!/usr/bin/env python3
"""`margay check`, `prof` and `time` with --ranks N: the report is that of one process, also when a rank is killed.

    watch_test.py MARGAY PROGRAM [NAME...]
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

from common import LOST, MARGAY, PROGRAM, environment, numbers, said_of_a_loss, wait_for, workers


def words_of(command, what, ranks, report, *options):
    return [MARGAY, command, "--threads", "1", *(["--ranks", str(ranks)] if ranks > 1 else []), "--json", report,
            *options, "--", PROGRAM, what]


def watched(command, what, ranks, *options):
    """The report, without what is the host's time, and what was said on stderr."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        ended = subprocess.run(words_of(command, what, ranks, report, *options), capture_output=True, text=True,
                               timeout=300, env={**environment(""), "MARGAY_STATS": "1"})
        return report_of(report), ended


def report_of(path):
    # Addresses of the host's heap differ from run to run.
    report = json.loads(re.sub(r"0x5[0-9a-f]{11}\b", "HEAP", pathlib.Path(path).read_text()))
    for kernel in report.get("kernels", []):
        kernel.pop("host_seconds", None)
    return report


class Equal(unittest.TestCase):
    maxDiff = 4000

    def compare(self, command, what, *options, ranks=(2, 3)):
        expected, alone = watched(command, what, 1, *options)
        for count in ranks:
            # On a machine that has other work the first rank may end a short launch before the others come.
            for _ in range(30):
                report, ended = watched(command, what, count, *options)
                self.assertEqual(ended.returncode, alone.returncode, ended.stderr)
                self.assertEqual(report, expected)
                if max(numbers("elsewhere", ended.stderr), default=0) > 0:
                    break
            self.assertGreater(max(numbers("elsewhere", ended.stderr), default=0), 0, ended.stderr)
        return expected


class Profiles(Equal):
    def test_a_product(self):
        kernel, = self.compare("prof", "products")["kernels"]
        self.assertEqual(kernel["launches"], 3)

    def test_attention(self):
        # The smallest grid leaves XCDs without a workgroup.
        self.assertEqual([kernel["grid"][0] for kernel in self.compare("prof", "attention")["kernels"]], [40, 21, 5])

    def test_memory_of_the_host(self):
        self.compare("prof", "memories")

    def test_a_sample_of_workgroups(self):
        kernel, = self.compare("prof", "products", "--workgroups", "5-30", ranks=(3,))["kernels"]
        self.assertEqual(kernel["sampled_workgroups"], 3 * 26)

    def test_a_timeline(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace.json")
            kernels = self.compare("prof", "attention", "--trace", trace, "--trace-workgroups", "6", ranks=(3,))["kernels"]
        self.assertEqual(len(kernels[0]["traces"]), 6)


class Times(Equal):
    def test_a_sample(self):
        self.compare("time", "products")

    def test_a_sample_that_is_not_like_the_rest(self):
        # Probes come back with what they executed.
        kernel, = self.compare("time", "rows")["kernels"]
        self.assertEqual(kernel["error_percent"], 25)

    def test_all_workgroups(self):
        # Those of other ranks come back instruction by instruction.
        self.compare("time", "products", "--all-workgroups", ranks=(3,))
        self.compare("time", "attention", ranks=(3,))

    def test_warm(self):
        self.compare("time", "products", "--warm", ranks=(2,))


class Checks(Equal):
    def kinds(self, what, *options):
        return {finding["kind"] for finding in self.compare("check", what, *options)["findings"]
                if finding["severity"] == "error"}

    def test_a_product(self):
        self.assertEqual(self.kinds("products"), {"host-write"})

    def test_attention(self):
        # Adversarial runs choose for each workgroup by its number.
        self.assertEqual(self.kinds("attention", "--adversarial", "7"), {"host-write"})

    def test_memory_of_the_host(self):
        report = self.compare("check", "memories")
        self.assertIn("pageable-memory", {finding["kind"] for finding in report["findings"]})

    def test_a_race_between_workgroups(self):
        self.assertEqual(self.kinds("race"), {"global-race"})

    def test_an_access_out_of_bounds(self):
        self.assertEqual(self.kinds("outside"), {"out-of-bounds"})

    def test_undefined_values(self):
        # What workgroups elsewhere have written, and what they have left undefined, is known to later launches and
        # to copies by the host.
        self.assertEqual(self.kinds("undefined"), {"uninitialised-global"})

    def test_what_synchronises_stays(self):
        for what, word in (("atomics", "atomics"), ("flags", "watched")):
            expected, _ = watched("check", what, 1)
            report, ended = watched("check", what, 2)
            self.assertEqual(report, expected)
            self.assertIn(f"ranks=1 alone={word} ", ended.stderr)

    def test_two_watchers_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            _, ended = watched("check", "attention", 2, "--profile", os.path.join(folder, "profile.json"))
        self.assertIn("ranks=1 alone=watched ", ended.stderr)


class Lost(unittest.TestCase):
    def test_a_killed_rank_costs_time_only(self):
        for command, what in (("prof", "watched"), ("check", "memories")):
            with self.subTest(command):
                self.kill_one(command, what)

    def kill_one(self, command, what):
        expected, _ = watched(command, what, 1)
        self.assertRegex(said_of_a_loss(lambda: self.killed(command, what, expected)), LOST)

    def killed(self, command, what, expected):
        mark = uuid.uuid4().hex
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            program = subprocess.Popen(words_of(command, what, 3, report), env=environment(mark),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            wait_for(lambda: len(workers(mark)) == 2)
            time.sleep(0.3)
            os.kill(workers(mark)[0], signal.SIGKILL)
            _, said = program.communicate(timeout=300)
            self.assertEqual(program.returncode, 0, said)
            self.assertEqual(report_of(report), expected)
        return said


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
