"""tools/triton_side_by_side.py: both kernels of a row do the same work, and the page is its output."""

# pylint: disable=missing-function-docstring

import json
import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.any_version

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "triton_side_by_side.py"
PAGE = ROOT / "docs" / "triton-side-by-side.md"


def test_a_row_has_the_figures_of_both(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- side by side -->\nold\n<!-- end -->\nafter\n")
    done = subprocess.run(
        [sys.executable, str(TOOL), "--only", "softmax", "--json", str(tmp_path / "f.json"), "--update", str(page)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (found,) = json.loads((tmp_path / "f.json").read_text())
    theirs, ours = found["triton"], found["tiles"]
    assert theirs["workgroups"] == 4096 and ours["name"].startswith("softmax_bf16")
    for figures in (theirs, ours):
        # Each element is read once and written once, 2 bytes each, and nothing is spilled.
        assert figures["hbm"] == 2 * 2 * 4096 * 1024 and figures["spills"] == 0
        assert figures["us"] > 0 and figures["valu"] > 0 and figures["mfma"] == 0
    text = page.read_text()
    assert "old" not in text and text.startswith("before\n") and text.endswith("after\n")
    assert f"| modelled time, us | {theirs['us']} | {ours['us']} |" in text


def test_the_page_has_all_four():
    page = PAGE.read_text()
    for title in ("| gemm |", "| small gemm |", "| attention |", "| softmax |", "| layernorm |"):
        assert page.count(title) == 1, title
