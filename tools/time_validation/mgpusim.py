#!/usr/bin/env python3
"""Runs MGPUSim's code objects on the virtual MI300A and compares modelled with measured times.

Needs a clone of sarchlab/mgpusim (its git directory is enough); nothing of it is kept here."""

import pathlib
import re
import sys

import common

MEASURED = common.RESULTS / "measured-mi300a.csv"
TABLE = "mi300a-kernels.csv"

# Where the code objects are, below amd/benchmarks.
OBJECTS = {
    "vectoradd": ["amdappsdk/vectoradd/native/vectoradd.hsaco"],
    "matrixtranspose": ["amdappsdk/matrixtranspose/kernels_gfx942.hsaco"],
    "matrixmultiplication": ["amdappsdk/matrixmultiplication/kernels_gfx942.hsaco"],
    "fir": ["heteromark/fir/kernels_gfx942.hsaco"],
    "atax": ["polybench/atax/kernels_gfx942.hsaco"],
    "memcopy_d2d": [],
    "memcopy_h2d": [],
    "memcopy_d2h": [],
    "fft1D_512": ["shoc/fft/kernels_gfx942.hsaco"],
    "spmv_csr_scalar": ["shoc/spmv/kernels_gfx942.hsaco"],
    "conv2d": ["dnn/gputensor/im2col_gfx942.hsaco", "dnn/gputensor/gemm_gfx942.hsaco"],
    "bfs": ["shoc/bfs/kernels_gfx942.hsaco"],
    "fastwalshtransform": ["amdappsdk/fastwalshtransform/kernels_gfx942.hsaco"],
    "floydwarshall": ["amdappsdk/floydwarshall/kernels_gfx942.hsaco"],
}

# The measured iterations of these copy between host and device, most of them in addition to kernels.
COPIES = ("memcopy_h2d", "memcopy_d2h")
WITH_HOST = ("bfs", "fastwalshtransform", "floydwarshall", *COPIES)
MB = 1 << 20
ALONE, ALL = "kernels alone", "all"

# What a launch costs behind another one in a stream (Parameters::next_launch_ns).
NEXT_LAUNCH_US = 1.76

# Beyond these sizes (the first number of a size) a run would take many minutes on a CPU.
LARGEST = {
    "vectoradd": 268435456, "matrixtranspose": 16384, "matrixmultiplication": 2048, "atax": 6144,
    "memcopy_d2d": 512, "fft1D_512": 33554432, "fastwalshtransform": 4194304, "floydwarshall": 2048,
}
QUICK = {
    "vectoradd": ("1024", "65536", "1048576", "4194304", "16777216", "67108864"),
    "matrixtranspose": ("64x64", "1024x1024", "3072x3072", "6144x6144"),
    "matrixmultiplication": ("32x32x32", "256x256x256", "512x512x512", "1024x1024x1024"),
    "fir": ("1024_taps8", "1024_taps64", "65536_taps16", "262144_taps64"),
    "atax": ("48x48", "256x256", "1024x1024"),
    "memcopy_d2d": ("1MB", "8MB", "64MB", "256MB"),
    "memcopy_h2d": ("1MB", "8MB", "64MB"),
    "memcopy_d2h": ("1MB", "8MB", "64MB"),
    "fft1D_512": ("512_elements", "262144_elements", "4194304_elements"),
    "spmv_csr_scalar": ("1024x1024_nnz4096", "1024x1024_nnz32768", "65536x65536_nnz1048576",
                        "262144x262144_nnz4194304"),
    "conv2d": ("N1_C1_8x8_k3x3_OC3", "N1_C1_32x32_k5x5_OC3", "N1_C1_128x128_k7x7_OC3"),
    "bfs": ("nodes1024", "nodes65536"),
    "fastwalshtransform": ("512", "65536", "524288"),
    "floydwarshall": ("8_nodes", "256_nodes", "1024_nodes"),
}


