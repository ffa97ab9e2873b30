#!/usr/bin/env python3
"""Compiles one kernel of the collection, small and as written or fixed, and runs it under `margay check`.

    check_seed.py MARGAY COLLECTION WORK_FOLDER NAME written|fixed|hinted [--adversarial | --without-check]

seed_table.py says what must be found and what C must be. With --adversarial, `margay check
--adversarial` must make C wrong where there is a bug, whatever else it finds. In the hinted variant a
barrier is put exactly where the finding's fix says: one finding, one barrier, and no race is left.
--without-check only runs it, with `margay run`, and judges C. Copies are made in WORK_FOLDER; the collection is only read.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import sysconfig

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))

import run_pair  # noqa: E402
import seed_table  # noqa: E402


def apply(edits, text, name):
    for edit in edits:
        found = text.count(edit.old)
        if found != edit.count:
            sys.exit(f"{name}: an edit must find its text {edit.count} times, not {found}: {edit.old!r}")
        text = text.replace(edit.old, edit.new)
    return text


def make_source(collection, name, fixed):
    """The kernel's text with small sizes, and its fix if `fixed`."""
    seed = seed_table.SEEDS[name]
    text = (collection / f"{name.removesuffix('-launched')}.cpp").read_text()
    for letter, size in zip("MNK", seed.size):
        text, found = re.subn(rf"^#define {letter} +8192\b", f"#define {letter} {size}", text, flags=re.M)
        if found != 1:
            sys.exit(f"{name}: {letter} is not defined once")
    text = apply(seed.shim, text, name)
    return apply(seed.edits, text, name) if fixed else text


def compile_module(margay, source, text):
    """Writes and compiles `text`, unless that has been done with this margay."""
    module = source.with_name("tk_kernel.so")
    if module.exists() and source.read_text() == text:
        if module.stat().st_mtime > pathlib.Path(margay).stat().st_mtime:
            return module
    module.unlink(missing_ok=True)
    source.write_text(text)
    command = [margay, "hipcc", "-std=c++20", "-O3", "-w", "-g", "-shared", "-fPIC", "-DKITTENS_CDNA3"]
    command += [f"-I{sysconfig.get_path('include')}", str(source), "-o", str(module)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{source} does not compile\n{done.stderr}")
    return module


def run(margay, module, seed, options):
    """The findings (None without a check) and the process that has run."""
    report = module.with_name("report.json")
    report.unlink(missing_ok=True)
    command = [margay, "run", "--"]
    if not options.without_check:
        command = [margay, "check", "--json", str(report), "--error-exitcode", str(run_pair.ERROR_EXIT)]
        command += ["--adversarial", "--"] if options.adversarial else ["--"]
    command += [sys.executable, str(HERE / "run_gemm.py"), str(module), *map(str, seed.size), seed.layout]
    if seed.scalars:
        command.append("--scalars")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if options.without_check:
        return None, done
    if not report.exists():
        sys.exit(f"margay check wrote no report (exit code {done.returncode})\n{done.stderr}")
    return json.loads(report.read_text())["findings"], done


def judge_result(output, wanted, share):
    """Yields what is wrong with C."""
    result = next((line for line in output.splitlines() if line.startswith("result: ")), "result: none")
    expected = {"right": "result: right", "wrong": "result: wrong", "written": f"result: written {share:.4f}"}
    if result == "result: none" or result != expected.get(wanted, result):
        yield f"{result}, not {expected.get(wanted, 'any')}"


def judge_place(findings, source):
    """Every error must have a line of the kernel's own file."""
    for finding in findings:
        if finding["severity"] != "error" or not finding["accesses"]:
            continue
        files = {
            pathlib.PurePath(frame["file"]).name for access in run_pair.accesses_of(finding) for frame in access["frames"]
        }
        if source.name not in files:
            yield f"{run_pair.names_of(finding)[0]} names no line of {source.name}: {finding['message']}"


def hinted(text, findings):
    """`text` with a barrier at each place that a fix names; None where a barrier has no place."""
    places = {
        (f["fix"]["place"] or {}).get("line"): f["fix"]["place"] for f in findings if f["fix"]["kind"] == "barrier"
    }
    if None in places:
        return None, len(places)
    lines = text.splitlines(keepends=True)
    for line, place in sorted(places.items(), reverse=True):
        at = place["column"] - 1
        lines[line - 1] = lines[line - 1][:at] + "__syncthreads(); " + lines[line - 1][at:]
    return "".join(lines), len(places)


def judge_hints(options, seed, text, folder):
    """Yields what is wrong with the fixes of the races: makes them, and checks again."""
    module = compile_module(options.margay, folder / "seed.cpp", text)
    findings, _ = run(options.margay, module, seed, options)
    better, barriers = hinted(text, findings)
    if barriers != 1 or better is None:
        yield f"{barriers} places for a barrier, not one that is known"
        return
    again = folder / "hinted"
    again.mkdir(exist_ok=True)
    findings, done = run(options.margay, compile_module(options.margay, again / "seed.cpp", better), seed, options)
    others = tuple(kind for kind in seed.findings if kind not in seed_table.RACE)
    yield from run_pair.judge_findings(findings, others, again / "seed.cpp")
    if len(seed.edits) == 1:  # the barrier is all that was missing
        yield from judge_result(done.stdout, seed.fixed_result, seed.share)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("margay")
    parser.add_argument("collection", type=pathlib.Path)
    parser.add_argument("work_folder", type=pathlib.Path)
    parser.add_argument("name", choices=sorted(seed_table.SEEDS))
    parser.add_argument("variant", choices=["written", "fixed", "hinted"])
    parser.add_argument("--without-check", action="store_true")
    parser.add_argument("--adversarial", action="store_true")
    options = parser.parse_args()

    seed = seed_table.SEEDS[options.name]
    fixed = options.variant == "fixed"
    if fixed and not seed.has_fix:
        sys.exit(f"{options.name} has no fixed variant")
    folder = options.work_folder / f"{options.name}-{options.variant}"
    folder.mkdir(parents=True, exist_ok=True)
    if options.variant == "hinted":
        failures = list(judge_hints(options, seed, make_source(options.collection, options.name, False), folder))
        print(*failures, sep="\n") if failures else print(f"{options.name}: its fix makes the report silent")
        return 1 if failures else 0
    source = folder / "seed.cpp"
    module = compile_module(options.margay, source, make_source(options.collection, options.name, fixed))

    findings, done = run(options.margay, module, seed, options)
    wanted = seed.fixed_result if fixed else seed.result
    expectations = () if fixed else seed.findings
    if options.adversarial and expectations:
        wanted = "wrong"
        expectations = ("?*:*",)
    failures = list(judge_result(done.stdout, wanted, seed.share))
    if findings is not None:
        failures += run_pair.judge_findings(findings, expectations, source)
        failures += judge_place(findings, source)
    if failures:
        print(*failures, sep="\n")
        print("--- what was printed", done.stdout, done.stderr, sep="\n")
        return 1
    print(f"{options.name} {options.variant}: as expected; {' '.join(done.stdout.split())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
