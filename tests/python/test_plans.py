"""What the package asks of the kernels' plans: its tensors' addresses and extents arrive in the launches.

The plans themselves are tested in tests/unit/kernels and tests/tiles.
"""

import struct

import numpy as np
import pytest
from conftest import needs_margay
from margay import arrays, gemm, hip, kernels

import margay

pytestmark = needs_margay


@pytest.fixture
def launches(monkeypatch):
    """Instead of launching, notes what would be."""
    noted = []
    monkeypatch.setattr(kernels.Launch, "run", lambda launch: noted.append(launch))
    monkeypatch.setattr(hip, "describe", lambda view: None)
    return noted


def zeros(*shape):
    return margay.bfloat16(np.zeros(shape, np.uint16))


def address(tensor):
    return arrays.view("x", tensor).address


def tensors(launch, count):
    """The first parameters, (batch, depth, rows, cols, address) each, and what follows them."""
    each = [struct.unpack_from("<4iQ", launch.arguments, 24 * i) for i in range(count)]
    return each, launch.arguments[24 * count :]


def heads_first(tensor):
    return (*tensor.shape, address(tensor))


@pytest.mark.parametrize("causal, dim", [(False, 64), (True, 128)])
def test_attention(launches, causal, dim):
    q, k, v = zeros(2, 6, 129, dim), zeros(2, 3, 65, dim), zeros(2, 3, 65, dim)
    out, lse = margay.attention(q, k, v, causal=causal, scale=0.25, return_lse=True)
    [launch] = launches
    assert launch.symbol == f"attention_bf16_d{dim}{'_causal' if causal else ''}"
    assert (launch.grid, launch.block, launch.dynamic_lds) == ((2 * 6 * 2, 1, 1), (256, 1, 1), 0)
    given, rest = tensors(launch, 5)
    assert given == [*map(heads_first, (q, k, v, out)), (2, 6, 1, 129, address(lse))]
    assert struct.unpack_from("<f", rest) == (0.25,)
    margay.attention(q, k, v, scale=1e-60)
    assert struct.unpack_from("<f", tensors(launches.pop(), 5)[1]) == (2.0**-149,)
    margay.attention(q, k, v)
    given, rest = tensors(launches[1], 5)
    assert given[4][4] == 0 and struct.unpack_from("<f", rest) == (np.float32(1 / np.sqrt(dim)),)


def test_attention_takes_each_tensor_in_its_order(launches):
    turned = lambda *shape: margay.bfloat16(np.zeros(shape, np.uint16).transpose(0, 2, 1, 3))  # noqa: E731
    q, k, v = turned(2, 40, 4, 64), zeros(2, 2, 50, 64), turned(2, 50, 2, 64)
    out = margay.attention(q, k, v)
    given, _ = tensors(launches[0], 5)
    assert given[:4] == [
        (2, 1, 40, 4 * 64, address(q)),
        heads_first(k),
        (2, 1, 50, 2 * 64, address(v)),
        heads_first(out),
    ]


@pytest.mark.parametrize("position", [0, 5])
def test_rotary(launches, position):
    x, cos, sin = zeros(2, 9, 65, 128), zeros(70, 64), zeros(71, 64)
    out = margay.rotary(x, cos, sin, position=position)
    [launch] = launches
    assert (launch.symbol, launch.grid, launch.block) == ("rotary_bf16_d128", (2, 2, 2), (256, 1, 1))
    given, rest = tensors(launch, 4)
    rows = [(1, 1, 65, 64, address(table) + position * 64 * 2) for table in (cos, sin)]
    assert given == [heads_first(x), *rows, heads_first(out)] and not rest
    with pytest.raises(ValueError, match="cos: only 70 positions; x needs those from 6 to 70"):
        margay.rotary(x, cos, sin, position=6)
    with pytest.raises(ValueError, match="sin: only 70 positions; x needs those from 6 to 70"):
        margay.rotary(x, sin, cos, position=6)


@pytest.mark.parametrize("dtype", ["bf16", "f32"])
@pytest.mark.parametrize(
    "cols, size, workgroups, threads", [(1024, "1024", 2, 256), (1025, "4096", 5, 256), (4097, "long", 5, 512)]
)
def test_softmax(launches, dtype, cols, size, workgroups, threads):
    x = zeros(5, cols) if dtype == "bf16" else np.zeros((5, cols), np.float32)
    y = margay.softmax(x)
    [launch] = launches
    assert (launch.symbol, launch.grid) == (f"softmax_{dtype}_{size}", (workgroups, 1, 1))
    assert launch.block == (threads, 1, 1) and launch.code_object == "softmax.hsaco"
    assert tensors(launch, 2)[0] == [(1, 1, 5, cols, address(x)), (1, 1, 5, cols, address(y))]


