#!/usr/bin/env python3
"""`mpirun margay run`: with the launchers that are installed, and with what they say in the environment; between hosts
that are network namespaces; ranks that are lost, do not come, or are cut off.

    launcher_test.py MARGAY PROGRAM [NAME...]
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

from common import (LOST, MARGAY, PROGRAM, command, environment, numbers, rank_processes, run, said_of_a_loss, wait_for,
                    workers)


def as_rank(rank, ranks, job, on_this_host=None):
    """What Open MPI tells a process."""
    return {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(ranks),
            "OMPI_COMM_WORLD_LOCAL_SIZE": str(ranks if on_this_host is None else on_this_host),
            "OMPI_MCA_orte_precondition_transports": job}


class Job:
    """The processes of one run, as a launcher starts them."""

    def __init__(self, words, ranks, mark="", prefix=lambda rank: [], more=None, on_this_host=None, started=None):
        job = uuid.uuid4().hex
        self.processes = [
            subprocess.Popen([*prefix(rank), *words],
                             env={**environment(mark), **as_rank(rank, ranks, job, on_this_host), **(more or {})},
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for rank in range(ranks if started is None else started)]

    def ended(self):
        """(exit code, stdout, stderr) of each rank."""
        out = []
        for process in self.processes:
            output, said = process.communicate(timeout=300)
            out.append((process.returncode, output, said))
        return out


class SameBits(unittest.TestCase):
    def check(self, job, what):
        alone, (shared, *others) = run(what, 1), job.ended()
        self.assertEqual(shared[0], 0, shared[2])
        self.assertEqual(shared[1], alone.stdout)
        self.assertEqual(others, [(0, "", "")] * len(others))
        return shared[2]

    def test_products(self):
        for ranks in (2, 3):
            said = self.check(Job(command("products", 1), ranks), "products")
            self.assertIn(f"ranks={ranks} ", said)
            self.assertGreater(max(numbers("elsewhere", said)), 0)

    def test_profiles_are_shared(self):
        with tempfile.TemporaryDirectory() as folder:
            def words(name):
                return [MARGAY, "prof", "--threads", "1", "--json", os.path.join(folder, name), "--", PROGRAM, "attention"]
            subprocess.run(words("alone"), env=environment(""), capture_output=True, timeout=300, check=True)
            (code, _, said), *others = Job(words("shared"), 2, more={"MARGAY_STATS": "1"}).ended()
            self.assertEqual(code, 0, said)
            self.assertEqual(others, [(0, "", "")])
            self.assertGreater(max(numbers("elsewhere", said)), 0)
            alone, shared = (json.loads((pathlib.Path(folder) / name).read_text()) for name in ("alone", "shared"))
        for report in (alone, shared):
            for kernel in report["kernels"]:
                del kernel["host_seconds"]
        self.assertEqual(alone, shared)

    def test_atomics(self):
        self.assertGreater(max(numbers("elsewhere", self.check(Job(command("combined", 1), 2), "combined"))), 0)

    def test_slurm(self):
        with tempfile.TemporaryDirectory() as folder:
            processes = [subprocess.Popen(command("products", 1), cwd=folder, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True,
                                          env={**environment(""), "SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0",
                                               "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NUM_NODES": "2",
                                               "SLURM_PROCID": str(rank)}) for rank in (0, 1)]
            (output, said), _ = (process.communicate(timeout=300) for process in processes)
            self.assertEqual(os.listdir(folder), [], "the file by which they met is gone")
        self.assertEqual([process.returncode for process in processes], [0, 0], said)
        self.assertEqual(output, run("products", 1).stdout)
        self.assertIn("ranks=2 ", said)

    def test_real_launchers(self):
        tried = 0
        for launcher in ("mpirun.openmpi", "mpirun.mpich"):
            if shutil.which(launcher) is None:
                continue
            tried += 1
            options = ["--oversubscribe"] if launcher == "mpirun.openmpi" else []
            more = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            ended = subprocess.run([launcher, *options, "-n", "3", *command("products", 1)], capture_output=True,
                                   text=True, timeout=300, env={**environment(""), **more})
            self.assertEqual(ended.returncode, 0, ended.stderr)
            self.assertEqual(ended.stdout, run("products", 1).stdout)
            self.assertIn("ranks=3 ", ended.stderr)
        if tried == 0:
            self.skipTest("neither Open MPI nor MPICH is installed")


class Lost(unittest.TestCase):
    def test_a_killed_rank_costs_time_only(self):
        expected = run("long", 1).stdout
        self.assertRegex(said_of_a_loss(lambda: self.killed(expected)), LOST)

    def killed(self, expected):
        mark = uuid.uuid4().hex
        job = Job(command("long", 1), 3, mark)
        wait_for(lambda: len(workers(mark)) == 2)
        time.sleep(0.2)
        os.kill(workers(mark)[0], signal.SIGKILL)
        ended = job.ended()
        self.assertEqual([code for code, _, _ in ended], [0, 0, 0], ended)
        self.assertEqual(ended[0][1], expected)
        return ended[0][2]

    def test_a_server_that_is_killed_does_not_end_the_job(self):
        mark = uuid.uuid4().hex
        job = Job(command("long", 1), 2, mark)
        wait_for(lambda: len(workers(mark)) == 1)
        parent = pathlib.Path(f"/proc/{workers(mark)[0]}/stat").read_text().rpartition(")")[2].split()[1]
        os.kill(int(parent), signal.SIGKILL)
        ended = job.ended()
        self.assertEqual([code for code, _, _ in ended], [0, 0], ended)
        self.assertEqual(ended[0][1], run("long", 1).stdout)
        self.assertIn("was ended by signal 9; the run goes on without it", ended[1][2])

    def test_a_rank_that_does_not_come(self):
        job = Job(command("products", 1), 3, started=2, more={"MARGAY_RANKS_WAIT": "2"})
        shared, worker = job.ended()
        self.assertEqual((shared[0], worker[0]), (0, 0), shared)
        self.assertEqual(shared[1], run("products", 1).stdout)
        self.assertIn("margay: rank 2 did not come within 2 s; the run goes on without", shared[2])
        self.assertIn("ranks=2 ", shared[2])

    def test_without_rank_0_the_others_end_with_a_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(command("products", 1), capture_output=True, text=True, timeout=300,
                                   env={**environment(""), **as_rank(1, 2, "none"), "MARGAY_RANKS_WAIT": "1",
                                        "MARGAY_RANKS_DIR": folder})
        self.assertEqual(ended.returncode, 1)
        self.assertRegex(ended.stderr, r"rank 1 \(.*\) does not find rank 0 by .*: it has not written that file")
        self.assertIn("MARGAY_RANKS_DIR", ended.stderr)


class Words(unittest.TestCase):
    def run_as_rank(self, words, rank, **more):
        return subprocess.run(words, capture_output=True, text=True, timeout=300,
                              env={**environment(""), **as_rank(rank, 2, "words"), **more})

    def test_ranks_of_its_own_are_refused(self):
        ended = self.run_as_rank(command("products", 2), 0)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--ranks 2 where Open MPI has started 2 ranks already", ended.stderr)

    def test_a_program_that_is_many_processes_by_itself(self):
        expected = run("products", 1).stdout
        for words, more in ((command("products", 1, "--ranks", "1"), {}),
                            (command("products", 1), {"MARGAY_RANKS": "off"})):
            for rank in (0, 1):
                ended = self.run_as_rank(words, rank, **more)
                self.assertEqual((ended.returncode, ended.stdout), (0, expected), ended.stderr)

    def test_a_name_of_open_mpi_5(self):
        about = {name: value for name, value in as_rank(1, 2, "").items() if "transports" not in name}
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(command("products", 1), capture_output=True, text=True, timeout=300,
                                   env={**environment(""), **about, "PMIX_NAMESPACE": "prterun-node-7@1",
                                        "MARGAY_RANKS_DIR": folder, "MARGAY_RANKS_WAIT": "1"})
        self.assertIn(f".margay-ranks-{os.getuid()}-prterun-node-7_1: it has not written that file", ended.stderr)

    def test_other_commands_run_on_rank_0(self):
        words = [MARGAY, "compare", "--help"]
        rank_0, rank_1 = self.run_as_rank(words, 0), self.run_as_rank(words, 1)
        self.assertEqual(rank_0.returncode, 0, rank_0.stderr)
        self.assertIn("margay compare: runs in one process, on rank 0; the other 1 ranks of Open MPI", rank_0.stderr)
        self.assertEqual((rank_1.returncode, rank_1.stdout, rank_1.stderr), (0, "", ""))

    def test_a_file_that_others_can_write_is_not_believed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / f".margay-ranks-{os.getuid()}-words"
            file.write_text("margay ranks 1\nkey\ntcp:127.0.0.1:1\n")
            file.chmod(0o644)
            ended = self.run_as_rank(command("products", 1), 1, MARGAY_RANKS_DIR=folder)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("is not a file that only you can read", ended.stderr)

    def test_ranks_of_several_hosts_need_a_name_of_the_run(self):
        # MPICH has none in the environment.
        ended = subprocess.run(command("products", 1), capture_output=True, text=True, timeout=300,
                               env={**environment(""), "PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALNRANKS": "1"})
        self.assertEqual(ended.returncode, 2)
        self.assertIn("set MARGAY_RANKS_JOB", ended.stderr)


def child_of(process):
    return int(pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()[0])


class Campaign(unittest.TestCase):
    """margay mutate and fuzz: single runs, and batches of cases, are handed out."""

    @staticmethod
    def words(folder, name):
        return [MARGAY, "mutate", "--jobs", "1", "--json", str(folder / f"{name}.json"), "--", PROGRAM, "memories"]

    def result(self, folder, name):
        """The written result, without how long each run took."""
        return re.sub(r'"seconds": [0-9.]+', "", (folder / f"{name}.json").read_text())

    def test_the_result_is_that_of_one_process(self):
        with tempfile.TemporaryDirectory() as text:
            folder = pathlib.Path(text)
            alone = subprocess.run(self.words(folder, "alone"), capture_output=True, text=True, timeout=600)
            mark = uuid.uuid4().hex
            job = Job(self.words(folder, "shared"), 3, mark)
            # The process that serves one of them is lost in the middle; the launcher's own is not.
            wait_for(lambda: "3 at a time" in self.said(job.processes[0]))
            time.sleep(1)
            os.kill(child_of(job.processes[2].pid), signal.SIGKILL)
            shared, other, lost = job.ended()
            self.assertEqual(lost[0], 0)
            self.assertIn("was ended by signal 9; the run goes on without it", lost[2])
            self.assertEqual((shared[0], shared[1]), (alone.returncode, alone.stdout), self.text)
            self.assertEqual(other, (0, "", ""))
            self.assertEqual(self.result(folder, "shared"), self.result(folder, "alone"))
            self.assertRegex(self.text + shared[2], r"rank 2 \(.*\) was lost: .*; its mutant runs again elsewhere")

    def test_the_kill_rate(self):
        tool = pathlib.Path(__file__).parents[2] / "tools" / "kill_rate.py"

        def words(output):
            return [sys.executable, str(tool), MARGAY, str(pathlib.Path(PROGRAM).parents[1]), "--only", "LDS",
                    "--output", str(output)]

        with tempfile.TemporaryDirectory() as text:
            folder = pathlib.Path(text)
            alone = subprocess.run(words(folder / "alone"), capture_output=True, text=True, timeout=600)
            self.assertEqual(alone.returncode, 0, alone.stderr)
            shared, other = Job(words(folder / "shared"), 2).ended()
            self.assertEqual((shared[0], shared[1]), (0, alone.stdout), shared[2])
            self.assertEqual(other, (0, "", ""))
            self.assertEqual((folder / "shared").read_text(), (folder / "alone").read_text())
            self.assertIn("kill_rate: 2 of 2: Largest value and list, by LDS atomics", shared[2])
            # Who meets nobody says so, and the page is made all the same.
            lonely = Job(words(folder / "lonely"), 2, started=1, more={"MARGAY_RANKS_WAIT": "1"}).ended()[0]
            self.assertEqual(lonely[0], 0, lonely[2])
            self.assertEqual(lonely[2].count("rank 1 did not come within 1 s; the run goes on without"), 2)
            self.assertEqual((folder / "lonely").read_text(), (folder / "alone").read_text())

    def test_cases_of_the_fuzzer(self):
        def words(name, *options):
            return [MARGAY, "fuzz", "--seed", "20", "--cases", "192", "--jobs", "1", "--json", f"{name}.json", *options]

        def figures(name):
            out = json.loads(pathlib.Path(f"{name}.json").read_text())
            return {key: value for key, value in out.items() if "second" not in key}

        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            alone = subprocess.run(words("alone"), capture_output=True, text=True, timeout=600)
            self.assertEqual(alone.returncode, 0, alone.stderr)
            shared, other = Job(words("shared"), 2).ended()
            self.assertEqual((shared[0], other), (0, (0, "", "")), shared)
            self.assertEqual(figures("shared"), figures("alone"))
            refused = Job(words("none", "--coverage"), 2).ended()
            self.assertEqual([code for code, _, _ in refused], [2, 2])
            self.assertIn("--coverage counts in one process", refused[0][2])

    text = ""

    def said(self, process):
        """What it has written to stderr."""
        self.text += process.stderr.readline()
        return self.text


class Hosts:
    """Network namespaces, each with an address of one network."""

    def __init__(self, count):
        self.mark = f"mgy{os.getpid() % 100000}"
        self.count = count

    def name(self, host):
        return f"{self.mark}h{host}"

    def ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True)

    def __enter__(self):
        try:
            self.ip("netns", "add", self.mark)
            self.ip("-n", self.mark, "link", "add", "bridge", "type", "bridge")
            self.ip("-n", self.mark, "link", "set", "bridge", "up")
            for host in range(self.count):
                name = self.name(host)
                self.ip("netns", "add", name)
                self.ip("-n", self.mark, "link", "add", f"to{host}", "type", "veth", "peer", "name", "net", "netns", name)
                self.ip("-n", self.mark, "link", "set", f"to{host}", "master", "bridge", "up")
                self.ip("-n", name, "address", "add", f"10.77.0.{host + 1}/24", "dev", "net")
                self.ip("-n", name, "link", "set", "net", "up")
                self.ip("-n", name, "link", "set", "lo", "up")
        except (OSError, subprocess.CalledProcessError) as error:
            self.__exit__()
            raise unittest.SkipTest(f"no network namespaces can be made: {error}") from None
        return self

    def __exit__(self, *_):
        for name in (self.mark, *map(self.name, range(self.count))):
            with contextlib.suppress(OSError):
                subprocess.run(["ip", "netns", "delete", name], capture_output=True)

    def cut_off(self, host):
        self.ip("-n", self.mark, "link", "set", f"to{host}", "down")

    def start(self, what, mark="", **more):
        self.folder = tempfile.TemporaryDirectory()
        return Job(command(what, 1), self.count, mark, lambda rank: ["ip", "netns", "exec", self.name(rank)],
                   {"MARGAY_RANKS_DIR": self.folder.name, **more}, on_this_host=1)


class SeveralHosts(unittest.TestCase):
    def test_same_bits(self):
        for what, word in (("products", "ranks=3 "), ("memories", "ranks=3 "), ("combined", "ranks=3 ")):
            with Hosts(3) as hosts:
                (code, output, said), *others = hosts.start(what).ended()
            self.assertEqual(code, 0, said)
            self.assertEqual([other[0] for other in others], [0, 0], others)
            self.assertEqual(output, run(what, 1).stdout)
            self.assertIn(word, said)

    def test_a_host_that_is_cut_off_costs_time_only(self):
        lost = r"rank 2 \(.*\) was lost during launch .*nothing was heard of it for 2 s; it"
        self.assertRegex(said_of_a_loss(self.cut_off, lost), lost)

    def cut_off(self):
        mark = uuid.uuid4().hex
        with Hosts(3) as hosts:
            job = hosts.start("long", mark, MARGAY_RANKS_SILENCE="2")
            wait_for(lambda: len(workers(mark)) == 2)
            time.sleep(0.2)
            hosts.cut_off(2)
            output, said = job.processes[0].communicate(timeout=300)
            # It would notice after half a minute. The other one may end meanwhile.
            for process in rank_processes(mark):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            job.ended()
        self.assertEqual(job.processes[0].returncode, 0, said)
        self.assertEqual(output, run("long", 1).stdout)
        return said


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
