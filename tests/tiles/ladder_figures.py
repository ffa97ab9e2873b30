#!/usr/bin/env python3
"""The figures in the READMEs of the GEMM ladder: what the compiler and the profiler say.

    ladder_figures.py MARGAY KERNELS_FOLDER GEMM_FOLDER [--traffic] [--update]

KERNELS_FOLDER has the code objects, GEMM_FOLDER is kernels/gemm. Every README has tables between the
lines `<!-- figures -->` or `<!-- traffic -->` and `<!-- end -->`; GEMM_FOLDER's has `<!-- loop -->` and
`<!-- step -->` besides. Without --update the tables must be
what they would be written as; prints each difference and exits 1 on any. `figures`, `loop` and `step` come
from the machine code, `traffic` (only with --traffic) from profiled runs.
"""

import argparse
import difflib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

FAST = 13
# 256 blocks of 256x256: one round of runs of 32 over the eight dies (level 11).
M, N, K = 4096, 4096, 128


def kernel_name(level):
    return "gemm_bf16_nt_f32" if level == FAST else f"gemm_level{level:02}"


def json_of(margay, *arguments):
    """What a command of margay writes to `--json FILE`; `arguments` has FILE as None."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "out.json"
        words = [str(file) if word is None else str(word) for word in arguments]
        done = subprocess.run([margay, *words], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join([margay, *words])} failed:\n{done.stdout}{done.stderr}")
        return json.loads(file.read_text())


def blocks_of(instructions):
    """Basic blocks by their first address: their instructions, and where they go on."""
    starts = {i["target"] for i in instructions if "target" in i} | {instructions[0]["pc"]}
    blocks, last_branched = {}, True
    for instruction in instructions:
        if last_branched or instruction["pc"] in starts:
            block = blocks[instruction["pc"]] = []
        block.append(instruction)
        last_branched = "target" in instruction or instruction["mnemonic"] == "s_endpgm"
    successors = {}
    for (start, block), after in zip(blocks.items(), [*list(blocks)[1:], None]):
        last = block[-1]
        successors[start] = [last["target"]] if "target" in last else []
        if last["mnemonic"] not in ("s_branch", "s_endpgm") and after is not None:
            successors[start].append(after)
    return blocks, successors


def loop_or_none(instructions, full_steps=False):
    """One time round the loop over k, on the way with the most MFMA, which is the role that computes.
    Of those the longest, where all conditions hold (there is a next step); with `full_steps`, for
    kernels that take any k, the shortest, which has no edge in it. None in a kernel without a loop."""
    blocks, successors = blocks_of(instructions)

    def cost(way):
        body = [i for start in way for i in blocks[start]]
        return sum("mfma" in i["mnemonic"] for i in body), -len(body) if full_steps else len(body)

    def best_way(start, header, known):
        """From the block at `start` to the header's next turn; None if that is not reached."""
        if start not in known:
            known[start] = None  # an inner loop's way back leads nowhere
            rests = [[] if after == header else best_way(after, header, known)
                     for after in successors[start]]
            rests = [rest for rest in rests if rest is not None]
            known[start] = [start, *max(rests, key=cost)] if rests else None
        return known[start]

    headers = sorted({i["target"] for i in instructions if i.get("target", i["pc"] + 1) <= i["pc"]})
    ways = [way for way in (best_way(h, h, {}) for h in headers) if way is not None]
    best = max(ways, key=cost, default=None)
    return best and [i for start in best for i in blocks[start]]


def loop_of(instructions, full_steps):
    body = loop_or_none(instructions, full_steps)
    if not any("mfma" in i["mnemonic"] for i in body or ()):
        sys.exit("a kernel without a loop around its MFMA")
    return body


