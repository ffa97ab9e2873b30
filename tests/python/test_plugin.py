"""pytest --margay-check, in a pytest of its own."""

import shutil

import pytest
from conftest import PACKAGE, RECORDED

TESTS = """
import margay.library

def options():
    library = margay.library.load()
    library.standInOptions.restype = __import__("ctypes").c_char_p
    return library.standInOptions().decode()

def test_launches():
    print(options())

def test_wrong_itself():
    assert 1 == 2
"""


@pytest.fixture
def run(pytester, monkeypatch, stand_ins):
    """Runs pytest on `tests` with the stand-in; `report` is what it says of every test."""

    def run(*arguments, report=RECORDED, home="margay", package=PACKAGE, tests=TESTS):
        monkeypatch.setenv("PYTHONPATH", str(package))
        monkeypatch.setenv("MARGAY_HOME", str(stand_ins / home))
        monkeypatch.setenv("STAND_IN_REPORT", str(report))
        monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
        pytester.makepyfile(tests)
        return pytester.runpytest_subprocess("-p", "margay.pytest_plugin", "-rA", *arguments)

    return run


def test_off_by_default(run):
    run().assert_outcomes(passed=1, failed=1)


def test_clean_tests_pass(run, clean_report):
    result = run("--margay-check", report=clean_report)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["margay check: all", "tools=all"])


def test_errors_fail_the_test_with_the_reports_text(run):
    result = run("--margay-check", "-k", "launches")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["========= racecheck: write-after-read race*", "*gemm.cpp:71 in micro_tk*"]
    )
    assert "pytest_plugin.py" not in result.stdout.str(), "no traceback of the plugin"


def test_a_test_that_fails_by_itself_shows_both(run):
    result = run("--margay-check", "-k", "wrong_itself")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*", "*margay check*", "*write-after-read race*"])


def test_options_reach_the_library(run, clean_report):
    result = run(
        "--margay-check",
        "--margay-check-tools=racecheck,waitcheck",
        "--margay-check-adversarial=3",
        report=clean_report,
    )
    result.stdout.fnmatch_lines(
        ["margay check: racecheck,waitcheck", "tools=racecheck,waitcheck;adversarial=3"]
    )


def test_xfail_takes_errors_as_failures(run):
    # The mark is in the text of a user's test, which tests the plugin; this test itself runs.
    tests = "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_x(): pass"
    run("--margay-check", tests=tests).assert_outcomes(xfailed=1)


def test_without_the_library_nothing_starts(run, tmp_path):
    # A copy of the package, which does not find the library of this clone.
    shutil.copytree(PACKAGE / "margay", tmp_path / "copy" / "margay")
    result = run("--margay-check", home="nowhere", package=tmp_path / "copy")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--margay-check: Margay's libamdhip64 was not found*"])
