#!/usr/bin/env python3
"""Measures what docs/performance.md says, in one run on this machine, and writes the page.

    bench/page.py [--build build/release] [--out docs/performance.md]    some 10 minutes on two quiet cores
    bench/page.py --smoke                                                each benchmark shortly; writes nothing
    bench/page.py --check docs/performance.md                            measures nothing

`cmake --build build/release --target benchmarks` builds what it runs. Every figure is a median; a ratio is the
median of ratios of runs side by side. Exits 1 and names the benchmark when one fails; --check exits 1 when the page
does not have the form that this script writes, whatever its figures.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import gemm_ratio
import watch_cost

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODES = ("exact", "fma", "fast")

# A row of the page's table, and the benchmark of exec_bench.
EXECUTOR = {
    "`v_fma_f32`": "valu_fma_f32",
    "`v_add_u32`": "valu_add_u32",
    "`v_pk_fma_f32`": "valu_pk_fma_f32",
    "`v_pk_fma_f16`": "valu_pk_fma_f16",
    "`s_add_u32`": "salu_add_u32",
    "`ds_read_b64`": "lds_read_b64",
    "`ds_read_b64`, an operand of 16 rows": "lds_read_b64_rows",
    "`ds_read_b64`, lanes apart": "lds_read_b64_spread",
    "`ds_read_b128`": "lds_read_b128",
    "`global_load_dwordx4`": "global_load_x4",
}
# Of mfma_bench: one of each type of operands.
MATRIX = ("f32_16x16x16_bf16", "f32_32x32x8_bf16", "f32_16x16x16_f16", "f32_16x16x32_fp8_fp8", "i32_16x16x32_i8",
          "f32_16x16x4_f32")


# Of bench/production.hip.
PRODUCTION = {"registers": "registers only, sums in AccVGPRs, `32x32x8_bf16`",
              "direct": "straight to LDS, 256 AccVGPRs, `16x16x16_bf16`"}


@dataclasses.dataclass(frozen=True)
class Extent:
    """How long a run is."""

    size: int          # of the main job
    runs: int          # of each mode of it
    rounds: int        # of each watched launch
    watched_size: int
    repetitions: int   # of a benchmark in exec_bench and mfma_bench
    min_time: float    # of each of these, in seconds
    starts: int        # of the tool
    kernel_size: int   # of the production-style kernels


FULL = Extent(size=8192, runs=3, rounds=5, watched_size=1024, repetitions=5, min_time=0.2, starts=40,
              kernel_size=2048)
SMOKE = Extent(size=256, runs=1, rounds=1, watched_size=256, repetitions=1, min_time=0.001, starts=2,
               kernel_size=256)


class Failed(Exception):
    """A benchmark that did not run, with what it said."""


def run(command, **options):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
    except FileNotFoundError as error:
        raise Failed(f"{error.filename} is missing: cmake --build build/release --target benchmarks") from error
    except subprocess.CalledProcessError as error:
        raise Failed(f"{' '.join(map(str, command))}: exit code {error.returncode}\n{error.stdout}{error.stderr}") from error


# ---- Measuring ---------------------------------------------------------------------------------------------------


def host():
    """What this machine is, by what its processor can do."""
    flags = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    flags = set(flags[1].split()) if flags else set()
    known = (("avx2", "AVX2"), ("avx512f", "AVX-512"), ("avx512_bf16", "AVX-512 BF16"), ("avx512_vnni", "VNNI"),
             ("amx_bf16", "AMX"))
    features = [name for flag, name in known if flag in flags]
    caches = []
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        kind, level, size = ((index / name).read_text().strip() for name in ("type", "level", "size"))
        if kind != "Instruction":
            caches.append(f"L{level} {size}")
    return {"cores": os.cpu_count(), "features": ", ".join(features) or "none of AVX2, AVX-512 and AMX",
            "caches": ", ".join(caches) or "not known"}


def google_benchmark(program, extent, names):
    """Medians of what each of these benchmarks reports, by name."""
    said = run([program, f"--benchmark_filter=^({'|'.join(names)})$", "--benchmark_format=json",
                f"--benchmark_min_time={extent.min_time}", f"--benchmark_repetitions={extent.repetitions}"])
    try:
        done = json.loads(said)["benchmarks"]
    except ValueError as error:
        raise Failed(f"{program}: {said or 'none of the benchmarks ran'}") from error
    out = {}
    for name in names:
        rows = [row for row in done if row["run_name"] == name and row["run_type"] == "iteration"]
        if not rows or any(row.get("error_occurred") for row in rows):
            raise Failed(f"{program}: {name} did not run")
        out[name] = {key: statistics.median(row[key] for row in rows)
                     for key in ("items_per_second", "ns/instruction") if key in rows[0]}
    return out


def executor(build, extent):
    rows = google_benchmark(build / "bench/exec_bench", extent, [f"run/{name}" for name in EXECUTOR.values()])
    return {name: rows[f"run/{name}"]["items_per_second"] for name in EXECUTOR.values()}


def matrix(build, extent):
    """ns of each instruction and mode on this host's best level: alone and in a run of 32."""
    program = build / "bench/mfma_bench"
    listed = run([program, "--benchmark_list_tests"]).split()
    level = next((best for best in ("x86-64-v4", "x86-64-v3", "generic")
                  if any(f"/{best}/" in name for name in listed)), "generic")
    names = [f"{shape}/{mode}/{level}/{form}" for shape in MATRIX for mode in MODES for form in ("single", "group")]
    rows = google_benchmark(program, extent, names)
    return {name.replace(f"/{level}/", "/"): row["ns/instruction"] for name, row in rows.items()}