def test_layernorm(launches):
    x, residual, weight, bias = zeros(2, 3, 1500), zeros(2, 3, 1500), zeros(1500), zeros(1500)
    y, total = margay.layernorm(x, weight, bias, residual=residual, eps=0.5, return_sum=True)
    margay.layernorm(x)
    for launch in launches:
        assert (launch.symbol, launch.grid) == ("layernorm_bf16_2048", (6, 1, 1))
        assert launch.block == (128, 1, 1)
    given, rest = tensors(launches[0], 6)
    wanted = [(6, x), (6, residual), (1, weight), (1, bias), (6, y), (6, total)]
    assert given == [(1, 1, rows, 1500, address(tensor)) for rows, tensor in wanted]
    assert struct.unpack_from("<f", rest) == (0.5,)
    given, rest = tensors(launches[1], 6)
    assert [tensor[4] != 0 for tensor in given] == [True, False, False, False, True, False]
    assert struct.unpack_from("<f", rest) == (np.float32(1e-5),)


GEMM = "<3Q3i4x3q2f"  # kernels/gemm/plan.h: Arguments


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("out_dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("k", [64, 63])
def test_matmul(launches, transpose_b, out_dtype, k):
    a, b = zeros(300, k), zeros(40, k) if transpose_b else zeros(k, 40)
    c = margay.matmul(a, b, transpose_b=transpose_b, out_dtype=out_dtype, alpha=0.5)
    [launch] = launches
    names = ("nt" if transpose_b else "nn", "f32" if out_dtype == "float32" else "bf16")
    assert launch.symbol == f"gemm_bf16_{'_'.join(names)}{'_unaligned' if k == 63 else ''}"
    assert (launch.grid, launch.block) == ((2, 1, 1), (512, 1, 1))
    assert struct.unpack(GEMM, launch.arguments) == (
        *map(address, (a, b, c)), 300, 40, k, k, k if transpose_b else 40, 40, 0.5, 0,
    )  # fmt: skip


def test_every_gemm_kernel_can_be_asked_for(launches):
    for k in (64, 63):
        for transpose_b in (False, True):
            for out_dtype in ("float32", "bfloat16"):
                b = zeros(256, k) if transpose_b else zeros(k, 256)
                margay.matmul(zeros(256, k), b, transpose_b=transpose_b, out_dtype=out_dtype)
    for level in kernels.levels():
        margay.matmul(zeros(256, 64), zeros(64, 256), level=level)
    assert {launch.symbol for launch in launches} == set(kernels.symbols("gemm"))


def test_what_has_no_elements_launches_nothing(launches):
    assert margay.matmul(zeros(0, 4), zeros(4, 3)).shape == (0, 3)
    assert margay.softmax(zeros(3, 0)).shape == (3, 0)
    assert margay.layernorm(zeros(0, 3)).shape == (0, 3)
    assert margay.attention(*[zeros(1, 0, 5, 64)] * 3).shape == (1, 0, 5, 64)
    assert margay.rotary(zeros(1, 2, 0, 64), zeros(0, 32), zeros(0, 32)).shape == (1, 2, 0, 64)
    assert not launches


def test_a_strided_out_is_called_out():
    out = np.zeros(200, np.uint8)[1:][:96].view(np.float32).reshape(4, 6)
    with pytest.raises(ValueError, match="^out: its memory is not aligned to its elements$"):
        margay.matmul(zeros(4, 8), zeros(8, 6), out=out)


def test_limits_are_refused_before_anything_is_copied(launches, monkeypatch):
    monkeypatch.setattr(arrays, "copied", None)
    wide = np.broadcast_to(np.uint16(0), (67108861, 1))
    with pytest.raises(ValueError, match="x: its 67108861 rows are too many for one launch"):
        margay.softmax(margay.bfloat16(wide))
    with pytest.raises(ValueError, match="x: its 67108861 rows are too many for one launch"):
        margay.layernorm(margay.bfloat16(wide))
    with pytest.raises(ValueError, match="x: its rows have 1073709056 elements; the kernel's limit is 1073709055"):
        margay.softmax(zeros(0, 0x3FFFFFFF - 32767))
    assert not launches


def test_fields_are_those_of_the_problem():
    with pytest.raises(ValueError, match="softmax has no field row; it has x, y, rows, cols, type"):
        kernels.check("softmax", {"row": 3})
    with pytest.raises(ValueError, match="no such operation: relu; there are gemm, attention"):
        kernels.plan("relu", {})
    with pytest.raises(TypeError):
        kernels.check("softmax", {"rows": 1.5j})


def test_a_library_of_another_version_is_refused(monkeypatch):
    kernels._library.cache_clear()
    monkeypatch.setattr(kernels, "_VERSION", 7)
    with pytest.raises(margay.LibraryError, match="kernels.so has interface 1, this package needs 7"):
        margay.softmax(zeros(2, 2))
    monkeypatch.undo()
    assert margay.softmax(zeros(2, 0)).shape == (2, 0)


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
    for launch in launches:  # of both the first four arguments are tensors
        assert all(each[4] and each[4] % 16 == 0 for each in tensors(launch, 4)[0])
    assert len(launches) == 2
    assert gemm._dense(arrays.view("x", x)).address % 16 == 0  # pylint: disable=protected-access
