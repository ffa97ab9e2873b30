"""Programs that IREE compiles for gfx942 give what its processor's back end gives, and margay's tools see them."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import HERE
from programs import PROGRAMS


def difference(margay, folder, source, inputs):
    np.savez(folder / "inputs.npz", *inputs)
    status, said = margay(["run"], HERE / "both.py", source, folder / "inputs.npz", cwd=folder)
    assert status == 0, said
    found = re.search(r"^difference (\S+) of \((.*)\)$", said, re.MULTILINE)
    assert found, said
    return float(found[1])


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(margay, tmp_path, name):
    program = PROGRAMS[name]
    (tmp_path / "main.mlir").write_text(program.mlir, encoding="utf-8")
    assert difference(margay, tmp_path, "main.mlir", program.values()) <= program.tolerance


@pytest.mark.parametrize("name", ["convolutional", "transformer"])
def test_model(margay, tmp_path, name):
    pytest.importorskip("onnx", reason="onnx is not installed")
    from models import MODELS

    shapes = MODELS[name](tmp_path / "model.onnx")
    subprocess.run([sys.executable, "-m", "iree.compiler.tools.import_onnx", "model.onnx", "-o", "main.mlir"],
                   cwd=tmp_path, check=True)  # fmt: skip
    inputs = [np.random.default_rng(5).standard_normal(shape).astype("f4") for shape in shapes]
    assert difference(margay, tmp_path, "main.mlir", inputs) <= 1e-4


@pytest.mark.parametrize("command", ["check", "prof", "time"])
def test_tool(margay, tmp_path, command):
    program = PROGRAMS["softmax"]
    (tmp_path / "main.mlir").write_text(program.mlir, encoding="utf-8")
    np.savez(tmp_path / "inputs.npz", *program.values())
    report = tmp_path / "report.json"
    status, said = margay([command, "--json", report], HERE / "both.py", "main.mlir", tmp_path / "inputs.npz", cwd=tmp_path)
    assert status == 0, said
    found = json.loads(report.read_text(encoding="utf-8"))
    if command == "check":
        assert found["findings"] == []
        assert found["launches"] >= 1
    else:
        assert any("softmax" in kernel["name"] for kernel in found["kernels"])
