#!/usr/bin/python3
"""Writes docs/kill-rate.md: `margay mutate` over the shipped kernels.

    tools/kill_rate.py MARGAY FOLDER_OF_PROGRAMS [--output docs/kill-rate.md] [--only WORD]
    mpirun -n 8 tools/kill_rate.py MARGAY FOLDER_OF_PROGRAMS ...        (or srun: docs/clusters.md)

FOLDER_OF_PROGRAMS holds the programs of the tests as built (BUILD/tests). Sizes are small, with edges, so
that every path of a kernel runs. Takes some minutes. Under mpirun and srun the mutants are handed out to all ranks; rank 0
writes the page, which is that of one process.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

# Program and arguments; each kernel that is shipped must be in one of them.
RUNS = [
    ("GEMM, B stored N x K, C f32", ["check/gemm", "nt", "300", "257", "129"]),
    ("GEMM, B stored N x K, C f32, whole blocks", ["check/gemm", "nt", "256", "256", "256"]),
    ("GEMM, B stored K x N, C f32", ["check/gemm", "nn", "300", "257", "129"]),
    ("GEMM, B stored K x N, C f32, whole blocks", ["check/gemm", "nn", "256", "256", "256"]),
    ("GEMM, B stored N x K, C bf16", ["check/gemm", "nt-bf16", "300", "257", "129"]),
    ("GEMM, B stored K x N, C bf16", ["check/gemm", "nn-bf16", "300", "257", "129"]),
    ("Attention", ["tiles/tiles_attention_test", "--gtest_filter=Attention.AnyLength:Attention.Causal"]),
    ("Softmax", ["tiles/tiles_softmax_test", "--gtest_filter=Softmax.Any*"]),
    ("Layernorm", ["tiles/tiles_layernorm_test", "--gtest_filter=Layernorm.AnyLength"]),
    ("Rotary", ["tiles/tiles_rotary_test", "--gtest_filter=Rotary.AnyLength*"]),
    # Atomics, fences and flags.
    ("Histogram in LDS", ["check/lds_handover", "histogram"]),
    ("Block reductions", ["check/lds_handover", "reduction"]),
    ("Largest value and list, by LDS atomics", ["check/lds_handover", "atomics"]),
    ("Ring buffer between waves", ["check/lds_handover", "ring"]),
    ("Last-block reduction", ["check/global_handover", "last-block"]),
    ("Last-block reduction, one atomic", ["check/global_handover", "last-block-order"]),
    ("Split-K with a semaphore", ["check/global_handover", "split-k"]),
    ("Stream-K", ["check/global_handover", "stream-k"]),
    ("Decoupled look-back", ["check/global_handover", "look-back"]),
    ("Decoupled look-back, packed status", ["check/global_handover", "look-back-packed"]),
]

INTRODUCTION = """# Kill rate of `margay check`

Each executed `s_waitcnt`, `s_barrier` and fence (`buffer_wbl2`, `buffer_inv`) of a kernel is removed, and each
count of an `s_waitcnt` weakened by one, one at a time; the program then runs again under the checker. A mutant is killed when the checker
finds an error that the unchanged program does not have, or when the program hangs. It is equivalent in the
run when, in the unchanged program, nothing depended on what was removed; the reason is given. A mutant
that survives without such a reason is unexplained: a hole in the checker, or in what it counts as having
depended on a wait.

A wait counts as depended on when no other wait would have proven complete what was relied on. Where one wave
alone makes the lower steps of a tree reduction, a later wait covers the same LDS writes (last-block
reduction). A wait before a release counts when another wave has acquired the release; which releases are
acquired can differ from run to run (look-back). A fence counts as depended on when it had something to write
back, or to look at anew, that no later fence would have covered: of the fences on both sides of an
atomic (last-block reduction) one is enough for each direction.

