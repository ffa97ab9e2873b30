#!/usr/bin/env python3
"""`margay run --ranks N`: the same bits for every N, launches that stay on one rank, and ranks that are killed.

    ranks_test.py MARGAY PROGRAM [NAME...]
"""

import os
import signal
import subprocess
import sys
import time
import unittest
import uuid

from common import LOST, MARGAY, PROGRAM, command, environment, numbers, run, said_of_a_loss, wait_for, workers


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

    def test_atomics_of_integers_are_combined(self):
        for ranks in (2, 4):
            said = self.compare("combined", ranks)
            self.assertGreater(max(numbers("elsewhere", said)), 0)
            self.assertNotIn("run_again", said)

    def test_atomics_of_two_kinds_on_a_word_run_again_on_rank_0(self):
        self.assertRegex(self.compare("mixed", 2), "elsewhere=0 .* run_again=.* why=mixed-atomics")

    def test_atomics_whose_result_is_used_stay_on_one_rank(self):
        self.assertIn("ranks=1 alone=atomics", self.compare("returning", 2))

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
        self.assertRegex(said_of_a_loss(lambda: self.killed(expected)), LOST)

    def killed(self, expected):
        mark = uuid.uuid4().hex
        program = subprocess.Popen(command("long", 3), env=environment(mark), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        wait_for(lambda: len(workers(mark)) == 2)
        time.sleep(0.2)
        victims = workers(mark)
        self.assertEqual(len(victims), 2)
        os.kill(victims[0], signal.SIGKILL)
        output, said = program.communicate(timeout=300)
        self.assertEqual(program.returncode, 0, said)
        self.assertEqual(output, expected)
        return said

    def test_workers_end_with_the_program(self):
        mark = uuid.uuid4().hex
        subprocess.run(command("products", 3), env=environment(mark), capture_output=True, timeout=300, check=True)
        wait_for(lambda: not workers(mark))
        self.assertEqual(workers(mark), [])

    def test_a_rank_that_is_stopped_while_code_is_sent_to_it_costs_time_only(self):
        alone = subprocess.run(command("large", 1), env=environment(""), input="\n", capture_output=True, text=True,
                               timeout=300)
        mark = uuid.uuid4().hex
        # The first launch is too short for another rank, the second is not.
        program = subprocess.Popen(command("large", 2), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True,
                                   env={**environment(mark), "MARGAY_RANKS_AFTER": "300", "MARGAY_RANKS_SILENCE": "2"})
        self.assertEqual(program.stdout.readline(), "ready\n")
        victim, = workers(mark)
        os.kill(victim, signal.SIGSTOP)
        try:
            output, said = program.communicate("\n", timeout=120)
        finally:
            program.kill()
            os.kill(victim, signal.SIGKILL)
        self.assertEqual(program.returncode, 0, said)
        self.assertEqual("ready\n" + output, alone.stdout)
        self.assertIn("elsewhere=0", said)

    def test_a_stopped_rank_costs_time_only(self):
        expected = run("long", 1).stdout
        # Rank 0 does not wait as long for its workgroups.
        stopped = (r"run_again=\d+ why=slower (.|\n)*"
                   r"rank 1 \(this machine\) was lost during launch .*: nothing was heard of it for 2 s; "
                   r"it had no workgroups")
        self.assertRegex(said_of_a_loss(lambda: self.stopped(expected), stopped), stopped)

    def stopped(self, expected):
        mark = uuid.uuid4().hex
        program = subprocess.Popen(command("long", 2), env={**environment(mark), "MARGAY_RANKS_SILENCE": "2"},
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: len(workers(mark)) == 1)
        time.sleep(0.2)
        victim, = workers(mark)
        os.kill(victim, signal.SIGSTOP)
        try:
            output, said = program.communicate(timeout=300)
        finally:
            os.kill(victim, signal.SIGKILL)
        self.assertEqual(program.returncode, 0, said)
        self.assertEqual(output, expected)
        return said


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
