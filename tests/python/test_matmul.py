"""margay.matmul on the virtual device: shapes, layouts, kinds of tensors, refusals.

The values are small whole numbers, so that every sum is exact and results are compared for equality.
"""

import ctypes
import dataclasses
import struct

import numpy as np
import pytest
from conftest import needs_margay
from margay import arrays, hip, kernels

import margay

pytestmark = needs_margay
RANDOM = np.random.default_rng(0)


def numbers(*shape):
    return RANDOM.integers(-8, 9, shape).astype(np.float32)


def bf16(values):
    return margay.to_bfloat16(values)


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize(
    "m, n, k",
    [(256, 256, 64), (264, 520, 136), (300, 77, 33), (1, 1, 1), (1, 300, 8), (257, 1, 7), (3, 5, 0)],
)
def test_any_shape(m, n, k, transpose_b):
    a, b = numbers(m, k), numbers(n, k) if transpose_b else numbers(k, n)
    c = margay.matmul(bf16(a), bf16(b), transpose_b=transpose_b)
    assert type(c) is np.ndarray and c.dtype == np.float32
    assert np.array_equal(c, a @ (b.T if transpose_b else b))


def test_no_elements():
    for m, n in ((0, 5), (5, 0)):
        assert margay.matmul(bf16(numbers(m, 4)), bf16(numbers(4, n))).shape == (m, n)


@pytest.mark.parametrize("level", range(1, 14))
def test_levels_of_the_ladder(level, monkeypatch):
    launched = []
    monkeypatch.setattr(hip, "launch", lambda *all, run=hip.launch: (launched.append(all[1]), run(*all)))
    # A sum of several steps along k, several blocks, and whole numbers that are exact.
    a, b = numbers(2, 256, 128), numbers(128, 512)
    c = margay.matmul(bf16(a), bf16(b), level=level)
    assert c.dtype == np.float32 and np.array_equal(c, a @ b)
    stored = numbers(512, 128)
    c = margay.matmul(bf16(a[0]), bf16(stored), transpose_b=True, level=level)
    assert np.array_equal(c, a[0] @ stored.T)
    kernel = "gemm_bf16_n" if level == 13 else f"gemm_level{level:02}"
    assert len(launched) == 2 and all(name.startswith(kernel) for name in launched)


def test_levels_take_views_and_batches():
    a, b = numbers(3, 256, 130), numbers(3, 64, 256)
    out = np.full((3, 256, 256), np.nan, np.float32)
    for level in (1, 3):
        result = margay.matmul(bf16(a)[..., 1:65], bf16(b), level=level, out=out)
        assert result is out and np.array_equal(out, a[..., 1:65] @ b)


