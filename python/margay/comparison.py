"""margay.compare_with_reference: runs a kernel, times it, and shows where its result is wrong."""

import sys
import time
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from margay import display
from margay.types import TensorLike

_SHOWN = 8  # diagonal tiles that are printed whatever they are
_SHOWN_WRONG = 24


@dataclass(frozen=True)
class TileError:
    """The error within one tile: its first row and column, its extent, and the figures."""

    row: int
    column: int
    rows: int
    columns: int
    max_error: float
    mean_error: float
    large_errors: int

    def __str__(self):
        place = f"[{self.row}:{self.row + self.rows}, {self.column}:{self.column + self.columns}]"
        large = f"   {self.large_errors} large" if self.large_errors else ""
        return f"  {place:<24} max {self.max_error:<12.6g} mean {self.mean_error:<12.6g}{large}".rstrip()


@dataclass(frozen=True)
class Comparison:
    """What compare_with_reference found; printing it gives the report."""

    times: List[float]  # seconds of the host, one per run
    max_error: float
    mean_error: float
    large_errors: int
    elements: int
    threshold: float  # errors above it are large
    worst: Tuple[int, ...]  # the index of the largest error
    tile: Tuple[int, int]
    tiles: int  # of all matrices
    wrong_tiles: int  # with large errors
    diagonal: List[TileError]  # of the first matrix

    @property
    def average_time(self):
        return sum(self.times) / len(self.times)

    @property
    def ok(self):
        """Whether there is no large error."""
        return self.large_errors == 0

    def __str__(self):
        runs = f"{len(self.times)} runs" if len(self.times) > 1 else "1 run"
        lines = [
            f"Average execution time: {1e3 * self.average_time:.4f} ms "
            f"(wall time of this host, which runs the virtual device; {runs})",
            f"Max error: {self.max_error:.6g}" + (f" at {self.worst}" if self.max_error else ""),
            f"Mean error: {self.mean_error:.6g}",
            f"Number of large errors (>{self.threshold:g}): {self.large_errors} of {self.elements}",
        ]
        rows, columns = self.tile
        if self.large_errors:
            lines.append(f"{rows}x{columns} tiles with large errors: {self.wrong_tiles} of {self.tiles}")
        if self.diagonal:
            lines.append(f"Error of the diagonal {rows}x{columns} tiles:")
        shown = self.diagonal[:_SHOWN]
        shown += [tile for tile in self.diagonal[_SHOWN:] if tile.large_errors][:_SHOWN_WRONG]
        lines += map(str, shown)
        if hidden := len(self.diagonal) - len(shown):
            wrong = sum(tile.large_errors > 0 for tile in self.diagonal if tile not in shown)
            lines.append(f"  and {hidden} more, {wrong or 'none'} of them with large errors")
        return "\n".join(lines)

    def _repr_html_(self):
        return display.preformatted(str(self))


def compare_with_reference(
    function: Callable[..., Any],
    inputs: Sequence[Any],
    reference: Union[TensorLike, Callable[..., TensorLike]],
    *,
    output: Optional[TensorLike] = None,
    runs: int = 1,
    warmup: int = 0,
    threshold: float = 0.1,
    tile: Union[int, Tuple[int, int]] = 64,
    file: Any = None,
) -> Comparison:
    """Calls function(*inputs), compares its result with the reference, and prints the figures.

    The result is what the function returns; when that is None, the last input, which the function
    has then written (or output, when that is another of them). reference: the expected values, or a
    function of the inputs that computes them; it is called first. tile: the edge of the tiles, or
    (rows, columns), whose errors are told apart. threshold: an error above it is large, and so is
    NaN or infinity where the reference has a number. file: where to print; None is sys.stdout,
    False prints nothing. The figures come back as a Comparison.
    """
    import numpy as np

    if runs < 1:
        raise ValueError(f"runs: expected at least 1, got {runs}")
    tile = (tile, tile) if isinstance(tile, int) else tuple(tile)
    if len(tile) != 2 or min(tile) < 1:
        raise ValueError(f"tile: expected a positive number or (rows, columns), got {tile}")
    expected = _numbers("reference", reference(*inputs) if callable(reference) else reference)
    expected = np.array(expected)  # the function may write to what it is a view of
    for _ in range(warmup):
        function(*inputs)
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        returned = function(*inputs)
        times.append(time.perf_counter() - start)
    if returned is None:
        returned = output if output is not None else inputs[-1]
    result = _numbers("result", returned)
    if result.shape != expected.shape:
        raise ValueError(f"the result has shape {result.shape}, the reference {expected.shape}")
    comparison = _compare(result, expected, times, threshold, tile)
    if file is not False:
        print(comparison, file=file or sys.stdout)
    return comparison


def _numbers(name, tensor):
    """A NumPy array of numbers."""
    import numpy as np

    from margay.bfloat import Bfloat16Array

    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        tensor = tensor.detach().cpu()
        return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
    if isinstance(tensor, Bfloat16Array):
        return tensor.float()
    array = np.asarray(tensor)
    if array.dtype.kind == "V":  # ml_dtypes' types: their numbers are exact in float32
        array = array.astype(np.float32)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")
    return array


def _compare(result, expected, times, threshold, tile):
    """Goes through the matrices in bands of a tile's height: at 8192 x 8192 that saves gigabytes."""
    import numpy as np

    shape = result.shape
    rows, columns = (1, *shape)[-2:] if shape else (1, 1)
    count = result.size // (rows * columns) if result.size else 0
    starts = np.arange(0, columns, tile[1])
    total, largest, worst, large, wrong_tiles, diagonal = 0.0, -1.0, 0, 0, 0, []
    for matrix in range(count):
        pair = [x.reshape(count, rows, columns)[matrix] for x in (result, expected)]
        for row in range(0, rows, tile[0]):
            error = _error(*(x[row : row + tile[0]] for x in pair))
            is_large = error > threshold
            total += error.sum()
            large += int(is_large.sum())
            wrong_tiles += np.count_nonzero(np.add.reduceat(is_large.sum(axis=0), starts))
            if error.max() > largest:
                largest = float(error.max())
                worst = (matrix * rows + row) * columns + int(error.argmax())
            column = row // tile[0] * tile[1]
            if matrix == 0 and column < columns:
                part = slice(None), slice(column, column + tile[1])
                inner, inner_large = error[part], is_large[part]
                figures = float(inner.max()), float(inner.mean()), int(inner_large.sum())
                diagonal.append(TileError(row, column, *inner.shape, *figures))
    return Comparison(
        times=times,
        max_error=max(largest, 0.0),
        mean_error=float(total / result.size) if result.size else 0.0,
        large_errors=large,
        elements=result.size,
        threshold=threshold,
        worst=tuple(int(i) for i in np.unravel_index(worst, shape)) if result.size else (),
        tile=tile,
        tiles=count * -(-rows // tile[0]) * -(-columns // tile[1]),
        wrong_tiles=wrong_tiles,
        diagonal=diagonal,
    )


def _error(result, expected):
    """The absolute error; none where both are the same, also as infinity or NaN, and infinity where only
    one is a number."""
    import numpy as np

    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(result.astype(np.float64) - expected)
    same = (result == expected) | ((result != result) & (expected != expected))
    return np.where(same, 0, np.where(np.isnan(error), np.inf, error))
