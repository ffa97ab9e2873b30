"""The order in which the model puts kernels whose order is published. Bank conflicts: test_time.py; waves on each
compute unit that read memory: time.memory_curves."""

import functools
import json
import os
import pathlib
import subprocess
import tempfile

MARGAY = os.environ["MARGAY_TOOL"]


@functools.cache
def of_level(level, size=8192):
    """Of the ladder's level, `size` x `size` elements of C with a short k: several blocks for each compute unit."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [MARGAY, "time", "--quiet", "--json", report.name, "--", MARGAY, "gemm", "--mfma", "fast",
                   "--level", level, "--m", size, "--n", size, "--k", 512]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        (kernel,) = json.loads(pathlib.Path(report.name).read_text())["kernels"]
        return kernel


def us_of_level(level):
    return of_level(level)["us_boost"]


def test_two_waves_of_a_simd_hide_more_than_one():
    # Levels 6 and 7: the same block and step, by four waves and by eight. HipKittens: eight waves in two halves, two to
    # a SIMD, so that one half computes while the other one loads.
    assert us_of_level(7) < us_of_level(6)


def test_waves_that_only_load_cost_more_than_they_save():
    # Level 5: four waves load for four that compute. HipKittens: specialised waves do not pay on AMD, where registers
    # are dealt out evenly; all waves compute in levels 6 and 7.
    assert us_of_level(6) < us_of_level(5)
    assert us_of_level(7) < us_of_level(5)


def test_blocks_in_the_order_of_the_dies_are_faster():
    # Levels 10 and 11 differ only in the order of their blocks. HipKittens: with 57 x 57 blocks of 256 an order for the
    # XCDs and their L2s raises the hits of L2 from 36 % to 79 %, and the throughput. (Where the blocks of a row are a
    # multiple of the XCDs, each has columns of them in any case.)
    rows, dies = of_level(10, 14592), of_level(11, 14592)
    assert dies["us_boost"] < rows["us_boost"]
    assert dies["busy"]["infinity_cache"] < 0.8 * rows["busy"]["infinity_cache"]


def test_larger_blocks_with_loads_in_flight_are_faster():
    # Levels 8 and 9 against level 4: blocks of 256 x 256 read A and B half as often.
    assert us_of_level(8) < us_of_level(4)
    assert us_of_level(9) < us_of_level(4)
