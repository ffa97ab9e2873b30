"""Copies a NumPy array by tiles: tile_bounds_numpy.py MODULE_FOLDER SCALE (2 reads past its end)."""

import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import tile_bounds_module  # noqa: E402  (the path comes first)

values = np.arange(64 * 128, dtype=np.uint16).reshape(64, 128)
out = np.zeros_like(values)
tile_bounds_module.copy_tiles(values, out, int(sys.argv[2]))
print("result:", "right" if np.array_equal(values, out) else "wrong")
