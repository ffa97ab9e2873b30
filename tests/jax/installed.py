"""Where Margay is, and what the tests of JAX need."""

import importlib.util
import os
import pathlib

import pytest

HERE = pathlib.Path(__file__).parent
HOME = os.environ.get("MARGAY_HOME")
MARGAY = pathlib.Path(HOME) / "bin" / "margay" if HOME else None

# JAX and its plugin are optional and come from PyPI: the plain test command goes without them. CI installs each of
# versions.txt and names its build, and nothing is skipped there.
marks = [
    pytest.mark.skipif(MARGAY is None or not MARGAY.exists(), reason="MARGAY_HOME does not name a build of Margay"),
    pytest.mark.skipif(importlib.util.find_spec("jax_rocm7_plugin") is None, reason="jax-rocm7-plugin is not installed"),
]