def numbers_of(kernel, size, seen_before):
    """The driver's arguments for a size of the table."""
    numbers = [int(text) for text in re.findall(r"\d+", size)]
    if kernel == "spmv_csr_scalar":
        return [numbers[0], numbers[2] // numbers[0]]
    if kernel == "conv2d":
        return [numbers[2], numbers[4]]
    if kernel == "bfs":  # each size four times, with degrees 4, 8, 16 and 32 in this order
        return [numbers[0], 4 << seen_before]
    return numbers if kernel == "fir" else numbers[:1]


def points(kernels, quick):
    """(kernel, size, driver's arguments, row) of what is run; the others are named."""
    seen, left_out = {}, {}
    for row in common.read_table(MEASURED):
        kernel, size = row["kernel_name"], row["problem_size"]
        key = kernel, size
        arguments = numbers_of(kernel, size, seen.get(key, 0)) if kernel in OBJECTS else []
        seen[key] = seen.get(key, 0) + 1
        if kernel not in OBJECTS or arguments[0] > LARGEST.get(kernel, 1 << 40):
            left_out.setdefault(kernel, []).append(size)
        elif kernel in kernels and (not quick or size in QUICK[kernel]):
            yield kernel, size, arguments, row
    for kernel, sizes in left_out.items():
        why = "larger than is run here" if kernel in OBJECTS else "not known here"
        print(f"left out: {kernel} {', '.join(sizes)}: {why}", file=sys.stderr)


def measured_us(row):
    """The mean without the slowest iteration, which is often the first one by far."""
    count = int(row["iterations"])
    return 1000 * (count * float(row["avg_ms"]) - float(row["max_ms"])) / (count - 1)


def copies_of(kernel, arguments, launches):
    """Direction and bytes of each copy between host and device in an iteration."""
    size, up, down = arguments[0], *COPIES
    return {"fastwalshtransform": [(up, 4 * size)], "floydwarshall": 2 * [(up, 4 * size * size)],
            "bfs": [(up, 4 * size)] + launches * [(up, 4), (down, 4)],
            up: [(up, MB * size)], down: [(down, MB * size)]}.get(kernel, [])


def copies_us(margay, driver, copies):
    """What these copies take, one after the other."""
    us = {}
    for kind in sorted({kind for kind, _ in copies}):
        sizes = sorted({size for of, size in copies if of == kind})
        times = margay.event_times("mi300a", [driver, 1, kind, "none", *sizes])
        us.update({(kind, size): times[str(size)] for size in sizes})
    return sum(us[copy] for copy in copies)


def modelled(margay, driver, kernel, arguments, command):
    """Microseconds of an iteration and of the copies in it, and what bounds its longest launch."""
    if kernel in COPIES:
        total = copies_us(margay, driver, copies_of(kernel, arguments, 0))
        return total, total, "copy"
    launches, output = margay.times("mi300a", command, warm=True)
    behind = [launch["us_boost"] - launch["launch_us"] + min(launch["launch_us"], NEXT_LAUNCH_US)
              for launch in launches]
    alone = [launch["us_boost"] for launch in launches]
    if kernel == "bfs":  # the host waits for each launch
        total = sum(alone)
    else:
        whole = re.search(r"^launches (\d+)$", output, re.MULTILINE)
        # Launches that were not run are like those that were.
        total = sum(behind) * (int(whole[1]) / len(behind) if whole else 1) + alone[0] - behind[0]
    copies = copies_us(margay, driver, copies_of(kernel, arguments, len(launches)))
    return total + copies, copies, max(launches, key=lambda launch: launch["us_boost"])["bound"]


def groups(rows):
    """The rows of each kernel, of those that are measured without copies, and all."""
    out = [(kernel, [row for row in rows if row["kernel"] == kernel]) for kernel in OBJECTS]
    out.append((ALONE, [row for row in rows if row["kernel"] not in WITH_HOST]))
    out.append((ALL, rows))
    return [(name, group) for name, group in out if group]


def summary(rows):
    print(f"\n{'WMAPE':22} {'points':>6} {'':>10} {'>= 6 us':>8} {'min':>8} {'avg':>8} {'mean':>8}")
    for name, group in groups(rows):
        pairs = [(row["modelled_us"], row["measured_us"]) for row in group]
        long = [pair for pair in pairs if pair[1] >= 6]
        print(f"{name:22} {len(group):6} {common.wmape(pairs):9.1f}% {common.wmape(long):7.1f}% "
              f"{common.wmape((r['modelled_us'], r['measured_min_us']) for r in group):7.1f}% "
              f"{common.wmape((r['modelled_us'], r['measured_avg_us']) for r in group):7.1f}% "
              f"{common.mean_error(pairs):7.1f}%")


def main():
    parser = common.parser(__doc__)
    parser.add_argument("mgpusim", type=pathlib.Path, help="a clone of sarchlab/mgpusim")
    parser.add_argument("--kernel", action="append", choices=OBJECTS, help="only this benchmark")
    parser.add_argument("--iterations", type=int, default=1,
                        help="run each measured loop so often (default: %(default)s)")
    arguments = parser.parse_args()
    margay = common.Margay(arguments.margay, arguments.margay_option)
    driver = margay.compiled("mgpusim_driver.cpp")
    source = f"sarchlab/mgpusim {common.commit(arguments.mgpusim)}"
    objects, rows = {}, []
    print(f"{'kernel':20} {'size':26} {'min':>9} {'avg':>9} {'measured':>9} {'modelled':>9} error")
    for kernel, size, numbers, row in points(arguments.kernel or OBJECTS, arguments.quick):
        if kernel not in objects:
            objects[kernel] = ",".join(
                str(margay.linked(f"{kernel}-{n}",
                                  common.blob(arguments.mgpusim, f"amd/benchmarks/{path}")))
                for n, path in enumerate(OBJECTS[kernel])) or "none"
        total, copies, bound = modelled(
            margay, driver, kernel, numbers,
            [driver, arguments.iterations, kernel, objects[kernel], *numbers])
        measured = measured_us(row)
        shown = size + (f"_degree{numbers[1]}" if kernel == "bfs" else "")
        rows.append({
            "kernel": kernel, "size": shown, "measured_us": round(measured, 2),
            "modelled_us": round(total, 2),
            "error_percent": round(common.error(total, measured), 1),
            "copies_us": round(copies, 1), "measured_min_us": round(1000 * float(row["min_ms"]), 1),
            "measured_avg_us": round(1000 * float(row["avg_ms"]), 1),
            "bound": bound, "source": source,
        })
        last = rows[-1]
        print(f"{kernel:20} {shown:26} {last['measured_min_us']:9.1f} {last['measured_avg_us']:9.1f}"
              f" {measured:9.1f} {total:9.1f} {last['error_percent']:+6.1f}%  {bound}", flush=True)
    summary(rows)
    if arguments.write:
        common.write_table(margay, TABLE, rows)


if __name__ == "__main__":
    main()