def beside(body, starts, counter):
    """The share of MFMA before whose issue the wave has an access in flight: it was started and
    nothing has waited for it. The second time round the loop, so that what the first left counts."""
    in_flight, mfma, covered = [], 0, 0
    for second, instruction in [(r == 1, i) for r in range(2) for i in body]:
        name = instruction["mnemonic"]
        if counter == "lgkmcnt" and name.startswith("ds_") or (
                counter == "vmcnt" and name.startswith(("global_", "buffer_"))):
            in_flight.append(name.startswith(starts))
        wait = re.search(counter + r"\((\d+)\)", instruction["text"])
        if name == "s_waitcnt" and wait:
            in_flight = in_flight[max(0, len(in_flight) - int(wait[1])):]
        if "mfma" in name and second:
            mfma += 1
            covered += any(in_flight)
    return covered / mfma


def disassembled(margay, folder, name):
    """A kernel's description and its loop."""
    fast = name.startswith("gemm_bf16_")
    file = folder / ("gemm_bf16.hsaco" if fast else "gemm_ladder.hsaco")
    kernel, = json_of(margay, "asm", file, name, "--json", None)["kernels"]
    resources = kernel["resources"]
    if resources["scratch_bytes_per_lane"] or resources["vgpr_spills"] or resources["sgpr_spills"]:
        sys.exit(f"{name} uses scratch: {resources}")
    return kernel, loop_of(kernel["instructions"], full_steps=fast)


KINDS = ["MFMA", "VALU", "LDS", "vector memory", "SALU", "waits", "barriers, nops"]


def kind_of(mnemonic):
    if "mfma" in mnemonic:
        return "MFMA"
    if mnemonic.startswith("v_"):
        return "VALU"
    if mnemonic.startswith("ds_"):
        return "LDS"
    if mnemonic.startswith(("global_", "buffer_", "flat_", "scratch_")):
        return "vector memory"
    if mnemonic == "s_waitcnt":
        return "waits"
    return "barriers, nops" if mnemonic in ("s_barrier", "s_nop") else "SALU"


def kinds_of(body):
    counts = dict.fromkeys(KINDS, 0)
    for instruction in body:
        counts[kind_of(instruction["mnemonic"])] += 1
    return counts


def loop_figures(margay, folder, level):
    """What the loop has besides MFMA, for each MFMA."""
    counts = kinds_of(disassembled(margay, folder, kernel_name(level))[1])
    mfma = counts["MFMA"]
    return {"MFMA": f"{mfma}", **{f"{kind} per MFMA": f"{counts[kind] / mfma:.2f}" for kind in KINDS[1:]}}


def step_figures(margay, folder, name):
    kernel, body = disassembled(margay, folder, name)
    return {**{kind: f"{n}" for kind, n in kinds_of(body).items()}, "registers": f"{kernel['resources']['vgprs']} VGPR"}


def code_figures(margay, folder, level):
    kernel, body = disassembled(margay, folder, kernel_name(level))
    resources, occupancy = kernel["resources"], kernel["occupancy"]
    names = [i["mnemonic"] for i in body]
    mfma = sum("mfma" in n for n in names)
    barriers = names.count("s_barrier")
    agprs = resources["agprs"]
    return {
        "VGPRs per lane (AGPRs among them)": f"{resources['vgprs']} ({agprs})",
        "LDS per workgroup": f"{resources['lds_bytes'] // 1024} KiB",
        "waves per SIMD": f"{occupancy['waves_per_cu'] / 4:g}",
        "limited by": ", ".join(occupancy["limits"]),
        "MFMA per barrier": f"{mfma // barriers}" if barriers else "no barrier",
        "MFMA while LDS reads are in flight": f"{100 * beside(body, 'ds_read', 'lgkmcnt'):.0f} %",
        "MFMA while global loads are in flight":
            f"{100 * beside(body, ('global_load', 'buffer_load'), 'vmcnt'):.0f} %",
    }


