#!/usr/bin/env python3
"""Two compilers side by side: what each makes of the same kernels.

    compiler_table.py MARGAY --clang 19 --clang 22 [--collection FOLDER] [--json FILE] [--update FILE]

MARGAY is the tool. All kernels of kernels/ are compiled, as the build compiles them, with each compiler, and with
--collection every .cpp of a folder of kernels by other authors. Figures are of the machine code: registers of
a lane (AGPRs among them) and of a wave, scratch bytes of a lane, waves per SIMD, and the instructions of
the main loop by kind. The main loop is the one with the most MFMA, for kernels without MFMA the longest; `-` where
there is none. Prints Markdown; --update writes it between `<!-- compilers -->` and `<!-- end -->` of FILE.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "tiles"))

from ladder_figures import json_of, kinds_of, loop_or_none, with_table  # noqa: E402

SHIPPED = [
    "gemm/gemm_bf16", "gemm/ladder", "attention/attention_bf16", "softmax/softmax", "layernorm/layernorm_bf16",
    "rotary/rotary_bf16", "grouped_gemm/grouped_gemm_bf16",
]  # fmt: skip
OPTIONS = ["-std=c++20", "-O3", "--genco", "--no-gpu-bundle-output"]
KINDS = {"MFMA": "MFMA", "VALU": "VALU", "LDS": "LDS", "vector memory": "memory", "SALU": "SALU", "waits": "waits",
         "barriers, nops": "other"}  # fmt: skip


def figures_of(kernel):
    resources, occupancy = kernel["resources"], kernel["occupancy"]
    body = loop_or_none(kernel["instructions"], full_steps=kernel["name"].startswith("gemm_bf16_"))
    loop = kinds_of(body) if body else {}
    return {
        "VGPR": resources["vgprs"], "AGPR": resources["agprs"], "SGPR": resources["sgprs"],
        "scratch": resources["scratch_bytes_per_lane"], "waves": occupancy["waves_per_cu"] / 4,
        "code": resources["code_bytes"],
        "loop": len(body) if body else None, **{title: loop.get(kind) for kind, title in KINDS.items()},
    }  # fmt: skip


def compiled(margay, clang, source, options, output):
    """Kernels by name, or None where the compiler refuses the source."""
    command = [margay, "hipcc", "--clang", clang, *OPTIONS, *options, str(source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"clang {clang} does not compile {source.name}:\n{done.stderr}", file=sys.stderr)
        return None
    names = [kernel["name"] for kernel in json_of(margay, "asm", output, "--resources", "--json", None)["kernels"]]
    reports = {name: json_of(margay, "asm", output, name, "--no-source", "--json", None) for name in names}
    return {name: figures_of(*report["kernels"]) for name, report in reports.items()}


def measure(margay, clangs, collection, only):
    sources = [(ROOT / "kernels" / f"{name}.hip", [f"-I{ROOT / 'include'}"], None) for name in SHIPPED]
    if collection:
        python = sysconfig.get_path("include")
        sources += [(file, ["-w", "-DKITTENS_CDNA3", f"-I{python}"], file.stem)
                    for file in sorted(collection.glob("*.cpp"))]  # fmt: skip
    sources = [source for source in sources if only in str(source[0])]
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for source, options, title in sources:
            for clang in clangs:
                kernels = compiled(margay, clang, source, options, pathlib.Path(folder) / "out.hsaco")
                for name, figures in (kernels or {}).items():
                    rows.setdefault(title or name, {})[clang] = figures
    return rows


def text_of(value):
    return "-" if value is None else f"{value:g}"


def cell(values):
    """One number where both have the same, else `before -> after`."""
    texts = ["" if v is None else v for v in values]
    return texts[0] if len(set(texts)) == 1 else " → ".join(texts)


def table(rows, clangs):
    names = ["VGPR", "AGPR", "SGPR", "scratch", "waves", "code", "loop", *KINDS.values()]
    lines = ["| kernel | " + " | ".join(names) + " |", "| --- " * (len(names) + 1) + "|"]
    for kernel, by_clang in rows.items():
        cells = [cell([text_of(by_clang[c][n]) if c in by_clang else "refused" for c in clangs]) for n in names]
        lines.append(f"| {kernel} | " + " | ".join(cells) + " |")
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("margay")
    parser.add_argument("--clang", action="append", required=True)
    parser.add_argument("--collection", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--only", default="", help="only sources whose path has this text")
    parser.add_argument("--update", type=pathlib.Path)
    o = parser.parse_args()
    rows = measure(o.margay, o.clang, o.collection, o.only)
    if o.json:
        o.json.write_text(json.dumps(rows, indent=1))
    lines = table(rows, o.clang)
    if o.update:
        o.update.write_text(with_table(o.update.read_text(), "compilers", lines, o.update))
    else:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
