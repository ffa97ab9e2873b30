"""What the package launches is what the kernels' own headers, kernels/*/plan.h, plan for the same problem."""

import ctypes
import itertools
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
from conftest import ROOT
from margay import arrays, gemm, hip, kernels, ladder

import margay

# Reads the fields of a Problem by their order, one problem a line; addresses as numbers.
HEAD = r"""
#include <cstdio>
#include <cstring>
#include <iostream>
#include "plan.h"
template <typename T>
void read(T& field) {
  long value;
  std::cin >> value;
  if constexpr (std::is_pointer_v<T>) field = reinterpret_cast<T>(value);
  else field = static_cast<T>(value);
}
template <typename P>
void print(const P& p, unsigned y, unsigned z, size_t size) {
  if (p.refusal) return (void)puts("refused");
  if (p.grid_x == 0) return (void)puts("nothing");
  printf("%s %u %u %u %u %u ", p.kernel, p.grid_x, y, z, p.block_x, p.dynamic_lds);
  for (size_t i = 0; i < size; ++i) printf("%02x", reinterpret_cast<const unsigned char*>(&p.arguments)[i]);
  puts("");
}
"""
PROGRAM = (
    "int main() {{ for (; std::cin >> std::ws, !std::cin.eof();) {{ {space}::Problem p; {reads}"
    "const auto plan = {space}::plan(p); print(plan, {y}, {z}, {size}); }} }}"
)
FIELDS = {
    "attention": "q k v o lse batch heads kv_heads q_len kv_len dim causal",
    "rotary": "x cos sin y batch heads length dim table_rows position",
    "softmax": "x y rows cols type",
    "layernorm": "x residual weight bias y sum rows cols",
}
USED = {"attention": 124, "layernorm": 148}  # bytes of Arguments without the padding at the end


