"""The five bugs of docs/triton.md: each tool names its line."""

# pylint: disable=missing-function-docstring

import pathlib
import subprocess
import sys

import pytest

GALLERY = pathlib.Path(__file__).parent / "gallery"


@pytest.mark.parametrize(
    "tool, program, line, words",
    [
        ("check", "missing_mask", "tl.store", "past the end of a tensor of 1 x 1 x 1 x 1000 elements"),
        ("check", "racing_store", "tl.store", "two workgroups race on global memory"),
        ("check", "wrong_stride", "tl.load(b_ptr", "row 128, column 0 of b_ptr"),
        ("prof", "spilled_accumulator", "acc = tl.dot", "the compiler spilled"),
        ("prof", "bank_conflict", "tile.load", "conflicts 32 ways"),
    ],
)
def test_a_bug_is_named(tool, program, line, words, margay_tool, environment):
    source = (GALLERY / f"{program}.py").read_text()
    if "gluon" in source:
        pytest.importorskip("triton.experimental.gluon", reason="this Triton has no Gluon")
    number = next(n for n, text in enumerate(source.splitlines(), 1) if line in text)
    done = subprocess.run(
        [margay_tool, tool, "--", sys.executable, f"{program}.py"],
        capture_output=True, text=True, check=False, cwd=GALLERY, env=environment,
    )  # fmt: skip
    text = " ".join((done.stdout + done.stderr).split())
    assert words in text and f"{program}.py:{number} in " in text, text


def test_the_page_shows_these_programs():
    page = (GALLERY.parents[2] / "docs" / "triton.md").read_text()
    for program in GALLERY.glob("*.py"):
        assert program.read_text().strip() in page, program.name