def main_job(build, extent):
    out = {}
    for mode in MODES:
        try:
            out[mode] = gemm_ratio.measure(build / "bin/margay", extent.size, mode, extent.runs)
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            raise Failed(f"margay gemm --mfma {mode}: {error}\n{getattr(error, 'stderr', '')}") from error
    return out


def watching(build, extent):
    out = {}
    for watch in watch_cost.WATCH:
        for mode in MODES:
            try:
                out[watch, mode] = watch_cost.measure(build, watch, mode, extent.watched_size, extent.rounds)
            except (subprocess.CalledProcessError, FileNotFoundError, AttributeError) as error:
                raise Failed(f"margay {watch}, --mfma {mode}: {error}\n{getattr(error, 'stderr', '')}") from error
    return out


def production(build, extent):
    """ns for 4096 multiply-adds of the kernels of production.hip, and of the GEMM that ships at the same size."""
    out = {}
    threads = os.cpu_count()
    for mode in MODES:
        ships = gemm_ratio.measure(build / "bin/margay", extent.kernel_size, mode, extent.runs)["ns_per_mfma"]
        said = run([build / "bin/margay", "run", "--mfma", mode, "--threads", str(threads), "--",
                    build / "bench/production", str(extent.kernel_size), str(threads), str(extent.runs)])
        figures = {name: float(value) for name, value in re.findall(r"^(\w+) ns=([0-9.]+)$", said, re.MULTILINE)}
        if figures.keys() != PRODUCTION.keys():
            raise Failed(f"bench/production said {said}")
        out[mode] = {"ships": ships, **figures}
    return out


def start(build, extent):
    times = []
    for _ in range(extent.starts):
        begin = time.perf_counter()
        run([build / "bin/margay", "--version"])
        times.append(time.perf_counter() - begin)
    launches = [run([build / "bench/launches", *([] if extent is FULL else ["short"])])
                for _ in range(3 if extent is FULL else 1)]
    figures = [re.search(r"first_ms=([0-9.]+) later_us=([0-9.]+)", text) for text in launches]
    if not all(figures):
        raise Failed(f"bench/launches said {launches}")
    return {"tool_ms": statistics.median(times) * 1e3,
            "first_ms": statistics.median(float(figure[1]) for figure in figures),
            "later_us": statistics.median(float(figure[2]) for figure in figures)}


def measure(build, extent):
    load = os.getloadavg()[0]
    figures = {"host": host(), "load": load}
    # The main job last: it warms the machine up most.
    for name, what in (("executor", executor), ("matrix", matrix), ("watching", watching), ("start", start),
                       ("production", production), ("main_job", main_job)):
        print(f"page.py: {name}", file=sys.stderr)
        figures[name] = what(build, extent)
    return figures


# ---- The page ----------------------------------------------------------------------------------------------------