def traffic_figures(margay, level):
    report = json_of(margay, "prof", "--json", None, "--", margay, "gemm", "--level", level, "--m", M,
                     "--n", N, "--k", K, "--mfma", "fast")
    kernel, = report["kernels"]
    metrics = kernel["metrics"]
    conflicts = metrics["lds_bank_conflicts"]
    if conflicts:
        sys.exit(f"level {level} has {conflicts} LDS bank conflicts")
    size = 2 * (M + N) * K
    l2 = sum(t["l2_read_bytes"] for t in kernel["tensors"])
    memory = sum(t["fabric_read_bytes"] for t in kernel["tensors"])
    lds = metrics["lds_instructions"] / metrics["mfma_instructions"]
    return {"LDS instructions per MFMA": f"{lds:.2f}", "A and B from L2": f"{l2 / size:.1f} times", "from memory": f"{memory / size:.1f} times"}


def table(columns):
    """Columns of figures by title: their names down the side."""
    titles = list(columns)
    lines = ["| | " + " | ".join(titles) + " |", "| --- " * (len(titles) + 1) + "|"]
    for name in columns[titles[0]]:
        lines.append(f"| {name} | " + " | ".join(columns[t][name] for t in titles) + " |")
    return lines


def summary(rows, what="level"):
    """One row for each level."""
    names = list(next(iter(rows.values())))
    lines = [f"| {what} | " + " | ".join(names) + " |", "| --- " * (len(names) + 1) + "|"]
    return lines + [f"| {t} | " + " | ".join(f[n] for n in names) + " |" for t, f in rows.items()]


def with_table(text, marker, lines, file):
    start, end = f"<!-- {marker} -->\n", "<!-- end -->\n"
    if text.count(start) != 1:
        sys.exit(f"{file}: needs one line {start.strip()}")
    before, rest = text.split(start)
    if end not in rest:
        sys.exit(f"{file}: no {end.strip()} behind {start.strip()}")
    return before + start + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("margay")
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("gemm", type=pathlib.Path)
    parser.add_argument("--traffic", action="store_true")
    parser.add_argument("--update", action="store_true")
    o = parser.parse_args()

    folders = sorted(o.gemm.glob("level*_*"))
    numbers = [int(re.match(r"level(\d+)_", f.name)[1]) for f in folders]
    if numbers != list(range(1, FAST)):
        sys.exit(f"levels {numbers}: expected 1 to {FAST - 1}")
    kinds = {"figures": lambda n: code_figures(o.margay, o.kernels, n),
             "loop": lambda n: loop_figures(o.margay, o.kernels, n)}
    if o.traffic:
        kinds["traffic"] = lambda n: traffic_figures(o.margay, n)

    texts = {f / "README.md": (f / "README.md").read_text() for f in folders}
    texts[o.gemm / "README.md"] = (o.gemm / "README.md").read_text()
    want = dict(texts)
    for marker, ask in kinds.items():
        values = {n: ask(n) for n in [*numbers, FAST]}
        for number, file in zip(numbers, texts) if marker != "loop" else ():
            columns = {f"level {n}": values[n] for n in (number - 1, number) if n > 0}
            want[file] = with_table(want[file], marker, table(columns), file)
        names = {n: f"[{n} {f.name[8:]}]({f.name})" for n, f in zip(numbers, folders)}
        names[FAST] = f"{FAST} fast"
        file = o.gemm / "README.md"
        want[file] = with_table(want[file], marker,
                                summary({names[n]: v for n, v in values.items()}), file)

    steps = {f"{b}{', unaligned' * bool(edges)}": step_figures(o.margay, o.kernels, f"gemm_bf16_{b}_f32{edges}")
             for edges in ("", "_unaligned") for b in ("nt", "nn")}
    want[file] = with_table(want[file], "step", summary(steps, "kernel"), file)

    stale = False
    for file, text in texts.items():
        if text == want[file]:
            continue
        if o.update:
            file.write_text(want[file])
            print(f"updated {file}")
            continue
        stale = True
        print("".join(difflib.unified_diff(text.splitlines(True), want[file].splitlines(True),
                                           str(file), "as measured")))
    if stale:
        sys.exit("the figures are stale: cmake --build BUILD --target ladder_figures_update")


if __name__ == "__main__":
    main()
