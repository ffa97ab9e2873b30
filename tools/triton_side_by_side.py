#!/usr/bin/env python3
"""Triton kernels and those of the tile library side by side: the same work, shape and type.

    triton_side_by_side.py [--only NAME] [--json FILE] [--update FILE]

Needs Triton and torch, and a build (MARGAY_HOME, else build/release). The Triton kernels are below, written as its
tutorials write them; of the configurations listed the one with the least modelled time is shown. The others are
kernels/ as they ship, called from Python. Each result is compared with torch's. Prints Markdown; --update
writes it between `<!-- side by side -->` and `<!-- end -->` of FILE.
"""

import argparse
import json
import math
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("MARGAY_HOME", str(ROOT / "build" / "release"))
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
sys.path.insert(0, str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "tests" / "triton"))

import torch  # noqa: E402

import margay.triton  # noqa: E402
import side_by_side_kernels as kernels  # noqa: E402

BEGIN, END = "<!-- side by side -->", "<!-- end -->"
ROWS = {
    "modelled time, us": "us", "its error": "error", "limit": "bound", "VGPR, per lane": "vgprs",
    "of these AccVGPR": "agprs", "spilled VGPR": "spills", "LDS, bytes": "lds", "waves per CU": "waves",
    "workgroups": "workgroups", "cycles of LDS bank conflicts": "conflicts", "LDS instructions": "lds_instructions",
    "VALU instructions": "valu", "MFMA instructions": "mfma", "vector memory instructions": "vmem",
    "bytes from and to HBM": "hbm",
}  # fmt: skip


class Case:
    """A piece of work: `shape` in words, a function that launches Triton's kernel with a configuration and
    returns the result, one that launches the tile library's, and what is right."""

    def __init__(self, shape, configurations, triton, tiles, expected, tolerance):
        self.shape, self.configurations = shape, configurations
        self.triton, self.tiles, self.expected, self.tolerance = triton, tiles, expected, tolerance