def test_levels_refuse_in_words():
    a, b = bf16(numbers(256, 64)), bf16(numbers(64, 256))
    unaligned = np.zeros(256 * 256 + 4, np.float32)
    unaligned = unaligned[(-unaligned.ctypes.data // 4) % 4 + 1 :][: 256 * 256].reshape(256, 256)
    for left, named, sentence in [
        (a, {"level": 14}, "level: expected 1 to 13, got 14"),
        (a, {"level": 0}, "level: expected 1 to 13, got 0"),
        (a[:100], {"level": 3}, "level 3 needs m in multiples of 128, up to 1048576; m is 100"),
        (a[:128], {"level": 12}, "level 12 needs m in multiples of 256"),
        (a, {"level": 2, "alpha": 2}, "level 2 makes float32 results, without alpha and beta"),
        (a, {"level": 2, "out_dtype": "bfloat16"}, "level 2 makes float32 results"),
        (a, {"level": 2, "out": unaligned}, "out: level 2 needs it without gaps and on 16 bytes"),
        (a, {"level": 2, "out": np.zeros((256, 300), np.float32)[:, :256]}, "out: level 2 needs it"),
    ]:
        with pytest.raises(ValueError) as error:
            margay.matmul(left, b, **named)
        assert sentence in str(error.value)


def test_views_are_read_where_they_lie(monkeypatch):
    def refuse(view):
        raise AssertionError(f"{view.name} was copied")

    monkeypatch.setattr(arrays, "contiguous", refuse)
    a, b = numbers(40, 100), numbers(60, 100)
    whole_a, whole_b = bf16(a), bf16(b)
    c = margay.matmul(whole_a[3:37, 8:72], whole_b[:, 8:72].T)
    assert np.array_equal(c, a[3:37, 8:72] @ b[:, 8:72].T)
    c = margay.matmul(whole_a[0, :60][None], whole_b)  # the stride of the one row is 0
    assert np.array_equal(c, a[:1, :60] @ b)
    c = margay.matmul(whole_a[:, 1:61], whole_b)  # 2 bytes off: the kernel for any alignment
    assert np.array_equal(c, a[:, 1:61] @ b)


def test_views_that_have_to_be_copied():
    a, b = numbers(40, 60), numbers(60, 50)
    c = margay.matmul(bf16(a)[::-1, ::2], bf16(b)[::2, ::-2])
    assert np.array_equal(c, a[::-1, ::2] @ b[::2, ::-2])
    c = margay.matmul(bf16(a).T, bf16(b)[:40])
    assert np.array_equal(c, a.T @ b[:40])
    c = margay.matmul(bf16(a)[::-1], bf16(b))
    assert np.array_equal(c, a[::-1] @ b)
    windows = np.lib.stride_tricks.sliding_window_view
    c = margay.matmul(margay.bfloat16(windows(bf16(a[0]).bits, 20)), bf16(b)[:20])
    assert np.array_equal(c, windows(a[0], 20) @ b[:20])
    row = margay.bfloat16(np.broadcast_to(bf16(b[:1]).bits, (60, 50)))
    assert np.array_equal(margay.matmul(bf16(a), row), a @ np.broadcast_to(b[:1], (60, 50)))


@pytest.mark.parametrize(
    "shape_a, shape_b",
    [
        ((3, 20, 24), (24, 10)),
        ((3, 20, 24), (3, 24, 10)),
        ((2, 1, 20, 24), (3, 24, 10)),
        ((20, 24), (2, 3, 24, 10)),
        ((0, 20, 24), (24, 10)),
    ],
)
def test_leading_dimensions(shape_a, shape_b):
    a, b = numbers(*shape_a), numbers(*shape_b)
    assert np.array_equal(margay.matmul(bf16(a), bf16(b)), a @ b)


def test_one_b_for_all_is_one_launch(monkeypatch):
    launched = []
    launch = hip.launch
    monkeypatch.setattr(hip, "launch", lambda *values: (launched.append(values), launch(*values)))
    margay.matmul(bf16(numbers(4, 5, 16)), bf16(numbers(16, 8)))
    assert len(launched) == 1
    margay.matmul(bf16(numbers(4, 5, 16)), bf16(numbers(4, 16, 8)))
    assert len(launched) == 5


def test_alpha_beta_and_out():
    a, b, old = numbers(70, 32), numbers(32, 90), numbers(70, 90)
    out = old.copy()
    assert margay.matmul(bf16(a), bf16(b), out=out, alpha=0.5, beta=-2) is out
    assert np.array_equal(out, 0.5 * (a @ b) - 2 * old)
    frame = np.full((72, 100), 7, np.float32)
    margay.matmul(bf16(a), bf16(b), out=frame[1:71, 5:95])
    assert np.array_equal(frame[1:71, 5:95], a @ b)
    frame[1:71, 5:95] = 7
    assert (frame == 7).all()


def test_bfloat16_result():
    a, b = numbers(64, 300), numbers(300, 64)
    expected = bf16(a @ b)
    assert (expected.float() != a @ b).any()  # rounding is seen
    c = margay.matmul(bf16(a), bf16(b), out_dtype="bfloat16")
    assert isinstance(c, margay.Bfloat16Array) and np.array_equal(c.bits, expected.bits)
    out = bf16(np.zeros((64, 64)))
    margay.matmul(bf16(a), bf16(b), out=out)
    assert np.array_equal(out.bits, expected.bits)


def test_torch():
    torch = pytest.importorskip("torch")
    a, b = numbers(50, 40), numbers(40, 30)
    given = [torch.from_numpy(x).to(torch.bfloat16) for x in (a, b)]
    c = margay.matmul(*given)
    assert isinstance(c, torch.Tensor) and c.dtype == torch.float32
    assert np.array_equal(c.numpy(), a @ b)
    half = margay.matmul(*given, out_dtype=torch.bfloat16)
    assert half.dtype == torch.bfloat16 and torch.equal(half, c.to(torch.bfloat16))
    c = margay.matmul(given[1].t()[:, ::2], given[0].t()[::2, 1::2])
    assert np.array_equal(c.numpy(), b.T[:, ::2] @ a.T[::2, 1::2])
    with pytest.raises(TypeError, match=r"a: expected dtype bfloat16, got float32 \(a.to\(torch.bfl"):
        margay.matmul(torch.zeros(2, 2), given[1])


def test_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = numbers(50, 40), numbers(40, 30)
    given = [x.astype(ml_dtypes.bfloat16) for x in (a, b)]
    assert np.array_equal(margay.matmul(*given), a @ b)
    half = margay.matmul(*given, out_dtype=ml_dtypes.bfloat16)
    assert half.dtype == ml_dtypes.bfloat16
    assert np.array_equal(half, (a @ b).astype(ml_dtypes.bfloat16))


A, B = bf16(numbers(4, 8)), bf16(numbers(8, 6))


@pytest.mark.parametrize(
    "arguments, error, sentence",
    [
        ({"b": bf16(numbers(7, 6))}, ValueError, r"a and b do not fit: a has k = 8 .* b has k = 7 along dimension -2"),
        ({"transpose_b": True}, ValueError, r"b has k = 6 along dimension -1 \(shape \(8, 6\)\)"),
        ({"a": A[0]}, ValueError, r"a: expected at least 2 dimensions, got shape \(8,\)"),
        ({"a": bf16(numbers(2, 4, 8)), "b": bf16(numbers(3, 8, 6))}, ValueError, r"leading dimensions \(2,\) and \(3,\)"),
        ({"a": A.float()}, TypeError, r"a: expected dtype bfloat16, got float32 \(margay.to_bfloat16 rounds\)"),
        ({"b": B.bits}, TypeError, r"b: expected dtype bfloat16, got uint16 \(margay.bfloat16\(...\) declares"),
        ({"a": [[1.0]]}, TypeError, "a: expected a torch.Tensor, .* got list"),
        ({"beta": 1}, ValueError, "beta: needs out"),
        ({"out_dtype": "float16"}, TypeError, "out_dtype: expected float32 or bfloat16, got float16"),
        ({"out": np.zeros((4, 5), np.float32)}, ValueError, r"out: expected shape \(4, 6\), got \(4, 5\)"),
        ({"out": np.zeros((4, 6))}, TypeError, "out: expected dtype float32 or bfloat16, got float64"),
        ({"out": np.zeros((4, 6), np.float32), "out_dtype": "bfloat16"}, TypeError, "out: expected dtype bfloat16, got float32"),
        ({"out": np.zeros((6, 4), np.float32).T}, ValueError, "out: the elements of a row must follow"),
        ({"out": np.broadcast_to(np.float32(0), (4, 6))}, ValueError, "out: is read-only"),
    ],
)  # fmt: skip
def test_refused(arguments, error, sentence):
    with pytest.raises(error, match=sentence):
        margay.matmul(**{"a": A, "b": B, **arguments})


def test_out_may_not_overlap():
    memory = np.zeros(1000, np.uint16)
    a = margay.bfloat16(memory[:64].reshape(8, 8))
    out = memory[32:160].view(np.float32).reshape(8, 8)
    with pytest.raises(ValueError, match="out: its memory overlaps that of a"):
        margay.matmul(a, bf16(numbers(8, 8)), out=out)


def test_a_failing_launch_raises(monkeypatch):
    plan = kernels.plan
    too_large = lambda *problem, **named: dataclasses.replace(plan(*problem, **named), block=(2048, 1, 1))  # noqa: E731
    monkeypatch.setattr(kernels, "plan", too_large)
    with pytest.raises(RuntimeError, match="gemm_bf16_nn_f32: hipErrorInvalidValue: "):
        margay.matmul(A, bf16(numbers(8, 8)))
    monkeypatch.undo()
    assert margay.matmul(A, bf16(numbers(8, 8))).shape == (4, 8)


@pytest.mark.parametrize("shape_a", [(70, 40), (2, 2, 70, 40)])
def test_under_the_checker(shape_a):
    a, b = bf16(numbers(*shape_a)), bf16(numbers(40, 30))
    with margay.check() as report:
        margay.matmul(a, b)
        margay.matmul(a[..., :-9, 8:], b[8:, 2:])
    assert report.launches and not report.errors


def map_page(address):
    """Maps one page of the process there, unless something is there already."""
    mmap = ctypes.CDLL(None).mmap
    mmap.restype = ctypes.c_void_p
    mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    read_write, private_anonymous_noreplace = 3, 0x100022
    assert mmap(address, 4096, read_write, private_anonymous_noreplace, -1, 0) is not None


@pytest.mark.parametrize("extent, roles", [("m", {"read", "write"}), ("k", {"read"})])
def test_the_checker_knows_where_the_tensors_end(extent, roles, monkeypatch):
    """A kernel that is told too large an extent touches memory that is the process's, not the tensor's."""
    map_page(0x3F800000)  # the arguments alpha and beta, 1.0f and 0, are not a pointer to this
    a, b, out = bf16(numbers(80, 64)), bf16(numbers(80, 64)), np.zeros((80, 64), np.float32)
    plan = kernels.plan

    def with_another_extent(*problem, **named):
        launch = plan(*problem, **named)
        values = bytearray(launch.arguments)
        struct.pack_into("<i", values, {"m": 24, "k": 32}[extent], 72)  # kernels/gemm/plan.h: Arguments
        return dataclasses.replace(launch, arguments=bytes(values))

    monkeypatch.setattr(kernels, "plan", with_another_extent)
    with margay.check(raise_on_error=False, tools="memcheck") as report:
        margay.matmul(a[:64], b[:64], out=out[:64])
    assert {error.accesses[0].role for error in report.errors} == roles, report
    assert "past the end of a tensor of 1 x 1 x 64 x 64 elements" in str(report)
