"""Finding the library, beginning and ending a check; each in a Python of its own."""

BLOCK = """
import ctypes, os, margay
from margay import library
"""


def test_library_from_margay_home(python, stand_ins):
    done = python(
        BLOCK
        + """
with margay.check(raise_on_error=False) as report:
    assert report.launches == 0
assert report.launches == 2 and len(report.errors) == 2
[path] = library.loaded_paths()
print(os.path.realpath(path))
""",
        MARGAY_HOME=stand_ins / "margay",
    )
    assert done.stdout.strip() == str(stand_ins / "margay/lib/libamdhip64.so.5"), done.stderr


def test_library_from_the_library_path_past_rocms(python, stand_ins):
    done = python(
        BLOCK + "library.load(); print(library.loaded_paths()[0])",
        LD_LIBRARY_PATH=f"{stand_ins}/rocm/lib:{stand_ins}/margay/lib",
    )
    assert f"{stand_ins}/margay/lib/" in done.stdout, done.stderr


def test_the_loaded_library_comes_before_any_other(python, stand_ins):
    done = python(
        BLOCK
        + """
loaded = ctypes.CDLL(os.environ["STAND_INS"] + "/margay/lib/libamdhip64.so.5")
loaded.standInOptions.restype = ctypes.c_char_p
with margay.check(tools=["memcheck", "racecheck"], adversarial=5, raise_on_error=False):
    pass
print(loaded.standInOptions().decode())
""",
        MARGAY_HOME="/nonexistent",
    )
    assert done.stdout.strip() == "tools=memcheck,racecheck;adversarial=5", done.stderr


def test_rocms_library_is_refused(python):
    done = python(
        BLOCK
        + """
ctypes.CDLL(os.environ["STAND_INS"] + "/rocm/lib/libamdhip64.so.5")
try:
    with margay.check():
        raise SystemExit("the block ran")
except margay.LibraryError as error:
    print(error)
"""
    )
    assert "rocm/lib/libamdhip64.so.5, which is not Margay's" in done.stdout, done.stderr
    assert "margay run -- python3" in done.stdout


def test_no_library(python, stand_ins):
    script = (
        BLOCK
        + """
try:
    library.load({"MARGAY_HOME": os.environ["PLACE"]})
except margay.LibraryError as error:
    print(error)
"""
        # Not even the one of this clone.
        + "else: raise SystemExit('loaded')"
    )
    script = script.replace(
        "from margay import library",
        "from margay import installation, library; installation.__file__ = '/nonexistent/a/b/c.py'",
    )
    done = python(script, PLACE="/nonexistent")
    assert "was not found: there is none" in done.stdout, done.stderr
    done = python(script, PLACE=stand_ins / "rocm")
    assert "rocm/lib/libamdhip64.so is not Margay's" in done.stdout, done.stderr


def test_errors_raise(python, stand_ins, clean_report):
    script = (
        BLOCK
        + """
with margay.check() as report:
    print("in the block")
print("after the block")
"""
    )
    done = python(script, MARGAY_HOME=stand_ins / "margay")
    assert done.returncode == 1 and done.stdout == "in the block\n"
    assert "CheckError: margay check found errors" in done.stderr
    assert "write-after-read race on LDS" in done.stderr
    done = python(script, report=clean_report, MARGAY_HOME=stand_ins / "margay")
    assert done.returncode == 0 and done.stdout.endswith("after the block\n"), done.stderr


def test_the_blocks_own_exception_goes_on_and_the_report_is_there(python, stand_ins):
    done = python(
        BLOCK
        + """
try:
    with margay.check() as report:
        raise KeyError("mine")
except KeyError:
    print(len(report.errors))
""",
        MARGAY_HOME=stand_ins / "margay",
    )
    assert done.stdout == "2\n", done.stderr


def test_a_check_within_a_check_is_refused_with_the_librarys_reason(python, stand_ins):
    done = python(
        BLOCK
        + """
with margay.check(raise_on_error=False):
    try:
        with margay.check():
            pass
    except ValueError as error:
        print(error)
""",
        MARGAY_HOME=stand_ins / "margay",
    )
    assert done.stdout == "margay.check cannot begin: a check is running already\n", done.stderr


def test_no_report_is_an_error(python, stand_ins):
    done = python(
        BLOCK + "with margay.check(): pass",
        report="/nonexistent",
        MARGAY_HOME=stand_ins / "margay",
    )
    assert "RuntimeError: margay.check gave no report" in done.stderr
