"""pytest --margay-check: each test's kernel launches are checked, and errors fail the test.

The fixture `margay_profile` is `margay.profile`; with --margay-time it also models how long kernels take, and the
summary lists what it saw.

Active when the package is installed; without installing, PYTHONPATH=python pytest
-p margay.pytest_plugin.
"""

import pytest

from margay import library, profile_text, hook
from margay.checker import CheckError, check
from margay.devices import use_device
from margay.profiler import profile


def pytest_addoption(parser):
    group = parser.getgroup("margay")
    group.addoption(
        "--margay-check",
        action="store_true",
        help="check every kernel launch of each test on the virtual device; errors fail the test",
    )
    group.addoption(
        "--margay-check-tools",
        metavar="LIST",
        default="all",
        help="all (the default), or some of memcheck, racecheck, initcheck, synccheck, waitcheck "
        "with commas between",
    )
    group.addoption(
        "--margay-device",
        metavar="NAME",
        help="the virtual device: mi325x (the default), mi300x, ...; see `margay devices`",
    )
    group.addoption(
        "--margay-check-adversarial",
        metavar="SEED",
        type=int,
        help="results arrive as late as the ISA allows",
    )
    group.addoption(
        "--margay-time",
        action="store_true",
        help="margay_profile models how long kernels take, and the summary lists it",
    )


_PROFILES = pytest.StashKey()  # of a session: (test, profile)


@pytest.fixture
def margay_profile(request):
    """`margay.profile`: with margay_profile() as p: ... With --margay-time kernels have their modelled time."""
    config = request.config

    def begin(**options):
        profiling = profile(**{"time": config.getoption("--margay-time"), **options})
        config.stash.setdefault(_PROFILES, []).append((request.node.nodeid, profiling))
        return profiling

    return begin


def pytest_terminal_summary(terminalreporter, config):
    timed = [
        (test, kernel)
        for test, profiling in config.stash.get(_PROFILES, [])
        for kernel in profiling.profile.kernels
        if kernel.time is not None
    ]
    if not timed:
        return
    terminalreporter.section("margay: modelled time, nothing is measured")
    for test, kernel in timed:
        time = kernel.time
        terminalreporter.write_line(
            f"{time.us_boost:10,.2f} us  {time.us_sustained:10,.2f} us sustained  error about "
            f"{time.error_percent:.0f} %  {profile_text.title(kernel)}  {test}"
        )


def _is_on(config):
    return config.getoption("--margay-check")


def pytest_configure(config):
    if name := config.getoption("--margay-device"):
        try:
            use_device(name)
        except (library.LibraryError, RuntimeError, ValueError) as error:
            raise pytest.UsageError(f"--margay-device: {error}") from error
    if not _is_on(config):
        return
    try:
        # Before any test module can load another libamdhip64.
        library.load()
    except library.LibraryError as error:
        raise pytest.UsageError(f"--margay-check: {error}") from error
    hook.install()  # suites of Triton kernels run on the virtual device, too


def pytest_report_header(config):
    return f"margay check: {config.getoption('--margay-check-tools')}" if _is_on(config) else None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """Puts the test's own function between begin and end, and nothing of its fixtures."""
    if not _is_on(item.config):
        yield
        return
    run = item.runtest

    def checked():
        checking = check(
            tools=item.config.getoption("--margay-check-tools"),
            adversarial=item.config.getoption("--margay-check-adversarial"),
        )
        try:
            with checking:
                run()
        except CheckError:
            raise
        except BaseException:
            # The test fails on its own; the checker may give more details.
            if checking.report.errors:
                item.add_report_section("call", "margay check", str(checking.report))
            raise

    item.runtest = checked
    try:
        yield
    finally:
        del item.runtest  # the attribute of this object; the class's method is back


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if _is_on(item.config) and call.excinfo is not None:
        result = outcome.get_result()
        # The traceback would only show this plugin; the report names the kernel's line.
        if call.excinfo.errisinstance(CheckError) and result.failed:
            result.longrepr = str(call.excinfo.value)
