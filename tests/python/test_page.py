"""docs/python.md: its kernel is compiled, its Python is run, its output is compared."""

import os
import re
import subprocess
import sys

from conftest import PACKAGE, ROOT, needs_margay

PAGE = (ROOT / "docs" / "python.md").read_text()

pytestmark = needs_margay


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def without_times(text):
    return re.sub(r"(?m)^(Average execution time: )[\d.]+", r"\1T", text)


def test_the_page(tmp_path):
    for text in blocks("cpp"):
        (tmp_path / re.match(r"// (\S+)", text)[1]).write_text(text)
    (tmp_path / "page.py").write_text("\n".join(blocks("python")))
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "MARGAY_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "page.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert without_times(done.stdout) == without_times("".join(blocks("text")))
