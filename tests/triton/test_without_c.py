"""Triton's part in C, in Python: where there is no compiler, no header of Python, or the user says so."""

# pylint: disable=missing-function-docstring

import os
import pathlib
import struct
import subprocess
import sys

import pytest

from margay.triton import without_c

# Each type of argument that has a value, and what the launcher must do besides.
PROGRAM = '''
import torch, triton, triton.language as tl
import margay.triton
from margay.triton import without_c

utils = margay.triton.activate().utils
print("without C" if isinstance(utils, without_c.Utilities) else "with C")


@triton.jit
def keep(out_ptr, null_ptr, pair, small, large, negative, flag, fraction, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, at.to(tl.float64) + pair[0] + tl.load(pair[1]))
    tl.store(out_ptr + 0, tl.cast(small, tl.float64))
    tl.store(out_ptr + 1, tl.cast(large, tl.float64))
    tl.store(out_ptr + 2, tl.cast(negative, tl.float64))
    tl.store(out_ptr + 3, tl.cast(flag, tl.float64))
    tl.store(out_ptr + 4, tl.cast(fraction, tl.float64))
    tl.store(out_ptr + 5, 1.0 if null_ptr is None else 2.0)


out, ten = torch.zeros(8, dtype=torch.float64, device="cuda"), torch.full((1,), 10.0, device="cuda")
hooks = []
triton.knobs.runtime.launch_enter_hook.add(lambda metadata: hooks.append("enter"))
triton.knobs.runtime.launch_exit_hook.add(lambda metadata: hooks.append("exit"))
kernel = keep[(1,)](out, None, (5, ten), 7, 2**40 + 1, -3, True, 0.5, BLOCK=8)
keep[(0,)](out, None, (5, ten), 9, 2**40 + 1, -3, True, 0.5, BLOCK=8)  # nothing to launch
print(out.tolist(), hooks)
print(kernel.n_regs > 0, kernel.n_spills, kernel.n_max_threads)
properties = utils.get_device_properties(0)
print(properties["arch"].split(":")[0], properties["multiprocessor_count"], properties["max_shared_mem"],
      properties["warpSize"], sorted(properties))
'''


@pytest.fixture(name="run")
def fixture_run(tmp_path):
    def run(**variables):
        (tmp_path / "program.py").write_text(PROGRAM)
        place = str(pathlib.Path(without_c.__file__).parents[2])
        done = subprocess.run(
            [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": place, "MARGAY_QUIET": "1", **variables},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        first, *rest = done.stdout.splitlines()
        return first, rest

    return run


def test_it_does_what_the_one_in_c_does(run):
    first, without = run(MARGAY_TRITON_WITHOUT_C="1")
    assert first == "without C"
    first, with_c = run()
    assert first == "with C"
    assert without == with_c
    assert without[0].startswith("[7.0, 1099511627777.0, -3.0, 1.0, 0.5, 1.0, 21.0, 22.0] ['enter', 'exit'")


def test_no_compiler(run, tmp_path):
    (tmp_path / "cache").mkdir()  # in Triton's own there is a compiled one
    assert run(PATH=str(tmp_path), CC="", TRITON_CACHE_DIR=str(tmp_path / "cache"))[0] == "without C"


@pytest.mark.parametrize(
    "kind, value, bits",
    [
        ("i8", -1, b"\xff"),
        ("u16", 65535, b"\xff\xff"),
        ("i32", -2, struct.pack("<i", -2)),
        ("u64", 2**64 - 1, b"\xff" * 8),
        ("fp16", 1.5, struct.pack("<e", 1.5)),
        ("bf16", -1.0, struct.pack("<f", -1.0)[2:]),
        ("fp32", 0.1, struct.pack("<f", 0.1)),
        ("fp64", 0.1, struct.pack("<d", 0.1)),
        ("*fp32", 4096, struct.pack("<Q", 4096)),
        ("*fp32", None, bytes(8)),
    ],
)
def test_arguments(kind, value, bits):
    (code,) = without_c.Utilities().build_signature_metadata([kind])
    converted = without_c._CONVERTERS[code](value)  # pylint: disable=protected-access
    assert bytes(converted)[: len(bits)] == bits


def test_what_it_refuses():
    utilities = without_c.Utilities()
    with pytest.raises(RuntimeError, match="Unknown data type: 'f7'"):
        utilities.build_signature_metadata(["f7"])
    with pytest.raises(TypeError, match="data_ptr method"):
        without_c._CONVERTERS[0]("a string")  # pylint: disable=protected-access
    with pytest.raises(RuntimeError, match="num_ctas=2"):
        utilities.launch(False, 1, 1, 1, 0, 0, None, None, (4, 2, 0), None, None, None, 64, [], b"", ())
    with pytest.raises(RuntimeError, match="tensor data mover"):
        utilities.create_tdm_descriptor()


def test_a_code_object_that_does_not_load():
    with pytest.raises(RuntimeError, match="Triton Error"):
        without_c.Utilities().load_binary("kernel", b"no code object" + bytes(64), 0, 0)