Made by `tools/kill_rate.py` with the programs in `BUILD/tests`; `margay mutate -- COMMAND` does the same for
any program.
"""


def rank_and_run():
    """This process's rank and a name of the run, as margay reads them from the launcher's environment; (0, "") without one."""
    about = os.environ
    name = about.get("MARGAY_RANKS_JOB", "")
    if "MARGAY_RANKS" in about:
        return 0, ""
    if "OMPI_COMM_WORLD_RANK" in about:
        rank = about["OMPI_COMM_WORLD_RANK"]
        name = name or about.get("OMPI_MCA_orte_precondition_transports") or about.get("PMIX_NAMESPACE", "")
    elif "MPI_LOCALNRANKS" in about:
        rank = about.get("PMI_RANK", "0")
        if not name and about["MPI_LOCALNRANKS"] == about.get("PMI_SIZE"):
            name = f"of-{os.getppid()}"  # the launcher's process, of all ranks of a host
    elif about.get("SLURM_STEP_ID"):
        rank = about.get("SLURM_PROCID", "0")
        name = name or f"{about['SLURM_JOB_ID']}.{about['SLURM_STEP_ID']}"
    else:
        return 0, ""
    if not name:
        sys.exit("kill_rate: the launcher does not say which ranks belong to one run: set MARGAY_RANKS_JOB to a name of "
                 "this run on all hosts")
    return int(rank), re.sub(r"[^A-Za-z0-9._-]", "_", name)


def environment_of(number, run):
    """Of the campaign with that number: the ranks that meet for it are those that are as far."""
    if not run:
        return None
    more = {"MARGAY_RANKS_JOB": f"{run}-{number}"}
    if number > 0:  # who has been there comes at once
        more["MARGAY_RANKS_WAIT"] = os.environ.get("MARGAY_RANKS_WAIT", "20")
    return {**os.environ, **more}


def help_rank_0(margay, commands, run):
    """Runs mutants of all campaigns, as rank 0's margay mutate asks for them."""
    for number, command in enumerate(commands):
        more = {**os.environ, "MARGAY_RANKS_JOB": f"{run}-{number}"}
        ended = subprocess.run([margay, "mutate", "--", *command], env=more, check=False)
        if ended.returncode != 0:
            return ended.returncode
    return 0


def mutate(margay, command, environment):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "mutants.json")
        run = subprocess.run([margay, "mutate", "--json", path, "--", *command], capture_output=True, text=True,
                             env=environment)
        print("".join(line + "\n" for line in run.stderr.splitlines() if re.search(r"\branks? \d", line)), end="",
              file=sys.stderr)
        if run.returncode not in (0, 1) or not os.path.exists(path):
            sys.exit(f"{' '.join(command)}: margay mutate ended with {run.returncode}\n{run.stdout}{run.stderr}")
        with open(path) as file:
            return json.load(file)


def place(mutant):
    frame = next((frame for frame in mutant["frames"] if frame["line"]), None)
    return f"{os.path.basename(frame['file'])}:{frame['line']}" if frame else f"{mutant['vaddr']:#x}"


def fate(mutant):
    if mutant["result"] == "killed":
        return "killed by " + ", ".join(mutant["by"])
    if mutant["result"] == "hang":
        return "killed: it hangs"
    if mutant["result"] == "equivalent":
        return "equivalent: " + mutant["why"]
    return {"own_result": "**only the program's own result**", "survived": "**survived**"}[mutant["result"]]


def change(mutant):
    return "removed" if mutant["change"] == "removed" else "weaker by one"


def instruction(mutant):
    """s_waitcnt vmcnt(62) and s_waitcnt vmcnt(60) of one line are alike."""
    return re.sub(r"\(\d+\)", "(N)", mutant["instruction"])


def section(title, command, document):
    rows = collections.Counter(
        (instruction(mutant), place(mutant), change(mutant), fate(mutant)) for mutant in document["mutants"]
    )
    lines = [f"## {title}", "", f"`{' '.join(command)}`", ""]
    lines += ["| instruction | line | change | mutants | result |", "| --- | --- | --- | ---: | --- |"]
    for (name, line, how, result), count in rows.items():
        lines.append(f"| `{name}` | {line} | {how} | {count} | {result} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("margay")
    parser.add_argument("programs")
    parser.add_argument("--output", default="docs/kill-rate.md")
    parser.add_argument("--only", default="", metavar="WORD", help="kernels with WORD in their title")
    options = parser.parse_args()
    runs = [(title, arguments, [os.path.join(options.programs, arguments[0]), *arguments[1:]])
            for title, arguments in RUNS if options.only in title]
    rank, run = rank_and_run()
    if rank != 0:
        return help_rank_0(options.margay, [command for _, _, command in runs], run)

    summary = ["| kernel | mutants | killed | equivalent in the run | unexplained | kill rate |"]
    summary.append("| --- | ---: | ---: | ---: | ---: | ---: |")
    sections = []
    unexplained = 0
    for number, (title, arguments, command) in enumerate(runs):
        print(f"kill_rate: {number + 1} of {len(runs)}: {title}", file=sys.stderr, flush=True)
        document = mutate(options.margay, command, environment_of(number, run))
        results = collections.Counter(mutant["result"] for mutant in document["mutants"])
        mutants = sum(results.values())
        killed = results["killed"] + results["hang"]
        missed = results["survived"] + results["own_result"]
        unexplained += missed
        rate = 100 * killed / (killed + missed) if killed + missed else 100
        summary.append(
            f"| {title} | {mutants} | {killed} | {results['equivalent']} | {missed} | {rate:.1f} % |"
        )
        sections.append(section(title, arguments, document))
        print(summary[-1], flush=True)
    with open(options.output, "w") as file:
        file.write("\n".join([INTRODUCTION, *summary, "", *sections]))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