def gemm(m, n, k):
    a = torch.randn(m, k, dtype=torch.bfloat16, device="cuda")
    b = torch.randn(k, n, dtype=torch.bfloat16, device="cuda")
    configurations = [
        {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "num_warps": 4, "num_stages": 2},
        {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "num_warps": 4, "num_stages": 2},
        {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 32, "num_warps": 8, "num_stages": 2},
    ]

    def triton(configuration):
        c = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
        grid = (m // configuration["BLOCK_M"] * (n // configuration["BLOCK_N"]),)
        kernels.gemm[grid](
            a, b, c, m, n, k, *a.stride(), *b.stride(), *c.stride(), GROUP_M=8, **configuration
        )
        return c

    def tiles():
        return margay.matmul(a, b, out_dtype="bfloat16")

    return Case(f"C = A B, {m} x {n} x {k}, bf16", configurations, triton, tiles, a.float() @ b.float(), 1)


def attention():
    heads, length, dim = 16, 1024, 64
    q, k, v = (torch.randn(1, heads, length, dim, dtype=torch.bfloat16, device="cuda") for _ in range(3))
    configurations = [
        {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4, "num_stages": 1},
        {"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4, "num_stages": 1},
    ]
    scale = 1 / math.sqrt(dim)

    def triton(configuration):
        out = torch.empty_like(q)
        grid = (length // configuration["BLOCK_M"], heads)
        kernels.attention[grid](q, k, v, out, length, scale, DIM=dim, **configuration)
        return out

    def tiles():
        return margay.attention(q, k, v)

    expected = torch.softmax(q.float() @ k.float().transpose(2, 3) * scale, -1) @ v.float()
    shape = f"softmax(Q K^T) V, {heads} heads, length {length}, dim {dim}, bf16, forward"
    return Case(shape, configurations, triton, tiles, expected, 0.02)


def softmax():
    rows, columns = 4096, 1024
    x = torch.randn(rows, columns, dtype=torch.bfloat16, device="cuda")
    configurations = [{"num_warps": warps} for warps in (1, 2, 4)]

    def triton(configuration):
        out = torch.empty_like(x)
        kernels.softmax[(rows,)](x, out, columns, x.stride(0), BLOCK=columns, **configuration)
        return out

    def tiles():
        return margay.softmax(x)

    shape = f"softmax of rows, {rows} x {columns}, bf16"
    return Case(shape, configurations, triton, tiles, torch.softmax(x.float(), 1), 0.01)


def layernorm():
    rows, columns = 4096, 1024
    x = torch.randn(rows, columns, dtype=torch.bfloat16, device="cuda")
    w, b = (torch.randn(columns, dtype=torch.bfloat16, device="cuda") for _ in range(2))
    configurations = [{"num_warps": warps} for warps in (1, 2, 4)]

    def triton(configuration):
        out = torch.empty_like(x)
        kernels.layernorm[(rows,)](x, w, b, out, columns, 1e-5, BLOCK=columns, **configuration)
        return out

    def tiles():
        return margay.layernorm(x, w, b)

    expected = torch.nn.functional.layer_norm(x.float(), (columns,), w.float(), b.float(), 1e-5)
    return Case(f"layernorm of rows, {rows} x {columns}, bf16", configurations, triton, tiles, expected, 0.05)


CASES = {
    "gemm": lambda: gemm(4096, 4096, 1024), "small gemm": lambda: gemm(1024, 1024, 1024), "attention": attention,
    "softmax": softmax, "layernorm": layernorm,
}  # fmt: skip


def only_kernel(profile):
    (kernel,) = profile.kernels
    return kernel


def figures(launch, case):
    """What one kernel is made of, does and takes. Counters are of all workgroups."""
    with margay.profile(time=True) as timed:
        result = launch()
    wrong = (result.float() - case.expected).abs().max().item()
    if not wrong <= case.tolerance:
        raise SystemExit(f"{case.shape}: the largest error is {wrong}, more than {case.tolerance}")
    with margay.profile() as counted:
        launch()
    kernel, time = only_kernel(counted), only_kernel(timed).time
    resources = kernel.resources
    return {
        "name": kernel.name.split("(")[0], "us": round(time.us_boost, 2), "error": f"{time.error_percent:.0f} %",
        "bound": time.bound, "vgprs": resources.vgprs, "agprs": resources.agprs, "spills": resources.vgpr_spills,
        "lds": resources.static_lds_bytes + resources.dynamic_lds_bytes, "waves": resources.waves_per_cu,
        "workgroups": math.prod(kernel.grid), "conflicts": kernel["SQ_LDS_BANK_CONFLICT"],
        "lds_instructions": kernel["SQ_INSTS_LDS"], "valu": kernel["SQ_INSTS_VALU"] - kernel["SQ_INSTS_MFMA"],
        "mfma": kernel["SQ_INSTS_MFMA"], "vmem": kernel["SQ_INSTS_VMEM"],
        "hbm": sum(t.fabric_read_bytes + t.fabric_written_bytes for t in kernel.tensors),
    }  # fmt: skip


def best(case):
    """The figures of Triton's fastest configuration, by the model."""
    found = {}
    for configuration in case.configurations:
        timing = margay.triton.modelled(case.triton, configuration)
        found[timing.milliseconds] = configuration
    configuration = found[min(found)]
    shown = ", ".join(f"{name}={value}" for name, value in configuration.items())
    return {"configuration": shown, **figures(lambda: case.triton(configuration), case)}


def measure(name):
    torch.manual_seed(0)
    case = CASES[name]()
    return {"name": name, "shape": case.shape, "triton": best(case), "tiles": figures(case.tiles, case)}


def shown(value):
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else str(value)


def markdown(all_measured):
    import triton

    parts = [f"Triton {triton.__version__}, the MI325X, at boost clock."]
    for each in all_measured:
        theirs, ours = each["triton"], each["tiles"]
        parts.append(
            f"\n**{each['shape']}.** Triton: {theirs['configuration']}. Tile library: `{ours['name']}`; "
            f"{ours['us'] / theirs['us']:.2f} times Triton's modelled time.\n"
        )
        parts.append(f"| {each['name']} | Triton | tile library |\n| --- | --- | --- |")
        parts += [f"| {title} | {shown(theirs[key])} | {shown(ours[key])} |" for title, key in ROWS.items()]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CASES, action="append")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--update", type=pathlib.Path)
    options = parser.parse_args()
    found = [measure(name) for name in options.only or CASES]
    text = markdown(found)
    print(text)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    if options.update:
        page = options.update.read_text()
        before, rest = page.split(BEGIN)
        options.update.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END, 1)[1]}")


if __name__ == "__main__":
    main()