def planned(kernel, problems, folder):
    """The plans of plan.h, as a line each."""
    source, program = folder / f"{kernel}.cpp", folder / kernel
    space = f"margay_{kernel}"
    reads = "".join(f"read(p.{field}); " for field in FIELDS[kernel].split())
    if kernel == "attention":
        reads += f"p.scale = 0.25f; p.layout = {space}::Layout::kBatchHeadsSequence; "
    if kernel == "rotary":
        reads += f"p.layout = {space}::Layout::kBatchHeadsSequence; "
    y, z = ("plan.grid_y", "plan.grid_z") if kernel == "rotary" else ("1", "1")
    size = USED.get(kernel, f"sizeof({space}::Arguments)")
    source.write_text(HEAD + PROGRAM.format(space=space, reads=reads, y=y, z=z, size=size))
    compiler = next(filter(shutil.which, ["clang++-19", "g++", "c++"]))
    include = f"-I{pathlib.Path(ROOT) / 'kernels' / kernel}"
    subprocess.run([compiler, "-std=c++17", "-w", include, "-o", program, source], check=True)
    lines = "".join(" ".join(str(int(value)) for value in problem) + "\n" for problem in problems)
    done = subprocess.run([program], input=lines, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.fixture
def launches(monkeypatch):
    """Instead of launching, notes what would be."""
    noted = []

    def launch(self, grid, values):
        size = USED.get(self.symbol.split("_")[0], ctypes.sizeof(values))
        numbers = (*grid, self.block[0], self.dynamic_lds)
        noted.append(f"{self.symbol} {' '.join(map(str, numbers))} {bytes(values)[:size].hex()}")

    monkeypatch.setattr(kernels.Kernel, "launch", launch)
    monkeypatch.setattr(hip, "describe", lambda view: None)
    return noted


def outcome(launches, call):
    """(the launch as a line, or "nothing" or "refused"; the result)"""
    launches.clear()
    try:
        result = call()
    except ValueError:
        return "refused", None
    return (launches[0] if launches else "nothing"), result


def zeros(*shape):
    return margay.bfloat16(np.zeros(shape, np.uint16))


def address(tensor):
    return 0 if tensor is None else arrays.view("x", tensor).address


def compare(kernel, launches, cases, tmp_path):
    """Each case is a call, and from its result the fields of the problem in the header's order."""
    ours, problems = [], []
    for call, problem in cases:
        line, result = outcome(launches, call)
        ours.append(line)
        problems.append(problem(result))
    theirs = planned(kernel, problems, tmp_path)
    for number, (our, their) in enumerate(zip(ours, theirs, strict=True)):
        assert our == their, problems[number]
    kinds = {line.split()[0] for line in ours}
    family = {name for name in kernels.KERNELS if name.startswith(kernel)}
    assert kinds >= {"refused", "nothing", *family}


def test_softmax(launches, tmp_path):
    def case(rows, cols, dtype):
        x = np.zeros((rows, cols), dtype)
        x = margay.bfloat16(x) if dtype is np.uint16 else x
        return lambda: margay.softmax(x), lambda y: (
            address(x), 4096 if y is None else address(y), rows, cols, dtype is np.float32,
        )  # fmt: skip

    sizes = [(1, 1), (5, 1024), (4, 1025), (3, 4096), (2, 4097), (0, 3), (3, 0), (0, 2**30)]
    wide = [(0, 0x3FFFFFFF - 32768), (0, 0x3FFFFFFF - 32767)]
    cases = [case(*size, dtype) for size in [*sizes, *wide] for dtype in (np.uint16, np.float32)]
    cases.append(case(67108861, 1, np.uint16))
    compare("softmax", launches, cases, tmp_path)


def test_layernorm(launches, tmp_path):
    def case(rows, cols, optional):
        x, weight, bias, residual = zeros(rows, cols), zeros(cols), zeros(cols), zeros(rows, cols)
        named = {"weight": weight, "bias": bias, "residual": residual} if optional else {}

        def problem(result):
            y, total = result or (None, None)
            others = [address(each) if optional else 0 for each in (residual, weight, bias)]
            out = 4096 if y is None else address(y)
            return (address(x), *others, out, address(total), rows, cols)

        return lambda: margay.layernorm(x, return_sum=True, **named), problem

    sizes = [(1, 1), (5, 1024), (4, 1025), (3, 4096), (2, 4097), (2, 8192), (2, 8193), (0, 3), (3, 0)]
    cases = [case(*size, optional) for size in sizes for optional in (False, True)]
    cases += [case(8388608, 1, False), case(8388607, 1, False)]
    compare("layernorm", launches, cases, tmp_path)


def test_attention(launches, tmp_path):
    def case(batch, heads, kv_heads, q_len, kv_len, dim, causal, want_lse):
        q, k = zeros(batch, heads, q_len, dim), zeros(batch, kv_heads, kv_len, dim)
        call = lambda: margay.attention(q, k, k, causal=causal, scale=0.25, return_lse=want_lse)  # noqa: E731

        def problem(result):
            out, lse = result if want_lse and result else (result, None)
            o = 4096 if out is None else address(out)
            sizes = (batch, heads, kv_heads, q_len, kv_len, dim)
            return (address(q), address(k), address(k), o, address(lse), *sizes, causal)

        return call, problem

    cases = [
        case(batch, heads, kv_heads, q_len, kv_len, dim, causal, causal == (dim == 64))
        for batch, heads, kv_heads in [(1, 1, 1), (2, 6, 3), (2, 3, 2), (2, 3, 0), (0, 2, 2), (1, 0, 0)]
        for q_len, kv_len in [(1, 1), (128, 64), (129, 65), (0, 5), (5, 0)]
        for dim in (64, 128, 96)
        for causal in (False, True)
    ]
    cases += [case(1, heads, heads, 1, 1, 64, False, False) for heads in (131072, 131073)]
    cases += [case(0, 1, 1, length, 1, 64, False, False) for length in (2**31 - 129, 2**31 - 128)]
    compare("attention", launches, cases, tmp_path)


def test_rotary(launches, tmp_path):
    def case(batch, heads, length, dim, positions, position):
        x, cos, sin = zeros(batch, heads, length, dim), *(zeros(positions, dim // 2) for _ in range(2))
        return lambda: margay.rotary(x, cos, sin, position=position), lambda y: (
            address(x), address(cos), address(sin), 4096 if y is None else address(y),
            batch, heads, length, dim, positions, position,
        )  # fmt: skip

    cases = [
        case(batch, heads, length, dim, positions, position)
        for batch, heads in [(1, 1), (2, 8), (3, 9), (1, 17)]
        for length in (1, 64, 65)
        for dim in (64, 128, 96)
        for positions, position in [(65, 0), (70, 5), (70, 6), (70, 70), (70, -1)]
    ]
    empty = [(0, 2, 5), (2, 0, 5), (2, 2, 0)]
    cases += [case(*sizes, 64, 5, 0) for sizes in empty]
    cases += [case(1, heads, 1, 64, 1, 0) for heads in (262144, 262145)]
    cases += [case(batch, 1, 1, 64, 1, 0) for batch in (65535, 65536)]
    compare("rotary", launches, cases, tmp_path)


def unaligned(library):
    """(1, 2, 8, 64) without gaps, two bytes behind a multiple of 16."""
    memory = np.zeros(1024 + 16, np.int16)
    first = (-memory.ctypes.data // 2) % 8 + 1
    if library == "torch":
        torch = pytest.importorskip("torch")
        return torch.from_numpy(memory)[first:][:1024].view(torch.bfloat16).view(1, 2, 8, 64)
    return margay.bfloat16(memory.view(np.uint16)[first:][:1024].reshape(1, 2, 8, 64))


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_what_is_not_on_16_bytes_is_copied(launches, library):
    x = unaligned(library)
    assert address(x) % 16 == 2
    margay.attention(x, x, x)
    margay.rotary(x, zeros(8, 32), zeros(8, 32))
    for line in launches:  # of both the first four arguments are tensors
        values = bytes.fromhex(line.split()[-1])
        addresses = [int.from_bytes(values[24 * i + 16 : 24 * i + 24], "little") for i in range(4)]
        assert all(each and each % 16 == 0 for each in addresses)
    assert len(launches) == 2
    assert ladder.dense(arrays.view("x", x)).address % 16 == 0


LADDER = r"""
#include <cstdio>
#include <iostream>
#include "ladder.h"
int main() {
  using namespace margay_gemm::ladder;
  for (long number, a, b, c, m, n, k; std::cin >> number >> a >> b >> c >> m >> n >> k;) {
    const Level* const level = find(number);
    const Plan p = plan(*level, {(void*)a, (void*)b, (void*)c, m, n, k});
    if (!p.refusal.empty()) { puts(p.refusal.c_str()); continue; }
    printf("%s %u %u 1 %u 0 ", level->kernel, p.grid_x, p.grid_y, level->threads);
    for (size_t i = 0; i < sizeof p.arguments; ++i) printf("%02x", ((const unsigned char*)&p.arguments)[i]);
    puts(level->transpose_b ? " nt" : " nn");
  }
}
"""


def test_ladder(launches, tmp_path):
    source, program = tmp_path / "ladder.cpp", tmp_path / "ladder"
    source.write_text(LADDER)
    compiler = next(filter(shutil.which, ["clang++-19", "g++", "c++"]))
    include = f"-I{pathlib.Path(ROOT) / 'kernels' / 'gemm'}"
    subprocess.run([compiler, "-std=c++17", "-w", include, "-o", program, source], check=True)
    ours, lines = [], []
    values = (64, 128, 256, 512, 384, 96, 32, 0, 1 << 20, (1 << 20) + 256)
    for number, level in ladder._LEVELS.items():
        for m, n, k in itertools.product(values, values, values):
            matrices = gemm.Problem(4096, 8192, 65536, m, n, k, k, k, n, level.transpose_b, "float32")
            problem = ladder.Problem(level, matrices)
            launches.clear()
            try:
                problem.check()
                problem.launch()
                ours.append(launches[0] + (" nt" if level.transpose_b else " nn"))
            except ValueError as error:
                ours.append(str(error).replace("the result has", "C has"))
            lines.append(f"{number} 4096 8192 65536 {m} {n} {k}\n")
    done = subprocess.run([program], input="".join(lines), capture_output=True, text=True, check=True)
    for line, our, their in zip(lines, ours, done.stdout.splitlines(), strict=True):
        assert our == their, line
    assert len({line.split()[0] for line in ours if line.startswith("gemm")}) == 12
    assert any("too many blocks" in line for line in ours)
