#!/usr/bin/env python3
"""What the compiler says of the kernels beside the GEMM, in the tables of their READMEs.

    kernel_figures.py MARGAY CODE_OBJECTS KERNELS [--update]

CODE_OBJECTS has the code objects, KERNELS is the folder kernels. The README of each folder has its table
between the lines `<!-- figures -->` and `<!-- end -->`. Without --update it must be what would be
written; prints each difference and exits 1 on any. A kernel that uses scratch is an error.
"""

import argparse
import difflib
import pathlib
import sys

from ladder_figures import json_of, with_table

FOLDERS = {
    "attention": "attention_bf16", "softmax": "softmax", "layernorm": "layernorm_bf16",
    "rotary": "rotary_bf16",
}  # fmt: skip
TITLES = ["kernel", "VGPRs", "LDS, bytes", "waves per SIMD", "limited by"]


def row(kernel):
    resources, occupancy = kernel["resources"], kernel["occupancy"]
    if resources["scratch_bytes_per_lane"] or resources["vgpr_spills"] or resources["sgpr_spills"]:
        sys.exit(f"{kernel['name']} uses scratch: {resources}")
    waves = f"{occupancy['waves_per_cu'] / 4:g}"
    limits = ", ".join(occupancy["limits"])
    return [f"`{kernel['name']}`", str(resources["vgprs"]), str(resources["lds_bytes"]), waves, limits]


def table(kernels):
    # d64 before d128.
    rows = [row(kernel) for kernel in sorted(kernels, key=lambda k: (len(k["name"]), k["name"]))]
    lines = [TITLES, ["---"] * len(TITLES), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("margay")
    parser.add_argument("code_objects", type=pathlib.Path)
    parser.add_argument("kernels", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    o = parser.parse_args()
    stale = False
    for folder, name in FOLDERS.items():
        report = json_of(o.margay, "asm", o.code_objects / f"{name}.hsaco", "--resources", "--json", None)
        file = o.kernels / folder / "README.md"
        text = file.read_text()
        want = with_table(text, "figures", table(report["kernels"]), file)
        if text == want:
            continue
        if o.update:
            file.write_text(want)
            print(f"updated {file}")
            continue
        stale = True
        print("".join(difflib.unified_diff(text.splitlines(True), want.splitlines(True), str(file), "compiled")))
    if stale:
        sys.exit("the figures are stale: cmake --build BUILD --target kernel_figures_update")


if __name__ == "__main__":
    main()
