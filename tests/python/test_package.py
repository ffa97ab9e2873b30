"""The package as a whole: its version, its type hints, how reports show themselves in notebooks."""

import inspect
import os
import pathlib
import re
import subprocess

import margay
from margay import display
from conftest import PACKAGE, RECORDED, RECORDED_PROFILE, ROOT, needs_margay


@needs_margay
def test_one_version():
    tool = subprocess.run([os.environ["MARGAY_TOOL"], "--version"], capture_output=True, text=True, check=True)
    assert tool.stdout == f"margay {margay.__version__}\n"
    for project in (ROOT / "pyproject.toml", PACKAGE / "pyproject.toml"):
        text = project.read_text()
        assert 'dynamic = ["version"]' in text and "_version" in text, project


def test_every_public_function_has_type_hints():
    assert (pathlib.Path(margay.__file__).parent / "py.typed").exists()
    functions = [getattr(margay, name) for name in margay.__all__ if name.islower() and name != "__version__"]
    functions += [margay.check.__init__, margay.profile.__init__]
    checked = 0
    for function in functions:
        if inspect.isclass(function):
            continue
        signature = inspect.signature(function)
        missing = [
            name
            for name, parameter in signature.parameters.items()
            if name != "self" and parameter.annotation is inspect.Parameter.empty
        ]
        assert not missing, f"{function.__qualname__}: {missing}"
        assert signature.return_annotation is not inspect.Signature.empty, function.__qualname__
        checked += 1
    assert checked >= 11


def test_what_is_imported_late_is_known_to_type_checkers():
    source = (PACKAGE / "margay" / "__init__.py").read_text()
    seen = source.split("if TYPE_CHECKING:")[1].split("__version__")[0]
    for name in margay._LAZY:  # pylint: disable=protected-access
        assert re.search(rf"\b{name}\b", seen), name


def test_reports_in_notebooks():
    report = margay.Report.from_json(RECORDED.read_text())
    page = report._repr_html_()  # pylint: disable=protected-access
    assert page.startswith("<pre") and "racecheck: write-after-read race" in page
    profile = margay.Profile.from_json(RECORDED_PROFILE.read_text())
    kernel = profile.kernels[0]
    assert kernel.name.split("<")[0].split("(")[0] in kernel._repr_html_()  # pylint: disable=protected-access
    assert "no kernel was launched" in margay.Profile()._repr_html_()  # pylint: disable=protected-access


def test_markup_in_names_is_text_in_a_notebook():
    assert display.preformatted("kernel<1 & 2>").count("kernel&lt;1 &amp; 2&gt;") == 1
