"""margay.compare_with_reference: its figures, against slow reckonings, and its report."""

import numpy as np
import pytest

import margay

RANDOM = np.random.default_rng(0)


def compare(result, expected, **options):
    return margay.compare_with_reference(lambda: result, (), expected, file=False, **options)


def test_no_error():
    values = RANDOM.standard_normal((128, 96))
    found = compare(values, values.copy())
    assert found.ok and found.max_error == found.mean_error == 0
    assert (found.tiles, found.wrong_tiles, found.elements) == (4, 0, 128 * 96)
    assert [(t.row, t.column, t.rows, t.columns) for t in found.diagonal] == [(0, 0, 64, 64), (64, 64, 64, 32)]


@pytest.mark.parametrize("shape, tile", [((100, 70), (16, 32)), ((3, 40, 50), (16, 16)), ((70,), (1, 8)), ((), (4, 4))])
def test_figures(shape, tile):
    expected = RANDOM.standard_normal(shape)
    result = expected + np.where(RANDOM.random(shape) < 0.02, RANDOM.standard_normal(shape), 1e-3)
    if not shape:
        result = np.float64(expected + 0.5)
    found = compare(result, expected, tile=tile, threshold=0.25)
    error = np.abs(result - expected)
    assert found.max_error == pytest.approx(error.max()) and found.mean_error == pytest.approx(error.mean())
    assert error[found.worst] == error.max()
    assert found.large_errors == (error > 0.25).sum() and not found.ok
    matrices = error.reshape(-1, *(1, 1, *shape)[-2:])
    tiles = [
        (m[i : i + tile[0], j : j + tile[1]] > 0.25).any()
        for m in matrices
        for i in range(0, m.shape[0], tile[0])
        for j in range(0, m.shape[1], tile[1])
    ]
    assert (found.tiles, found.wrong_tiles) == (len(tiles), sum(tiles))
    for place, part in enumerate(found.diagonal):
        i, j = place * tile[0], place * tile[1]
        block = matrices[0][i : i + tile[0], j : j + tile[1]]
        assert (part.row, part.column, part.rows, part.columns) == (i, j, *block.shape)
        assert part.max_error == pytest.approx(block.max()) and part.mean_error == pytest.approx(block.mean())
        assert part.large_errors == (block > 0.25).sum()
    assert len(found.diagonal) == min(-(-n // t) for n, t in zip(matrices[0].shape, tile))


def test_what_is_not_a_number_is_a_large_error():
    expected = np.zeros((4, 4), np.float32)
    expected[0, :2] = np.nan, np.inf
    result = expected.copy()
    assert compare(result, expected).ok
    result[1] = np.nan, np.inf, -np.inf, 0
    found = compare(result, expected)
    assert (found.large_errors, found.max_error, found.worst) == (3, np.inf, (1, 0))
    result[0, :2] = 0, -np.inf
    assert compare(result, expected).large_errors == 5


def test_unsigned_and_empty():
    assert compare(np.zeros(3, np.uint8), np.full(3, 2, np.uint8)).max_error == 2
    found = compare(np.zeros((0, 5)), np.zeros((0, 5)))
    assert found.ok and found.elements == 0 and found.diagonal == []


def test_result_is_returned_or_written():
    a, out = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
    assert margay.compare_with_reference(lambda a: 2 * a, (a,), lambda a: a + a, file=False).ok
    write = lambda a, out: out.__setitem__(..., 2 * a)  # noqa: E731
    assert margay.compare_with_reference(write, (a, out), 2 * a, file=False).ok
    out[:] = 0
    swapped = lambda out, a: write(a, out)  # noqa: E731
    assert margay.compare_with_reference(swapped, (out, a), 2 * a, output=out, file=False).ok

    def double(a):
        a *= 2
        return a

    # The reference is computed before the function changes what it is computed from.
    assert not margay.compare_with_reference(double, (a,), lambda a: a, file=False).ok


def test_kinds():
    values = RANDOM.integers(-100, 100, (8, 8)).astype(np.float32)
    assert compare(margay.to_bfloat16(values), values).ok
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(values)
    assert compare(tensor.to(torch.bfloat16), values).ok
    assert compare(values, tensor.requires_grad_()).ok
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert compare(values.astype(ml_dtypes.bfloat16), values).ok


def test_runs(monkeypatch):
    calls = []
    clock = iter([0, 1, 10, 14])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    found = margay.compare_with_reference(
        lambda: (calls.append(1), np.zeros(1))[1], (), np.zeros(1), runs=2, warmup=3, file=False
    )
    assert len(calls) == 5 and found.times == [1, 4] and found.average_time == 2.5


def test_report(capsys, monkeypatch):
    clock = iter([0, 0.25])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    expected = np.zeros((1024, 1024), np.float32)
    result = expected.copy()
    result[70, 64:80] = 3
    result[700, 700] = 2
    result[5, 900] = 0.05
    found = margay.compare_with_reference(lambda: result, (), expected)
    assert str(found) + "\n" == capsys.readouterr().out
    assert str(found).splitlines() == [
        "Average execution time: 250.0000 ms (wall time of this host, which runs the virtual device; 1 run)",
        "Max error: 3 at (70, 64)",
        "Mean error: 4.77314e-05",
        "Number of large errors (>0.1): 17 of 1048576",
        "64x64 tiles with large errors: 2 of 256",
        "Error of the diagonal 64x64 tiles:",
        "  [0:64, 0:64]             max 0            mean 0",
        "  [64:128, 64:128]         max 3            mean 0.0117188      16 large",
        *(f"  {f'[{i}:{i + 64}, {i}:{i + 64}]':<24} max 0            mean 0" for i in range(128, 512, 64)),
        "  [640:704, 640:704]       max 2            mean 0.000488281    1 large",
        "  and 7 more, none of them with large errors",
    ]


def test_a_report_with_many_wrong_tiles_stays_short():
    found = compare(np.ones((6400, 64)), np.zeros((6400, 64)), tile=(64, 1))
    assert found.worst == (0, 0)  # the first of equal ones
    report = str(found)
    assert len(report.splitlines()) < 45 and "  and 32 more, 32 of them with large errors" in report


@pytest.mark.parametrize(
    "result, expected, options, error, sentence",
    [
        (np.zeros(3), np.zeros(4), {}, ValueError, r"the result has shape \(3,\), the reference \(4,\)"),
        (np.zeros(3), np.zeros(3), {"runs": 0}, ValueError, "runs: expected at least 1, got 0"),
        (np.zeros(3), np.zeros(3), {"tile": 0}, ValueError, "tile: expected a positive number"),
        (np.zeros(3), np.zeros(3), {"tile": (1, 2, 3)}, ValueError, "tile: expected a positive number"),
        (["a"], np.zeros(1), {}, TypeError, "result: expected real numbers, got dtype <U1"),
        (np.zeros(1), np.zeros(1, complex), {}, TypeError, "reference: expected real numbers, got dtype complex128"),
    ],
)
def test_refused(result, expected, options, error, sentence):
    with pytest.raises(error, match=sentence):
        compare(result, expected, **options)
