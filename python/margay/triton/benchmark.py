"""How long kernels take, for `triton.testing` and `@triton.autotune`: what the model of time says.

The time of the host that runs the virtual device is never given. `margay time` describes the model;
its figures are modelled, not measured, and one launch says all of them: there is nothing to repeat.
What a benchmark launches is timed by events, so that a kind of launch is modelled once in a process and
that it works within `margay prof`, `time` and `check`.
"""

import contextlib
import functools
import json
import math
import os
from dataclasses import dataclass

from margay import library
from margay.event_time import event_time, modelled_ms
from margay.triton import deferral, said

_tuned = 0  # how many configurations autotuners have timed


@dataclass(frozen=True)
class Timing:
    """The modelled time of the kernels that a function launched."""

    milliseconds: float
    launches: int
    kernels: tuple  # (title, launches, microseconds of one), a tuple for each kernel and size


def modelled(function, *args, **kwargs):
    """Calls the function and returns the Timing of its kernels. Operations of torch count nothing: they
    run on the CPU. NoTime where a profile is being made."""
    with _section() as section:
        function(*args, **kwargs)
    kernels = []
    total = 0.0
    for kernel in section.document["kernels"]:
        launches, time = kernel["launches_seen"], kernel.get("time")
        if time is None:
            raise RuntimeError(f"the model of time has no figure for {kernel['name']}")
        kernels.append((kernel["name"], launches, time["us_boost"]))
        total += launches * time["us_boost"]
    launches = sum(number for _, number, _ in kernels)
    return Timing(total / 1000, launches, tuple(kernels))


class NoTime(RuntimeError):
    """The time cannot be modelled now; the text says why."""


class _Section:
    document = None


@contextlib.contextmanager
def _section():
    runtime = library.load_profiler()
    if os.environ.get("MARGAY_PROFILE") == "1":
        raise NoTime("the time of kernels cannot be modelled within `margay prof` and `margay time`")
    if runtime.margayProfileBegin(b"trace=0;time=1") != 0:
        reason = (runtime.margayProfileError() or b"no reason was given").decode()
        raise NoTime(f"the time of kernels cannot be modelled: {reason}")
    section = _Section()
    try:
        yield section
    finally:
        text = runtime.margayProfileEnd()
    if text is None:
        raise RuntimeError((runtime.margayProfileError() or b"no reason was given").decode())
    section.document = json.loads(text)


def _statistics(milliseconds, quantiles, return_mode):
    """As triton.testing gives them: all quantiles of one number are that number."""
    if quantiles is not None:
        values = [milliseconds] * len(quantiles)
        return values[0] if len(values) == 1 else values
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise ValueError(f"return_mode is one of min, max, mean, median and all, not {return_mode!r}")
    return [milliseconds] if return_mode == "all" else milliseconds


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", **_):
    """triton.testing.do_bench with the modelled time (ms) of the kernels that `fn` launches; warmup and
    rep are not needed: `fn` is called once, and twice if the first call timed configurations. Its launches
    run where something sees what they write (deferral.py). What launches no kernel, such as an operation of torch,
    has no time: nan."""
    # pylint: disable=unused-argument
    with deferral.deferred():
        return _do_bench(fn, grad_to_none, quantiles, return_mode)


def _do_bench(fn, grad_to_none=None, quantiles=None, return_mode="mean", **_):
    said.once("times are those of Margay's model (docs/time.md), not measured; the host's time is not in them")

    def run():
        for tensor in grad_to_none or ():
            tensor.grad = None
        # triton.testing.do_bench empties the caches before each call: they are cold, whatever events give.
        return modelled_ms(fn, sustained=event_time().endswith("-sustained"))

    tuned = _tuned
    milliseconds = run()
    if _tuned != tuned:
        milliseconds = run()
    if milliseconds == 0:
        said.once(
            "a benchmark launched no kernel: operations of torch run on the CPU and have no modelled time "
            "(nan in tables)"
        )
        milliseconds = math.nan
    return _statistics(milliseconds, quantiles, return_mode)


def do_bench_candidate(fn, quantiles=None, **kwargs):
    """do_bench for a configuration that an autotuner tries: its launches are not in the profile, which is
    about the one that is chosen. They are checked: each of them has to be right. What they write is also
    written by the configuration that is chosen: waiting for that alone would gain nothing."""
    global _tuned  # pylint: disable=global-statement
    _tuned += 1
    if os.environ.get("MARGAY_PROFILE") == "1":
        said.once("the configurations that an autotuner tries are not in the profile, only the one it chooses")
    runtime = library.load()
    runtime.margayProfileLeaveOut(1)
    try:
        return _do_bench(fn, quantiles=quantiles, **kwargs)
    finally:
        runtime.margayProfileLeaveOut(0)


def replace(triton):
    """Gives Triton's benchmark functions the modelled time."""
    testing = triton.testing
    for name in ("do_bench", "do_bench_cudagraph", "do_bench_cudagraph_proton", "do_bench_proton"):
        if hasattr(testing, name):
            setattr(testing, name, _like(getattr(testing, name)))
    testing.Mark.run = _in_sections(testing.Mark.run)


def _like(original):
    """do_bench with the signature that inspection shows of the original."""

    @functools.wraps(original)
    def bench(*args, **kwargs):
        return do_bench(*args, **kwargs)

    bench.__doc__ = do_bench.__doc__
    return bench


def _in_sections(run):
    """Mark.run of `perf_report`, whose benchmarks drop what they compute at the end of each call."""

    @functools.wraps(run)
    def replaced(mark, *args, **kwargs):
        original = mark.fn

        @functools.wraps(original)
        def benchmark(*args, **kwargs):
            with deferral.deferred():
                return original(*args, **kwargs)

        mark.fn = benchmark
        try:
            return run(mark, *args, **kwargs)
        finally:
            mark.fn = original

    return replaced
