"""What tools/time_validation reckons from published tables and modelled launches."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools" / "time_validation"))

import common  # noqa: E402
import memory  # noqa: E402
import mgpusim  # noqa: E402
import pytest  # noqa: E402


class Launches:
    """A margay whose launches take these (us_boost, launch_us), and whose copies 10 us and a byte each 1 us."""

    def __init__(self, times, output=""):
        self.kernels = [{"us_boost": us, "launch_us": launch, "bound": f"{us}"} for us, launch in times]
        self.output = output

    def times(self, _device, _command, warm):
        assert warm
        return self.kernels, self.output

    def event_times(self, _device, command):
        kind, sizes = command[2], command[4:]
        return {str(size): {"memcopy_h2d": 10, "memcopy_d2h": 1000}[kind] + size for size in sizes}


def modelled(times, output="", kernel="fir", arguments=(1,)):
    return mgpusim.modelled(Launches(times, output), "driver", kernel, list(arguments), [])


def test_the_slowest_iteration_does_not_count():
    # 50 of 2 ms and one of 102 ms.
    row = {"iterations": "51", "avg_ms": str(202 / 51), "max_ms": "102"}
    assert mgpusim.measured_us(row) == pytest.approx(2000)


def test_a_single_launch_counts_whole():
    assert modelled([(10, 4.2)])[0] == pytest.approx(10)


def test_further_launches_cost_less():
    total, copies, bound = modelled([(10, 4.2), (20, 4.2)])
    assert total == pytest.approx(10 + 20 - 4.2 + mgpusim.NEXT_LAUNCH_US)
    assert (copies, bound) == (0, "20")


def test_launches_that_were_not_run_are_like_the_others():
    total = modelled([(10, 4), (10, 4)], "launches 8\n")[0]
    assert total == pytest.approx(10 + 7 * (6 + mgpusim.NEXT_LAUNCH_US))


def test_copies_are_added():
    total, copies, _ = modelled([(10, 4)], kernel="fastwalshtransform", arguments=[8])
    assert copies == 10 + 4 * 8
    assert total == pytest.approx(10 + copies)
    assert modelled([(10, 4)], kernel="floydwarshall", arguments=[8])[1] == 2 * (10 + 4 * 8 * 8)


def test_the_host_waits_for_each_level_of_bfs():
    total, copies, _ = modelled([(10, 4), (20, 4)], kernel="bfs", arguments=[100, 4])
    assert copies == 10 + 400 + 2 * (10 + 4 + 1000 + 4)
    assert total == pytest.approx(10 + 20 + copies)


def test_copies_by_themselves_have_no_kernel():
    us = 1000 + 2 * mgpusim.MB
    assert modelled([], kernel="memcopy_d2h", arguments=[2]) == (us, us, "copy")


def test_kernels_alone_are_without_copies():
    rows = [{"kernel": kernel} for kernel in ("bfs", "floydwarshall", "fir", "memcopy_h2d")]
    groups = dict(mgpusim.groups(rows))
    assert groups[mgpusim.ALONE] == rows[2:3]
    assert groups[mgpusim.ALL] == rows


@pytest.mark.parametrize(("kernel", "size", "before", "arguments"), [
    ("spmv_csr_scalar", "1024x1024_nnz4096", 0, [1024, 4]),
    ("conv2d", "N1_C1_128x128_k7x7_OC3", 0, [128, 7]),
    ("bfs", "nodes4096", 2, [4096, 16]),
    ("fir", "1024_taps8", 0, [1024, 8]),
    ("matrixtranspose", "64x64", 0, [64]),
    ("memcopy_d2d", "4MB", 0, [4]),
])  # fmt: skip
def test_sizes_become_arguments(kernel, size, before, arguments):
    assert mgpusim.numbers_of(kernel, size, before) == arguments


def test_errors():
    assert common.error(12, 10) == pytest.approx(20)
    assert common.wmape([(12, 10), (80, 90)]) == pytest.approx(12)
    assert common.mean_error([(12, 10), (81, 90)]) == pytest.approx(15)


def test_the_plateau_of_a_curve_is_within_15_percent_of_its_best():
    rows = [{"device": "MI300X", "level": "HBM", "measured_gb_per_s": gb} for gb in (10, 84, 86, 100)]
    assert memory.groups(rows) == [("MI300X HBM plateau", rows[2:]), ("MI300X HBM slope", rows[:2])]


def test_a_table_is_of_the_values_whatever_is_said_of_them():
    table = 'name,meaning,unit,mi300x,confidence,source\nturn,"a, b",cycles,{},{},x\n'
    assert common.id_of(table.format(4, "high")) == common.id_of(table.format(4, "low").replace("a, b", "c"))
    assert common.id_of(table.format(4, "high")) != common.id_of(table.format(5, "high"))