def three(value):
    """Three digits are all that a run repeats."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def shares(row):
    """The three largest parts of the time."""
    parts = sorted(row["time_shares"].items(), key=lambda part: -part[1])[:3]
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in parts) or "not sampled"


def spread(row):
    return f"{three(row['ratio'])} ({three(row['ratio_min'])} to {three(row['ratio_max'])})"


class Form:
    """Stands for every figure where only the form of the page matters."""

    MARK = "\0"

    def __getitem__(self, _):
        return self


def render(figures):
    """The page. With a Form for figures, a mark wherever a figure would be."""
    is_form = isinstance(figures, Form)

    def text(write, value):
        return Form.MARK if is_form else write(value)

    lines = [
        "# Performance",
        "",
        "Generated by `bench/page.py`, in one run on one machine: medians, and ratios of runs side by side. Times",
        "move from run to run and more from machine to machine; ratios less. `bench/page.py` on yours says what holds there.",
        "",
        "| | |",
        "| --- | --- |",
        f"| cores | {text(str, figures['host']['cores'])} |",
        f"| instruction sets | {text(str, figures['host']['features'])} |",
        f"| caches | {text(str, figures['host']['caches'])} |",
        f"| load of the machine when the run began | {text(three, figures['load'])} |",
        "",
        "## The main job: 8192 x 8192 x 8192, bf16",
        "",
        f"`bench/gemm_ratio.py`; a run is `./margay gemm --mfma MODE`. "
        f"{text(grouped, figures['main_job']['exact']['wave_instructions'])} wave instructions,",
        f"{text(grouped, figures['main_job']['exact']['mfma_instructions'])} of them "
        "`v_mfma_f32_16x16x16_bf16`. All of C is verified.",
        "",
        "| MFMA mode | virtual MI325X | oneDNN, same run | ratio (least, greatest) | ns per MFMA and core | most of the time |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for mode in MODES:
        row = figures["main_job"][mode]
        name = "`exact` (the default)" if mode == "exact" else f"`{mode}`"
        lines.append(f"| {name} | {text(three, row['wall_s'])} s | {text(three, row['reference_wall_s'])} s in "
                     f"{text(str, row['reference_dtype'])} | {text(spread, row)} | {text(three, row['ns_per_mfma'])} | {text(shares, row)} |")
    lines += [
        "",
        "`exact` is the default because it is the most exact mode that keeps this job under a minute on two cores.",
        "",
        "## The executor",
        "",
        "`build/release/bench/exec_bench`, one core, wave instructions of 64 lanes:",
        "",
        "| instruction | per second |",
        "| --- | --- |",
    ]
    lines += [f"| {name} | {text(three, millions(figures['executor'][row]))} M |" for name, row in EXECUTOR.items()]
    lines += [
        "",
        "`build/release/bench/mfma_bench`, one core, ns for each instruction: alone, and in a run of 32 as a GEMM issues",
        "them:",
        "",
        "| `v_mfma_` | " + " | ".join(f"`{mode}` alone | in a run" for mode in MODES) + " |",
        "| --- |" + " --- |" * (2 * len(MODES)),
    ]
    for shape in MATRIX:
        cells = [text(three, figures["matrix"][f"{shape}/{mode}/{form}"]) for mode in MODES for form in ("single", "group")]
        lines.append(f"| `{shape}` | " + " | ".join(cells) + " |")
    size = f"{FULL.kernel_size} x {FULL.kernel_size} x {FULL.kernel_size}"
    lines += [
        "",
        "## Kernels as production libraries write them",
        "",
        "`margay run --mfma MODE -- build/release/bench/production SIZE THREADS RUNS`, two GEMM kernels with inline assembly;",
        f"ns of a host thread for 4096 multiply-adds (one `v_mfma_f32_16x16x16_bf16`) at {size},",
        "everything that a kernel does included:",
        "",
        "| MFMA mode | the GEMM that ships | " + " | ".join(PRODUCTION.values()) + " |",
        "| --- | --- |" + " --- |" * len(PRODUCTION),
    ]
    for mode in MODES:
        row = figures["production"][mode]
        lines.append(f"| `{mode}` | " + " | ".join(text(three, row[name]) for name in ("ships", *PRODUCTION)) + " |")
    lines += [
        "",
        "## Watching",
        "",
        "`bench/watch_cost.py build/release --watch check|prof|time`: a GEMM of 1024 x 1024 x 1024 on all cores, the time of",
        "its launches watched to unwatched. `check` has all five tools, `prof` all counters, caches and maps, `time` the",
        "model of the one launch. What an observer adds hardly depends on the mode, so that the ratio is largest where the",
        "launch is shortest.",
        "",
        "| command | MFMA mode | unwatched | watched | ratio (least, greatest) |",
        "| --- | --- | --- | --- | --- |",
    ]
    for watch in watch_cost.WATCH:
        for mode in MODES:
            row = figures["watching"][watch, mode]
            lines.append(f"| `margay {watch}` | `{mode}` | {text(three, row['plain_s'])} s | "
                         f"{text(three, row['watched_s'])} s | {text(spread, row)} |")
    lines += [
        "",
        "## Start",
        "",
        "`build/release/bench/launches` prints the last two.",
        "",
        "| what | time |",
        "| --- | --- |",
        f"| `build/release/bin/margay --version` | {text(three, figures['start']['tool_ms'])} ms |",
        "| first launch of a small program, code object loaded and decoded | "
        f"{text(three, figures['start']['first_ms'])} ms |",
        f"| a later launch of one workgroup | {text(three, figures['start']['later_us'])} us |",
    ]
    return "\n".join(lines) + "\n"


def grouped(number):
    return f"{number:,}".replace(",", " ")


def millions(value):
    return value if isinstance(value, Form) else value * 1e-6


def has_form(page):
    """Whether a page is one that render() writes, for any figures."""
    pattern = r"[^|\s][^|\n]*".join(re.escape(part) for part in render(Form()).split(Form.MARK))
    return re.fullmatch(pattern, page) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs/performance.md")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--check", type=pathlib.Path, metavar="PAGE")
    options = parser.parse_args()

    if options.check is not None:
        if has_form(options.check.read_text()):
            return 0
        print(f"page.py: {options.check} is not as bench/page.py writes it: run bench/page.py, or adapt what the "
              "script writes", file=sys.stderr)
        return 1
    try:
        page = render(measure(options.build.resolve(), SMOKE if options.smoke else FULL))
    except Failed as error:
        print(f"page.py: {error}", file=sys.stderr)
        return 1
    if not has_form(page):
        print("page.py: --check would not accept what these figures make:\n" + page, file=sys.stderr)
        return 1
    if options.smoke:
        print("page.py: every benchmark ran")
    else:
        options.out.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
